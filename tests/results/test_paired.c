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
#include "tests/results/paired.h"

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
	assert_uint_in_range((long)(exact * 1e6), 1, 100000);
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
	check_words(&f, "B is 3.1 % higher [2 % .. 4.2 %]");
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
	f.estimate = 5.55;
	f.low = 1.98;
	f.high = 6;
	f.sign = 1;
	check_words(&f, "B takes 5.55 times as long [1.98 .. 6]");
	f.estimate = 0.8;
	f.high = 0.95;
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
	};

	sb_rng_seed(&rng, sb_test_seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
