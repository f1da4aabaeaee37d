/*
 * The configurations that are best in two objectives at once.
 *
 * Property: the front and the compromise are those of their definitions; a configuration
 *   that is settled is so in nearly all resamplings; what lacks a value counts in neither.
 * Method: random means against all pairs; exact effects under large ones of the rounds.
 * Bound: 300 fronts of 12.
 */
#include <math.h>

#include "core/platform/platform.h"
#include "results/stats/front.h"
#include "tests/test.h"

enum { MOST = 12, ROUNDS = 6 };

static double value[SB_FRONT_OBJECTIVES][MOST * ROUNDS];
static struct sb_rank rank[SB_FRONT_OBJECTIVES][MOST];
static struct sb_front_member member[MOST];
static struct sb_front front;

static void make(uint32_t configurations)
{
	struct sb_rank *const ranks[] = { rank[0], rank[1] };
	const struct sb_rounds in[] = { { value[0], configurations, ROUNDS },
					{ value[1], configurations, ROUNDS } };

	sb_front_pair(value[0], value[1], (size_t)configurations * ROUNDS);
	CHECK_EQ(sb_front_make(&front, member, ranks, in, 1), 0);
}

/* Each round slows all of them down in its own way. */
static void set(uint32_t c, double a, double b)
{
	for (int r = 0; r < ROUNDS; r++) {
		value[0][c * ROUNDS + r] = a * (1 + r);
		value[1][c * ROUNDS + r] = b * (1 + r * r);
	}
}

/* By the definition: another one is as good in both and better in one. */
static bool is_beaten(const double (*mean)[2], uint32_t c)
{
	for (uint32_t i = 0; i < MOST; i++) {
		if (mean[i][0] <= mean[c][0] && mean[i][1] <= mean[c][1] &&
		    (mean[i][0] < mean[c][0] || mean[i][1] < mean[c][1]))
			return true;
	}
	return false;
}

static double excess(const double (*mean)[2], uint32_t c)
{
	double best[2] = { INFINITY, INFINITY };

	for (uint32_t i = 0; i < MOST; i++) {
		best[0] = fmin(best[0], mean[i][0]);
		best[1] = fmin(best[1], mean[i][1]);
	}
	return fmax(mean[c][0] / best[0], mean[c][1] / best[1]);
}

/* Few values, so that some are equal. */
static void it_is_the_front(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < 300; i++) {
		double mean[MOST][2];

		for (uint32_t c = 0; c < MOST; c++) {
			mean[c][0] = 1 + sb_rng_below(&rng, 8);
			mean[c][1] = 1 + sb_rng_below(&rng, 8);
			set(c, mean[c][0], mean[c][1]);
		}
		make(MOST);
		CHECK_EQ(front.ranking->compared, MOST);
		for (uint32_t c = 0; c < MOST; c++) {
			CHECK_EQ(member[c].is_on_front, !is_beaten(mean, c));
			assert_true(fabs(member[c].excess / excess(mean, c) - 1) < 1e-9);
			assert_true(member[front.compromise].excess <= member[c].excess);
		}
	}
}

/* Rounds in which two change places. */
static void shares_are_those_of_the_rounds(void **state)
{
	(void)state;
	set(0, 10, 20);
	set(1, 20, 10);
	set(2, 30, 30);
	set(3, 11, 21);
	/* In one of six rounds it is better than 0 by far more than it is worse in others. */
	value[0][3 * ROUNDS] = value[0][0] / 100;
	make(4);
	assert_true(member[0].is_on_front && fabs(member[0].p_front - 1) < 1e-9);
	assert_true(member[1].is_on_front && fabs(member[1].p_front - 1) < 1e-9);
	assert_true(!member[2].is_on_front && member[2].p_front == 0);
	/* A resampling has that round with 1 - (5/6)^6. */
	assert_true(fabs(member[3].p_front - (1 - pow(5.0 / 6, 6))) < 0.04);
}

static void values_of_one_objective_alone_do_not_count(void **state)
{
	(void)state;
	set(0, 10, 20);
	set(1, 20, 10);
	set(2, 1, 1);
	for (int r = 1; r < ROUNDS; r++)
		value[1][2 * ROUNDS + r] = NAN;
	make(3);
	CHECK_EQ(front.ranking[0].compared, 2);
	CHECK_EQ(front.ranking[1].compared, 2);
	CHECK_EQ(front.ranking[0].best, 0);
	CHECK_EQ(front.ranking[1].best, 1);
	assert_true(!member[2].is_on_front && isnan(member[2].excess));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_front),
		cmocka_unit_test(shares_are_those_of_the_rounds),
		cmocka_unit_test(values_of_one_objective_alone_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
