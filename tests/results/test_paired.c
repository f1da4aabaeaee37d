/*
 * What is concluded from pairs, and from two results that are none.
 *
 * Property: p values, estimates and intervals are those of tables and of scipy;
 *   ties, zeros and missing values only ever make them more careful; a true
 *   difference is in the interval as often as it says, and none is seen where
 *   there is none as often as it says, whatever the noise: skewed, without a
 *   variance, in steps, drifting, alternating, depending on the run before; what
 *   is called the smallest difference that could have been seen is seen in 80 %.
 * Method: known answers; series of runs made up and put into blocks by a coin.
 * Bound: 2000 series of each kind; rates may be off by five standard errors, the
 *   power by 8 %, and 20 % where ten blocks may not have seen what disturbs.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "harness/cli/shell_words.h"
#include "results/files/findings.h"
#include "results/stats/unpaired.h"
#include "tests/test.h"

#define CHECK_NEAR(actual, expected, within)                                                       \
	do {                                                                                       \
		const double is_ = (actual);                                                       \
		const double should_ = (expected);                                                 \
                                                                                                   \
		if (!(fabs(is_ - should_) <= (within)))                                            \
			fail_msg("%s is %.17g, expected %.17g", #actual, is_, should_);            \
	} while (0)

/* ---- known answers ---- */

