/*
 * series.c - the series of result.json: what each is and where it was
 * placed, and room for its rows, of which the file is known to have as many.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "core/readings.h"
#include "results/json/read.h"
#include "results/json/values.h"
#include "results/record/series.h"

/* More of any of these than a result can have. */
#define SETTINGS_MAX 256
#define SERIES_MAX   1000000

static bool read_setting(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	struct sb_setting setting = { .name = NULL };
	bool ok = sb_reader_get_text(r, object, "name", &setting.name) &&
		  sb_reader_get_text(r, object, "text", &setting.text) &&
		  sb_reader_take_number(r, json_object_get(object, "number"), "number",
					&setting.number) &&
		  sb_reader_get_bool(r, object, "swept", &setting.swept);

	if (ok && sb_series_add_setting(series, &setting))
		ok = sb_reader_no_memory(r);
	free(setting.name);
	free(setting.text);
	return ok;
}

static bool read_settings(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	const json_t *settings = sb_reader_get(r, object, "settings", JSON_ARRAY);
	const size_t n = json_array_size(settings);
	bool ok = settings;

	if (n > SETTINGS_MAX)
		return sb_reader_unexpected(r, "settings", "fewer of them");
	for (size_t i = 0; ok && i < n; i++) {
		const size_t before = sb_reader_enter(r, "settings[%zu].", i);

		ok = read_setting(r, json_array_get(settings, i), series) &&
		     sb_reader_leave(r, before);
	}
	/* The label is the file's. */
	free(series->label);
	series->label = NULL;
	return ok;
}

static bool read_places(struct sb_reader *r, const json_t *object, struct sb_placement *placement)
{
	const json_t *places = sb_reader_get(r, object, "workers", JSON_ARRAY);
	const size_t workers = json_array_size(places);
	bool ok = true;

	if (!places)
		return false;
	if (!workers || workers > SB_WORKERS_MAX)
		return sb_reader_unexpected(r, "workers", "1 to 4000 of them");
	placement->place = calloc(workers, sizeof(*placement->place));
	if (!placement->place)
		return sb_reader_no_memory(r);
	placement->workers = (uint32_t)workers;
	for (size_t i = 0; ok && i < workers; i++) {
		const size_t before = sb_reader_enter(r, "workers[%zu].", i);

		ok = sb_reader_get_fields(r, json_array_get(places, i), "", sb_json_place,
					  &placement->place[i]) &&
		     sb_reader_leave(r, before);
	}
	return ok;
}

/* An array of integers, if it is there. out: NULL else. */
static bool read_integers(struct sb_reader *r, const json_t *object, const char *key,
			  uint64_t length, int least, int **out)
{
	const json_t *array;
	bool ok = true;

	*out = NULL;
	if (!json_object_get(object, key))
		return true;
	array = sb_reader_get_array(r, object, key, length);
	if (!array)
		return false;
	*out = calloc(length + 1, sizeof(**out));
	if (!*out)
		return sb_reader_no_memory(r);
	for (uint64_t i = 0; ok && i < length; i++)
		ok = sb_reader_take_int(r, json_array_get(array, i), key, least, INT_MAX,
					&(*out)[i]);
	return ok;
}

static bool read_nodes(struct sb_reader *r, const json_t *object, struct sb_placement *placement)
{
	int *distance = NULL;
	bool ok = sb_reader_get_uint32(r, object, "nodes", 0, UINT16_MAX, &placement->nodes) &&
		  read_integers(r, object, "os_node", placement->nodes, -1, &placement->os_node);

	ok = ok && read_integers(r, object, "node_distance",
				 (uint64_t)placement->nodes * placement->nodes, 0, &distance);
	placement->node_distance = (uint32_t *)distance;
	return ok;
}

static bool read_placement(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	const json_t *placement = sb_reader_get(r, object, "placement", JSON_OBJECT);
	const size_t before = sb_reader_enter(r, "placement.");

	return placement && read_places(r, placement, &series->placement) &&
	       read_nodes(r, placement, &series->placement) && sb_reader_leave(r, before);
}

static bool read_residence(struct sb_reader *r, const json_t *object,
			   struct sb_residence *residence)
{
	bool ok = sb_reader_take_int(r, json_object_get(object, "error"), "error", -4095, 0,
				     &residence->error);

	for (int kind = 0; ok && kind < SB_MEMORY_KINDS; kind++) {
		const char *name = sb_memory_kind_name((enum sb_memory_kind)kind);

		ok = sb_reader_get_fields(r, json_object_get(object, name), name, sb_json_pages,
					  &residence->kind[kind]);
	}
	return ok;
}

