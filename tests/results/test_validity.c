/*
 * Verdicts.
 *
 * Property: a rule speaks at its threshold and not below, only with evidence,
 *   only in the runs that it is for, and never of what was not measured; trends
 *   and slow beginnings are found in made-up repetitions, and noise is none;
 *   an interval of the median covers it as often as it says.
 * Method: made-up records; probabilities against counting all orders, and
 *   against a simulation from the seed.
 */
#include <math.h>
#include <string.h>

#include "results/record/series.h"
#include "results/record/validity.h"
#include "tests/test.h"

static const struct sb_conditions quiet = { .alone = true };
static const struct sb_conditions both = { .alone = true, .polls = true };

static struct sb_record blank(void)
{
	struct sb_record record = { .verdict = SB_VALID };

	for (int m = 0; m < SB_METRICS; m++)
		record.value[m] = NAN;
	return record;
}

static enum sb_verdict judge_two(const struct sb_rule *rule, double value, double evidence,
				 const struct sb_conditions *conditions)
{
	struct sb_record record = blank();

	record.value[rule->evidence] = evidence;
	record.value[rule->metric] = value;
	sb_judge_record(&record, conditions);
	return record.verdict;
}

static void nothing_known_nothing_wrong(void **state)
{
	struct sb_record record = blank();

	(void)state;
	sb_judge_record(&record, &both);
	CHECK_EQ(record.verdict, SB_VALID);
	assert_string_equal(record.reason, "");
}

/* Above the threshold by a little, and at it. */
static void each_rule_has_its_threshold(void **state)
{
	(void)state;
	for (const struct sb_rule *rule = sb_rules; rule->name; rule++) {
		const bool same = rule->evidence == rule->metric;
		const double above = fmax(rule->suspect * 1.001, same ? rule->least : 0);

		/* These are about the same metrics as the rules before them. */
		if (strstr(rule->name, "-heavy") || rule->applies == SB_RULE_MORE)
			continue;
		CHECK_EQ(judge_two(rule, above + same, rule->least + same, &both), SB_SUSPECT);
		CHECK_EQ(judge_two(rule, rule->suspect, rule->least * !same, &both), SB_VALID);
		if (!same)
			CHECK_EQ(judge_two(rule, above, rule->least * 0.99, &both), SB_VALID);
	}
}

