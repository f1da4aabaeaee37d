/*
 * rows.c - the rows of result.json, those with numbers and those without,
 * into the series that they belong to.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/json/values.h"

/* ---- histograms ---- */

static bool read_bucket(struct sb_reader *r, const json_t *pair, struct sb_hist_counts *hist)
{
	int64_t index = 0;
	uint64_t *count;

	if (json_array_size(pair) != 2)
		return sb_reader_unexpected(r, "buckets", "pairs of index and count");
	if (!sb_reader_take_integer(r, json_array_get(pair, 0), "bucket's index", 0,
				    SB_HIST_BUCKETS - 1, &index))
		return false;
	count = &hist->bucket[index];
	if (*count)
		return sb_reader_unexpected(r, "buckets", "each bucket once");
	if (!sb_reader_take_count(r, json_array_get(pair, 1), "bucket's count", count))
		return false;
	hist->count += *count;
	return true;
}

/* The count is there twice, once by bucket. */
static bool read_hist(struct sb_reader *r, const json_t *object, struct sb_hist_counts *hist)
{
	const json_t *buckets = sb_reader_get(r, object, "buckets", JSON_ARRAY);
	const json_t *max = json_object_get(object, "max"); /* older results have none */
	uint64_t count = 0;

	if (!buckets ||
	    !sb_reader_take_count(r, json_object_get(object, "sum"), "sum", &hist->sum) ||
	    !sb_reader_take_count(r, json_object_get(object, "count"), "count", &count) ||
	    (max && !sb_reader_take_count(r, max, "max", &hist->max)))
		return false;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		if (!read_bucket(r, json_array_get(buckets, i), hist))
			return false;
		if (hist->count > count)
			break;
	}
	return hist->count == count || sb_reader_unexpected(r, "count", "the sum of its buckets");
}

static bool read_named_hist(struct sb_reader *r, const json_t *hists, const char *name,
			    struct sb_hist_counts *hist)
{
	const json_t *object = json_object_get(hists, name);
	const size_t before = sb_reader_enter(r, "histograms.%s.", name);

	return (!object || read_hist(r, object, hist)) && sb_reader_leave(r, before);
}

static bool read_hists(struct sb_reader *r, const json_t *own, struct sb_record *record)
{
	const json_t *hists = sb_reader_get(r, own, "histograms", JSON_OBJECT);
	bool ok = hists;

	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	if (!record->hist)
		return sb_reader_no_memory(r);
	for (uint32_t h = 0; ok && h < SB_RECORD_REQUEST; h++)
		ok = read_named_hist(r, hists, sb_record_hist_info[h].name, &record->hist[h]);
	return ok;
}

/* ---- requests ---- */

static bool read_request_hists(struct sb_reader *r, const json_t *object, struct sb_record *record)
{
	const json_t *hists = sb_reader_get(r, object, "histograms", JSON_OBJECT);
	bool ok = hists;

	record->requests->hist = &record->hist[SB_RECORD_REQUEST];
	for (uint32_t h = SB_RECORD_REQUEST; ok && h < SB_RECORD_HISTS; h++)
		ok = read_named_hist(r, hists, sb_record_hist_info[h].name, &record->hist[h]);
	return ok;
}

static bool read_requests(struct sb_reader *r, const json_t *own, struct sb_record *record)
{
	const json_t *object = json_object_get(own, "requests");
	size_t before;

	if (!object)
		return true;
	record->requests = calloc(1, sizeof(*record->requests));
	if (!record->requests)
		return sb_reader_no_memory(r);
	if (!sb_reader_get_fields(r, object, "requests", sb_json_requests, record->requests))
		return false;
	before = sb_reader_enter(r, "requests.");
	return (record->requests->completed <= record->requests->intended ||
		sb_reader_unexpected(r, "completed", "no more than intended")) &&
	       read_request_hists(r, object, record) && sb_reader_leave(r, before);
}

/* ---- workers ---- */

static bool read_counters(struct sb_reader *r, const json_t *object,
			  struct sb_worker_reading *worker)
{
	const json_t *counters = sb_reader_get(r, object, "counters", JSON_OBJECT);
	bool ok = counters;

	for (uint32_t c = 0; ok && c < SB_COUNTERS; c++) {
		const char *name = sb_counter_info[c].name;
		const json_t *value = json_object_get(counters, name);

		ok = !value || sb_reader_take_count(r, value, name, &worker->counter[c]);
	}
	return ok;
}

