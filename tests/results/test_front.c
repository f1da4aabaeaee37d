/*
 * The configurations that are best in two objectives at once.
 *
 * Property: the front and the compromise are those of their definitions; what lacks values is
 *   no compromise.
 * Method: random means against all pairs; exact effects under large ones of the rounds.
 * Bound: 300 fronts of 12.
 */
#include <math.h>

#include "core/platform/platform.h"
#include "results/stats/front.h"
#include "tests/test.h"

enum { MOST = 12, ROUNDS = 6 };

static double value[SB_FRONT_OBJECTIVES][MOST * ROUNDS];
static struct sb_ranking ranking[SB_FRONT_OBJECTIVES];
static struct sb_rank rank[SB_FRONT_OBJECTIVES][MOST];
static struct sb_front_member member[MOST];
static struct sb_front front;

static void make(uint32_t configurations)
{
	for (int o = 0; o < SB_FRONT_OBJECTIVES; o++)
		CHECK_EQ(sb_ranking_make(&ranking[o], rank[o],
					 &(struct sb_rounds){ value[o], configurations, ROUNDS }),
			 0);
	CHECK_EQ(sb_front_make(&front, member,
			       (const struct sb_ranking *[]){ &ranking[0], &ranking[1] },
			       (const struct sb_rank *[]){ rank[0], rank[1] }, configurations),
		 0);
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
		for (uint32_t c = 0; c < MOST; c++) {
			CHECK_EQ(member[c].is_on_front, !is_beaten(mean, c));
			assert_true(fabs(member[c].excess / excess(mean, c) - 1) < 1e-9);
			assert_true(member[front.compromise].excess <= member[c].excess);
		}
	}
}

/* By one value of an objective, a configuration is on the front, but no compromise; by none it is
 * not. */
static void missing_values(void **state)
{
	(void)state;
	set(0, 10, 20);
	set(1, 20, 10);
	set(2, 1, 1);
	set(3, 1, 1);
	for (int r = 0; r < ROUNDS; r++) {
		value[1][2 * ROUNDS + r] = r ? NAN : 1;
		value[1][3 * ROUNDS + r] = NAN;
	}
	make(4);
	CHECK_EQ(ranking[0].leader, 2);
	CHECK_EQ(ranking[1].leader, 1);
	assert_true(member[2].is_on_front && isnan(member[2].excess));
	assert_true(!member[3].is_on_front && isnan(member[3].excess));
	CHECK_EQ(front.compromise, 0);
	for (int i = 0; i < MOST * ROUNDS; i++)
		value[0][i] = NAN;
	make(4);
	CHECK_EQ(front.compromise, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_front),
		cmocka_unit_test(missing_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
