/*
 * test_forks.c - how often the interval of forks contains the median that it is printed for: samples
 * with the variation that was measured on a machine, between forks and within them, and fixed seeds.
 */
#include <math.h>

#include "results/compare/spreads.h"
#include "results/record/series.h"
#include "results/stats/unpaired.h"
#include "tests/test.h"

#define SETS 4000
#define MOST (SB_LOOK_FORKS_MAX * 9)

static struct sb_rng rng;

static double uniform(void)
{
	return ((double)(sb_rng_next(&rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* How forks differ: in percent. */
static double calm(void)
{
	return 0.7 * normal();
}

/* Student's t with 3 degrees of freedom: some are far off. */
static double wild(void)
{
	const double a = normal();
	const double b = normal();
	const double c = normal();

	return 0.7 * normal() / sqrt((a * a + b * b + c * c) / 3);
}

/* Where the host has put the CPUs, for one fork of three. */
static double torn(void)
{
	return calm() + (uniform() < 1 / 3.0 ? 70 : 0);
}

/* Repetitions that follow from each other: AR(1) with rho 0.6. */
static void repeat(double *value, uint32_t *fork, uint32_t number, uint32_t repetitions,
		   double (*effect)(void))
{
	const double base = 1000 + effect();
	double state = 0.8 * normal();

	for (uint32_t r = 0; r < repetitions; r++) {
		value[r] = base + state;
		fork[r] = number;
		state = 0.6 * state + sqrt(1 - 0.36) * 0.8 * normal();
	}
}

/* The values of so many forks. */
static uint32_t sample(double *value, uint32_t forks, uint32_t repetitions, double (*effect)(void))
{
	uint32_t fork[MOST];

	for (uint32_t p = 0; p < forks; p++)
		repeat(&value[p * repetitions], &fork[p * repetitions], p, repetitions, effect);
	return sb_fork_medians(value, fork, forks * repetitions);
}

/* The median that is looked for. */
static double truth_of(double (*effect)(void))
{
	enum { FORKS = 40001 };
	static double value[FORKS];

	for (uint32_t p = 0; p < FORKS; p++) {
		double one[3];

		(void)sample(one, 1, 3, effect);
		value[p] = one[0];
	}
	return sb_spread_of(value, FORKS).median;
}

static bool covers(const struct sb_median *median, double truth)
{
	assert_true(median->is_interval);
	return median->low <= truth && truth <= median->high;
}

static void interval_holds_as_often_as_it_says(void **state)
{
	double (*const effects[])(void) = { calm, wild, torn };

	(void)state;
	for (size_t e = 0; e < SB_ARRAY_SIZE(effects); e++) {
		double truth;
		int covered = 0;

		sb_rng_seed(&rng, 1);
		truth = truth_of(effects[e]);
		for (int i = 0; i < SETS; i++) {
			double value[MOST];
			const uint32_t n = sample(value, 9, 3, effects[e]);
			const struct sb_median median = sb_median_of(value, n, true);

			CHECK_EQ(n, 9);
			covered += covers(&median, truth);
		}
		/* 96.1 % by counting, and four standard deviations. */
		assert_uint_in_range(covered, 0.949 * SETS, 0.973 * SETS);
	}
}

/* The fault that this test has to see: repetitions taken for independent. */
static void repetitions_of_one_fork_do_not(void **state)
{
	int covered = 0;

	(void)state;
	sb_rng_seed(&rng, 1);
	for (int i = 0; i < SETS; i++) {
		uint32_t fork[9];
		double value[9];
		struct sb_median median;

		repeat(value, fork, 0, 9, calm);
		median = sb_median_of(value, 9, true);
		covered += covers(&median, 1000);
	}
	assert_uint_in_range(covered, 0.4 * SETS, 0.65 * SETS);
}

static void looks_do_not_choose_narrow_intervals(void **state)
{
	int covered = 0;
	int ended[SB_LOOK_FORKS_MAX + 1] = { 0 };

	(void)state;
	sb_rng_seed(&rng, 1);
	for (int i = 0; i < SETS; i++) {
		double all[SB_LOOK_FORKS_MAX];
		struct sb_median median;
		uint32_t n = 0;

		for (uint32_t p = 0; p < SB_LOOK_FORKS_MAX; p++)
			(void)sample(&all[p], 1, 1, calm);
		do {
			double value[SB_LOOK_FORKS_MAX];

			n = sb_next_look(n);
			for (uint32_t p = 0; p < n; p++)
				value[p] = all[p];
			median = sb_median_of(value, n, true);
		} while (median.high - median.low > 1 && sb_next_look(n));
		ended[n]++;
		covered += covers(&median, 1000);
	}
	assert_uint_in_range(covered, 0.93 * SETS, SETS);
	/* It was no question of the last look alone. */
	assert_true(ended[9] > SETS / 100 && ended[15] > SETS / 100 && ended[25] > SETS / 100);
	CHECK_EQ(sb_next_look(SB_LOOK_FORKS_MAX), 0);
}

/* Of one program, `between` percent apart by the minutes in which they ran. */
static double run_of_nine(double *value, double between)
{
	const double minute = 1 + between / 100 * normal();
	const uint32_t n = sample(value, 9, 3, calm);

	for (uint32_t i = 0; i < n; i++)
		value[i] *= minute;
	return sb_median_of(value, n, true).at;
}

static bool differs(const double *a, const double *b, uint32_t n)
{
	struct sb_unpaired out;

	CHECK_EQ(sb_unpaired_compare(&out, a, n, b, n, SB_PAIRED_LEVEL), 0);
	return out.sign != 0;
}

/* What `compare` takes for values: four runs of each side, and not the forks of one. */
static void runs_in_turn_raise_few_false_alarms(void **state)
{
	static const double between[] = { 0, 0.3, 0.9, 2.3 };

	(void)state;
	sb_rng_seed(&rng, 1);
	for (size_t e = 0; e < SB_ARRAY_SIZE(between); e++) {
		int by_runs = 0;
		int by_forks = 0;

		for (int i = 0; i < SETS; i++) {
			double fork[2][MOST];
			double run[2][4];

			for (int r = 0; r < 8; r++)
				run[r % 2][r / 2] = run_of_nine(fork[r % 2], between[e]);
			by_runs += differs(run[0], run[1], 4);
			by_forks += differs(fork[0], fork[1], 9);
		}
		assert_in_range(by_runs, 0, 0.064 * SETS);
		/* The fault that the test has to see. */
		if (between[e] > 2)
			assert_in_range(by_forks, 0.5 * SETS, SETS);
	}
}

/* The spread of twelve runs of one program, as `calibrate --runs` has it. */
static struct sb_run_spread calibrate(double between)
{
	enum { RUNS = 12 };
	double ln[RUNS];
	double mean = 0;
	double squares = 0;

	for (int i = 0; i < RUNS; i++) {
		double fork[MOST];

		ln[i] = log(run_of_nine(fork, between));
		mean += ln[i] / RUNS;
	}
	for (int i = 0; i < RUNS; i++)
		squares += (ln[i] - mean) * (ln[i] - mean);
	return (struct sb_run_spread){ .runs = RUNS, .sd = sqrt(squares / (RUNS - 1)) };
}

static bool differs_by_spread(const struct sb_run_spread *spread, const double *a, const double *b)
{
	struct sb_unpaired out;
	struct sb_estimated ratio;

	CHECK_EQ(sb_unpaired_compare(&out, a, 9, b, 9, SB_PAIRED_LEVEL), 0);
	ratio = (struct sb_estimated){ out.estimate, out.low, out.high };
	(void)sb_spread_widen(spread, SB_PAIRED_LEVEL, &ratio);
	return ratio.low > 1 || ratio.high < 1;
}

/* What `compare` says of two runs, with that spread and without. */
static void a_known_spread_keeps_false_alarms_few(void **state)
{
	static const double between[] = { 0, 0.3, 0.9, 2.3 };

	(void)state;
	sb_rng_seed(&rng, 1);
	for (size_t e = 0; e < SB_ARRAY_SIZE(between); e++) {
		int alarms = 0;
		int alone = 0;
		int found = 0;

		for (int i = 0; i < SETS; i++) {
			const struct sb_run_spread spread = calibrate(between[e]);
			double a[MOST];
			double b[MOST];

			(void)run_of_nine(a, between[e]);
			(void)run_of_nine(b, between[e]);
			alarms += differs_by_spread(&spread, a, b);
			alone += differs(a, b, 9);
			for (int p = 0; p < 9; p++)
				b[p] *= 1.03;
			found += differs_by_spread(&spread, a, b);
		}
		fprintf(stderr, "# %.1f %% between runs: %d alarms, %d without it, 3 %% found %d\n",
			between[e], alarms, alone, found);
		/* 5 %, and four standard deviations. */
		assert_in_range(alarms, 0, 0.064 * SETS);
		if (between[e] < 0.5)
			assert_in_range(found, 0.97 * SETS, SETS);
		/* The fault that the test has to see. */
		if (between[e] > 0.5)
			assert_in_range(alone, 0.2 * SETS, SETS);
	}
}

static void ends_are_those_of_tables(void **state)
{
	/* The k-th lowest and the k-th highest; 0: none. */
	static const uint32_t ends[] = {
		[5] = 0,  [6] = 1,  [7] = 1,  [8] = 1,	[9] = 2,  [10] = 2,
		[11] = 2, [12] = 3, [13] = 3, [14] = 3, [15] = 4, [16] = 4
	};

	(void)state;
	for (uint32_t n = 5; n < SB_ARRAY_SIZE(ends); n++) {
		double value[16];
		struct sb_median median;

		for (uint32_t i = 0; i < n; i++)
			value[i] = n - i;
		median = sb_median_of(value, n, true);
		CHECK_EQ(median.is_interval, ends[n] > 0);
		CHECK_EQ(median.low, ends[n] ? ends[n] : 1);
		CHECK_EQ(median.high, ends[n] ? n + 1 - ends[n] : n);
	}
}

static void lost_repetitions_cost_their_fork(void **state)
{
	const double no = NAN;
	/* One of three is no median, one of one is. */
	double value[] = { 5, 1, 3, 4, no, 2, no, no, 9, no, 7, no };
	const uint32_t fork[] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 5 };
	const uint32_t n = sb_fork_medians(value, fork, SB_ARRAY_SIZE(fork));

	(void)state;
	CHECK_EQ(n, 3);
	assert_true(value[0] == 3 && value[1] == 3 && value[2] == 7);
}

/* A series has an interval if it has forks, and enough of them. */
static void series_of_one_fork_has_none(void **state)
{
	enum { ROWS = 20 };
	struct sb_record record[ROWS] = { { .repetition = 0 } };
	struct sb_series series = { .record = record, .records = ROWS };
	struct sb_median median;

	(void)state;
	for (int r = 0; r < ROWS; r++)
		record[r].value[SB_METRIC_ns_per_op] = 100 + r;
	median = sb_series_median(&series, SB_METRIC_ns_per_op);
	CHECK_EQ(sb_series_forks(&series), 1);
	assert_true(!median.is_interval && median.low == 100 && median.high == 119);
	for (uint32_t r = 0; r < ROWS; r++)
		record[r].fork = r / 2;
	/* 100.5, 102.5 ... 118.5; second and second but last. */
	median = sb_series_median(&series, SB_METRIC_ns_per_op);
	CHECK_EQ(sb_series_forks(&series), 10);
	assert_true(median.is_interval && median.at == 109.5);
	assert_true(median.low == 102.5 && median.high == 116.5);
	series.records = 10;
	assert_false(sb_series_median(&series, SB_METRIC_ns_per_op).is_interval);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_holds_as_often_as_it_says),
		cmocka_unit_test(repetitions_of_one_fork_do_not),
		cmocka_unit_test(looks_do_not_choose_narrow_intervals),
		cmocka_unit_test(runs_in_turn_raise_few_false_alarms),
		cmocka_unit_test(a_known_spread_keeps_false_alarms_few),
		cmocka_unit_test(ends_are_those_of_tables),
		cmocka_unit_test(lost_repetitions_cost_their_fork),
		cmocka_unit_test(series_of_one_fork_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
