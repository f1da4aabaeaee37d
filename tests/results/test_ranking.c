/*
 * The ranking of configurations.
 *
 * Property: the worked example comes out digit by digit; exact answers are found, with rows
 *   missing, too; the interval of an estimate and the set of those that may be the best cover the
 *   truth as often as they say; no leader's estimate is above that of a configuration that is neither
 *   worse nor open.
 * Method: rounds made up with large effects of their own, as on a machine that slows down; rows
 *   are removed by chance.
 * Bound: 1000 sweeps of 5 and 10 rounds with fixed seeds; a coverage may be off by four standard
 *   errors.
 */
#include <math.h>

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

/* Three configurations in five rounds: the first is the best by three rows, though two of its rows are
 * missing. */
static void the_worked_example(void **state)
{
	double value[] = { 20.0, NAN,  20.3, NAN,  20.6, 21.1, 21.9, 21.4,
			   21.6, 21.9, 22.0, 22.7, 22.3, 22.3, 22.9 };
	const struct sb_rounds in = { value, 3, 5 };
	struct sb_ranking ranking;
	struct sb_rank rank[3];

	(void)state;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &in), 0);
	near(rank[0].estimate, 20.37, 0.005);
	near(rank[1].estimate, 21.58, 0.005);
	near(rank[2].estimate, 22.44, 0.005);
	CHECK_EQ(ranking.leader, 0);
	CHECK_EQ(rank[0].n, 3);
	/* Over the three common rounds, with the bounds of one-sided 97.5 %. */
	near(100 * expm1(rank[1].above), 5.7, 0.05);
	near(100 * expm1(rank[1].bound), 4.5, 0.05);
	near(100 * expm1(rank[2].above), 10.3, 0.05);
	near(100 * expm1(rank[2].bound), 8.6, 0.05);
	CHECK_EQ(rank[0].mark, SB_MARK_BEST);
	CHECK_EQ(rank[1].mark, SB_MARK_WORSE);
	CHECK_EQ(rank[2].mark, SB_MARK_WORSE);
	/* By two of five rows it leads nothing, and nothing is best without it. */
	value[4] = NAN;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &in), 0);
	CHECK_EQ(ranking.leader, 1);
	CHECK_EQ(rank[0].mark, SB_MARK_OPEN);
	CHECK_EQ(rank[1].mark, SB_MARK_ALIKE);
	CHECK_EQ(rank[2].mark, SB_MARK_WORSE);
	assert_true(rank[0].estimate < rank[1].estimate);
}

/* Rounds differ by much, configurations in each by exactly as much: whichever rows are missing. */
static void exact_ratios_are_found(void **state)
{
	static const double part[] = { 1.1, 1, 1.32 };
	double value[3 * ROUNDS];
	struct sb_ranking ranking;
	struct sb_rank rank[3];

	(void)state;
	for (int c = 0; c < 3; c++) {
		for (int r = 0; r < ROUNDS; r++)
			value[c * ROUNDS + r] = part[c] * 100 * (1 + r * r);
	}
	value[1] = value[ROUNDS + 2] = value[2 * ROUNDS + 5] = NAN;
	/* 0 is no time. */
	value[3] = 0;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }), 0);
	CHECK_EQ(ranking.judged, 3);
	CHECK_EQ(ranking.leader, 1);
	CHECK_EQ(rank[0].n, ROUNDS - 2);
	CHECK_EQ(rank[0].mark, SB_MARK_WORSE);
	CHECK_EQ(rank[1].mark, SB_MARK_BEST);
	CHECK_EQ(rank[2].mark, SB_MARK_WORSE);
	near(rank[0].estimate / rank[1].estimate, 1.1, 1e-9);
	near(rank[2].estimate / rank[1].estimate, 1.32, 1e-9);
	near(exp(rank[2].bound), 1.32, 1e-9);
	near(rank[2].low, rank[2].estimate, 1e-6);
	near(rank[2].high, rank[2].estimate, 1e-6);
}

static void what_is_missing_is_not_judged(void **state)
{
	double value[3 * ROUNDS];
	struct sb_ranking ranking;
	struct sb_rank rank[3];

	(void)state;
	for (int i = 0; i < 3 * ROUNDS; i++)
		value[i] = i < ROUNDS ? (double)NAN : 100 + i;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }), 0);
	assert_true(isnan(rank[0].estimate));
	CHECK_EQ(rank[0].mark, SB_MARK_OPEN);
	/* It might be better, so nothing is best. */
	CHECK_EQ(rank[1].mark, SB_MARK_ALIKE);
	CHECK_EQ(rank[2].mark, SB_MARK_WORSE);
	CHECK_EQ(ranking.marked[SB_MARK_OPEN], 1);
	/* Without rounds in common there is nothing to compare. */
	for (int r = 0; r < ROUNDS; r++)
		value[(r < 3 ? 1 : 2) * ROUNDS + r] = NAN;
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ value, 3, ROUNDS }), 0);
	CHECK_EQ(ranking.judged, 2);
	CHECK_EQ(rank[3 - ranking.leader].mark, SB_MARK_OPEN);
	assert_true(isnan(rank[1].low));
	/* One by itself is the best of nothing, and by two rows there is no leader. */
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ &value[ROUNDS], 1, ROUNDS }),
		 0);
	CHECK_EQ(rank[0].mark, SB_MARK_OPEN);
	CHECK_EQ(sb_ranking_make(&ranking, rank, &(struct sb_rounds){ (double[]){ 1, 2 }, 1, 2 }),
		 0);
	CHECK_EQ(ranking.judged, 0);
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