static void steal_grows_worse(void **state)
{
	static const struct {
		double pct, ms;
		enum sb_verdict verdict;
	} cases[] = {
		{ 0.5, 100, SB_VALID },	 { 1.5, 10, SB_VALID },	  { 1.5, 30, SB_SUSPECT },
		{ 50, 400, SB_SUSPECT }, { 20, 500, SB_SUSPECT }, { 20.1, 500, SB_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		struct sb_record record = blank();

		record.value[SB_METRIC_host_steal_pct] = cases[i].pct;
		record.value[SB_METRIC_host_steal_ms] = cases[i].ms;
		sb_judge_record(&record, &quiet);
		CHECK_EQ(record.verdict, cases[i].verdict);
		assert_int_equal(!*record.reason, record.verdict == SB_VALID);
	}
}

static const char *reason_of(struct sb_record *record, const struct sb_conditions *conditions)
{
	record->verdict = SB_VALID;
	record->reason[0] = '\0';
	sb_judge_record(record, conditions);
	return record->reason;
}

#define OTHERS                                                                                     \
	"other programs took the CPUs from the workers: run_delay_other_pct is 2.50, more than 2"

static void rules_are_for_their_runs(void **state)
{
	static const struct sb_conditions shares = { .alone = true, .shares = true };
	struct sb_record record = blank();

	(void)state;
	record.value[SB_METRIC_invol_ctxsw] = 1000;
	record.value[SB_METRIC_run_delay_other_pct] = 2.5;
	record.value[SB_METRIC_syscalls] = 3;
	assert_string_equal(reason_of(&record, &(struct sb_conditions){ .alone = false }), "");
	assert_string_equal(reason_of(&record, &(struct sb_conditions){ .polls = true }),
			    "polling workers made system calls: syscalls is 3, more than 0");
	assert_string_equal(reason_of(&record, &quiet), OTHERS);
	/* A layout in which threads that submit share the workers' CPUs is not suspect for that. */
	record.value[SB_METRIC_run_delay_own_pct] = 30;
	assert_string_equal(reason_of(&record, &shares), OTHERS);
	assert_non_null(strstr(reason_of(&record, &quiet), "; sched-bench's own threads took"));
	/* A worker that waits after a wake has not lost its CPU. */
	record.value[SB_METRIC_invol_ctxsw] = 4;
	assert_string_equal(reason_of(&record, &quiet), "");
	sb_judge_record(&record, &(struct sb_conditions){ .is_emulated = true });
	sb_record_suspect(&record, "a trend");
	CHECK_EQ(record.verdict, SB_ONLY_EMULATED);
}

/* What has a rule of its own is not blamed on something else as well. */
static void the_cause_is_blamed(void **state)
{
	struct sb_record record = blank();

	(void)state;
	record.value[SB_METRIC_invol_ctxsw] = 1000;
	record.value[SB_METRIC_run_delay_other_pct] = 70;
	record.value[SB_METRIC_throttled_pct] = 69;
	record.value[SB_METRIC_throttled_ms] = 690;
	sb_judge_record(&record, &quiet);
	CHECK_EQ(record.verdict, SB_INVALID);
	assert_string_equal(record.reason,
			    "a cgroup's CPU quota was used up: throttled_pct is 69, more than 20");
	record = blank();
	record.value[SB_METRIC_off_cpu_pct] = 1.1;
	record.value[SB_METRIC_off_cpu_ms] = 1;
	record.value[SB_METRIC_host_steal_pct] = 0;
	sb_judge_record(&record, &quiet);
	CHECK_EQ(record.verdict, SB_SUSPECT);
	assert_non_null(strstr(record.reason, "nor parked: off_cpu_pct"));
	record = blank();
	record.value[SB_METRIC_off_cpu_pct] = 12;
	record.value[SB_METRIC_off_cpu_ms] = 30;
	record.value[SB_METRIC_host_steal_pct] = 11;
	record.value[SB_METRIC_host_steal_ms] = 0; /* it is not judged here */
	sb_judge_record(&record, &quiet);
	CHECK_EQ(record.verdict, SB_VALID);
	/* Too short to tell it from a wait for a CPU that still goes on. */
	record = blank();
	record.value[SB_METRIC_off_cpu_pct] = 40;
	record.value[SB_METRIC_off_cpu_ms] = 0.9;
	sb_judge_record(&record, &quiet);
	CHECK_EQ(record.verdict, SB_VALID);
}

/* Each part of a worker's time, and what is left: 2 s of 3 are a stop, a tenth
 * of another is in nothing. */
static void time_off_the_cpu_is_what_is_left(void **state)
{
	static const struct sb_measured measured = {
		.rounds = 1,
		.operations = 1,
		.wall_ns = 3000000000,
		.elapsed_ns = 3000000000,
		.stopped_ns = 2000000000,
	};
	const struct sb_placement placement = { .workers = 1 };
	struct sb_steal_counts steals = { 0 };
	struct sb_worker_reading worker = {
		.steals = &steals,
		.recorded = true,
		/* The reader waited for a CPU before it has read the system's counts. */
		.read_ns = 3500000000,
		.counter[SB_COUNTER_blocked_ns] = 300000000,
	};
	struct sb_os_counts os = { .value[SB_OS_thread_cpu_ms] = 400,
				   .value[SB_OS_run_delay_ms] = 200,
				   .window_ms = 3000 };
	struct sb_record record = { .worker = &worker, .os = &os };
	struct sb_measured with = measured;

	(void)state;
	record.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist));
	sb_record_compute(&record, &with, &placement);
	assert_true(fabs(record.value[SB_METRIC_off_cpu_ms] - 100) < 1e-6);
	assert_true(fabs(record.value[SB_METRIC_stopped_ms] - 2000) < 1e-6);
	sb_judge_record(&record, &quiet);
	CHECK_EQ(record.verdict, SB_INVALID);
	assert_non_null(strstr(record.reason, "the process was stopped"));
	/* The quota's waits are no stops. */
	with.machine.throttled_ms = 2000;
	sb_record_compute(&record, &with, &placement);
	assert_true(record.value[SB_METRIC_stopped_ms] == 0);
	/* Without the account nothing is known of what was parked. */
	worker.recorded = false;
	sb_record_compute(&record, &with, &placement);
	assert_true(isnan(record.value[SB_METRIC_off_cpu_ms]));
	free(record.hist);
}

/* ---- trends ---- */

/* The next order in the dictionary; false: this was the last. */
static bool next_order(double *value, uint32_t n)
{
	uint32_t i = n - 1;
	uint32_t j = n - 1;
	double t;

	while (i && value[i - 1] > value[i])
		i--;
	if (!i)
		return false;
	while (value[j] < value[i - 1])
		j--;
	t = value[j];
	value[j] = value[i - 1];
	value[i - 1] = t;
	for (j = n - 1; i < j; i++, j--) {
		t = value[i];
		value[i] = value[j];
		value[j] = t;
	}
	return true;
}

