/*
 * The result files.
 *
 * Property: names, columns and keys are those of the tables; what was not
 *   measured is empty; text that needs it is quoted or escaped; files are whole
 *   or absent.
 * Method: a result made up by hand, written, and read back with jansson and a
 *   small CSV reader.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/commands.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/files/stage.h"
#include "results/files/summary.h"
#include "results/json/write.h"
#include "results/page/report.h"
#include "results/record/account.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

enum { WORKERS = 2, REPETITIONS = 4, SUSPECT = 1, INVALID = 2 };

static struct sb_place places[WORKERS] = { { 0, 0, 0, 0, 0, -1 }, { 5, 1, 1, 0, 0, -1 } };

/* ns per operation: 10, 20 (suspect), invalid, 40. */
static void make_record(struct sb_record *record, uint32_t r, const struct sb_placement *placement)
{
	const uint32_t workers = placement->workers;
	const struct sb_measured measured = { .rounds = 1,
					      .operations = 1000,
					      .wall_ns = 10000 * (r + 1),
					      .elapsed_ns = 20000 * (r + 1),
					      .cpu_ns = 15000 };

	record->repetition = r;
	record->worker = calloc(workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	for (uint32_t w = 0; w < workers; w++) {
		record->worker[w].steals = calloc(workers, sizeof(struct sb_steal_counts));
		record->worker[w].counter[SB_COUNTER_steps] = 100 + w;
		record->worker[w].recorded = true;
		record->worker[w].read_ns = 20000;
	}
	record->worker[0].steals[1] = (struct sb_steal_counts){ 10, 3, 7, 2, 5 };
	record->hist[SB_HIST_ready_to_running].bucket[50] = 4;
	record->hist[SB_HIST_ready_to_running].count = 4;
	record->hist[SB_HIST_ready_to_running].sum = 200;
	record->worker[0].yields[SB_COMMAND_SLEEP] = 5;
	record->worker[0].yields[7] = 20;
	record->worker[1].yields[SB_COMMAND_SLEEP] = 6;
	record->worker[1].yields[SB_COMMAND_ARRAY] = 300;
	sb_record_compute(record, &measured, placement);
	CHECK_EQ(sb_record_pack(record), 0);
	if (r == SUSPECT) {
		sb_record_suspect(record, "%d of the time", 3);
		sb_record_suspect(record, "a <second>, too");
	}
	if (r == INVALID)
		sb_record_invalidate(record, "wrong \"answer\", 1 < 2");
}

static struct sb_result *make_result_at(const char *directory, struct sb_place *place,
					uint32_t workers)
{
	struct sb_result *result = calloc(1, sizeof(*result));
	struct sb_series *series = calloc(1, sizeof(*series));

	result->directory = strdup(directory);
	result->all_series = 1;
	result->series = series;
	series->workload = strdup("pingpong");
	series->operation = strdup("message");
	series->label = strdup("pairs=1, \"x\"");
	CHECK_EQ(sb_placement_copy(&series->placement,
				   &(struct sb_placement){ .workers = workers, .place = place }),
		 0);
	series->records = REPETITIONS;
	series->record = calloc(REPETITIONS, sizeof(*series->record));
	series->memory = (struct sb_memory){ .is_bound = true };
	series->residence = calloc(workers, sizeof(*series->residence));
	series->residence[0].kind[SB_MEMORY_ARENA] = (struct sb_page_count){ 12, 3 };
	series->residence[1].error = -ENOTSUP;
	for (uint32_t r = 0; r < REPETITIONS; r++)
		make_record(&series->record[r], r, &series->placement);
	CHECK_EQ(sb_result_add_fact(result, "machine", "cpu_model", "<script>alert('x')</script>"),
		 0);
	CHECK_EQ(sb_result_add_fact(result, "machine", "pus", "2"), 0);
	CHECK_EQ(sb_result_add_fact(result, "options", "membind", "local"), 0);
	return result;
}

static struct sb_result *make_result(const char *directory)
{
	return make_result_at(directory, places, WORKERS);
}

static void free_result(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

/* ---- statistics ---- */

static void spread_is_that_of_the_measured(void **state)
{
	struct sb_result *result = make_result(".");
	const struct sb_spread s = sb_series_spread(result->series, SB_METRIC_ns_per_op);
	const struct sb_spread none =
		sb_series_spread(result->series, SB_METRIC_send_to_step_ns_p50);

	(void)state;
	CHECK_EQ(s.n, 3);
	assert_true(s.median == 20 && s.min == 10 && s.max == 40);
	assert_true(s.q1 == 15 && s.q3 == 30);
	CHECK_EQ(none.n, 0);
	assert_true(isnan(none.median));
	CHECK_EQ(sb_series_steals(result->series, 0, 1).items, 3 * 7);
	CHECK_EQ(result->series->record[0].value[SB_METRIC_steps], 201);
	free_result(result);
}

/* Valid, suspect for one reason or several, invalid for one. */
static void verdicts_grow_worse(void **state)
{
	struct sb_record record = { .value = { 1 } };
	struct sb_record other = { .value = { 1 } };

	(void)state;
	sb_record_suspect(&record, "first");
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_string_equal(record.reason, "first");
	for (int i = 0; i < 100; i++)
		sb_record_suspect(&record, "no %03d", i);
	/* Whole reasons only, and each once. */
	CHECK_EQ(strlen(record.reason), 5 + (SB_REASON_BYTES - 1 - 5) / 8 * 8);
	for (int i = 0; i < 2; i++) {
		sb_record_suspect(&other, "first");
		sb_record_suspect(&other, "second");
	}
	assert_string_equal(other.reason, "first; second");
	assert_true(record.value[0] == 1 && sb_record_has_numbers(&record));
	sb_record_invalidate(&record, "wrong");
	CHECK_EQ(record.verdict, SB_INVALID);
	assert_string_equal(record.reason, "wrong");
	assert_true(isnan(record.value[0]) && !sb_record_has_numbers(&record));
	sb_record_suspect(&record, "too late");
	CHECK_EQ(record.verdict, SB_INVALID);
	assert_string_equal(record.reason, "wrong");
}

/* Only then: a cell of what was not measured is empty. */
static void a_workloads_own_times_are_metrics(void **state)
{
	struct sb_measured measured = { .rounds = 2, .operations = 10, .wall_ns = 4000 };
	struct sb_hist wakes = { .sum = 0 };
	struct sb_steal_counts steals = { 0 };
	struct sb_worker_reading worker = { .steals = &steals };
	const struct sb_placement placement = { .workers = 1 };
	struct sb_record record = {
		.worker = &worker,
		.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist)),
	};

	(void)state;
	sb_record_compute(&record, &measured, &placement);
	assert_true(isnan(record.value[SB_METRIC_submit_ns_per_op]));
	assert_true(isnan(record.value[SB_METRIC_wake_ns_p50]));
	assert_true(isnan(record.value[SB_METRIC_wake_long_step_ns_p50]));
	for (uint64_t ns = 1; ns <= 100; ns++)
		sb_hist_record(&wakes, ns);
	sb_hist_read(&wakes, &record.hist[SB_RECORD_wake]);
	sb_hist_record(&wakes, 5000);
	sb_hist_read(&wakes, &record.hist[SB_RECORD_wake_long_step]);
	measured.submit_ns = 300;
	sb_record_compute(&record, &measured, &placement);
	CHECK_EQ(record.value[SB_METRIC_submit_ns_per_op], 30);
	CHECK_EQ(record.value[SB_METRIC_wake_ns_p50], 50);
	CHECK_EQ(record.value[SB_METRIC_wake_ns_p90], 90);
	assert_true(isnan(record.value[SB_METRIC_wake_ns_p99]));
	CHECK_EQ(record.value[SB_METRIC_wake_timed], 100);
	CHECK_EQ(record.value[SB_METRIC_wake_long_step_ns_p50], 51);
	CHECK_EQ(record.value[SB_METRIC_wake_long_step_timed], 101);
	free(record.hist);
}

