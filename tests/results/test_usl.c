/*
 * test_usl.c - the Universal Scalability Law: fits to points of known parameters find these, with honest
 * standard errors.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "results/stats/usl.h"
#include "tests/test.h"

static double law(double lambda, double sigma, double kappa, double n)
{
	return lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

static bool is_near(double a, double b, double part)
{
	if (fabs(a - b) <= part * fabs(b))
		return true;
	print_error("%.9g is not near %.9g\n", a, b);
	return false;
}

static void fit_finds_the_parameters(void **state)
{
	static const double parameters[][3] = { { 1e6, 0.05, 0.001 },
						{ 12.5, 0.3, 0.0002 },
						{ 3e9, 0.02, 0.1 } };

	(void)state;
	static const double sizes[] = { 1, 2, 3, 4, 8, 12, 16, 32 };

	for (size_t i = 0; i < SB_ARRAY_SIZE(parameters); i++) {
		const double *p = parameters[i];
		struct sb_usl_point point[8];
		struct sb_usl usl;

		for (int n = 0; n < 8; n++)
			point[n] =
				(struct sb_usl_point){ sizes[n], law(p[0], p[1], p[2], sizes[n]) };
		CHECK_EQ(sb_usl_fit(&usl, point, 8), 0);
		for (int k = 0; k < 3; k++)
			assert_true(is_near(usl.value[k], p[k], 1e-6));
		assert_true(is_near(sb_usl_peak(&usl), fmax(1, sqrt((1 - p[1]) / p[2])), 1e-5));
		assert_true(is_near(sb_usl_at(&usl, 10), law(p[0], p[1], p[2], 10), 1e-6));
	}
}

/* Uniform in [-1, 1), by xorshift. */
static double noise(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) * 0x1p-52 - 1;
}

static double squares(const struct sb_usl *usl, const struct sb_usl_point *point, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += pow(point[i].throughput - sb_usl_at(usl, point[i].workers), 2);
	return sum;
}

/* No neighbour is better. */
static bool is_least(const struct sb_usl *usl, const struct sb_usl_point *point, int n)
{
	for (int k = 0; k < SB_USL_PARAMETERS; k++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			struct sb_usl other = *usl;

			other.value[k] *= 1 + 1e-4 * sign;
			if (squares(&other, point, n) < squares(usl, point, n))
				return false;
		}
	}
	return true;
}

enum { FITS = 400, SIZES = 6 };

/* Six points leave three degrees of freedom: by Student's distribution a
 * parameter is within twice its standard error 86 times of 100. */
static void standard_errors_are_as_large_as_errors(void **state)
{
	static const double sizes[SIZES] = { 1, 2, 4, 8, 16, 32 };
	static const double truth[SB_USL_PARAMETERS] = { 1000, 0.06, 0.002 };
	uint64_t seed = 88172645463325252;
	int within[SB_USL_PARAMETERS] = { 0 };
	double sum[SB_USL_PARAMETERS] = { 0 };

	(void)state;
	for (int f = 0; f < FITS; f++) {
		struct sb_usl_point point[SIZES];
		struct sb_usl usl;

		for (int i = 0; i < SIZES; i++)
			point[i] = (struct sb_usl_point){ sizes[i], law(truth[0], truth[1],
									truth[2], sizes[i]) +
									    60 * noise(&seed) };
		CHECK_EQ(sb_usl_fit(&usl, point, SIZES), 0);
		assert_true(is_least(&usl, point, SIZES));
		for (int k = 0; k < SB_USL_PARAMETERS; k++) {
			assert_true(usl.error[k] > 0);
			within[k] += fabs(usl.value[k] - truth[k]) < 2 * usl.error[k];
			sum[k] += usl.value[k];
		}
	}
	for (int k = 0; k < SB_USL_PARAMETERS; k++) {
		assert_true(is_near(sum[k] / FITS, truth[k], 0.03));
		assert_uint_in_range(within[k], FITS * 81 / 100, FITS * 91 / 100);
	}
}

/* More than proportional, which the law has no parameters for. */
static void parameters_are_not_negative(void **state)
{
	struct sb_usl_point point[6];
	struct sb_usl usl;

	(void)state;
	for (int n = 1; n <= 6; n++)
		point[n - 1] = (struct sb_usl_point){ n, 100 * n * (1 + 0.05 * n) };
	CHECK_EQ(sb_usl_fit(&usl, point, 6), 0);
	assert_true(usl.value[SB_USL_SIGMA] == 0);
	assert_true(usl.value[SB_USL_KAPPA] == 0);
	assert_true(isnan(usl.error[SB_USL_SIGMA]));
	assert_true(usl.value[SB_USL_LAMBDA] > 100);
	assert_true(isinf(sb_usl_peak(&usl)));
	/* Contention alone: kappa stands at its bound, or near it. */
	for (int n = 1; n <= 6; n++)
		point[n - 1] = (struct sb_usl_point){ n, law(10, 0.2, 0, n) };
	CHECK_EQ(sb_usl_fit(&usl, point, 6), 0);
	assert_true(is_near(usl.value[SB_USL_SIGMA], 0.2, 1e-5));
	assert_true(usl.value[SB_USL_KAPPA] >= 0 && usl.value[SB_USL_KAPPA] < 1e-6);
}

static void too_few_points_are_refused(void **state)
{
	static const struct sb_usl_point three[] = {
		{ 1, 10 }, { 2, 19 }, { 4, 35 }, { 4, 36 }, { 2, 18 }
	};
	struct sb_usl usl;

	(void)state;
	CHECK_EQ(sb_usl_fit(&usl, three, 5), -EDOM);
	CHECK_EQ(sb_usl_fit(&usl, NULL, 0), -EDOM);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fit_finds_the_parameters),
		cmocka_unit_test(standard_errors_are_as_large_as_errors),
		cmocka_unit_test(parameters_are_not_negative),
		cmocka_unit_test(too_few_points_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