/* Orders of n values, sorted at first, whose score is that far from 0. */
static uint32_t count_orders(double *value, uint32_t n, int score, uint32_t *all)
{
	uint32_t found = 0;

	do {
		int is = 0;

		for (uint32_t j = 1; j < n; j++) {
			for (uint32_t i = 0; i < j; i++)
				is += value[j] > value[i] ? 1 : -1;
		}
		++*all;
		found += abs(is) >= score;
	} while (next_order(value, n));
	return found;
}

static void trend_is_exact(void **state)
{
	const double rising[] = { 1, 2, 3, 4, 5, 6, 7 };
	const double mixed[] = { 3, 1, 2, 5, 4, 7, 6 };
	double value[] = { 1, 2, 3, 4, 5, 6, 7 };
	uint32_t all = 0;
	uint32_t found;
	struct sb_trend trend;

	(void)state;
	trend = sb_trend_of(rising, 7);
	assert_true(fabs(trend.p - 2.0 / 5040) < 1e-12);
	assert_true(trend.drift == 6);
	/* 4 pairs of 21 fall. */
	trend = sb_trend_of(mixed, 7);
	found = count_orders(value, 7, 13, &all);
	CHECK_EQ(all, 5040);
	assert_true(fabs(trend.p - (double)found / all) < 1e-12);
	assert_true(sb_trend_of(rising, 2).p == 1);
}

/* Where both are known, the normal distribution is close to what is exact; and
 * all equal is no trend. */
static void trend_is_close_with_many(void **state)
{
	double value[SB_TREND_EXACT + 1];
	double exact;
	double normal;

	(void)state;
	for (int i = 0; i < SB_TREND_EXACT; i++)
		value[i] = i % 3 * 100 + i;
	exact = sb_trend_of(value, SB_TREND_EXACT).p;
	value[SB_TREND_EXACT] = 120; /* about the middle */
	normal = sb_trend_of(value, SB_TREND_EXACT + 1).p;
	assert_true(exact > 1e-3 && exact < 1 && normal > 0.3 * exact && normal < 3 * exact);
	for (int i = 0; i <= SB_TREND_EXACT; i++)
		value[i] = 5;
	assert_true(sb_trend_of(value, SB_TREND_EXACT + 1).p == 1);
	assert_true(sb_trend_of(value, 10).drift == 0);
}

/* ---- series ---- */

enum { MANY = 12 };

static struct sb_series make_series(struct sb_record *record, const double *cost, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++) {
		record[r] = blank();
		record[r].repetition = r;
		record[r].value[SB_METRIC_ns_per_op] = cost[r];
	}
	return (struct sb_series){ .records = n, .record = record };
}

static const double noise[MANY] = { 100, 103, 99, 101, 102, 98, 101, 100, 103, 99, 100, 102 };

static void noise_is_valid(void **state)
{
	struct sb_record record[MANY];
	struct sb_series series = make_series(record, noise, MANY);

	(void)state;
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_VALID), MANY);
}

static void a_slow_beginning_is_suspect(void **state)
{
	struct sb_record record[MANY];
	struct sb_series series;
	double cost[MANY];

	(void)state;
	memcpy(cost, noise, sizeof(cost));
	cost[0] = 300;
	cost[1] = 180;
	cost[3] = 180; /* not the beginning any more */
	series = make_series(record, cost, MANY);
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_SUSPECT), 2);
	CHECK_EQ(record[0].verdict, SB_SUSPECT);
	CHECK_EQ(record[1].verdict, SB_SUSPECT);
	assert_non_null(strstr(record[0].reason, "warm-up"));
	/* Invalid rows are left out, and stay what they are. */
	series = make_series(record, cost, MANY);
	sb_record_invalidate(&record[0], "wrong");
	sb_judge_series(&series);
	assert_string_equal(record[0].reason, "wrong");
	CHECK_EQ(record[1].verdict, SB_SUSPECT);
	/* Of five nobody can say. */
	series = make_series(record, cost, 5);
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_VALID), 5);
}