/* With one sample less there is none. */
static void percentiles_need_samples(void **state)
{
	static const struct {
		double q;
		uint64_t needs;
	} cases[] = { { 0.5, 20 }, { 0.9, 100 }, { 0.99, 1000 }, { 0.999, 10000 } };
	struct sb_measured measured = { .rounds = 1, .operations = 1, .wall_ns = 1 };
	struct sb_steal_counts steals = { 0 };
	struct sb_worker_reading worker = { .steals = &steals };
	const struct sb_placement placement = { .workers = 1 };
	struct sb_record record = {
		.worker = &worker,
		.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist)),
	};

	(void)state;
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_hist_counts *hist = &record.hist[SB_RECORD_wake];

		CHECK_EQ(sb_percentile_needs(cases[i].q), cases[i].needs);
		hist->count = hist->bucket[7] = cases[i].needs - 1;
		sb_record_compute(&record, &measured, &placement);
		assert_true(isnan(record.value[SB_METRIC_wake_ns_p50 + i]));
		hist->count = ++hist->bucket[7];
		sb_record_compute(&record, &measured, &placement);
		CHECK_EQ(record.value[SB_METRIC_wake_ns_p50 + i], 7);
	}
	free(record.hist);
}

/* At different rates: the row of the answer stands for them, or none. */
static void a_search_is_not_pooled(void **state)
{
	struct sb_result *result = make_result(".");
	struct sb_series *series = result->series;
	struct sb_spread ns;

	(void)state;
	CHECK_EQ(sb_series_measured(series), 3);
	series->answer = strdup("p99<1ms: found");
	series->answer_row = 4;
	ns = sb_series_spread(series, SB_METRIC_ns_per_op);
	CHECK_EQ(ns.n, 1);
	CHECK_EQ(ns.median, 40);
	CHECK_EQ(sb_series_measured(series), 1);
	CHECK_EQ(sb_series_steals(series, 0, 1).items, 7);
	series->answer_row = 0;
	CHECK_EQ(sb_series_spread(series, SB_METRIC_ns_per_op).n, 0);
	CHECK_EQ(sb_series_measured(series), 0);
	free_result(result);
}

/* ---- where the time went ---- */

