#include "results/files/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/commands.h"
#include "core/worker/distance.h"
#include "results/files/csv_series.h"
#include "results/files/csv_settings.h"
#include "results/files/file.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

void sb_csv_put_number(FILE *out, double value)
{
	char text[SB_EXACT_BYTES];

	if (!isfinite(value))
		return;
	sb_exact(text, value);
	fputs(text, out);
}

static void put_row_key(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	sb_csv_put_text(out, series->workload);
	fputc(',', out);
	sb_csv_put_text(out, series->label);
	fprintf(out, ",%" PRIu32 ",", record->repetition);
}

void sb_csv_put_row_end(FILE *out, const struct sb_series *series)
{
	fprintf(out, ",%s\n", sb_series_topology(series));
}

/* ---- runs.csv: the first ten columns are Google Benchmark's ---- */

static void put_benchmark_columns(FILE *out, const char *name, const struct sb_series *series,
				  const struct sb_record *record)
{
	sb_csv_put_text(out, name);
	fputc(',', out);
	sb_csv_put_number(out, record->value[SB_METRIC_operations]);
	fputc(',', out);
	sb_csv_put_number(out, record->value[SB_METRIC_ns_per_op]);
	fputc(',', out);
	sb_csv_put_number(out, record->value[SB_METRIC_cpu_ns_per_op]);
	fputs(",ns,,", out);
	sb_csv_put_number(out, record->value[SB_METRIC_ops_per_s]);
	fputc(',', out);
	sb_csv_put_text(out, series->label);
	/* To its readers a row with numbers is none with an error. */
	if (sb_record_has_numbers(record)) {
		fputs(",,", out);
		return;
	}
	fputs(",true,", out);
	sb_csv_put_text(out, record->reason);
}

/* One row of runs.csv. */
static void put_run(FILE *out, const char *name, const struct sb_series *series,
		    const struct sb_record *record, const struct sb_csv_settings *settings)
{
	put_benchmark_columns(out, name, series, record);
	fputc(',', out);
	sb_csv_put_text(out, series->workload);
	fprintf(out, ",%" PRIu32 ",%" PRIu32 ",%s,", series->placement.workers, record->repetition,
		sb_verdict_name(record->verdict));
	sb_csv_put_text(out, record->reason);
	for (uint32_t m = 0; m < sb_metrics(); m++) {
		fputc(',', out);
		sb_csv_put_number(out, record->value[m]);
	}
	fprintf(out, ",%" PRIu32, record->fork);
	sb_csv_put_settings(out, settings, series);
	sb_csv_put_row_end(out, series);
}

int sb_write_runs_csv(const struct sb_result *result, FILE *out)
{
	struct sb_csv_settings settings;
	const int rc = sb_csv_settings_init(&settings, result);

	fputs("name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,"
	      "label,error_occurred,error_message,workload,workers,repetition,valid,reason",
	      out);
	for (uint32_t m = 0; m < sb_metrics(); m++)
		fprintf(out, ",%s", sb_metric[m].name);
	fputs(",fork", out);
	sb_csv_put_setting_names(out, &settings);
	fputs(",topology\n", out);
	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		const struct sb_series *series = &result->series[i];
		char name[SB_NAME_BYTES];

		sb_series_name(name, result, series);
		for (uint32_t r = 0; r < series->records; r++)
			put_run(out, name, series, &series->record[r], &settings);
	}
	sb_csv_settings_fini(&settings);
	return rc;
}

/* ---- the others: a writer each, of every repetition with numbers or a series ---- */

typedef void (*record_writer)(FILE *out, const struct sb_series *series,
			      const struct sb_record *record);
typedef void (*series_writer)(FILE *out, const struct sb_result *result,
			      const struct sb_series *series);

static void put_counters(FILE *out, const struct sb_worker_reading *reading)
{
	for (uint32_t c = 0; c < SB_COUNTERS; c++) {
		fputc(',', out);
		if (reading->recorded || !sb_counter_is_account(c))
			fprintf(out, "%" PRIu64, reading->counter[c]);
	}
}

static void put_shares(FILE *out, const struct sb_record *record, uint32_t worker)
{
	const struct sb_shares shares = sb_record_shares(record, worker, 1);

	for (int t = 0; t < SB_TIMES; t++) {
		fputc(',', out);
		sb_csv_put_number(out, shares.pct[t]);
	}
}