enum { CONFIGURATIONS = 4, MOST = 10 };

/* A sweep as it might be: configuration c is slower than the first by part[c] and has that noise;
 * rows are missing by chance; rounds differ by far more than all of that. */
struct truth {
	double part[CONFIGURATIONS], noise[CONFIGURATIONS];
	double missing;
};

/* Returns the mean effect of the rounds that have numbers. */
static double make_rounds(double *value, uint32_t n, const struct truth *truth, struct sb_rng *rng)
{
	double sum = 0;
	uint32_t rounds = 0;

	for (uint32_t r = 0; r < n; r++) {
		const double round = 0.5 * normal(rng);
		bool any = false;

		for (uint32_t c = 0; c < CONFIGURATIONS; c++) {
			const bool is_missing = uniform(rng) < truth->missing;

			value[c * n + r] =
				exp(round + truth->noise[c] * normal(rng)) * (1 + truth->part[c]);
			if (is_missing)
				value[c * n + r] = NAN;
			any |= !is_missing;
		}
		sum += any ? round : 0;
		rounds += any;
	}
	return sum / rounds;
}

/* What comes out in that many sweeps. */
struct outcome {
	int held;    /* the best one may be the best */
	int wrong;   /* another one is best */
	int found;   /* the best one is best */
	int refuted; /* the leader is above one that is neither worse nor open */
	int covered, intervals;
};

static void take(struct outcome *o, const struct sb_ranking *ranking, const struct sb_rank *rank,
		 const struct truth *truth, double round)
{
	o->held += rank[0].mark != SB_MARK_WORSE;
	for (int c = 0; c < CONFIGURATIONS; c++) {
		const double is = log(rank[c].estimate);

		o->found += !c && rank[c].mark == SB_MARK_BEST;
		o->wrong += c && rank[c].mark == SB_MARK_BEST;
		o->refuted += ranking->judged && rank[c].mark != SB_MARK_WORSE &&
			      rank[c].mark != SB_MARK_OPEN &&
			      rank[c].estimate < rank[ranking->leader].estimate;
		o->intervals += !isnan(rank[c].low);
		o->covered += fabs(is - log(1 + truth->part[c]) - round) <= log(rank[c].high) - is;
	}
}

static struct outcome simulate(uint32_t n, const struct truth *truth)
{
	struct outcome o = { 0 };
	double value[CONFIGURATIONS * MOST];
	struct sb_rng rng;

	sb_rng_seed(&rng, n);
	for (int i = 0; i < SB_SCALE(1000); i++) {
		struct sb_rank rank[CONFIGURATIONS];
		struct sb_ranking ranking;

		const double round = make_rounds(value, n, truth, &rng);

		CHECK_EQ(sb_ranking_make(&ranking, rank,
					 &(struct sb_rounds){ value, CONFIGURATIONS, n }),
			 0);
		take(&o, &ranking, rank, truth, round);
	}
	print_message("# %u rounds, %g missing: the best may be it in %d, is in %d, another is in "
		      "%d; refuted %d; intervals cover %d of %d\n",
		      n, truth->missing, o.held, o.found, o.wrong, o.refuted, o.covered,
		      o.intervals);
	return o;
}

/* At least that share, but for four standard errors. */
static bool is_share(int n, int of, double share)
{
	return n >= of * share - 4 * sqrt(share * (1 - share) * of);
}

static void the_best_is_among_them(void **state)
{
	static const struct truth truths[] = {
		{ { 0, 0.02, 0.05, 0.1 }, { 0.02, 0.02, 0.02, 0.02 }, 0 },
		{ { 0, 0.02, 0.05, 0.1 }, { 0.02, 0.02, 0.02, 0.02 }, 0.1 },
		{ { 0, 0.02, 0.05, 0.1 }, { 0.02, 0.02, 0.02, 0.02 }, 0.25 },
		{ { 0 }, { 0.02, 0.02, 0.02, 0.02 }, 0 },
		{ { 0 }, { 0.02, 0.02, 0.02, 0.02 }, 0.25 },
		/* The best one is six times as noisy. */
		{ { 0, 0.02, 0.05, 0.1 }, { 0.12, 0.02, 0.02, 0.02 }, 0.1 },
	};
	const int sweeps = SB_SCALE(1000);

	(void)state;
	for (size_t t = 0; t < SB_ARRAY_SIZE(truths); t++) {
		const struct outcome o = simulate(5, &truths[t]);

		CHECK_EQ(o.refuted, 0);
		assert_true(is_share(o.held, sweeps, 0.95));
		assert_true(
			is_share(sweeps - o.wrong, sweeps, truths[t].part[1] > 0 ? 0.99 : 0.95));
		assert_true(is_share(o.covered, o.intervals, 0.95));
	}
}

/* What is 10 % worse where the noise is 2 % is seen. */
static void differences_are_found(void **state)
{
	static const struct truth truth = { { 0, 0.1, 0.1, 0.1 }, { 0.02, 0.02, 0.02, 0.02 }, 0.1 };
	const struct outcome o = simulate(MOST, &truth);

	(void)state;
	CHECK_EQ(o.held, SB_SCALE(1000));
	assert_true(o.found > 0.95 * SB_SCALE(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(students_distribution_is_right),
		cmocka_unit_test(the_worked_example),
		cmocka_unit_test(exact_ratios_are_found),
		cmocka_unit_test(what_is_missing_is_not_judged),
		cmocka_unit_test(levels_are_averaged),
		cmocka_unit_test(the_best_is_among_them),
		cmocka_unit_test(differences_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