/* 10 steps of which 5 took 50 ns each with the 10 of a look at the clock. */
static const struct sb_worker_reading busy_worker = {
	.recorded = true,
	.read_ns = 1000,
	.counter = { [SB_COUNTER_busy_ns] = 600,
		     [SB_COUNTER_steal_ns] = 50,
		     [SB_COUNTER_steal_failed_ns] = 100,
		     [SB_COUNTER_spin_ns] = 150,
		     [SB_COUNTER_blocked_ns] = 90,
		     [SB_COUNTER_steps] = 10,
		     [SB_COUNTER_timed_steps] = 5,
		     [SB_COUNTER_timed_step_ns] = 250,
		     [SB_COUNTER_clock_looks] = 5 },
};

static struct sb_shares shares_of(const struct sb_worker_reading *reading, uint32_t workers)
{
	struct sb_worker_reading worker[WORKERS] = { *reading, *reading };
	struct sb_record record = { .worker = worker };

	record.value[SB_METRIC_look_ns] = 10;
	return sb_record_shares(&record, 0, workers);
}

static void check_shares(const struct sb_shares *shares)
{
	static const double expected[] = {
		[SB_TIME_busy] = 60,	[SB_TIME_work] = 40,	     [SB_TIME_scheduler] = 15,
		[SB_TIME_steal_ok] = 5, [SB_TIME_steal_failed] = 10, [SB_TIME_spin] = 15,
		[SB_TIME_blocked] = 9,	[SB_TIME_harness] = 5,	     [SB_TIME_unaccounted] = 1,
	};

	for (int t = 0; t < SB_TIMES; t++)
		assert_true(fabs(shares->pct[t] - expected[t]) < 1e-9);
}

static void shares_are_of_all_the_time(void **state)
{
	struct sb_worker_reading reading = busy_worker;
	struct sb_shares shares = shares_of(&reading, 1);

	(void)state;
	check_shares(&shares);
	shares = shares_of(&reading, 2);
	check_shares(&shares);
	/* More than there is room for. */
	reading.counter[SB_COUNTER_steps] = 100;
	shares = shares_of(&reading, 1);
	assert_true(fabs(shares.pct[SB_TIME_work] - 55) < 1e-9);
	assert_true(fabs(shares.pct[SB_TIME_scheduler]) < 1e-9);
	/* No step was timed. */
	reading.counter[SB_COUNTER_timed_steps] = 0;
	shares = shares_of(&reading, 1);
	assert_true(isnan(shares.pct[SB_TIME_work]));
	assert_true(isnan(shares.pct[SB_TIME_scheduler]));
	assert_true(shares.pct[SB_TIME_busy] == 60);
	reading.recorded = false;
	shares = shares_of(&reading, 1);
	for (int t = 0; t < SB_TIMES; t++)
		assert_true(isnan(shares.pct[t]));
}

/* Of values 30 30 50 50 the variance is 400 / 3; 4 of 8 steps were timed. */
static void the_error_is_that_of_a_sample(void **state)
{
	struct sb_worker_reading worker = busy_worker;
	static struct sb_hist_counts hist[SB_RECORD_HISTS];
	struct sb_hist_counts *steps = &hist[SB_HIST_step_time];
	const struct sb_record record = { .worker = &worker, .hist = hist };

	(void)state;
	assert_true(isnan(sb_record_work_error(&record, 1)));
	steps->bucket[30] = steps->bucket[50] = 2;
	steps->count = 4;
	steps->sum = 160;
	worker.counter[SB_COUNTER_steps] = 8;
	assert_true(fabs(sb_record_work_error(&record, 1) - 0.8 * sqrt(400.0 / 3 / 4 / 2)) < 1e-9);
	/* All of them were. */
	worker.counter[SB_COUNTER_steps] = 4;
	assert_true(sb_record_work_error(&record, 1) == 0);
}

static void numbers_for_people(void **state)
{
	static const struct {
		double value;
		const char *unit;
		const char *text;
	} cases[] = {
		{ 0, "ns", "0 ns" },
		{ 12.34, "ns", "12.3 ns" },
		{ 999.4, "ns", "999 ns" },
		{ 999.9, "ns", "1.00 us" },
		{ 1500, "ns", "1.50 us" },
		{ 2.5e9, "ns", "2.50 s" },
		{ 23456789, "1/s", "23.5 M" },
		{ 7, "count", "7" },
		{ 60e6, "count", "60.0 M" },
		{ 0.00312, "count", "0.0031" },
		{ NAN, "ns", "-" },
	};
	char text[SB_HUMAN_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		sb_human(text, cases[i].value, cases[i].unit);
		assert_string_equal(text, cases[i].text);
	}
}

/* ---- CSV ---- */

/* Splits one RFC 4180 record in place; returns the number of fields. */
static int split(char *line, char **field, int max)
{
	int n = 0;

	for (char *c = line;; n++) {
		char *out = c;

		assert_true(n < max);
		field[n] = out;
		if (*c == '"') {
			for (c++; *c != '"' || *++c == '"';)
				*out++ = *c++;
		} else {
			out = c += strcspn(c, ",\n");
		}
		if (*c != ',') {
			*out = '\0';
			return n + 1;
		}
		*out = '\0';
		c++;
	}
}

/* Metrics grow in number; twice as many as there are leaves room for the rest. */
#define COLUMNS_MAX (2 * SB_METRICS)

