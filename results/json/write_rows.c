/* write_rows.c - a repetition as JSON. */
#include <inttypes.h>
#include <string.h>

#include "results/json/json.h"
#include "results/json/write.h"
#include "results/json/write_parts.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* Google Benchmark's own keys, which its tools read. */
static bool set_benchmark_keys(json_t *row, const struct sb_json_spot *spot)
{
	const struct sb_series *series = &spot->result->series[spot->series];
	const struct sb_record *record = &series->record[spot->row];
	const double *value = record->value;
	bool ok = true;

	ok &= sb_json_set(row, "name", sb_json_text(spot->name));
	ok &= sb_json_set(row, "family_index", json_integer(spot->series));
	ok &= sb_json_set(row, "per_family_instance_index", json_integer(0));
	ok &= sb_json_set(row, "run_name", sb_json_text(spot->name));
	ok &= sb_json_set(row, "run_type", json_string("iteration"));
	ok &= sb_json_set(row, "repetitions", json_integer(series->records));
	ok &= sb_json_set(row, "repetition_index", json_integer(record->repetition));
	ok &= sb_json_set(row, "threads", json_integer(series->placement.workers));
	ok &= sb_json_set_number(row, "iterations", value[SB_METRIC_operations]);
	ok &= sb_json_set_number(row, "real_time", value[SB_METRIC_ns_per_op]);
	ok &= sb_json_set_number(row, "cpu_time", value[SB_METRIC_cpu_ns_per_op]);
	ok &= sb_json_set(row, "time_unit", json_string("ns"));
	ok &= sb_json_set_number(row, "items_per_second", value[SB_METRIC_ops_per_s]);
	ok &= sb_json_set(row, "label", json_string(series->label));
	return ok;
}

static json_t *counters_to_json(const struct sb_worker_reading *reading)
{
	json_t *counters = json_object();
	bool ok = true;

	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		ok &= sb_json_set(counters, sb_counter_info[c].name,
				  sb_json_count(reading->counter[c]));
	return sb_json_whole(counters, ok);
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
		ok &= sb_json_set(yields, key, sb_json_count(reading->yields[i]));
	}
	if (ok && json_object_size(yields))
		return sb_json_set(worker, "yields_by_command", yields);
	json_decref(yields);
	return ok && yields;
}

static json_t *os_to_json(const struct sb_os_counts *os)
{
	json_t *counts = json_object();
	bool ok = true;

	for (uint32_t c = 0; c < SB_OS_COUNTS; c++)
		ok &= sb_json_set_number(counts, sb_json_os_name(c), os->value[c]);
	return sb_json_whole(counts, ok);
}

static json_t *workers_to_json(const struct sb_record *record, uint32_t workers)
{
	json_t *all = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < workers; i++) {
		json_t *worker = sb_json_fields(sb_json_worker, &record->worker[i]);

		ok &= sb_json_set(worker, "counters", counters_to_json(&record->worker[i]));
		ok &= set_yields(worker, &record->worker[i]);
		if (record->os)
			ok &= sb_json_set(worker, "os", os_to_json(&record->os[i]));
		ok &= sb_json_append(all, worker);
	}
	return sb_json_whole(all, ok);
}

static json_t *cell_to_json(const struct sb_steal_counts *cell, size_t offset)
{
	uint64_t count;

	memcpy(&count, (const char *)cell + offset, sizeof(count));
	return sb_json_count(count);
}

/* One member of all cells: a row for each thief, a column for each victim. */
static json_t *matrix_to_json(const struct sb_record *record, uint32_t workers, size_t offset)
{
	json_t *matrix = json_array();
	bool ok = true;

	for (uint32_t thief = 0; thief < workers; thief++) {
		const struct sb_steal_counts *cell = record->worker[thief].steals;
		json_t *row = json_array();

		for (uint32_t victim = 0; victim < workers; victim++)
			ok &= sb_json_append(row, cell_to_json(&cell[victim], offset));
		ok &= sb_json_append(matrix, row);
	}
	return sb_json_whole(matrix, ok);
}