/* An earlier version did not write them. */
static bool read_yields(struct sb_reader *r, const json_t *object, struct sb_worker_reading *worker)
{
	const json_t *yields = json_object_get(object, "yields_by_command");
	const size_t before = sb_reader_enter(r, "yields_by_command.");
	bool ok = true;

	if (yields && !json_is_object(yields))
		return sb_reader_unexpected(r, "", "an object");
	for (uint32_t i = 0; ok && i < SB_YIELD_COUNTS; i++) {
		char key[SB_JSON_COMMAND_BYTES];
		const json_t *value;

		sb_json_command_key(i, key);
		value = json_object_get(yields, key);
		ok = !value || sb_reader_take_count(r, value, key, &worker->yields[i]);
	}
	return ok && sb_reader_leave(r, before);
}

/* Of the first worker, and so of all, or of none. */
static bool read_os(struct sb_reader *r, const json_t *object, struct sb_record *record,
		    uint32_t worker)
{
	const json_t *os;
	bool ok = true;

	if (!record->os)
		return true;
	os = sb_reader_get(r, object, "os", JSON_OBJECT);
	for (uint32_t c = 0; ok && os && c < SB_OS_COUNTS; c++) {
		const char *name = sb_json_os_name(c);

		ok = sb_reader_take_number(r, json_object_get(os, name), name,
					   &record->os[worker].value[c]);
	}
	return ok && os;
}

static bool read_worker(struct sb_reader *r, const json_t *object, struct sb_record *record,
			uint32_t i, uint32_t workers)
{
	struct sb_worker_reading *worker = &record->worker[i];
	const size_t before = sb_reader_enter(r, "workers[%" PRIu32 "].", i);

	worker->steals = calloc(workers, sizeof(*worker->steals));
	if (!worker->steals)
		return sb_reader_no_memory(r);
	return sb_reader_get_fields(r, object, "", sb_json_worker, worker) &&
	       read_counters(r, object, worker) && read_yields(r, object, worker) &&
	       read_os(r, object, record, i) && sb_reader_leave(r, before);
}

static bool read_workers(struct sb_reader *r, const json_t *own, struct sb_record *record,
			 uint32_t workers)
{
	const json_t *all = sb_reader_get_array(r, own, "workers", workers);
	bool ok = true;

	if (!all)
		return false;
	record->worker = calloc(workers, sizeof(*record->worker));
	if (!record->worker)
		return sb_reader_no_memory(r);
	if (json_object_get(json_array_get(all, 0), "os")) {
		record->os = calloc(workers, sizeof(*record->os));
		if (!record->os)
			return sb_reader_no_memory(r);
	}
	for (uint32_t i = 0; ok && i < workers; i++)
		ok = read_worker(r, json_array_get(all, i), record, i, workers);
	return ok;
}

/* One member of all cells. */
static bool read_matrix(struct sb_reader *r, const json_t *steals,
			const struct sb_json_field *field, struct sb_record *record,
			uint32_t workers)
{
	const json_t *matrix = sb_reader_get_array(r, steals, field->name, workers);

	for (uint64_t i = 0; matrix && i < (uint64_t)workers * workers; i++) {
		const json_t *row = json_array_get(matrix, i / workers);
		char *cell = (char *)&record->worker[i / workers].steals[i % workers];

		if (json_array_size(row) != workers)
			return sb_reader_unexpected(
				r, field->name, "as many rows and columns as there are workers");
		if (!sb_reader_take_count(r, json_array_get(row, i % workers), field->name,
					  (uint64_t *)(void *)(cell + field->offset)))
			return false;
	}
	return matrix;
}

static bool read_steals(struct sb_reader *r, const json_t *own, struct sb_record *record,
			uint32_t workers)
{
	const json_t *steals = json_object_get(own, "steals_thief_by_victim");
	const size_t before = sb_reader_enter(r, "steals_thief_by_victim.");
	bool ok = true;

	for (const struct sb_json_field *f = sb_json_steals; ok && steals && f->name; f++) {
		/* The others came later. */
		if (f->offset <= offsetof(struct sb_steal_counts, empty) ||
		    json_object_get(steals, f->name))
			ok = read_matrix(r, steals, f, record, workers);
	}
	return ok && sb_reader_leave(r, before);
}

/* ---- one row ---- */

/* By its name, or else by that of earlier versions. */
static bool read_metric(struct sb_reader *r, const json_t *own, enum sb_metric_id metric,
			double *out)
{
	const char *name = sb_metric[metric].name;
	const char *old = sb_metric_old_name(metric);

	if (old && !json_object_get(own, name) && json_object_get(own, old))
		name = old;
	return sb_reader_take_number(r, json_object_get(own, name), name, out);
}

static bool read_measured(struct sb_reader *r, const json_t *own, struct sb_record *record,
			  uint32_t workers)
{
	bool ok = true;

	for (uint32_t m = 0; ok && m < sb_metrics(); m++)
		ok = read_metric(r, own, (enum sb_metric_id)m, &record->value[m]);
	ok = ok && read_workers(r, own, record, workers) && read_steals(r, own, record, workers) &&
	     read_hists(r, own, record) && read_requests(r, own, record) &&
	     sb_reader_get_timeseries(r, own, record);
	return ok && (!sb_record_pack(record) || sb_reader_no_memory(r));
}