static void runs_csv_reads_back(void **state)
{
	struct sb_result *result = make_result(".");
	const int columns = 17 + SB_METRICS; /* one is an option's */
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	char *head[COLUMNS_MAX] = { NULL };
	char *field[COLUMNS_MAX] = { NULL };
	static const char *const verdicts[REPETITIONS] = { "valid", "suspect", "invalid", "valid" };
	static const char *const reasons[REPETITIONS] = { "", "3 of the time; a <second>, too",
							  "wrong \"answer\", 1 < 2", "" };
	char expected[16];
	char *line;
	char *rest;

	(void)state;
	assert_int_equal(sb_write_runs_csv(result, out), 0);
	fclose(out);
	rest = text;
	line = strsep(&rest, "\n");
	assert_memory_equal(line,
			    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_"
			    "per_second,label,error_occurred,error_message,",
			    114);
	CHECK_EQ(split(line, head, COLUMNS_MAX), columns);
	assert_string_equal(head[15], "ns_per_op");
	assert_string_equal(head[columns - 2], "setting_membind");
	assert_string_equal(head[columns - 1], "topology");
	for (int r = 0; r < REPETITIONS; r++) {
		line = strsep(&rest, "\n");
		CHECK_EQ(split(line, field, COLUMNS_MAX), columns);
		assert_string_equal(field[0], "pingpong/workers:2");
		assert_string_equal(field[7], "pairs=1, \"x\"");
		assert_string_equal(field[13], verdicts[r]);
		assert_string_equal(field[14], reasons[r]);
		assert_string_equal(field[columns - 1], "native");
		if (r == INVALID) {
			assert_string_equal(field[2], "");
			assert_string_equal(field[8], "true");
			assert_string_equal(field[9], "wrong \"answer\", 1 < 2");
			assert_string_equal(field[15], "");
		} else {
			snprintf(expected, sizeof(expected), "%d", 10 * (r + 1));
			assert_string_equal(field[2], expected);
			assert_string_equal(field[8], "");
			assert_string_equal(field[9], "");
		}
	}
	assert_string_equal(rest, "");
	free(text);
	free_result(result);
}

/* ---- JSON ---- */

static json_t *write_and_parse(const struct sb_result *result,
			       int (*write)(const struct sb_result *, FILE *))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_error_t error;
	json_t *json;

	CHECK_EQ(write(result, out), 0);
	fclose(out);
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(json);
	free(text);
	return json;
}

static void json_is_a_google_benchmark_file(void **state)
{
	struct sb_result *result = make_result(".");
	json_t *json = write_and_parse(result, sb_write_json);
	json_t *rows = json_object_get(json, "benchmarks");
	json_t *context = json_object_get(json, "context");
	json_t *own = json_object_get(json, "sched_bench");
	json_t *invalid = json_object_get(own, "invalid");

	(void)state;
	CHECK_EQ(json_integer_value(json_object_get(context, "json_schema_version")), 1);
	CHECK_EQ(json_array_size(rows), REPETITIONS - 1);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		json_t *values = json_object_get(row, "sched_bench");

		assert_true(json_is_number(json_object_get(row, "real_time")));
		assert_true(json_is_number(json_object_get(row, "cpu_time")));
		assert_string_equal(json_string_value(json_object_get(row, "time_unit")), "ns");
		assert_string_equal(json_string_value(json_object_get(row, "name")),
				    "pingpong/workers:2");
		assert_true(json_is_number(json_object_get(values, "ready_to_running_ns_mean")));
		/* Of four samples there is no such percentile. */
		assert_null(json_object_get(values, "ready_to_running_ns_p99"));
		assert_string_equal(json_string_value(json_object_get(values, "valid")),
				    i == SUSPECT ? "suspect" : "valid");
		assert_int_equal(json_object_get(values, "reason") != NULL, i == SUSPECT);
		/* Not measured: absent, not 0. */
		assert_null(json_object_get(values, "send_to_step_ns_p99"));
	}
	CHECK_EQ(json_array_size(invalid), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(invalid, 0), "reason")),
		"wrong \"answer\", 1 < 2");
	assert_null(json_object_get(json_array_get(invalid, 0), "ns_per_op"));
	json_decref(json);
	json = write_and_parse(result, sb_write_meta);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json, "machine"), "cpu_model")),
		"<script>alert('x')</script>");
	json_decref(json);
	free_result(result);
}