static bool read_residences(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	const uint32_t workers = series->placement.workers;
	const json_t *all;
	bool ok = true;

	if (!json_object_get(object, "residence"))
		return true;
	all = sb_reader_get_array(r, object, "residence", workers);
	if (!all)
		return false;
	series->residence = calloc(workers, sizeof(*series->residence));
	if (!series->residence)
		return sb_reader_no_memory(r);
	for (uint32_t i = 0; ok && i < workers; i++) {
		const size_t before = sb_reader_enter(r, "residence[%" PRIu32 "].", i);

		ok = read_residence(r, json_array_get(all, i), &series->residence[i]) &&
		     sb_reader_leave(r, before);
	}
	return ok;
}

/* Reckons the memory of rows before any of it is taken. */
static bool reserve_rows(struct sb_reader *r, uint64_t rows, uint64_t workers)
{
	const uint64_t each =
		SB_RECORD_HISTS * sizeof(struct sb_packed_hist) + sizeof(struct sb_requests) +
		workers * (sizeof(struct sb_worker_reading) + sizeof(struct sb_os_counts)) +
		workers * workers * sizeof(struct sb_steal_counts);

	r->memory += rows * each;
	return r->memory <= SB_READ_MEMORY_BYTES ||
	       sb_reader_refuse(r, -EFBIG,
				"too large: its rows take more than %" PRIu64 " GiB of memory",
				SB_READ_MEMORY_BYTES >> 30);
}

/* rows: how many the file has that are nobody's yet. */
static bool make_records(struct sb_reader *r, const json_t *object, struct sb_series *series,
			 size_t *rows)
{
	uint32_t records = 0;

	if (!sb_reader_get_uint32(r, object, "rows", 0, UINT32_MAX, &records))
		return false;
	if (records > *rows)
		return sb_reader_unexpected(r, "rows", "no more than the file has: are some lost?");
	if (!reserve_rows(r, records, series->placement.workers))
		return false;
	*rows -= records;
	series->record = calloc(records + 1, sizeof(*series->record));
	if (!series->record)
		return sb_reader_no_memory(r);
	series->records = records;
	for (uint32_t i = 0; i < records; i++)
		sb_record_invalidate(&series->record[i], "");
	return true;
}

/* It begins names in other formats. */
static bool read_workload(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	return sb_reader_get_text(r, object, "workload", &series->workload) &&
	       (*series->workload || sb_reader_unexpected(r, "workload", "a name"));
}

/* Older files have the answer without its row. */
static bool read_answer(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	return !json_object_get(object, "answer") ||
	       (sb_reader_get_text(r, object, "answer", &series->answer) &&
		(!json_object_get(object, "answer_row") ||
		 sb_reader_get_uint32(r, object, "answer_row", 0, UINT32_MAX,
				      &series->answer_row)));
}

static bool read_reality(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	bool is_emulated = false;
	bool is_virtual = false;

	/* Older results do not say the second. */
	if (!sb_reader_get_bool(r, object, "emulated", &is_emulated) ||
	    (json_object_get(object, "virtual") &&
	     !sb_reader_get_bool(r, object, "virtual", &is_virtual)))
		return false;
	series->reality = is_virtual ? SB_SIMULATED : is_emulated ? SB_EMULATED : SB_NATIVE;
	return true;
}

static bool read_series(struct sb_reader *r, const json_t *object, struct sb_series *series,
			size_t *rows)
{
	return read_workload(r, object, series) &&
	       sb_reader_get_text(r, object, "operation", &series->operation) &&
	       read_answer(r, object, series) && read_settings(r, object, series) &&
	       sb_reader_get_text(r, object, "label", &series->label) &&
	       read_reality(r, object, series) && read_placement(r, object, series) &&
	       sb_reader_get_fields(r, json_object_get(object, "memory"), "memory", sb_json_memory,
				    &series->memory) &&
	       read_residences(r, object, series) && sb_reader_get_waiting(r, object, series) &&
	       make_records(r, object, series, rows);
}

bool sb_reader_get_series(struct sb_reader *r, const json_t *own, struct sb_result *out,
			  size_t rows)
{
	const json_t *all = sb_reader_get(r, own, "series", JSON_ARRAY);
	const size_t n = json_array_size(all);
	bool ok = true;

	if (!all)
		return false;
	if (n > SERIES_MAX)
		return sb_reader_unexpected(r, "series", "fewer of them");
	out->series = calloc(n + 1, sizeof(*out->series));
	if (!out->series)
		return sb_reader_no_memory(r);
	for (size_t i = 0; ok && i < n; i++) {
		const size_t before = sb_reader_enter(r, "series[%zu].", i);

		ok = read_series(r, json_array_get(all, i), &out->series[out->all_series++],
				 &rows) &&
		     sb_reader_leave(r, before);
	}
	if (ok && rows)
		return sb_reader_unexpected(r, "series",
					    "as many rows as \"benchmarks\" and \"invalid\" have");
	return ok;
}
