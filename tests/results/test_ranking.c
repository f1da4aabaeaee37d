/*
 * The ranking of configurations.
 *
 * Property: it knows exact answers; its intervals and its set of those that are not told
 *   apart cover the truth as often as they say.
 * Method: rounds made up with large effects of their own, as on a machine that slows down.
 * Bound: 1000 sweeps of 5 and 10 rounds; the coverage may be off by four standard
 *   errors.
 */
#include <math.h>
#include <string.h>

#include "core/platform/platform.h"
#include "results/stats/ranking.h"
#include "tests/test.h"

static void near(double value, double expected, double within)
{
	if (!(fabs(value - expected) <= within))
		fail_msg("%.6g, expected %.6g", value, expected);
}

static void students_distribution_is_right(void **state)
{
	(void)state;
	near(sb_student_below(0, 3), 0.5, 1e-12);
	near(sb_student_below(12.7062, 1), 0.975, 1e-6);
	near(sb_student_below(4.30265, 2), 0.975, 1e-6);
	near(sb_student_below(3.18245, 3), 0.975, 1e-6);
	near(sb_student_below(-2.77645, 4), 0.025, 1e-6);
	near(sb_student_below(2.22814, 10), 0.975, 1e-6);
	near(sb_student_below(3.74695, 4), 0.99, 1e-6);
	near(sb_student_below(2.04523, 29), 0.975, 1e-6);
}

enum { ROUNDS = 6 };

/* Rounds differ by much, configurations in each by exactly as much. */
static void exact_ratios_are_found(void **state)
{
	static const double part[] = { 1.1, 1, 1.32 };
	double value[3 * ROUNDS];
	struct sb_ranking ranking;
	struct sb_rank rank[3];
	struct sb_ratio ratio;

	(void)state;
	for (int c = 0; c < 3; c++) {
		for (int r = 0; r < ROUNDS; r++)
			value[c * ROUNDS + r] = part[c] * 100 * (1 + r * r);
	}
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }, 1), 0);
	CHECK_EQ(ranking.compared, 3);
	CHECK_EQ(ranking.rounds, ROUNDS);
	CHECK_EQ(ranking.best, 1);
	CHECK_EQ(ranking.second, 0);
	near(rank[1].p_best, 1, 1e-9);
	assert_true(rank[0].apart && rank[2].apart && !rank[1].apart);
	ratio = sb_ranking_ratio(&value[2 * ROUNDS], value, ROUNDS, 1);
	near(ratio.ratio, 1.2, 1e-9);
	near(ratio.low, 1.2, 1e-9);
	near(ratio.high, 1.2, 1e-9);
}

/* Of a configuration's rounds, all but one. */
static double geometric_but(const double *value, int left_out)
{
	double sum = 0;

	for (int r = 0; r < ROUNDS; r++)
		sum += r == left_out ? 0 : log(value[r]);
	return exp(sum / (ROUNDS - 1));
}

static void what_is_missing_is_not_compared(void **state)
{
	double value[3 * ROUNDS];
	struct sb_ranking ranking;
	struct sb_rank rank[3];

	(void)state;
	for (int i = 0; i < 3 * ROUNDS; i++)
		value[i] = 100 + i;
	/* The first has crashed most of the time, and would have been best. */
	value[0] = value[1] = NAN;
	/* 0 is no time. */
	value[ROUNDS + 2] = 0;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }, 1), 0);
	assert_false(rank[0].compared);
	CHECK_EQ(ranking.compared, 2);
	CHECK_EQ(ranking.rounds, ROUNDS - 1);
	CHECK_EQ(ranking.best, 1);
	/* The estimate that ranks leaves out the round that is not complete. */
	near(sb_ranking_mean(&(struct sb_rounds){ value, 3, ROUNDS }, rank, 1, 1).ratio,
	     geometric_but(&value[ROUNDS], 2), 1e-9);
	/* The last of three by itself is not the best. */
	for (int i = 0; i < 2 * ROUNDS; i++)
		value[i] = i % 3 ? NAN : 1;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }, 1), 0);
	CHECK_EQ(ranking.compared, 0);
	assert_false(rank[2].compared);
	/* And with four rounds nothing is said. */
	CHECK_EQ(
		sb_ranking_make(&ranking, rank, &(struct sb_rounds){ &value[2 * ROUNDS], 1, 4 }, 1),
		0);
	CHECK_EQ(ranking.compared, 0);
	assert_true(isnan(sb_ranking_ratio(value, value, 4, 1).ratio));
}

