/*
 * write.c - result.json and meta.json. A row and a series are a line each:
 * the file stays small, and no more than one of them is in memory.
 */
#include "results/json/write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json/json.h"
#include "results/json/json_out.h"
#include "results/record/record.h"

/* All of jansson's "_new" calls take the reference and return -1 on NULL, so
 * one check at the end of a chain is enough; `ok` gathers them. */
static bool set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

static bool append(json_t *array, json_t *value)
{
	return !json_array_append_new(array, value);
}

/* The object or array, if all of it is there. */
static json_t *whole(json_t *value, bool ok)
{
	if (ok)
		return value;
	json_decref(value);
	return NULL;
}

/* A reason that was cut may end within a letter. */
static json_t *text_to_json(const char *text)
{
	json_t *json = json_string(text);
	char *copy = json ? NULL : sb_text_copy(text);

	if (copy)
		json = json_string(copy);
	free(copy);
	return json;
}

/* JSON's integers are signed here; no count is as large. */
static json_t *count_to_json(uint64_t count)
{
	return json_integer((json_int_t)sb_min_u64(count, INT64_MAX));
}

/* Integers stay integers; what was not measured has no JSON and is left out. */
static bool set_number(json_t *object, const char *key, double value)
{
	if (!isfinite(value))
		return true;
	if (fabs(value) < 9e15 && value == floor(value))
		return set(object, key, json_integer((json_int_t)value));
	return set(object, key, json_real(value));
}

/* ---- plain structs, by their tables ---- */

static bool set_field(json_t *object, const struct sb_json_field *field,
		      const void *from)
{
	const void *at = (const char *)from + field->offset;

	switch (field->kind) {
	case SB_JSON_BOOL:
		return set(object, field->name,
			   json_boolean(*(const bool *)at));
	case SB_JSON_INDEX:
	case SB_JSON_ERROR:
		return set(object, field->name, json_integer(*(const int *)at));
	case SB_JSON_COUNT:
		return set(object, field->name,
			   count_to_json(*(const uint64_t *)at));
	case SB_JSON_NUMBER:
	default:
		return set_number(object, field->name, *(const double *)at);
	}
}

static bool set_fields(json_t *object, const struct sb_json_field *fields,
		       const void *from)
{
	bool ok = true;

	for (; fields->name; fields++)
		ok &= set_field(object, fields, from);
	return ok;
}

static json_t *fields_to_json(const struct sb_json_field *fields,
			      const void *from)
{
	json_t *object = json_object();

	return whole(object, set_fields(object, fields, from));
}

/* { group: { key: value } } of all facts. */
static json_t *facts_to_json(const struct sb_result *result)
{
	json_t *facts = json_object();
	bool ok = facts;

	for (uint32_t i = 0; ok && i < result->facts; i++) {
		const struct sb_fact *fact = &result->fact[i];
		json_t *group = json_object_get(facts, fact->group);

		if (!group) {
			ok &= set(facts, fact->group, json_object());
			group = json_object_get(facts, fact->group);
		}
		ok &= set(group, fact->key, json_string(fact->value));
	}
	return whole(facts, ok);
}

/* ---- one repetition ---- */

/* Where a row is: which series, and which row of it. */
struct spot {
	const struct sb_result *result;
	uint32_t series;
	uint32_t row;
	char name[SB_NAME_BYTES]; /* of the series */
};

/* Google Benchmark's own keys, which its tools read. */
static bool set_benchmark_keys(json_t *row, const struct spot *spot)
{
	const struct sb_series *series = &spot->result->series[spot->series];
	const struct sb_record *record = &series->record[spot->row];
	const double *value = record->value;
	bool ok = true;

	ok &= set(row, "name", text_to_json(spot->name));
	ok &= set(row, "family_index", json_integer(spot->series));
	ok &= set(row, "per_family_instance_index", json_integer(0));
	ok &= set(row, "run_name", text_to_json(spot->name));
	ok &= set(row, "run_type", json_string("iteration"));
	ok &= set(row, "repetitions", json_integer(series->records));
	ok &= set(row, "repetition_index", json_integer(record->repetition));
	ok &= set(row, "threads", json_integer(series->placement.workers));
	ok &= set_number(row, "iterations", value[SB_METRIC_operations]);
	ok &= set_number(row, "real_time", value[SB_METRIC_ns_per_op]);
	ok &= set_number(row, "cpu_time", value[SB_METRIC_cpu_ns_per_op]);
	ok &= set(row, "time_unit", json_string("ns"));
	ok &= set_number(row, "items_per_second", value[SB_METRIC_ops_per_s]);
	ok &= set(row, "label", json_string(series->label));
	return ok;
}

