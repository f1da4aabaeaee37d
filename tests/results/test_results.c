/*
 * The result files.
 *
 * Property: names, columns and keys are those of the tables; what was not
 *   measured is empty; text that needs it is quoted or escaped; files are whole
 *   or absent.
 * Method: a result made up by hand, written, and read back with jansson and a
 *   small CSV reader.
 */
#include "results/record/validity.h"
#include "tests/results/results.h"

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

/* Nothing happened at all: no value is infinite, and the row is invalid. */
static void nothing_is_divided_by_zero(void **state)
{
	const struct sb_conditions conditions = { .alone = true };
	struct sb_requests requests = { .is_open = true };
	struct sb_measured measured = {
		.cpu_ns = 5, .submit_ns = 5, .stopped_ns = 5, .requests = &requests
	};
	struct sb_steal_counts steals = { 0 };
	struct sb_worker_reading worker = { .steals = &steals, .recorded = true };
	struct sb_place place = { .node = 0 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	struct sb_record record = {
		.worker = &worker,
		.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist)),
	};

	(void)state;
	requests.hist = &record.hist[SB_RECORD_REQUEST];
	sb_record_compute(&record, &measured, &placement);
	for (enum sb_metric_id i = 0; i < sb_metrics(); i++) {
		if (isinf(record.value[i]))
			fail_msg("%s is infinite", sb_metric[i].name);
	}
	sb_judge_record(&record, &conditions);
	CHECK_EQ(record.verdict, SB_INVALID);
	assert_string_equal(record.reason,
			    "no operation was measured: operations is 0, expected more than 0");
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
		{ INFINITY, "ns", "-" },
		{ -INFINITY, "count", "-" },
	};
	char text[SB_HUMAN_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		sb_human(text, cases[i].value, cases[i].unit);
		assert_string_equal(text, cases[i].text);
	}
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

static void every_metric_is_described(void **state)
{
	(void)state;
	for (enum sb_metric_id i = 0; i < sb_metrics(); i++) {
		assert_true(strlen(sb_metric[i].doc) > 5);
		assert_true(strlen(sb_metric[i].unit) > 0);
		for (enum sb_metric_id j = 0; j < i; j++)
			assert_string_not_equal(sb_metric[i].name, sb_metric[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_is_that_of_the_measured),
		cmocka_unit_test(verdicts_grow_worse),
		cmocka_unit_test(a_workloads_own_times_are_metrics),
		cmocka_unit_test(nothing_is_divided_by_zero),
		cmocka_unit_test(percentiles_need_samples),
		cmocka_unit_test(a_search_is_not_pooled),
		cmocka_unit_test(no_time_is_cut_off),
		cmocka_unit_test(shares_are_of_all_the_time),
		cmocka_unit_test(the_error_is_that_of_a_sample),
		cmocka_unit_test(numbers_for_people),
		cmocka_unit_test(every_metric_is_described),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