static void levels_are_averaged(void **state)
{
	static const double value[] = { 1, 2, 4, 8, 9, NAN };
	static const uint32_t level[] = { 0, 0, 1 };
	static const bool include[] = { true, true, true };
	double out[4];

	(void)state;
	sb_ranking_fold(out, 2, level, include, &(struct sb_rounds){ value, 3, 2 });
	near(out[0], 2, 1e-9);
	near(out[1], 4, 1e-9);
	near(out[2], 9, 1e-9);
	assert_true(isnan(out[3]));
}

static double uniform(struct sb_rng *rng)
{
	return ((double)(sb_rng_next(rng) >> 11) + 0.5) / 0x1p53;
}

/* Box and Muller. */
static double normal(struct sb_rng *rng)
{
	const double radius = sqrt(-2 * log(uniform(rng)));

	return radius * cos(2 * M_PI * uniform(rng));
}

enum { CONFIGURATIONS = 6, MOST = 10 };

/* The others are worse than the first by a part; rounds differ by far more. */
static void make_rounds(double *value, uint32_t n, double part, struct sb_rng *rng)
{
	for (uint32_t r = 0; r < n; r++) {
		const double round = 0.5 * normal(rng);

		for (uint32_t c = 0; c < CONFIGURATIONS; c++)
			value[c * n + r] = exp(round + 0.03 * normal(rng)) * (c ? 1 + part : 1);
	}
}

/* How often the interval of a ratio has the true one. */
static void check_interval(uint32_t n)
{
	const int sweeps = SB_SCALE(1000);
	double value[CONFIGURATIONS * MOST];
	struct sb_rng rng;
	int covered = 0;

	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < sweeps; i++) {
		struct sb_ratio ratio;

		make_rounds(value, n, 0.02, &rng);
		ratio = sb_ranking_ratio(&value[n], value, n, (uint64_t)i);
		covered += ratio.low <= 1.02 && 1.02 <= ratio.high;
	}
	print_message("# %u rounds: the interval covers %d of %d\n", n, covered, sweeps);
	/* 95 % is the aim; plain percentiles have 83 % with five rounds. */
	assert_true(covered > 0.93 * sweeps - 4 * sqrt(0.07 * 0.93 * sweeps));
	assert_true(covered < 0.995 * sweeps);
}

/* How often the truly best one is not told apart, and how many others are. */
static void check_set(uint32_t n, double part, int *kept, int *apart)
{
	double value[CONFIGURATIONS * MOST];
	struct sb_rng rng;

	*kept = *apart = 0;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SB_SCALE(1000); i++) {
		const struct sb_rounds rounds = { value, CONFIGURATIONS, n };
		struct sb_rank rank[CONFIGURATIONS];
		struct sb_ranking ranking;

		make_rounds(value, n, part, &rng);
		CHECK_EQ(sb_ranking_make(&ranking, rank, &rounds, (uint64_t)i), 0);
		*kept += !rank[0].apart;
		for (int c = 1; c < CONFIGURATIONS; c++)
			*apart += rank[c].apart;
	}
	print_message("# %u rounds, %g apart: the best is kept in %d, others told apart %d times\n",
		      n, part, *kept, *apart);
}

static void it_covers_the_truth(void **state)
{
	(void)state;
	check_interval(5);
	check_interval(MOST);
}

static void the_best_is_among_them(void **state)
{
	const int sweeps = SB_SCALE(1000);
	int kept;
	int apart;

	(void)state;
	/* If all are equal, each is the best; 95 % is promised. */
	check_set(5, 0, &kept, &apart);
	assert_true(kept > 0.95 * sweeps - 4 * sqrt(0.05 * 0.95 * sweeps));
	check_set(MOST, 0, &kept, &apart);
	assert_true(kept > 0.95 * sweeps - 4 * sqrt(0.05 * 0.95 * sweeps));
	/* What is 10 % worse where the noise is 3 %, it sees. */
	check_set(MOST, 0.1, &kept, &apart);
	assert_true(kept == sweeps);
	assert_true(apart > 0.95 * 5 * sweeps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(students_distribution_is_right),
		cmocka_unit_test(exact_ratios_are_found),
		cmocka_unit_test(what_is_missing_is_not_compared),
		cmocka_unit_test(levels_are_averaged),
		cmocka_unit_test(it_covers_the_truth),
		cmocka_unit_test(the_best_is_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