static json_t *counters_to_json(const struct sb_worker_reading *reading)
{
	json_t *counters = json_object();
	bool ok = true;

	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		ok &= set(counters, sb_counter_info[c].name,
			  count_to_json(reading->counter[c]));
	return whole(counters, ok);
}

/* Absent where there were none, or an earlier version has measured. */
static bool set_yields(json_t *worker, const struct sb_worker_reading *reading)
{
	json_t *yields = json_object();
	bool ok = true;

	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++) {
		char key[SB_JSON_COMMAND_BYTES];

		if (!reading->yields[i])
			continue;
		sb_json_command_key(i, key);
		ok &= set(yields, key, count_to_json(reading->yields[i]));
	}
	if (ok && json_object_size(yields))
		return set(worker, "yields_by_command", yields);
	json_decref(yields);
	return ok && yields;
}

static json_t *os_to_json(const struct sb_os_counts *os)
{
	json_t *counts = json_object();
	bool ok = true;

	for (uint32_t c = 0; c < SB_OS_COUNTS; c++)
		ok &= set_number(counts, sb_json_os_name(c), os->value[c]);
	return whole(counts, ok);
}

static json_t *workers_to_json(const struct sb_record *record, uint32_t workers)
{
	json_t *all = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < workers; i++) {
		json_t *worker =
			fields_to_json(sb_json_worker, &record->worker[i]);

		ok &= set(worker, "counters",
			  counters_to_json(&record->worker[i]));
		ok &= set_yields(worker, &record->worker[i]);
		if (record->os)
			ok &= set(worker, "os", os_to_json(&record->os[i]));
		ok &= append(all, worker);
	}
	return whole(all, ok);
}

static json_t *cell_to_json(const struct sb_steal_counts *cell, size_t offset)
{
	uint64_t count;

	memcpy(&count, (const char *)cell + offset, sizeof(count));
	return count_to_json(count);
}

/* One member of all cells: a row for each thief, a column for each victim. */
static json_t *matrix_to_json(const struct sb_record *record, uint32_t workers,
			      size_t offset)
{
	json_t *matrix = json_array();
	bool ok = true;

	for (uint32_t thief = 0; thief < workers; thief++) {
		const struct sb_steal_counts *cell =
			record->worker[thief].steals;
		json_t *row = json_array();

		for (uint32_t victim = 0; victim < workers; victim++)
			ok &= append(row, cell_to_json(&cell[victim], offset));
		ok &= append(matrix, row);
	}
	return whole(matrix, ok);
}

static json_t *steals_to_json(const struct sb_record *record, uint32_t workers)
{
	json_t *steals = json_object();
	bool ok = true;

	for (const struct sb_json_field *f = sb_json_steals; f->name; f++)
		ok &= set(steals, f->name,
			  matrix_to_json(record, workers, f->offset));
	return whole(steals, ok);
}

static bool any_recorded(const struct sb_record *record, uint32_t workers)
{
	for (uint32_t i = 0; i < workers; i++) {
		if (record->worker[i].recorded)
			return true;
	}
	return false;
}

/* Of a bucket its index and its count; most are empty. */
static json_t *hist_to_json(const struct sb_packed_hist *hist)
{
	json_t *buckets = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < hist->buckets; i++)
		ok &= append(buckets,
			     json_pack("[io]", (int)hist->bucket[i].index,
				       count_to_json(hist->bucket[i].count)));
	if (!ok) {
		json_decref(buckets);
		return NULL;
	}
	return json_pack("{sososo}", "count", count_to_json(hist->count), "sum",
			 count_to_json(hist->sum), "buckets", buckets);
}

/* Empty ones are left out. */
static bool set_hist(json_t *hists, const char *name,
		     const struct sb_packed_hist *hist)
{
	return (!hist->count && !hist->sum) ||
	       set(hists, name, hist_to_json(hist));
}

static json_t *hists_to_json(const struct sb_record *record)
{
	json_t *hists = json_object();
	bool ok = true;

	for (uint32_t h = 0; h < SB_HISTS; h++)
		ok &= set_hist(hists, sb_hist_info[h].name, &record->packed[h]);
	return whole(hists, ok);
}

static json_t *requests_to_json(const struct sb_record *record)
{
	json_t *object = fields_to_json(sb_json_requests, record->requests);
	json_t *hists = json_object();
	bool ok = true;

	for (uint32_t i = 0; i < SB_REQUEST_HISTS; i++)
		ok &= set_hist(hists, sb_request_hist_name(i),
			       &record->packed[SB_HISTS + i]);
	ok &= set(object, "histograms", hists);
	return whole(object, ok);
}