/* By what was swept, and by what differs. */
static void names_tell_series_apart(void **state)
{
	static const struct {
		const char *workload, *setting, *text;
		bool swept;
	} all[] = { { "skynet", "batch", "16", true },
		    { "skynet", "leaves", "9", false },
		    { "yield", "leaves", "9", false },
		    { "yield", "leaves", "9", false },
		    { "hog", "workers", "1", true } };
	static const char *const expected[] = { "skynet/batch:16/workers:1",
						"skynet/leaves:9/workers:1", "yield/workers:1",
						"yield/workers:1", "hog/workers:1" };
	struct sb_result result = { .directory = NULL };
	char name[SB_NAME_BYTES];
	char longest[2 * SB_NAME_BYTES];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	result.all_series = SB_ARRAY_SIZE(all);
	result.series = calloc(result.all_series, sizeof(*result.series));
	for (uint32_t i = 0; i < result.all_series; i++) {
		struct sb_setting setting = {
			.name = (char *)(uintptr_t)all[i].setting,
			.text = (char *)(uintptr_t)all[i].text,
			.swept = all[i].swept,
		};

		result.series[i].workload = strdup(all[i].workload);
		result.series[i].placement.workers = 1;
		CHECK_EQ(sb_series_add_setting(&result.series[i], &setting), 0);
	}
	for (uint32_t i = 0; i < result.all_series; i++) {
		sb_series_name(name, &result, &result.series[i]);
		assert_string_equal(name, expected[i]);
	}
	free(result.series[0].workload);
	result.series[0].workload = strdup(longest);
	sb_series_name(name, &result, &result.series[0]);
	CHECK_EQ(strlen(name), SB_NAME_BYTES - 1);
	sb_result_free(&result);
}

/* ---- files ---- */

static char *read_file(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	char *text = calloc(1, 1 << 20);
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
	fclose(in);
	free(path);
	return text;
}

static void remove_tree(const char *directory)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	CHECK_EQ(system(command), 0);
}

static void directory_is_complete(void **state)
{
	static const char *const names[] = {
		"runs.csv",  "workers.csv", "yields.csv", "steals.csv",
		"spins.csv", "latency.csv", "memory.csv", "report.html"
	};
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	const char *failed;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	CHECK_EQ(sb_write_csv_files(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++)
		free(read_file(directory, names[i]));
	text = read_file(directory, "report.html");
	assert_null(strstr(text, "<script>alert"));
	assert_non_null(strstr(text, "&lt;script&gt;"));
	assert_non_null(strstr(text, "1 &lt; 2"));
	assert_non_null(strstr(text, ">3 of the time; a &lt;second&gt;, too</td>"));
	free(text);
	text = read_file(directory, "yields.csv");
	assert_non_null(strstr(text, ",0,0,7,,20,native\n"));
	assert_non_null(strstr(text, ",0,0,248,sleep,5,native\n"));
	assert_non_null(strstr(text, ",0,1,248,sleep,6,native\n"));
	assert_non_null(strstr(text, ",0,1,256+,,300,native\n"));
	assert_null(strstr(text, ",send,"));
	free(text);
	text = read_file(directory, "steals.csv");
	assert_non_null(strstr(text, ",0,1,cache,10,3,7,2,5,native\n"));
	free(text);
	/* A machine without packages: an empty cell, not -1. */
	text = read_file(directory, "workers.csv");
	assert_non_null(strstr(text, ",1,5,1,1,0,0,,101,"));
	free(text);
	/* Of the second worker it is not known where its memory lies. */
	text = read_file(directory, "memory.csv");
	assert_non_null(strstr(text, ",0,0,local,arena,12,3,native\n"));
	assert_non_null(strstr(text, ",1,0,local,arena,,,native\n"));
	free(text);
	free_result(result);
	remove_tree(directory);
}

/* The text of a summary so wide, for the caller to free. */
static char *summarize_wide(const struct sb_result *result, int columns)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	sb_write_summary(result, out, columns, columns);
	fclose(out);
	return text;
}

static char *summarize(const struct sb_result *result)
{
	return summarize_wide(result, 0);
}

/* How wide it is without colours, which are taken out. */
static int width_of(char *text)
{
	int widest = 0;
	int width = 0;
	char *out = text;

	for (const char *c = text; *c; c++) {
		if (*c == '\033') {
			c += strcspn(c, "m");
			continue;
		}
		width = *c == '\n' ? 0 : width + 1;
		widest = width > widest ? width : widest;
		*out++ = *c;
	}
	*out = '\0';
	return widest;
}

static void take_blanks_out(char *text)
{
	char *out = text;

	for (const char *c = text; *c; c++) {
		if (*c != ' ' && *c != '\n')
			*out++ = *c;
	}
	*out = '\0';
}

/* Nothing is lost: each title is there, and long lines whole. */
static void a_summary_fits_its_terminal(void **state)
{
	static const char *const parts[] = {
		"op/s",	 "send99", "wakes",
		"valid", "1+2/4",  "repetition3:suspect(aclockthatwassteppedbyalotwhileitran)",
	};
	struct sb_result *result = make_result(".");

	(void)state;
	sb_record_suspect(&result->series->record[3],
			  "a clock that was stepped by a lot while it ran");
	for (int columns = 40; columns < 150; columns++) {
		char *text = summarize_wide(result, columns);

		assert_in_range(width_of(text), columns / 2, columns);
		take_blanks_out(text);
		for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++) {
			if (!strstr(text, parts[i]))
				fail_msg("%d: %s is not in %s", columns, parts[i], text);
		}
		free(text);
	}
	free_result(result);
}