static void put_workers(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	for (uint32_t w = 0; w < series->placement.workers; w++) {
		const struct sb_place *place = &series->placement.place[w];
		const int where[] = { place->os_cpu, place->pu,	  place->core,
				      place->cache,  place->node, place->package };

		put_row_key(out, series, record);
		fprintf(out, "%" PRIu32, w);
		for (size_t i = 0; i < SB_ARRAY_SIZE(where); i++) {
			fputc(',', out);
			sb_csv_put_number(out, where[i] < 0 ? (double)NAN : where[i]);
		}
		put_counters(out, &record->worker[w]);
		for (int c = 0; c < SB_OS_COUNTS; c++) {
			fputc(',', out);
			sb_csv_put_number(out, record->os ? record->os[w].value[c] : (double)NAN);
		}
		put_shares(out, record, w);
		sb_csv_put_row_end(out, series);
	}
}

static void put_yield(FILE *out, uint32_t index, uint64_t count)
{
	const char *name = sb_command_name(index);

	if (index < SB_COMMAND_ARRAY)
		fprintf(out, "%" PRIu32, index);
	else
		fputs(SB_LARGER_COMMANDS, out);
	fprintf(out, ",%s,%" PRIu64, name ? name : "", count);
}

/* Commands that a worker has not seen have no row. */
static void put_yields(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	for (uint32_t w = 0; w < series->placement.workers; w++) {
		const uint64_t *yields = record->worker[w].yields;

		for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++) {
			if (!yields[i])
				continue;
			put_row_key(out, series, record);
			fprintf(out, "%" PRIu32 ",", w);
			put_yield(out, i, yields[i]);
			sb_csv_put_row_end(out, series);
		}
	}
}

static void put_steals(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	const uint32_t n = series->placement.workers;

	for (uint32_t i = 0; i < n * n; i++) {
		const uint32_t thief = i / n;
		const uint32_t victim = i % n;
		const struct sb_steal_counts *cell = &record->worker[thief].steals[victim];
		const enum sb_distance distance = sb_place_distance(
			&series->placement.place[thief], &series->placement.place[victim]);

		if (thief == victim || !record->worker[thief].recorded)
			continue;
		put_row_key(out, series, record);
		fprintf(out,
			"%" PRIu32 ",%" PRIu32 ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64,
			thief, victim, sb_distance_name(distance), cell->attempts, cell->successes,
			cell->items, cell->lost, cell->empty);
		sb_csv_put_row_end(out, series);
	}
}

static void put_pages(FILE *out, const struct sb_residence *residence,
		      const struct sb_page_count *count)
{
	if (residence->error)
		fputs(",", out);
	else
		fprintf(out, "%" PRIu64 ",%" PRIu64, count->own, count->other);
}

static void put_worker_memory(FILE *out, const struct sb_result *result,
			      const struct sb_series *series, uint32_t worker)
{
	const struct sb_residence *residence = &series->residence[worker];
	const int node = series->placement.place[worker].node;

	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++) {
		sb_csv_put_text(out, series->workload);
		fputc(',', out);
		sb_csv_put_text(out, series->label);
		fprintf(out, ",%" PRIu32 ",", worker);
		sb_csv_put_number(out, node < 0 ? (double)NAN : node);
		fprintf(out, ",%s,%s,", sb_series_binding(series, result),
			sb_memory_kind_name((enum sb_memory_kind)kind));
		put_pages(out, residence, &residence->kind[kind]);
		sb_csv_put_row_end(out, series);
	}
}

/* It is read once, when the workers have stopped. */
static void put_memory(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	for (uint32_t w = 0; series->residence && w < series->placement.workers; w++)
		put_worker_memory(out, result, series, w);
}

static void put_waiting(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	char name[SB_NAME_BYTES];

	sb_series_name(name, result, series);
	for (uint32_t i = 0; series->waiting && i < series->waiting->places; i++) {
		const struct sb_waiting_place *place = &series->waiting->place[i];

		sb_csv_put_text(out, name);
		fputc(',', out);
		sb_csv_put_text(out, place->file);
		fputc(',', out);
		sb_csv_put_text(out, place->function);
		fputc(',', out);
		sb_csv_put_number(out, place->queued_ns);
		for (int way = 0; way < SB_WAITING_WAYS; way++)
			fprintf(out, ",%" PRIu64, place->fetches[way]);
		for (int way = 0; way < SB_WAITING_WAYS; way++) {
			fputc(',', out);
			sb_csv_put_number(out, place->fetch_ns[way]);
		}
		sb_csv_put_row_end(out, series);
	}
}