static json_t *steals_to_json(const struct sb_record *record, uint32_t workers)
{
	json_t *steals = json_object();
	bool ok = true;

	for (const struct sb_json_field *f = sb_json_steals; f->name; f++)
		ok &= sb_json_set(steals, f->name, matrix_to_json(record, workers, f->offset));
	return sb_json_whole(steals, ok);
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
		ok &= sb_json_append(buckets, json_pack("[io]", (int)hist->bucket[i].index,
							sb_json_count(hist->bucket[i].count)));
	if (!ok) {
		json_decref(buckets);
		return NULL;
	}
	return json_pack("{sosososo}", "count", sb_json_count(hist->count), "sum",
			 sb_json_count(hist->sum), "max", sb_json_count(hist->max), "buckets",
			 buckets);
}

/* Empty ones are left out. */
static bool set_hist(json_t *hists, const char *name, const struct sb_packed_hist *hist)
{
	return (!hist->count && !hist->sum) || sb_json_set(hists, name, hist_to_json(hist));
}

/* Those from first up to end. */
static json_t *hists_to_json(const struct sb_record *record, uint32_t first, uint32_t end)
{
	json_t *hists = json_object();
	bool ok = true;

	for (uint32_t h = first; h < end; h++)
		ok &= set_hist(hists, sb_record_hist_info[h].name, &record->packed[h]);
	return sb_json_whole(hists, ok);
}

static json_t *requests_to_json(const struct sb_record *record)
{
	json_t *object = sb_json_fields(sb_json_requests, record->requests);

	return sb_json_whole(
		object, sb_json_set(object, "histograms",
				    hists_to_json(record, SB_RECORD_REQUEST, SB_RECORD_HISTS)));
}

static bool set_measured(json_t *own, const struct sb_series *series,
			 const struct sb_record *record)
{
	const uint32_t workers = series->placement.workers;
	bool ok = true;

	for (uint32_t m = 0; m < sb_metrics(); m++)
		ok &= sb_json_set_number(own, sb_metric[m].name, record->value[m]);
	ok &= sb_json_set(own, "workers", workers_to_json(record, workers));
	if (any_recorded(record, workers))
		ok &= sb_json_set(own, "steals_thief_by_victim", steals_to_json(record, workers));
	ok &= sb_json_set(own, "histograms", hists_to_json(record, 0, SB_RECORD_REQUEST));
	if (record->requests)
		ok &= sb_json_set(own, "requests", requests_to_json(record));
	if (record->timeseries)
		ok &= sb_json_set(own, "timeseries", sb_json_timeseries(record->timeseries));
	return ok;
}

json_t *sb_json_record(const struct sb_json_spot *spot)
{
	const struct sb_series *series = &spot->result->series[spot->series];
	const struct sb_record *record = &series->record[spot->row];
	json_t *own = json_object();
	bool ok = true;

	ok &= sb_json_set(own, "series", json_integer(spot->series));
	ok &= sb_json_set(own, "row", json_integer(spot->row));
	ok &= sb_json_set(own, "repetition", json_integer(record->repetition));
	ok &= sb_json_set(own, "valid", json_string(sb_verdict_name(record->verdict)));
	if (*record->reason)
		ok &= sb_json_set(own, "reason", sb_json_text(record->reason));
	ok &= sb_json_set(own, "topology", json_string(sb_series_topology(series)));
	ok &= sb_json_set(own, "workload", json_string(series->workload));
	ok &= sb_json_set(own, "operation", json_string(series->operation));
	ok &= sb_json_set(own, "label", json_string(series->label));
	if (sb_record_has_numbers(record))
		ok &= set_measured(own, series, record);
	if (record->exemplars)
		ok &= sb_json_set(own, "exemplars", sb_json_exemplars(record->exemplars));
	return sb_json_whole(own, ok);
}

json_t *sb_json_row(const struct sb_json_spot *spot)
{
	json_t *row = json_object();
	bool ok = set_benchmark_keys(row, spot);

	ok &= sb_json_set(row, "sched_bench", sb_json_record(spot));
	return sb_json_whole(row, ok);
}

json_t *sb_json_benchmark(const struct sb_result *result, uint32_t series, uint32_t row)
{
	struct sb_json_spot spot = { .result = result, .series = series, .row = row };
	json_t *keys = json_object();

	sb_series_name(spot.name, result, &result->series[series]);
	return sb_json_whole(keys, set_benchmark_keys(keys, &spot));
}