static void binding_is_what_became_of_it(void **state)
{
	struct sb_result *result = make_result(".");
	struct sb_series *series = result->series;
	char *text;

	(void)state;
	assert_string_equal(sb_series_binding(series, result), "local");
	series->memory.bind_error = -EPERM;
	assert_string_equal(sb_series_binding(series, result), "refused");
	result->series->placement.nodes = 2;
	text = summarize(result);
	assert_non_null(strstr(text, "pingpong: 80.0 % of the workers' memory is on their own "
				     "nodes (binding: refused)\n"));
	free(text);
	series->memory = (struct sb_memory){ .is_bound = false };
	assert_string_equal(sb_series_binding(series, result), "none");
	free_result(result);
}

/* With times as long as may be, and far apart. */
static void no_time_is_cut_off(void **state)
{
	static const struct {
		double ns[3];
		const char *text;
	} cases[] = {
		{ { 50012165.3, 50013733.1, 50016001 }, "  50.01 ms [50.01 .. 50.02]  " },
		{ { 163.14, 176.3, 179.3 }, "  176.3 ns [163.1 .. 179.3]  " },
		{ { 1, 999600, 36e12 }, "  1.00 ms [0.00 .. 36000000.00]  " },
		{ { 3.6e12, 3.6e12, 3.6e12 }, " 3600.0 s [3600.0 .. 3600.0]  " },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_result *result = make_result(".");
		struct sb_record *record = result->series->record;
		char *text;

		for (int r = 0; r < 3; r++) {
			record[r].verdict = SB_VALID;
			record[r].value[SB_METRIC_ns_per_op] = cases[i].ns[r];
		}
		record[3].verdict = SB_INVALID;
		text = summarize(result);
		if (!strstr(text, cases[i].text))
			fail_msg("'%s' is not in %s", cases[i].text, text);
		free(text);
		free_result(result);
	}
}

/* Each that is not valid is named, but not a screen full of suspects. */
static void summary_names_doubts(void **state)
{
	struct sb_result *result = make_result(".");
	struct sb_series *series = result->series;
	char *text = summarize(result);

	(void)state;
	assert_non_null(strstr(text, "  2+1/4  "));
	assert_non_null(
		strstr(text, "pingpong, repetition 1: suspect (3 of the time; a <second>, too)\n"));
	assert_non_null(strstr(text, "pingpong, repetition 2: invalid (wrong "));
	assert_null(strstr(text, "more"));
	free(text);
	for (int r = 0; r < REPETITIONS; r++)
		series->record[r].verdict = SB_SUSPECT;
	text = summarize(result);
	assert_non_null(strstr(text, "pingpong, repetition 2: suspect"));
	assert_null(strstr(text, "repetition 3"));
	assert_non_null(strstr(text, "pingpong: 1 more are suspect\n"));
	free(text);
	free_result(result);
}

static const struct sb_measured a_second = {
	.rounds = 1, .operations = 1000, .wall_ns = 500000000, .elapsed_ns = 1000000000, .cpu_ns = 1
};

/* per operation, per second, success and items; NaN: an empty cell */
static void check_rates(const struct sb_record *record, enum sb_metric_id first,
			const double expected[4])
{
	for (int i = 0; i < 4; i++) {
		const double value = record->value[first + i];

		if (isnan(expected[i]) ? !isnan(value) : fabs(value - expected[i]) > 1e-9)
			fail_msg("%s: %g, expected %g", sb_metric[first + i].name, value,
				 expected[i]);
	}
}

/*
 * Two on a core, one that shares their cache, one on their node that steals nothing,
 * one on another node whom nobody tries. A distance without a pair is not there, and
 * what has not been tried has no success.
 */
static void steals_have_rates_by_distance(void **state)
{
	struct sb_place place[] = { { 0, 0, 0, 0, 0, 0 },
				    { 1, 1, 0, 0, 0, 0 },
				    { 2, 2, 1, 0, 0, 0 },
				    { 3, 3, 2, 1, 0, 0 },
				    { 4, 4, 3, 2, 1, 1 } };
	struct sb_placement placement = { .workers = 5, .place = place };
	struct sb_worker_reading worker[5] = { { .recorded = true } };
	struct sb_steal_counts steals[5][5] = { { { 0 } } };
	struct sb_record record = { .worker = worker };

	(void)state;
	record.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist));
	for (int w = 0; w < 5; w++)
		worker[w].steals = steals[w];
	steals[0][1] = (struct sb_steal_counts){ 10, 4, 12, 1, 5 };
	steals[1][0] = (struct sb_steal_counts){ 10, 6, 8, 1, 3 };
	steals[2][0] = (struct sb_steal_counts){ 80, 20, 100, 10, 50 };
	steals[3][0] = (struct sb_steal_counts){ 100, 0, 0, 0, 100 };
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ 0.03, 60, 15, 4 });
	check_rates(&record, SB_METRIC_steals_smt_per_op, (double[]){ 0.01, 20, 50, 2 });
	check_rates(&record, SB_METRIC_steals_cache_per_op, (double[]){ 0.02, 40, 25, 5 });
	check_rates(&record, SB_METRIC_steals_node_per_op, (double[]){ 0, 0, 0, NAN });
	check_rates(&record, SB_METRIC_steals_remote_per_op, (double[]){ 0, 0, NAN, NAN });
	placement.workers = 1;
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ NAN, NAN, NAN, NAN });
	check_rates(&record, SB_METRIC_steals_smt_per_op, (double[]){ NAN, NAN, NAN, NAN });
	placement.workers = 5;
	worker[0].recorded = false;
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ NAN, NAN, NAN, NAN });
	free(record.hist);
}

