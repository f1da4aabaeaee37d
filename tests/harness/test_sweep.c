/*
 * The plan of a sweep, and the ranking of what it measured.
 *
 * Property: ranges and lists are what was written, or refused; every combination
 *   is in every round once; the same seed gives the same order; the ranking knows
 *   exact answers; its intervals and its set of those that are not told apart
 *   cover the truth as often as they say.
 * Method: tables of texts; all slots counted; rounds made up with large effects of
 *   their own, as on a machine that slows down.
 * Bound: 1000 sweeps of 5 and 10 rounds; the coverage may be off by four standard
 *   errors.
 */
#include <math.h>
#include <string.h>

#include "harness/sweep/sweep.h"
#include "results/stats/ranking.h"
#include "tests/test.h"

/* ---- what it goes through ---- */

static struct sb_options options;

static void choose(int argc, const char *const *argv)
{
	char *words[16];

	for (int i = 0; i < argc; i++)
		words[i] = (char *)(uintptr_t)argv[i];
	words[argc] = NULL;
	CHECK_EQ(sb_options_parse_for(&options, SB_VERB_SWEEP, argc, words), 0);
	CHECK_EQ(sb_options_choose(&options), 0);
}

static void choose_skynet(void)
{
	static const char *const argv[] = { "sweep", "-w", "skynet" };

	choose(3, argv);
}

static const struct {
	char letter;
	const char *text;
	const char *values; /* joined by blanks; NULL: it is refused */
} texts[] = {
	{ 'P', "spin-yield=0..4", "0 1 2 3 4" },
	{ 'P', "spin-yield=0..10:5", "0 5 10" },
	{ 'P', "spin-yield=0..11:5", "0 5 10" },
	{ 'P', "spin-yield=7..7", "7" },
	{ 'P', "spin-yield=0..16:log2", "0 1 2 4 8 16" },
	{ 'P', "batch=3..20:log2", "3 6 12" },
	{ 'P', "tick-time=10us..50us:10us", "10us 20us 30us 40us 50us" },
	{ 'P', "tick-time=500us..2ms:500us", "500us 1ms 1500us 2ms" },
	{ 'P', "tick-time=1us..8us:log2", "1us 2us 4us 8us" },
	{ 'P', "rate=100k/s..1M/s:300k/s", "100k/s 400k/s 700k/s 1000k/s" },
	{ 'P', "load=10%..30%:10%", "10% 20% 30%" },
	{ 'P', "leaves=100..300:100", "100 200 300" },
	{ 'L', "batch=1,16", "1 16" },
	{ 'P', "dead-max=1MiB..8MiB:log2", "1MiB 2MiB 4MiB 8MiB" },
	{ 'L', "steal=half,one,7", "half one 7" },
	{ 'L', "spin-time=0,20us,50us", "0 20us 50us" },
	{ 'P', "spin-yield", NULL },
	{ 'P', "=1..2", NULL },
	{ 'P', "spin-yield=", NULL },
	{ 'P', "spin-yield=5", NULL },
	{ 'P', "spin-yield=4..1", NULL },
	{ 'P', "spin-yield=0..4:0", NULL },
	{ 'P', "spin-yield=0..4:log10", NULL },
	{ 'P', "spin-yield=-1..4", NULL },
	{ 'P', "spin-yield=0..1000000", NULL },
	{ 'P', "tick-time=10us..50us", NULL },
	{ 'P', "tick-time=10..50us:1us", NULL },
	{ 'P', "tick-time=0us..50us:log2", NULL },
	{ 'P', "steal=half..one", NULL },
	{ 'L', "batch=1,,2", NULL },
	{ 'L', "batch=1,2,1", NULL },
	{ 'L', "btach=1,2", NULL },
	{ 'L', "output=a,b", NULL },
	{ 'L', "repetitions=1,2", NULL },
	{ 'L', "workload=yield,skynet", NULL },
	{ 'L', "yields=1,2", NULL }, /* skynet has no such parameter */
};

static void join(const struct sb_dimension *d, char *out)
{
	out[0] = '\0';
	for (uint32_t i = 0; i < d->values; i++) {
		strcat(out, i ? " " : "");
		strcat(out, d->value[i]);
	}
}

static void texts_are_what_they_say(void **state)
{
	(void)state;
	choose_skynet();
	for (size_t i = 0; i < SB_ARRAY_SIZE(texts); i++) {
		struct sb_dimension d;
		char values[20000];
		const int rc = sb_dimension_parse(&d, texts[i].letter, texts[i].text, &options);

		if (rc != (texts[i].values ? 0 : 3))
			fail_msg("%s: status %d", texts[i].text, rc);
		join(&d, values);
		if (texts[i].values)
			assert_string_equal(values, texts[i].values);
		sb_dimension_free(&d);
	}
	sb_options_free(&options);
}