static bool set_measured(json_t *own, const struct sb_series *series,
			 const struct sb_record *record)
{
	const uint32_t workers = series->placement.workers;
	bool ok = true;

	for (uint32_t m = 0; m < SB_METRICS; m++)
		ok &= set_number(own, sb_metric[m].name, record->value[m]);
	ok &= set(own, "workers", workers_to_json(record, workers));
	if (any_recorded(record, workers))
		ok &= set(own, "steals_thief_by_victim",
			  steals_to_json(record, workers));
	ok &= set(own, "histograms", hists_to_json(record));
	if (record->requests)
		ok &= set(own, "requests", requests_to_json(record));
	return ok;
}

/* Our own object: all of a row, or of one without numbers what there is. */
static json_t *record_to_json(const struct spot *spot)
{
	const struct sb_series *series = &spot->result->series[spot->series];
	const struct sb_record *record = &series->record[spot->row];
	json_t *own = json_object();
	bool ok = true;

	ok &= set(own, "series", json_integer(spot->series));
	ok &= set(own, "row", json_integer(spot->row));
	ok &= set(own, "repetition", json_integer(record->repetition));
	ok &= set(own, "valid", json_string(sb_verdict_name(record->verdict)));
	if (*record->reason)
		ok &= set(own, "reason", text_to_json(record->reason));
	ok &= set(own, "topology", json_string(sb_series_topology(series)));
	ok &= set(own, "workload", json_string(series->workload));
	ok &= set(own, "operation", json_string(series->operation));
	ok &= set(own, "label", json_string(series->label));
	if (sb_record_has_numbers(record))
		ok &= set_measured(own, series, record);
	return whole(own, ok);
}

static json_t *row_to_json(const struct spot *spot)
{
	json_t *row = json_object();
	bool ok = set_benchmark_keys(row, spot);

	ok &= set(row, "sched_bench", record_to_json(spot));
	return whole(row, ok);
}

json_t *sb_json_benchmark(const struct sb_result *result, uint32_t series,
			  uint32_t row)
{
	struct spot spot = { .result = result, .series = series, .row = row };
	json_t *keys = json_object();

	sb_series_name(spot.name, result, &result->series[series]);
	return whole(keys, set_benchmark_keys(keys, &spot));
}

/* ---- a series ---- */

static json_t *settings_to_json(const struct sb_series *series)
{
	json_t *settings = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < series->settings; i++) {
		const struct sb_setting *setting = &series->setting[i];
		json_t *object = json_object();

		ok &= set(object, "name", json_string(setting->name));
		ok &= set(object, "text", json_string(setting->text));
		ok &= set_number(object, "number", setting->number);
		ok &= set(object, "swept", json_boolean(setting->swept));
		ok &= append(settings, object);
	}
	return whole(settings, ok);
}

static json_t *places_to_json(const struct sb_placement *placement)
{
	json_t *places = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->workers; i++)
		ok &= append(places, fields_to_json(sb_json_place,
						    &placement->place[i]));
	return whole(places, ok);
}

static json_t *os_nodes_to_json(const struct sb_placement *placement)
{
	json_t *nodes = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->nodes; i++)
		ok &= append(nodes, json_integer(placement->os_node[i]));
	return whole(nodes, ok);
}

static json_t *distances_to_json(const struct sb_placement *placement)
{
	json_t *distances = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->nodes * placement->nodes; i++)
		ok &= append(distances,
			     json_integer(placement->node_distance[i]));
	return whole(distances, ok);
}

static json_t *placement_to_json(const struct sb_placement *placement)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= set(object, "nodes", json_integer(placement->nodes));
	if (placement->os_node)
		ok &= set(object, "os_node", os_nodes_to_json(placement));
	if (placement->node_distance)
		ok &= set(object, "node_distance",
			  distances_to_json(placement));
	ok &= set(object, "workers", places_to_json(placement));
	return whole(object, ok);
}

static json_t *residence_to_json(const struct sb_residence *residence)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= set(object, "error", json_integer(residence->error));
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++)
		ok &= set(
			object, sb_memory_kind_name((enum sb_memory_kind)kind),
			fields_to_json(sb_json_pages, &residence->kind[kind]));
	return whole(object, ok);
}

static json_t *residences_to_json(const struct sb_series *series)
{
	json_t *all = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < series->placement.workers; i++)
		ok &= append(all, residence_to_json(&series->residence[i]));
	return whole(all, ok);
}