/* Hollander and Wolfe, table 3.1: depression before and after. */
static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
static const double after[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
#define PATIENTS 9

static const double twelve[] = { 0.21, -0.13, 0.44,  0.37, -0.05, 0.62,
				 0.18, 0.29,  -0.31, 0.51, 0.09,  0.33 };

static void patients(double *out)
{
	for (int i = 0; i < PATIENTS; i++)
		out[i] = before[i] - after[i];
}

static double p_of(const double *value, uint32_t n, double limit)
{
	double p;

	CHECK_EQ(sb_signed_rank_p(&p, value, n, limit), 0);
	return p;
}

/* scipy 1.10: wilcoxon(x, alternative=..., mode='exact').pvalue, and of 150 values
 * wilcoxon(x, alternative=..., mode='approx', correction=True).pvalue */
static void p_values_are_scipys(void **state)
{
	double value[150];

	(void)state;
	patients(value);
	CHECK_NEAR(p_of(value, PATIENTS, 0), 0.01953125, 1e-15);
	for (int i = 0; i < PATIENTS; i++)
		value[i] = -value[i];
	CHECK_NEAR(p_of(value, PATIENTS, 0), 0.986328125, 1e-15);
	CHECK_NEAR(p_of(twelve, 12, 0), 0.013427734375, 1e-15);
	for (int i = 0; i < 150; i++)
		value[i] = (i * 7919 % 150 - 60.25) / 100;
	CHECK_NEAR(p_of(value, 150, 0), 0.0001353792734845052, 1e-14);
	for (int i = 0; i < 150; i++)
		value[i] = -value[i];
	CHECK_NEAR(p_of(value, 150, 0), 0.9998656042511193, 1e-14);
}

/* Hollander and Wolfe, examples 3.3 and 3.4, of the difference after - before. */
static void estimates_are_the_books(void **state)
{
	struct sb_estimated estimated;
	double value[PATIENTS];

	(void)state;
	patients(value);
	CHECK_EQ(sb_signed_rank_estimate(&estimated, value, PATIENTS, 0.04), 0);
	CHECK_NEAR(estimated.value, 0.46, 1e-12);
	CHECK_NEAR(estimated.low, 0.010, 1e-12);
	CHECK_NEAR(estimated.high, 0.786, 1e-12);
	/* Their 96.1 % is all that nine values can say near that. */
	CHECK_EQ(sb_signed_rank_estimate(&estimated, value, PATIENTS, 0.0390), 0);
	assert_true(estimated.low < 0.010 && estimated.high > 0.786);
}

/* Where the exact distribution ends, the other one goes on. */
static void the_normal_one_continues_the_exact_one(void **state)
{
	double value[SB_SIGNED_RANK_EXACT + 1];
	double exact;

	(void)state;
	for (int i = 0; i <= SB_SIGNED_RANK_EXACT; i++)
		value[i] = (i * 37 % 101 - 38.4) / 100;
	exact = p_of(value, SB_SIGNED_RANK_EXACT, 0);
	assert_in_range((long)(exact * 1e6), 1, 100000);
	CHECK_NEAR(p_of(value, SB_SIGNED_RANK_EXACT + 1, 0) / exact, 1, 0.25);
}

static void few_values_say_nothing(void **state)
{
	static const double five[] = { 1, 2, 3, 4, 5 };
	struct sb_estimated estimated;
	double p;

	(void)state;
	CHECK_EQ(sb_paired_units_needed(0.05), 6);
	CHECK_EQ(sb_paired_units_needed(0.05 / 6), 8);
	CHECK_NEAR(p_of(five, 5, 0), 1.0 / 32, 1e-15);
	CHECK_EQ(sb_signed_rank_estimate(&estimated, five, 5, 0.05), 0);
	CHECK_NEAR(estimated.value, 3, 0);
	assert_true(isinf(estimated.low) && isinf(estimated.high));
	CHECK_EQ(sb_signed_rank_estimate(&estimated, five, 5, 0.0625), 0);
	CHECK_NEAR(estimated.low, 1, 0);
	CHECK_NEAR(estimated.high, 5, 0);
	CHECK_EQ(sb_signed_rank_p(&p, five, 0, 0), -EINVAL);
	CHECK_EQ(sb_signed_rank_estimate(&estimated, five, 0, 0.05), -EINVAL);
}

/* What lies on the limit is not above it; the interval's end is a limit that is
 * just not refused. */
static void ties_are_careful(void **state)
{
	static const double steps[] = { 0, 0, 1, 1, 1, 1, 2, 2, 1, 0 };
	static const double none[10];
	struct sb_estimated estimated;

	(void)state;
	CHECK_NEAR(p_of(none, 10, 0), 1, 0);
	CHECK_NEAR(p_of(steps, 10, -1e-9), 1.0 / 1024, 1e-15);
	assert_true(p_of(steps, 10, 0) > 0.005);
	CHECK_EQ(sb_signed_rank_estimate(&estimated, steps, 10, 0.05), 0);
	assert_true(p_of(steps, 10, estimated.low) > 0.025);
	assert_true(p_of(steps, 10, estimated.low - 1e-9) <= 0.025);
}

static void quantiles_are_scipys(void **state)
{
	(void)state;
	CHECK_NEAR(sb_normal_quantile(0.8), 0.8416212335729143, 1e-12);
	CHECK_NEAR(sb_normal_quantile(0.975), 1.959963984540054, 1e-12);
	CHECK_NEAR(sb_normal_quantile(0.005), -2.575829303548901, 1e-12);
}

/* R: p.adjust(c(.01, .04, .03, .005), "holm") */
static void holm_is_rs(void **state)
{
	double p[] = { 0.01, 0.04, NAN, 0.03, 0.005 };
	double high[] = { 0.9, 0.6 };

	(void)state;
	sb_holm_adjust(p, 5);
	CHECK_NEAR(p[0], 0.03, 1e-15);
	CHECK_NEAR(p[1], 0.06, 1e-15);
	assert_true(isnan(p[2]));
	CHECK_NEAR(p[3], 0.06, 1e-15);
	CHECK_NEAR(p[4], 0.02, 1e-15);
	sb_holm_adjust(high, 2);
	CHECK_NEAR(high[0], 1, 0);
	CHECK_NEAR(high[1], 1, 0);
}

/* ---- pairs ---- */

static void blocks_are_what_counts(void **state)
{
	static const double a[] = { 1, 1, 2, NAN, 1, NAN, 4 };
	static const double b[] = { 2, 8, 4, 3, 4, 7, 4 };
	static const uint32_t block[] = { 0, 0, 1, 1, 2, 3, 4 };
	const struct sb_pair_values in = { a, b, block, 7 };
	enum sb_pair_scale scale;
	struct sb_paired out;
	double unit[7];

	(void)state;
	CHECK_EQ(sb_paired_units(unit, &scale, &in), 4);
	CHECK_EQ(scale, SB_PAIR_RATIO);
	CHECK_NEAR(unit[0], 2 * log(2), 1e-12); /* of 2 and 8 */
	CHECK_NEAR(unit[1], log(2), 1e-12);
	CHECK_NEAR(unit[2], 2 * log(2), 1e-12);
	CHECK_NEAR(unit[3], 0, 0);
	CHECK_EQ(sb_paired_compare(&out, &in, 0.05), 0);
	CHECK_EQ(out.pairs, 5);
	CHECK_EQ(out.missing, 2);
	CHECK_EQ(out.units, 4);
	CHECK_NEAR(out.a, 1, 0);
	CHECK_NEAR(out.b, 4, 0);
	CHECK_NEAR(out.low, 0, 0);
	assert_true(isinf(out.high) && isnan(out.detectable));
	CHECK_EQ(sb_paired_sign(&out), 0);
}

/* 3 % more and 3 % less are no difference, whatever the rounding. */
static void what_makes_up_is_nothing(void **state)
{
	static const double a[] = { 100, 103, 7, 7.21, 0.1, 0.103 };
	static const double b[] = { 103, 100, 7.21, 7, 0.103, 0.1 };
	static const uint32_t block[] = { 0, 0, 1, 1, 2, 2 };
	const struct sb_pair_values in = { a, b, block, 6 };
	enum sb_pair_scale scale;
	double unit[6];

	(void)state;
	CHECK_EQ(sb_paired_units(unit, &scale, &in), 3);
	for (int i = 0; i < 3; i++)
		CHECK_NEAR(unit[i], 0, 0);
}

/* A 0 has no logarithm: no pair is left out for it, no 0 made small. */
static void zeros_are_differences(void **state)
{
	double a[16];
	double b[16];
	uint32_t block[16];
	const struct sb_pair_values in = { a, b, block, 16 };
	struct sb_paired out;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		block[i] = i / 2;
		a[i] = i;
		b[i] = i + 3.0 + 0.1 * block[i];
	}
	CHECK_EQ(sb_paired_compare(&out, &in, 0.05), 0);
	CHECK_EQ(out.scale, SB_PAIR_DIFFERENCE);
	CHECK_EQ(out.pairs, 16);
	CHECK_NEAR(out.estimate, 3.35, 1e-12);
	CHECK_NEAR(out.p, 2.0 / 256, 1e-15);
	CHECK_EQ(sb_paired_sign(&out), 1);
	a[0] = 1e-300;
	CHECK_EQ(sb_paired_compare(&out, &in, 0.05), 0);
	CHECK_EQ(out.scale, SB_PAIR_RATIO);
	a[0] = 0;
	b[0] = NAN;
	CHECK_EQ(sb_paired_compare(&out, &in, 0.05), 0);
	CHECK_EQ(out.scale, SB_PAIR_RATIO);
	CHECK_EQ(out.missing, 1);
}