static bool read_reason(struct sb_reader *r, const json_t *own, struct sb_record *record)
{
	const json_t *value = json_object_get(own, "reason");
	char *text = NULL;
	bool ok;

	if (!value)
		return true;
	if (!sb_reader_get_text(r, own, "reason", &text))
		return false;
	ok = strlen(text) < sizeof(record->reason);
	if (ok)
		memcpy(record->reason, text, strlen(text) + 1);
	else
		sb_reader_unexpected(r, "reason", "a shorter text");
	free(text);
	return ok;
}

/* Rows with numbers are in "benchmarks", the others in "invalid". */
static bool read_verdict(struct sb_reader *r, const json_t *own, bool numbers,
			 enum sb_verdict *verdict)
{
	const char *name = json_string_value(json_object_get(own, "valid"));

	for (int v = SB_VALID; name && v < SB_VERDICTS; v++) {
		if (strcmp(name, sb_verdict_name((enum sb_verdict)v)) ||
		    (v != SB_INVALID) != numbers)
			continue;
		*verdict = (enum sb_verdict)v;
		return true;
	}
	return sb_reader_unexpected(r, "valid",
				    numbers ? "\"valid\" or \"suspect\"" : "\"invalid\"");
}

/* The row that it is, still empty; NULL: there is none. */
static struct sb_record *find_row(struct sb_reader *r, const json_t *own, struct sb_result *out,
				  struct sb_series **series, bool **seen)
{
	uint32_t i = 0;
	uint32_t row = 0;

	if (!out->all_series) {
		sb_reader_unexpected(r, "series", "an existing series");
		return NULL;
	}
	if (!sb_reader_get_uint32(r, own, "series", 0, out->all_series - 1, &i))
		return NULL;
	*series = &out->series[i];
	if (!(*series)->records) {
		sb_reader_unexpected(r, "row", "a row that its series has");
		return NULL;
	}
	if (!sb_reader_get_uint32(r, own, "row", 0, (*series)->records - 1, &row))
		return NULL;
	if (seen[i][row]) {
		sb_reader_unexpected(r, "row", "each row once");
		return NULL;
	}
	seen[i][row] = true;
	return &(*series)->record[row];
}

static bool read_row(struct sb_reader *r, const json_t *own, bool numbers, struct sb_result *out,
		     bool **seen)
{
	struct sb_series *series = NULL;
	struct sb_record *record = find_row(r, own, out, &series, seen);

	if (!record ||
	    !sb_reader_get_uint32(r, own, "repetition", 0, UINT32_MAX, &record->repetition) ||
	    !read_verdict(r, own, numbers, &record->verdict) || !read_reason(r, own, record) ||
	    !sb_reader_get_exemplars(r, own, record, series->placement.workers))
		return false;
	return !numbers || read_measured(r, own, record, series->placement.workers);
}

static bool read_rows(struct sb_reader *r, const json_t *rows, bool numbers, struct sb_result *out,
		      bool **seen)
{
	bool ok = true;

	for (size_t i = 0; ok && i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const json_t *own = numbers ? json_object_get(row, "sched_bench") : row;
		const size_t before =
			numbers ? sb_reader_enter(r, "benchmarks[%zu].sched_bench.", i)
				: sb_reader_enter(r, "sched_bench.invalid[%zu].", i);

		ok = read_row(r, own, numbers, out, seen) && sb_reader_leave(r, before);
	}
	return ok;
}

/* Which rows have been read: one array, one part of it for each series. */
static bool **make_seen(const struct sb_result *out, size_t rows)
{
	bool **seen = calloc(out->all_series + 1, sizeof(*seen));
	bool *all = calloc(rows + 1, sizeof(*all));

	if (!seen || !all) {
		free(seen);
		free(all);
		return NULL;
	}
	seen[0] = all;
	for (uint32_t i = 0; i < out->all_series; i++) {
		seen[i] = all;
		all += out->series[i].records;
	}
	return seen;
}

bool sb_reader_get_rows(struct sb_reader *r, const json_t *benchmarks, const json_t *invalid,
			struct sb_result *out)
{
	bool **seen = make_seen(out, json_array_size(benchmarks) + json_array_size(invalid));
	bool ok;

	if (!seen)
		return sb_reader_no_memory(r);
	ok = read_rows(r, benchmarks, true, out, seen) && read_rows(r, invalid, false, out, seen);
	free(seen[0]);
	free(seen);
	return ok;
}