static json_t *series_to_json(const struct sb_series *series)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= set(object, "workload", json_string(series->workload));
	ok &= set(object, "operation", json_string(series->operation));
	ok &= set(object, "label", json_string(series->label));
	if (series->answer)
		ok &= set(object, "answer", text_to_json(series->answer)) &&
		      set(object, "answer_row",
			  json_integer(series->answer_row));
	ok &= set(object, "rows", json_integer(series->records));
	ok &= set(object, "settings", settings_to_json(series));
	ok &= set(object, "emulated", json_boolean(series->emulated));
	ok &= set(object, "placement", placement_to_json(&series->placement));
	ok &= set(object, "memory",
		  fields_to_json(sb_json_memory, &series->memory));
	if (series->residence)
		ok &= set(object, "residence", residences_to_json(series));
	return whole(object, ok);
}

/* ---- the whole ---- */

/* Absent where the machine does not say. */
static bool set_scaling(json_t *context, const struct sb_result *result)
{
	const char *governor = sb_result_fact(result, "machine", "governor");

	return !*governor || !strcmp(governor, "unknown") ||
	       set(context, "cpu_scaling_enabled",
		   json_boolean(strcmp(governor, "performance")));
}

json_t *sb_json_context(const struct sb_result *result)
{
	const char *mode = sb_result_fact(result, "run", "build_mode");
	const char *pus = sb_result_fact(result, "machine", "pus");
	json_t *context = json_object();
	bool ok = true;

	ok &= set(context, "date",
		  json_string(sb_result_fact(result, "run", "date")));
	ok &= set(context, "host_name",
		  json_string(sb_result_fact(result, "machine", "host_name")));
	ok &= set(context, "executable",
		  json_string(sb_result_fact(result, "run", "executable")));
	ok &= set(context, "num_cpus", json_integer(strtol(pus, NULL, 10)));
	ok &= set_scaling(context, result);
	ok &= set(context, "caches", json_array());
	ok &= set(context, "library_build_type",
		  json_string(strcmp(mode, "release") ? "debug" : "release"));
	ok &= set(context, "topology", json_string(sb_result_topology(result)));
	ok &= set(context, "json_schema_version", json_integer(1));
	return whole(context, ok);
}

/* Everything on one line. What cannot be written the stream remembers. */
static int put(FILE *out, json_t *value)
{
	return sb_json_put(value, out,
			   JSON_COMPACT | JSON_ENCODE_ANY |
				   JSON_REAL_PRECISION(17));
}

static bool in_benchmarks(const struct spot *spot)
{
	return sb_record_has_numbers(
		&spot->result->series[spot->series].record[spot->row]);
}

/* Those with numbers, as Google Benchmark's readers need them, or the others. */
static int put_rows(FILE *out, const struct sb_result *result, bool numbers)
{
	struct spot spot = { .result = result };
	const char *before = "\n";
	int rc = 0;

	for (; spot.series < result->all_series; spot.series++) {
		const uint32_t rows = result->series[spot.series].records;

		sb_series_name(spot.name, result, &result->series[spot.series]);
		for (spot.row = 0; spot.row < rows && !rc; spot.row++) {
			if (in_benchmarks(&spot) != numbers)
				continue;
			fputs(before, out);
			before = ",\n";
			rc = put(out, numbers ? row_to_json(&spot)
					      : record_to_json(&spot));
		}
	}
	return rc;
}

static int put_series(FILE *out, const struct sb_result *result)
{
	int rc = 0;

	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		fputs(i ? ",\n" : "\n", out);
		rc = put(out, series_to_json(&result->series[i]));
	}
	return rc;
}

int sb_write_json(const struct sb_result *result, FILE *out)
{
	int rc;

	fputs("{\n\"context\": ", out);
	rc = put(out, sb_json_context(result));
	fputs(",\n\"benchmarks\": [", out);
	if (!rc)
		rc = put_rows(out, result, true);
	fprintf(out, "\n],\n\"sched_bench\": {\n\"schema\": %d,\n\"meta\": ",
		SB_RESULT_SCHEMA);
	if (!rc)
		rc = put(out, facts_to_json(result));
	fputs(",\n\"histogram_layout\": ", out);
	if (!rc)
		rc = put(out,
			 json_pack(SB_JSON_HIST_LAYOUT, SB_JSON_HIST_KEYS));
	fputs(",\n\"series\": [", out);
	if (!rc)
		rc = put_series(out, result);
	fputs("\n],\n\"invalid\": [", out);
	if (!rc)
		rc = put_rows(out, result, false);
	fputs("\n]\n}\n}\n", out);
	return rc;
}

int sb_write_meta(const struct sb_result *result, FILE *out)
{
	json_t *facts = facts_to_json(result);
	int rc;

	if (!facts || !set(facts, "schema", json_integer(SB_RESULT_SCHEMA))) {
		json_decref(facts);
		return -ENOMEM;
	}
	rc = sb_json_put(facts, out, JSON_INDENT(1));
	fputc('\n', out);
	return rc;
}