static void all_combinations_once(void **state)
{
	static const char *const argv[] = {
		"sweep",	   "-w",
		"skynet,yield",	   "-Lbatch=1,2,3",
		"-Lyields=10,20",  "-Pspin-yield=0..1",
		"--repetitions=4",
	};
	struct sb_sweep sweep;
	uint32_t seen[6 + 12] = { 0 };

	(void)state;
	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_plan(&sweep, &options), 0);
	/* skynet has no yields: 3 x 2; yield: 3 x 2 x 2. */
	CHECK_EQ(sweep.configurations, 6 + 12);
	for (uint32_t i = 0; i < sweep.configurations; i++) {
		for (uint32_t j = 0; j < i; j++)
			assert_string_not_equal(sweep.configuration[i].label,
						sweep.configuration[j].label);
	}
	for (uint32_t i = 0; i < 4 * sweep.configurations; i++) {
		const struct sb_slot *slot = &sweep.order[i];

		/* In its round, once. */
		CHECK_EQ(slot->repetition, i / sweep.configurations);
		CHECK_EQ(seen[slot->configuration]++, slot->repetition);
	}
	sb_sweep_free(&sweep);
	sb_options_free(&options);
}

static void plan_with_seed(struct sb_sweep *sweep, const char *seed)
{
	const char *const argv[] = { "sweep", "-w", "skynet", "-Pspin-yield=0..15", seed };

	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_plan(sweep, &options), 0);
	sb_options_free(&options);
}

static bool same_order(const struct sb_sweep *a, const struct sb_sweep *b)
{
	return !memcmp(a->order, b->order,
		       (size_t)a->configurations * a->repetitions * sizeof(*a->order));
}

static void the_seed_makes_the_order(void **state)
{
	struct sb_sweep sweep[3];

	(void)state;
	plan_with_seed(&sweep[0], "--seed=7");
	plan_with_seed(&sweep[1], "--seed=7");
	plan_with_seed(&sweep[2], "--seed=8");
	assert_true(same_order(&sweep[0], &sweep[1]));
	assert_false(same_order(&sweep[0], &sweep[2]));
	/* Rounds have orders of their own. */
	assert_memory_not_equal(&sweep[0].order[0], &sweep[0].order[16],
				16 * sizeof(*sweep[0].order));
	for (int i = 0; i < 3; i++)
		sb_sweep_free(&sweep[i]);
}

/* Parsed again, the canonical command line gives itself. */
static void the_command_line_comes_back(void **state)
{
	static const char *const argv[] = {
		"sweep",	   "-w", "yield", "--yields=50", "-Lbatch=1,2", "--duration=2ms",
		"--oversubscribe", "-q",
	};
	struct sb_arguments first;
	struct sb_arguments again;

	(void)state;
	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_canonical(&options, &first), 0);
	sb_options_free(&options);
	CHECK_EQ(sb_options_parse_for(&options, SB_VERB_SWEEP, (int)first.n, first.word), 0);
	CHECK_EQ(sb_options_choose(&options), 0);
	CHECK_EQ(sb_sweep_canonical(&options, &again), 0);
	CHECK_EQ(first.n, again.n);
	CHECK_EQ(first.n, 6); /* what is about output is no part of it */
	for (uint32_t i = 0; i < first.n; i++)
		assert_string_equal(first.word[i], again.word[i]);
	sb_options_free(&options);
	sb_arguments_free(&first);
	sb_arguments_free(&again);
}

/* A run gets the policy's name, and what is given though it is the default. */
static void a_policy_goes_by_its_name(void **state)
{
	static const char *const argv[] = { "sweep",	     "-w",	     "skynet",
					    "--policy=spec", "--wake=local", "-Lbatch=1,2" };
	static const char *const words[] = { "sweep", "--workload=skynet", "--policy=spec",
					     "--wake=local", "-Lbatch=1,2" };
	struct sb_arguments canonical;

	(void)state;
	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_canonical(&options, &canonical), 0);
	CHECK_EQ(canonical.n, SB_ARRAY_SIZE(words));
	for (uint32_t i = 0; i < canonical.n; i++)
		assert_string_equal(canonical.word[i], words[i]);
	sb_arguments_free(&canonical);
	sb_options_free(&options);
}

static void the_default_is_found(void **state)
{
	static const char *const argv[] = { "sweep", "-w", "skynet", "-Lspin-yield=0,12",
					    "-Lbatch=16,1" };
	struct sb_sweep sweep;
	uint32_t found = 0;

	(void)state;
	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_plan(&sweep, &options), 0);
	for (uint32_t i = 0; i < sweep.configurations; i++) {
		if (!sb_sweep_is_default(&sweep, &sweep.configuration[i]))
			continue;
		found++;
		assert_string_equal(sweep.configuration[i].label, "skynet spin-yield=12 batch=16");
	}
	CHECK_EQ(found, 1);
	sb_sweep_free(&sweep);
	sb_options_free(&options);
}

/* ---- the ranking ---- */

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
		cmocka_unit_test(texts_are_what_they_say),
		cmocka_unit_test(all_combinations_once),
		cmocka_unit_test(the_seed_makes_the_order),
		cmocka_unit_test(the_command_line_comes_back),
		cmocka_unit_test(a_policy_goes_by_its_name),
		cmocka_unit_test(the_default_is_found),
		cmocka_unit_test(students_distribution_is_right),
		cmocka_unit_test(exact_ratios_are_found),
		cmocka_unit_test(what_is_missing_is_not_compared),
		cmocka_unit_test(levels_are_averaged),
		cmocka_unit_test(it_covers_the_truth),
		cmocka_unit_test(the_best_is_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