static void parks_and_wakes_are_rates(void **state)
{
	struct sb_place place[] = { { 0 }, { 1, 1, 0, 0, 0, 0 } };
	struct sb_placement placement = { .workers = 2, .place = place };
	struct sb_worker_reading worker[2] = { { .steals = NULL } };
	struct sb_record record = { .worker = worker };

	(void)state;
	record.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist));
	worker[0].counter[SB_COUNTER_blocks] = 5;
	worker[1].counter[SB_COUNTER_blocks] = 15;
	worker[1].counter[SB_COUNTER_wakes] = 4;
	sb_record_compute(&record, &a_second, &placement);
	assert_true(fabs(record.value[SB_METRIC_parks_per_op] - 0.02) < 1e-9);
	assert_true(fabs(record.value[SB_METRIC_wakes_per_op] - 0.004) < 1e-9);
	free(record.hist);
}

/* Each built-in command, and all others together. */
static void yields_are_metrics(void **state)
{
	struct sb_result *result = make_result(".");
	const double *value = result->series->record[0].value;
	struct sb_worker_reading later = { .steals = NULL };
	struct sb_worker_reading before = { .steals = NULL };

	(void)state;
	CHECK_EQ(value[SB_METRIC_yields_sleep], 11);
	CHECK_EQ(value[SB_METRIC_yields_timer_start], 0);
	CHECK_EQ(value[SB_METRIC_yields_other], 320);
	later.yields[SB_COMMAND_ARRAY] = 9;
	before.yields[SB_COMMAND_ARRAY] = 4;
	sb_reading_subtract(&later, &before, 0);
	CHECK_EQ(later.yields[SB_COMMAND_ARRAY], 5);
	free_result(result);
}

/* Two on a core, one on another node: means of the three measured repetitions. */
static void steals_are_told_by_distance(void **state)
{
	struct sb_place three[] = { { 0, 0, 0, 0, 0, 0 },
				    { 1, 1, 0, 0, 0, 0 },
				    { 2, 2, 1, 1, 1, 1 } };
	struct sb_distance_steals steals[SB_DISTANCES];
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result_at(directory, three, 3);
	result->series->record[0].worker[2].steals[0] =
		(struct sb_steal_counts){ 6000, 30, 90, 0, 0 };
	CHECK_EQ(sb_series_distances(result->series, steals), 2);
	CHECK_EQ(steals[SB_DISTANCE_SMT].pairs, 2);
	CHECK_EQ(steals[SB_DISTANCE_REMOTE].pairs, 4);
	CHECK_EQ(steals[SB_DISTANCE_NODE].pairs, 0);
	assert_true(steals[SB_DISTANCE_SMT].items == 7);
	assert_true(steals[SB_DISTANCE_REMOTE].successes == 10);
	text = summarize(result);
	assert_non_null(strstr(text, "\nworkload   distance    tried   steals   stolen\n"
				     "pingpong   smt            10        3        7\n"
				     "pingpong   remote     2.00 k       10       30\n\n"));
	free(text);
	CHECK_EQ(sb_write_report(result), 0);
	text = read_file(directory, "report.html");
	assert_non_null(strstr(text, ">smt</td><td class=\"n\" data-value=\"2\">2</td>"
				     "<td class=\"n\" data-value=\"10\">10</td>"));
	assert_non_null(strstr(text, ">remote</td><td class=\"n\" data-value=\"4\">4</td>"
				     "<td class=\"n\" data-value=\"2000\">2.00 k</td>"));
	free(text);
	for (uint32_t r = 0; r < REPETITIONS; r++)
		sb_record_invalidate(&result->series->record[r], "no");
	CHECK_EQ(sb_series_distances(result->series, steals), 0);
	free_result(result);
	remove_tree(directory);
}

/* Where all are equally far, there is nothing to tell. */
static void one_distance_is_not_told(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	text = summarize(result);
	assert_null(strstr(text, "distance"));
	free(text);
	CHECK_EQ(sb_write_report(result), 0);
	text = read_file(directory, "report.html");
	assert_null(strstr(text, "distance"));
	free(text);
	free_result(result);
	remove_tree(directory);
}

/* No file may be taken for a measurement of that machine. */
static void every_output_says_emulated(void **state)
{
	/* Those that have rows here. */
	static const char *const names[] = { "runs.csv",   "workers.csv", "yields.csv",
					     "steals.csv", "latency.csv", "memory.csv",
					     "report.html" };
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	const char *failed;
	char *text;
	json_t *json;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	result->series->emulated = true;
	CHECK_EQ(sb_write_csv_files(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		text = read_file(directory, names[i]);
		assert_non_null(strstr(text, "emulated"));
		assert_null(strstr(text, "native"));
		free(text);
	}
	text = summarize(result);
	assert_non_null(strstr(text, "\nemulated: profile"));
	free(text);
	json = write_and_parse(result, sb_write_json);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json, "context"), "topology")),
		"emulated");
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(json, "benchmarks"), 0), "name")),
		"pingpong/workers:2/emulated");
	json_decref(json);
	free_result(result);
	remove_tree(directory);
}