static void put_hist(FILE *out, const struct sb_series *series, const struct sb_record *record,
		     uint32_t id)
{
	const struct sb_packed_hist *hist = sb_record_hist(record, id);
	const struct sb_metric *info = &sb_record_hist_info[id];

	for (uint32_t i = 0; hist && i < hist->buckets; i++) {
		const struct sb_packed_bucket *bucket = &hist->bucket[i];
		const uint64_t low = sb_hist_bucket_low(bucket->index);

		put_row_key(out, series, record);
		fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, info->name, info->unit, low,
			low + sb_hist_bucket_width(bucket->index) - 1, bucket->count);
		sb_csv_put_row_end(out, series);
	}
}

/* Those that are latencies, or all others. */
static void put_hists(FILE *out, const struct sb_series *series, const struct sb_record *record,
		      bool latencies)
{
	for (uint32_t i = 0; i < SB_RECORD_HISTS; i++) {
		if (latencies == !strcmp(sb_record_hist_info[i].unit, "ns"))
			put_hist(out, series, record, i);
	}
}

static void put_latencies(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	put_hists(out, series, record, true);
}

static void put_spins(FILE *out, const struct sb_series *series, const struct sb_record *record)
{
	put_hists(out, series, record, false);
}

#define KEY_COLUMNS "workload,label,repetition,"

static const struct csv_file {
	const char *name;
	const char *columns;
	record_writer put_record; /* or: */
	series_writer put_series;
} files[] = {
	{ "workers.csv", KEY_COLUMNS "worker,os_cpu,pu,core,cache,node,package"
#define X(name, unit, doc) "," #name
#include "core/counters.def"
#undef X
#define OS(name, unit, doc) "," #name
#include "results/record/os.def"
#undef OS
#define TIME(name, doc) "," #name "_pct"
#include "results/record/account.def"
#undef TIME
	  ,
	  put_workers, NULL },
	{ "yields.csv", KEY_COLUMNS "worker,command,name,count", put_yields, NULL },
	{ "steals.csv", KEY_COLUMNS "thief,victim,distance,attempts,successes,items,lost,empty",
	  put_steals, NULL },
	{ "spins.csv", KEY_COLUMNS "histogram,unit,low,high,count", put_spins, NULL },
	{ "latency.csv", KEY_COLUMNS "histogram,unit,low,high,count", put_latencies, NULL },
	{ "waiting.csv",
	  "series,file,function,queued_ns,fetches_core,fetches_cache,fetches_node,"
	  "fetches_package,fetches_remote,fetches_memory,ns_core,ns_cache,ns_node,ns_package,"
	  "ns_remote,ns_memory",
	  NULL, put_waiting },
	{ "memory.csv", "workload,label,worker,node,binding,memory,own_pages,other_pages", NULL,
	  put_memory },
};

static void put_series_rows(FILE *out, const struct sb_result *result,
			    const struct sb_series *series, const struct csv_file *file)
{
	if (file->put_series)
		file->put_series(out, result, series);
	for (uint32_t r = 0; file->put_record && r < series->records; r++) {
		if (sb_record_has_numbers(&series->record[r]))
			file->put_record(out, series, &series->record[r]);
	}
}

/* One by one, and then those of the table. */
static const struct {
	const char *name;
	int (*write)(const struct sb_result *result, FILE *out);
} singles[] = {
	{ "runs.csv", sb_write_runs_csv },
	{ "series.csv", sb_csv_write_series },
};

/* waiting.csv is of virtual time alone. */
static bool has_rows(const struct sb_result *result, const struct csv_file *csv)
{
	if (csv->put_series != put_waiting)
		return true;
	for (uint32_t n = 0; n < result->all_series; n++) {
		if (result->series[n].waiting)
			return true;
	}
	return false;
}

static int write_rows(const struct sb_result *result, const struct csv_file *csv)
{
	struct sb_file file;
	const int rc = sb_file_begin(&file, result->directory, csv->name);

	if (rc)
		return rc;
	fprintf(file.stream, "%s,topology\n", csv->columns);
	for (uint32_t n = 0; n < result->all_series; n++)
		put_series_rows(file.stream, result, &result->series[n], csv);
	return sb_file_commit(&file);
}

int sb_write_csv_files(const struct sb_result *result, const char **failed)
{
	int rc = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(singles) && !rc; i++) {
		*failed = singles[i].name;
		rc = sb_file_write(result, singles[i].name, singles[i].write);
	}
	for (size_t i = 0; i < SB_ARRAY_SIZE(files) && !rc; i++) {
		if (!has_rows(result, &files[i]))
			continue;
		*failed = files[i].name;
		rc = write_rows(result, &files[i]);
	}
	return rc;
}