static void nothing_is_nothing(void **state)
{
	static const double a[] = { NAN, 1 };
	static const double b[] = { 1, INFINITY };
	static const uint32_t block[] = { 0, 0 };
	const struct sb_pair_values in = { a, b, block, 2 };
	struct sb_paired out;

	(void)state;
	CHECK_EQ(sb_paired_compare(&out, &in, 0.05), 0);
	CHECK_EQ(out.units, 0);
	CHECK_EQ(out.missing, 2);
	assert_true(isnan(out.a) && isnan(out.estimate) && isnan(out.p));
	CHECK_EQ(sb_paired_sign(&out), 0);
}

/* ---- two results ---- */

static struct sb_unpaired unpaired(const double *a, uint32_t n_a, const double *b, uint32_t n_b,
				   double level)
{
	struct sb_unpaired out;

	CHECK_EQ(sb_unpaired_compare(&out, a, n_a, b, n_b, level), 0);
	return out;
}

/* Hollander and Wolfe, table 4.1; scipy 1.10: mannwhitneyu(b, a, alternative=...,
 * method='exact').pvalue; the interval is R's wilcox.test(b, a, conf.int = T), made
 * differences by a 0, which is below all. */
static void the_books_are_known(void **state)
{
	static const double a[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	static const double b[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	double below_a[10];
	double below_b[5];
	struct sb_unpaired out = unpaired(a, 10, b, 5, 0.05);

	(void)state;
	CHECK_NEAR(out.p, 0.2544122544122544, 1e-14);
	CHECK_NEAR(out.p_above, 0.8967698967698966, 1e-14);
	CHECK_NEAR(out.p_below, 0.1272061272061272, 1e-14);
	CHECK_NEAR(out.superiority, 15.0 / 50, 1e-15);
	CHECK_EQ(out.scale, SB_PAIR_RATIO);
	for (int i = 0; i < 10; i++)
		below_a[i] = a[i] - 2;
	for (int i = 0; i < 5; i++)
		below_b[i] = b[i] - 2;
	out = unpaired(below_a, 10, below_b, 5, 0.05);
	CHECK_EQ(out.scale, SB_PAIR_DIFFERENCE);
	CHECK_NEAR(out.estimate, -0.305, 1e-12);
	CHECK_NEAR(out.low, -0.76, 1e-12);
	CHECK_NEAR(out.high, 0.15, 1e-12);
	CHECK_EQ(out.sign, 0);
}

/* All choices of 7 of the 15 values, and permutation_test of scipy. */
static void ties_are_exact(void **state)
{
	static const double a[] = { 1, 2, 2, 3, 3, 3, 4, 5 };
	static const double b[] = { 2, 3, 4, 4, 5, 5, 6 };
	static const double same[] = { 5, 5, 5, 5, 5 };
	struct sb_unpaired out = unpaired(a, 8, b, 7, 0.05);

	(void)state;
	CHECK_NEAR(out.superiority, 42.5 / 56, 1e-15);
	CHECK_NEAR(out.p_above, 0.055944055944055944, 1e-14);
	CHECK_NEAR(out.p_below, 0.9664335664335665, 1e-14);
	out = unpaired(same, 5, same, 5, 0.05);
	CHECK_NEAR(out.p, 1, 1e-12);
	CHECK_NEAR(out.estimate, 1, 0);
	CHECK_EQ(out.sign, 0);
}

/* scipy: mannwhitneyu(b, a, alternative=..., method='asymptotic').pvalue */
static void many_are_normal(void **state)
{
	double a[50];
	double b[40];
	struct sb_unpaired out;

	(void)state;
	for (int i = 0; i < 50; i++)
		a[i] = (i * 37 % 50) / 5.0;
	for (int i = 0; i < 40; i++)
		b[i] = (i * 29 % 40) / 4.0 + 1;
	out = unpaired(a, 50, b, 40, 0.05);
	CHECK_NEAR(out.p, 0.13303208091417562, 1e-12);
	for (int i = 0; i < 50; i++)
		a[i] = floor(a[i]);
	for (int i = 0; i < 40; i++)
		b[i] = floor(b[i]);
	out = unpaired(a, 50, b, 40, 0.05);
	CHECK_NEAR(out.p_above, 0.06107471047685406, 1e-12);
	CHECK_NEAR(out.p_below, 0.9399044089328707, 1e-12);
}

static void few_cannot_be_told_apart(void **state)
{
	static const double a[] = { 1, 2, 3 };
	static const double b[] = { 7, 8, 9 };
	struct sb_unpaired out = unpaired(a, 3, b, 3, 0.05);

	(void)state;
	CHECK_NEAR(out.p, 0.1, 1e-12);
	CHECK_EQ(out.sign, 0);
	assert_true(isinf(out.high) && isnan(out.detectable));
	out = unpaired(a, 3, b, 3, 0.1);
	CHECK_EQ(out.sign, 1);
	CHECK_EQ(sb_unpaired_compare(&out, a, 0, b, 3, 0.05), -EINVAL);
	CHECK_EQ(sb_unpaired_compare(&out, a, SB_UNPAIRED_MAX + 1, b, 3, 0.05), -E2BIG);
}

/* ---- what is said ---- */

static void check_words(const struct sb_finding *finding, const char *expected)
{
	char words[SB_FINDING_WORDS];

	sb_finding_describe(finding, words);
	assert_string_equal(words, expected);
}

static void words_have_a_direction(void **state)
{
	struct sb_finding f = {
		.metric = SB_METRIC_ns_per_op,
		.n_a = 20,
		.n_b = 20,
		.estimate = 1.031,
		.low = 1.02,
		.high = 1.042,
		.detectable = 1.018,
		.sign = 1,
	};

	(void)state;
	check_words(&f, "B is 3.1 % slower [2 % .. 4.2 %]");
	f.metric = SB_METRIC_cpu_ns_per_op;
	check_words(&f, "B is 3.1 % worse [2 % .. 4.2 %]");
	f.metric = SB_METRIC_ops_per_s;
	check_words(&f, "B is 3.1 % faster [2 % .. 4.2 %]");
	f.metric = SB_METRIC_steal_items;
	check_words(&f, "B is 3.1 % higher [2 % .. 4.2 %]");
	f.metric = SB_METRIC_ns_per_op;
	f.estimate = 0.8;
	f.low = 0.5;
	f.high = 0.95;
	f.sign = -1;
	check_words(&f, "B is 20 % faster [5 % .. 50 %]");
	f.low = -0.001;
	f.sign = 0;
	check_words(&f,
		    "no significant difference (minimum detectable effect 1.8 % at 80 % power)");
	f.scale = SB_PAIR_DIFFERENCE;
	f.estimate = 12;
	f.low = 8;
	f.high = 15;
	f.sign = 1;
	check_words(&f, "B is 12 ns slower [8 ns .. 15 ns]");
	f.low = -INFINITY;
	f.sign = 0;
	check_words(&f, "too few values for a verdict");
	f.n_b = 0;
	check_words(&f, "not measured on both sides");
}

/* ---- the words of a side ---- */

static const struct {
	const char *text;
	int rc;
	const char *words; /* each in brackets */
} splits[] = {
	{ "", 0, "" },
	{ "  ", 0, "" },
	{ "--spin-yield 12", 0, "[--spin-yield][12]" },
	{ "\t--a\n b  c ", 0, "[--a][b][c]" },
	{ "--profile 'pack:2 core:4'", 0, "[--profile][pack:2 core:4]" },
	{ "--x=\"a b\"c", 0, "[--x=a bc]" },
	{ "a\\ b 'c\\d' \"e\\\"f\\g\"", 0, "[a b][c\\d][e\"f\\g]" },
	{ "'' \"\"", 0, "[][]" },
	{ "$HOME *.c `id` a;b", 0, "[$HOME][*.c][`id`][a;b]" },
	{ "'open", -EINVAL, "" },
	{ "\"open", -EINVAL, "" },
	{ "open\\", -EINVAL, "" },
};

static void words_are_a_shells(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(splits); i++) {
		struct sb_words words;
		char all[200] = "";

		CHECK_EQ(sb_words_split(&words, splits[i].text), splits[i].rc);
		for (uint32_t w = 0; w < words.n; w++) {
			const size_t used = strlen(all);

			snprintf(all + used, sizeof(all) - used, "[%s]", words.word[w]);
		}
		assert_string_equal(all, splits[i].words);
		assert_null(words.word[words.n]);
		sb_words_free(&words);
	}
}

static void too_many_words_are_refused(void **state)
{
	char text[2 * SB_WORDS_MAX + 3] = "";
	struct sb_words words;

	(void)state;
	for (int i = 0; i < SB_WORDS_MAX; i++)
		memcpy(text + 2 * i, "a ", 3);
	CHECK_EQ(sb_words_split(&words, text), 0);
	CHECK_EQ(words.n, SB_WORDS_MAX);
	sb_words_free(&words);
	memcpy(text + 2 * SB_WORDS_MAX, "a", 2);
	CHECK_EQ(sb_words_split(&words, text), -E2BIG);
}

/* ---- made up ---- */

#define PAIRS_MAX 40
#define RUNS_MAX  (2 * PAIRS_MAX)
#define SERIES	  SB_SCALE(2000)

static struct sb_rng rng;

static double uniform(void)
{
	return ((double)(sb_rng_next(&rng) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The logarithms of so many runs, one after the other, of one program. */
typedef void noise_fn(double *run, uint32_t n);

static void gaussian(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.02 * normal();
}

static void skewed(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = -0.02 * log(uniform());
}

/* Student's with one degree of freedom: no mean, no variance. (Cut off where exp
 * ends.) */
static void cauchy(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = fmax(-300, fmin(300, 0.01 * tan(M_PI * (uniform() - 0.5))));
}

/* Mostly quiet, and now and then a disturbance. */
static void spiky(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.01 * normal() + (uniform() < 0.1 ? 0.3 * uniform() : 0);
}

/* Percentiles are buckets of a histogram. */
static void stepped(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.016 * floor(1.2 * normal());
}

/* A state of the machine that lasts for some runs. */
static void lasting(double *run, uint32_t n)
{
	double level = 0;

	for (uint32_t i = 0; i < n; i++) {
		level = 0.5 * level + 0.02 * normal();
		run[i] = level;
	}
}

static void drifting(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.01 * i + 0.005 * normal();
}

/* The second of a pair is 5 % slower. */
static void second_slower(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.05 * (i % 2) + 0.01 * normal();
}

/* As if made to fool blocks: their inner runs are slower. */
static void rhythmic(double *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run[i] = 0.05 * (i % 4 == 1 || i % 4 == 2) + 0.001 * normal();
}

struct noise {
	const char *name;
	noise_fn *fill;
	bool is_continuous; /* else rates may be lower than what is stated */
	double power;	    /* at least that at what could be seen; 0: not looked at */
};

static const struct noise noises[] = {
	{ "gaussian", gaussian, true, 0.72 }, { "skewed", skewed, true, 0.72 },
	{ "cauchy", cauchy, true, 0 },	      { "spiky", spiky, true, 0.6 },
	{ "stepped", stepped, false, 0 },     { "lasting", lasting, true, 0.72 },
	{ "drifting", drifting, true, 0.72 }, { "second_slower", second_slower, true, 0.72 },
	{ "rhythmic", rhythmic, true, 0 },
};

/* A series of pairs in which B takes `factor` times as long. */
static void compare_series(struct sb_paired *out, const struct noise *noise, uint32_t pairs,
			   double factor, double level)
{
	double run[RUNS_MAX];
	double a[PAIRS_MAX];
	double b[PAIRS_MAX];
	uint32_t block[PAIRS_MAX];
	const struct sb_pair_values in = { a, b, block, pairs };
	uint32_t first = 0;

	noise->fill(run, 2 * pairs);
	for (uint32_t i = 0; i < pairs; i++) {
		block[i] = i / 2;
		first = i % 2 ? 1 - first : sb_rng_below(&rng, 2);
		a[i] = 100 * exp(run[2 * i + first]);
		b[i] = 100 * factor * exp(run[2 * i + 1 - first]);
	}
	CHECK_EQ(sb_paired_compare(out, &in, level), 0);
}

/* How far a rate may be from what it should be. */
static double slack(double rate)
{
	return 5 * sqrt(rate * (1 - rate) / SERIES);
}

/* The largest error of at most level that so many blocks can have. */
static double attained(uint32_t units, double level)
{
	double value[PAIRS_MAX];
	double best = 0;

	/* One of the blocks against all others, then two, and so on. */
	for (uint32_t i = 0; i < units; i++)
		value[i] = ldexp(1, (int)i);
	for (uint32_t sum = 0; sum <= units * (units + 1) / 2; sum++) {
		double signs[PAIRS_MAX];
		uint32_t left = sum;
		double p;

		for (uint32_t i = units; i-- > 0;) {
			const bool is_below = left >= i + 1;

			left -= is_below ? i + 1 : 0;
			signs[i] = is_below ? -value[i] : value[i];
		}
		p = p_of(signs, units, 0);
		if (p <= level / 2 && p > best)
			best = p;
	}
	return 2 * best;
}

static void errors_are_as_rare_as_stated(void **state)
{
	static const uint32_t pairs[] = { 16, 20, 40 };
	static const double levels[] = { 0.05, 0.05 / 3, 0.05 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(noises); i++) {
		for (size_t k = 0; k < SB_ARRAY_SIZE(pairs); k++) {
			const double stated = attained(pairs[k] / 2, levels[k]);
			uint32_t alarms = 0;
			uint32_t missed = 0;
			struct sb_paired out;

			for (int s = 0; s < SERIES; s++) {
				compare_series(&out, &noises[i], pairs[k], 1, levels[k]);
				alarms += sb_paired_sign(&out) != 0;
				CHECK_EQ(sb_paired_sign(&out), (out.low > 1) - (out.high < 1));
				compare_series(&out, &noises[i], pairs[k], 1.3, levels[k]);
				missed +=
					out.low > 1.3 * (1 + 1e-11) || out.high < 1.3 * (1 - 1e-11);
			}
			fprintf(stderr,
				"# %s, %u pairs: %.4f false alarms, %.4f not in the interval, "
				"stated %.4f\n",
				noises[i].name, pairs[k], (double)alarms / SERIES,
				(double)missed / SERIES, stated);
			assert_true(stated > levels[k] / 2);
			assert_true((double)alarms / SERIES < stated + slack(stated));
			assert_true((double)missed / SERIES < stated + slack(stated));
			if (noises[i].is_continuous)
				assert_true((double)alarms / SERIES > stated - slack(stated));
		}
	}
}

/* The bounds are for 2000 series; fewer are less sure. */
static double fewer_series(void)
{
	return slack(0.8) - 5 * sqrt(0.8 * 0.2 / 2000);
}

static void what_could_be_seen_is_seen(void **state)
{
	static const uint32_t pairs[] = { 20, 40 };
	static const double levels[] = { 0.05, 0.05 / 4 };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(noises); i++) {
		for (size_t k = 0; k < SB_ARRAY_SIZE(pairs); k++) {
			double least[SERIES];
			double factor;
			uint32_t seen = 0;
			struct sb_paired out;

			if (noises[i].power <= 0)
				continue;
			for (int s = 0; s < SERIES; s++) {
				compare_series(&out, &noises[i], pairs[k], 1, levels[k]);
				least[s] = out.detectable;
			}
			factor = sb_spread_of(least, SERIES).median;
			for (int s = 0; s < SERIES; s++) {
				compare_series(&out, &noises[i], pairs[k], factor, levels[k]);
				seen += sb_paired_sign(&out) > 0;
			}
			fprintf(stderr, "# %s, %u pairs: a factor of %.4f is seen in %.3f\n",
				noises[i].name, pairs[k], factor, (double)seen / SERIES);
			assert_true((double)seen / SERIES > noises[i].power - fewer_series());
			assert_true((double)seen / SERIES < 0.88 + fewer_series());
		}
	}
}

#define UNPAIRED SB_SCALE(500)

/* Of repetitions that are each for themselves. */
static void unpaired_errors_are_as_rare_as_stated(void **state)
{
	static noise_fn *const fills[] = { gaussian, skewed, cauchy, stepped };
	static const uint32_t sizes[][2] = { { 9, 9 }, { 20, 12 }, { 40, 40 } };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(fills); i++) {
		for (size_t k = 0; k < SB_ARRAY_SIZE(sizes); k++) {
			const uint32_t n_a = sizes[k][0];
			const uint32_t n_b = sizes[k][1];
			uint32_t alarms = 0;
			uint32_t missed = 0;
			uint32_t surprised = 0;

			for (int s = 0; s < UNPAIRED; s++) {
				struct sb_unpaired out;
				double run[RUNS_MAX];

				fills[i](run, n_a + n_b);
				for (uint32_t r = 0; r < n_a + n_b; r++)
					run[r] = (r < n_a ? 1 : 1.3) * exp(run[r]);
				out = unpaired(run, n_a, run + n_a, n_b, 0.05);
				missed +=
					out.low > 1.3 * (1 + 1e-11) || out.high < 1.3 * (1 - 1e-11);
				for (uint32_t r = n_a; r < n_a + n_b; r++)
					run[r] /= 1.3;
				out = unpaired(run, n_a, run + n_a, n_b, 0.05);
				alarms += out.sign != 0;
				surprised += out.p <= 0.05;
			}
			fprintf(stderr,
				"# noise %zu, %u and %u: %u false alarms, %u not in the interval, "
				"%u p below 5 %% of %d\n",
				i, n_a, n_b, alarms, missed, surprised, UNPAIRED);
			assert_true(alarms / (double)UNPAIRED < 0.05 + 2 * slack(0.05));
			assert_true(missed / (double)UNPAIRED < 0.05 + 2 * slack(0.05));
			assert_true(surprised / (double)UNPAIRED < 0.05 + 2 * slack(0.05));
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_values_are_scipys),
		cmocka_unit_test(estimates_are_the_books),
		cmocka_unit_test(the_normal_one_continues_the_exact_one),
		cmocka_unit_test(few_values_say_nothing),
		cmocka_unit_test(ties_are_careful),
		cmocka_unit_test(quantiles_are_scipys),
		cmocka_unit_test(holm_is_rs),
		cmocka_unit_test(blocks_are_what_counts),
		cmocka_unit_test(what_makes_up_is_nothing),
		cmocka_unit_test(zeros_are_differences),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(the_books_are_known),
		cmocka_unit_test(ties_are_exact),
		cmocka_unit_test(many_are_normal),
		cmocka_unit_test(few_cannot_be_told_apart),
		cmocka_unit_test(words_have_a_direction),
		cmocka_unit_test(words_are_a_shells),
		cmocka_unit_test(too_many_words_are_refused),
		cmocka_unit_test(errors_are_as_rare_as_stated),
		cmocka_unit_test(unpaired_errors_are_as_rare_as_stated),
		cmocka_unit_test(what_could_be_seen_is_seen),
	};

	sb_rng_seed(&rng, sb_test_seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