static void a_drift_is_suspect(void **state)
{
	struct sb_record record[MANY];
	struct sb_series series;
	double cost[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++)
		cost[i] = 100 + i + 0.1 * noise[i];
	series = make_series(record, cost, MANY);
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_SUSPECT), MANY);
	assert_non_null(strstr(record[5].reason, "drifts by +"));
	/* As sure, but less than 5 %. */
	for (int i = 0; i < MANY; i++)
		cost[i] = 100 + 0.3 * i;
	series = make_series(record, cost, MANY);
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_VALID), MANY);
}

static void steps_are_found_where_they_are(void **state)
{
	const double up[] = { 3, 1, 2, 12, 10, 14, 11, 13, 15 };
	const double none[] = { 3, 12, 1, 10, 2, 14, 11, 4, 15 };
	struct sb_step_change step = sb_step_of(up, 9);

	(void)state;
	CHECK_EQ(step.before, 3);
	/* 2 of 84 orders begin or end so, and some differ more elsewhere. */
	assert_true(step.p > 0.02 && step.p < 0.08);
	assert_true(sb_step_of(none, 9).p > 0.1);
	assert_true(sb_step_of(up, 5).p == 1);
}

/* Two levels, and not in the middle. */
static void a_step_is_suspect(void **state)
{
	struct sb_record record[MANY];
	struct sb_series series;
	double cost[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++)
		cost[i] = noise[i] + (i >= 4 ? 30 : 0);
	series = make_series(record, cost, MANY);
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_SUSPECT), MANY);
}

static void rest_is_found(void **state)
{
	const double falls[] = { 90, 80, 70, 60, 50, 45, 40, 35, 30, 25 };
	const double rests[] = { 90, 80, 50.2, 50, 49.9, 50.1, 50, 49.8, 50, 50.3, 50.1, 50 };

	(void)state;
	assert_false(sb_is_at_rest(falls, 10));
	assert_false(sb_is_at_rest(rests, 9));
	assert_true(sb_is_at_rest(rests, 12));
}

/* ---- intervals ---- */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The tables have 1 and 6 for 6, 2 and 8 for 9, 10 and 21 of 30. */
static void intervals_are_those_of_tables(void **state)
{
	static const uint32_t cases[][3] = {
		{ 6, 1, 6 }, { 8, 1, 8 }, { 9, 2, 8 }, { 20, 6, 15 }, { 30, 10, 21 }
	};
	double value[SB_INTERVAL_MAX];

	(void)state;
	for (uint32_t i = 0; i < SB_INTERVAL_MAX; i++)
		value[i] = i + 1;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		const struct sb_interval interval = sb_median_interval(value, cases[i][0]);

		CHECK_EQ(interval.low, cases[i][1]);
		CHECK_EQ(interval.high, cases[i][2]);
	}
	assert_true(isnan(sb_median_interval(value, 5).low));
	/* 0.98 x sqrt(n) to both sides of the middle. */
	assert_true(fabs(sb_median_interval(value, 1000).low - 469) < 2);
}

static void intervals_cover_the_median(void **state)
{
	enum { RUNS = 4000, N = 21 };
	struct sb_rng rng;
	uint32_t covered = 0;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int run = 0; run < RUNS; run++) {
		double value[N];
		struct sb_interval interval;

		/* Skewed; its median is log 2. */
		for (int i = 0; i < N; i++)
			value[i] = -log1p(-(double)(sb_rng_next(&rng) >> 11) * 0x1p-53);
		qsort(value, N, sizeof(*value), compare);
		interval = sb_median_interval(value, N);
		covered += interval.low <= M_LN2 && interval.high >= M_LN2;
	}
	/* 97.3 % are expected; 95 % are nine standard deviations away. */
	assert_uint_in_range(covered, RUNS * 95 / 100, RUNS * 99 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known_nothing_wrong),
		cmocka_unit_test(each_rule_has_its_threshold),
		cmocka_unit_test(steal_grows_worse),
		cmocka_unit_test(rules_are_for_their_runs),
		cmocka_unit_test(the_cause_is_blamed),
		cmocka_unit_test(time_off_the_cpu_is_what_is_left),
		cmocka_unit_test(trend_is_exact),
		cmocka_unit_test(trend_is_close_with_many),
		cmocka_unit_test(noise_is_valid),
		cmocka_unit_test(a_slow_beginning_is_suspect),
		cmocka_unit_test(a_drift_is_suspect),
		cmocka_unit_test(steps_are_found_where_they_are),
		cmocka_unit_test(a_step_is_suspect),
		cmocka_unit_test(rest_is_found),
		cmocka_unit_test(intervals_are_those_of_tables),
		cmocka_unit_test(intervals_cover_the_median),
	};

	return cmocka_run_group_tests_name("validity", tests, NULL, NULL);
}