static void files_are_whole_or_absent(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_file file;
	char *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = sb_path_join(directory, "x");
	CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
	fputs("half", file.stream);
	fflush(file.stream);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(sb_file_commit(&file), 0);
	CHECK_EQ(access(path, F_OK), 0);
	remove_tree(directory);
	CHECK_EQ(sb_file_begin(&file, directory, "x"), -ENOENT);
	CHECK_EQ(sb_directory_make("/dev/null/x"), -ENOTDIR);
	free(path);
}

/* Where everybody writes, somebody may have put a link where the temporary file
 * is to be. */
static void links_are_not_followed(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	char link[80];
	struct sb_file file;
	char *theirs;

	(void)state;
	assert_non_null(mkdtemp(directory));
	theirs = sb_path_join(directory, "theirs");
	snprintf(link, sizeof(link), "%s/x.tmp.%d.0", directory, getpid());
	CHECK_EQ(symlink(theirs, link), 0);
	/* The second one replaces the first, which takes a temporary name. */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
		CHECK_EQ(sb_file_commit(&file), 0);
	}
	CHECK_EQ(access(theirs, F_OK), -1);
	free(theirs);
	remove_tree(directory);
}

static void put_empty(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fclose(out);
	free(path);
}

static uint32_t count_entries(const char *path)
{
	DIR *directory = opendir(path);
	uint32_t n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n - 2;
}

/* A process that is killed leaves its stage, which the next one removes; files of
 * others stay, whatever their names, and so does a stage in use. */
static void only_own_leftovers_are_removed(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_stage stage;
	pid_t child;
	char *theirs;

	(void)state;
	assert_non_null(mkdtemp(directory));
	put_empty(directory, "notes.tmp.20240131");
	theirs = sb_path_join(directory, "stage.tmp.99999");
	CHECK_EQ(mkdir(theirs, 0777), 0);
	put_empty(theirs, "x");
	child = fork();
	if (!child)
		_exit(sb_stage_begin(&stage, directory));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK_EQ(count_entries(directory), 3);
	CHECK_EQ(sb_stage_begin(&stage, directory), 0);
	CHECK_EQ(count_entries(directory), 3);
	sb_stage_clear_leftovers(directory);
	CHECK_EQ(count_entries(directory), 3);
	sb_stage_abandon(&stage);
	CHECK_EQ(count_entries(directory), 2);
	CHECK_EQ(count_entries(theirs), 1);
	free(theirs);
	remove_tree(directory);
}

static void bound_file_size(rlim_t bytes)
{
	const struct rlimit bound = { bytes, RLIM_INFINITY };

	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &bound), 0);
}

/* However much is written at a time: what the stream keeps of it and what not. */
static void a_full_disk_is_an_error(void **state)
{
	static const char text[100000];
	static const size_t at_a_time[] = { 1, 4096, 5000, sizeof(text) };
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_file file;
	char *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = sb_path_join(directory, "x");
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < SB_ARRAY_SIZE(at_a_time); i++) {
		bound_file_size(4096);
		CHECK_EQ(sb_file_begin(&file, directory, "x"), 0);
		for (size_t n = 0; n < sizeof(text); n += at_a_time[i])
			(void)fwrite(text, 1, at_a_time[i], file.stream);
		CHECK_EQ(sb_file_commit(&file), -EFBIG);
		bound_file_size(RLIM_INFINITY);
		CHECK_EQ(access(path, F_OK), -1);
	}
	free(path);
	remove_tree(directory);
}

static void every_metric_is_described(void **state)
{
	(void)state;
	for (int i = 0; i < SB_METRICS; i++) {
		assert_true(strlen(sb_metric[i].doc) > 5);
		assert_true(strlen(sb_metric[i].unit) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(sb_metric[i].name, sb_metric[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_is_that_of_the_measured),
		cmocka_unit_test(verdicts_grow_worse),
		cmocka_unit_test(a_workloads_own_times_are_metrics),
		cmocka_unit_test(percentiles_need_samples),
		cmocka_unit_test(a_search_is_not_pooled),
		cmocka_unit_test(no_time_is_cut_off),
		cmocka_unit_test(shares_are_of_all_the_time),
		cmocka_unit_test(the_error_is_that_of_a_sample),
		cmocka_unit_test(numbers_for_people),
		cmocka_unit_test(runs_csv_reads_back),
		cmocka_unit_test(json_is_a_google_benchmark_file),
		cmocka_unit_test(names_tell_series_apart),
		cmocka_unit_test(directory_is_complete),
		cmocka_unit_test(binding_is_what_became_of_it),
		cmocka_unit_test(a_summary_fits_its_terminal),
		cmocka_unit_test(summary_names_doubts),
		cmocka_unit_test(steals_have_rates_by_distance),
		cmocka_unit_test(parks_and_wakes_are_rates),
		cmocka_unit_test(yields_are_metrics),
		cmocka_unit_test(steals_are_told_by_distance),
		cmocka_unit_test(one_distance_is_not_told),
		cmocka_unit_test(every_output_says_emulated),
		cmocka_unit_test(files_are_whole_or_absent),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(only_own_leftovers_are_removed),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(every_metric_is_described),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
