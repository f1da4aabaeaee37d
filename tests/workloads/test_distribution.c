/*
 * Distributions of times, and quantities from text.
 *
 * Property: what a text says is what is sampled. Mean and variance agree with
 *   their closed form, and the samples with the distribution function.
 * Method: the mean's error in units of the closed form's deviation, the
 *   variance's in those of the fourth moment; Kolmogorov-Smirnov for continuous
 *   distributions, chi-squared for those of few values. Negative controls: the
 *   same samples against a slightly different parameter must be rejected.
 * Bound: SAMPLES samples; a right one is refused once in 10^6 (z <= 5) or 10^7
 *   seeds.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "workloads/load/distribution.h"
#include "workloads/load/quantity.h"

#define SAMPLES 200000
#define Z_MAX	5.0

static double sample[SAMPLES];

static struct sb_distribution make(const char *text)
{
	struct sb_distribution d;
	char why[SB_WHY_BYTES] = "";

	if (sb_distribution_init(&d, text, why))
		fail_msg("%s: %s", text, why);
	return d;
}

static void draw(const struct sb_distribution *d)
{
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed());
	for (int i = 0; i < SAMPLES; i++)
		sample[i] = sb_distribution_sample(d, &rng);
}

/* ---- moments ---- */

/* About the closed form's mean. */
static double central_moment(double mean, int k)
{
	double sum = 0;

	for (int i = 0; i < SAMPLES; i++)
		sum += pow(sample[i] - mean, k);
	return sum / SAMPLES;
}

/* How many deviations the sample's mean and variance are off, at most. */
static double moments_z(double mean, double scv)
{
	const double variance = scv * mean * mean;
	const double off = fabs(central_moment(mean, 1));
	const double second = central_moment(mean, 2);
	const double fourth = central_moment(mean, 4);
	const double deviation = sqrt((fourth - second * second) / SAMPLES);

	if (variance == 0)
		return off == 0 && second == 0 ? 0 : INFINITY;
	return fmax(off / sqrt(variance / SAMPLES), fabs(second - variance) / deviation);
}

static const struct {
	const char *text;
	double mean_ns;
	double scv;
} known[] = {
	{ "fixed:10us", 1e4, 0 },
	{ "exp:50us", 5e4, 1 },
	{ "10us+exp:1us", 1.1e4, 1.0 / 121 },
	{ "uniform:1us:3us", 2e3, 1.0 / 12 },
	{ "lognormal:10us:5us", 1e4, 0.25 },
	/* a = 3/2, 1us to 100us: by hand from the density. */
	{ "pareto:1us:1.5:100us", 2702.7027027027, 2.7 },
	{ "modes:0.25:1us,0.75:5us", 4e3, 3.0 / 16 },
	{ "extreme-bimodal", 2997.5, 138.148 },
	{ "high-bimodal", 50500, 0.9609 },
	{ "tpcc", 19068, 1.47944 },
	{ "rocksdb", 318250, 0.99060 },
	{ "ghost-rocksdb", 34950, 101.4144 },
	{ "ghost-centralized", 1.1e4, 1.0 / 121 },
};

static void moments_are_the_closed_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(known); i++) {
		struct sb_distribution d = make(known[i].text);
		double z;

		/* Of the reference's figures, as many digits as they have. */
		if (fabs(d.mean_ns / known[i].mean_ns - 1) > 1e-9 ||
		    fabs(d.scv - known[i].scv) > 5e-4 * (1 + known[i].scv))
			fail_msg("%s: mean %.9g, SCV %.9g", known[i].text, d.mean_ns, d.scv);
		draw(&d);
		z = moments_z(d.mean_ns, d.scv);
		if (z > Z_MAX)
			fail_msg("%s: %.1f deviations off", known[i].text, z);
		sb_distribution_fini(&d);
	}
}

static void wrong_moments_are_seen(void **state)
{
	struct sb_distribution d = make("exp:50us");

	(void)state;
	draw(&d);
	assert_true(moments_z(d.mean_ns * 1.03, d.scv) > Z_MAX);
	assert_true(moments_z(d.mean_ns, d.scv * 1.08) > Z_MAX);
	sb_distribution_fini(&d);
}

static void an_infinite_variance_says_so(void **state)
{
	struct sb_distribution d = make("pareto:1us:1.5");

	(void)state;
	assert_true(d.mean_ns == 3000);
	assert_true(isinf(d.scv));
	sb_distribution_fini(&d);
}

/* ---- goodness of fit ---- */

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Largest distance of the distribution functions, times the root of n. */
static double kolmogorov(const struct sb_distribution *d)
{
	double largest = 0;

	qsort(sample, SAMPLES, sizeof(*sample), compare);
	for (int i = 0; i < SAMPLES; i++) {
		const double f = sb_distribution_cdf(d, sample[i]);

		largest = fmax(largest, fabs(f - (double)i / SAMPLES));
		largest = fmax(largest, fabs(f - (double)(i + 1) / SAMPLES));
	}
	return largest * sqrt(SAMPLES);
}

/* 2 exp(-2 x^2) is 10^-7. */
#define KOLMOGOROV_MAX 2.9

static void continuous_ones_fit(void **state)
{
	static const char *const texts[] = {
		"exp:50us",	      "10us+exp:1us",	"uniform:1us:3us",
		"lognormal:10us:5us", "pareto:1us:1.5", "pareto:1us:1.5:100us",
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(texts); i++) {
		struct sb_distribution d = make(texts[i]);

		draw(&d);
		if (kolmogorov(&d) > KOLMOGOROV_MAX)
			fail_msg("%s: %.2f", texts[i], kolmogorov(&d));
		sb_distribution_fini(&d);
	}
}

static void a_wrong_parameter_does_not_fit(void **state)
{
	static const struct {
		const char *drawn;
		const char *claimed;
	} wrong[] = {
		{ "exp:50us", "exp:52us" },
		{ "uniform:1us:3us", "uniform:1us:3.1us" },
		{ "lognormal:10us:5us", "lognormal:10us:5.3us" },
		{ "pareto:1us:1.5", "pareto:1us:1.55" },
		{ "10us+exp:1us", "exp:11us" },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		struct sb_distribution d = make(wrong[i].drawn);
		struct sb_distribution other = make(wrong[i].claimed);

		draw(&d);
		if (kolmogorov(&other) <= KOLMOGOROV_MAX)
			fail_msg("%s passed for %s", wrong[i].drawn, wrong[i].claimed);
		sb_distribution_fini(&d);
		sb_distribution_fini(&other);
	}
}

/* Chi-squared of the samples against the modes, as a normal deviate (Wilson and
 * Hilferty). A sample that is none of the values: infinite. */
static double chi_squared_z(const struct sb_distribution *d)
{
	const double k = d->modes - 1;
	uint32_t seen = 0;
	double chi = 0;

	for (uint32_t m = 0; m < d->modes; m++) {
		const double p = d->mode[m].up_to - (m ? d->mode[m - 1].up_to : 0);
		uint32_t n = 0;

		for (int i = 0; i < SAMPLES; i++)
			n += sample[i] == d->mode[m].value_ns;
		seen += n;
		chi += (n - p * SAMPLES) * (n - p * SAMPLES) / (p * SAMPLES);
	}
	if (seen != SAMPLES)
		return INFINITY;
	return (cbrt(chi / k) - (1 - 2 / (9 * k))) / sqrt(2 / (9 * k));
}

static void modes_fit(void **state)
{
	static const char *const texts[] = { "extreme-bimodal", "high-bimodal", "tpcc", "rocksdb",
					     "ghost-rocksdb" };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(texts); i++) {
		struct sb_distribution d = make(texts[i]);

		draw(&d);
		if (chi_squared_z(&d) > Z_MAX)
			fail_msg("%s: %.2f", texts[i], chi_squared_z(&d));
		sb_distribution_fini(&d);
	}
}

static void wrong_modes_do_not_fit(void **state)
{
	struct sb_distribution d = make("tpcc");
	struct sb_distribution other =
		make("modes:0.43:20us,0.45:5.7us,0.04:88us,0.04:6us,0.04:100us");

	(void)state;
	draw(&d);
	assert_true(chi_squared_z(&other) > Z_MAX);
	sb_distribution_fini(&other);
	other = make("modes:0.44:20us,0.44:5.7us,0.04:88us,0.04:6us,0.04:99us");
	assert_true(isinf(chi_squared_z(&other)));
	sb_distribution_fini(&other);
	sb_distribution_fini(&d);
}

/* ---- files ---- */

/* Writes a file and returns "file:PATH". */
static const char *file_of(const char *content)
{
	static char text[64];
	char path[] = "/tmp/sb-times-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	CHECK_EQ(write(fd, content, strlen(content)), strlen(content));
	close(fd);
	snprintf(text, sizeof(text), "file:%s", path);
	return text;
}

static void a_file_is_a_histogram(void **state)
{
	const char *text = file_of("# made up\n1us 3\n\n5us 9 # often\n");
	struct sb_distribution d = make(text);
	struct sb_distribution same = make("modes:0.25:1us,0.75:5us");

	(void)state;
	CHECK_EQ(d.modes, 2);
	draw(&d);
	assert_true(chi_squared_z(&same) <= Z_MAX);
	unlink(text + 5);
	sb_distribution_fini(&same);
	sb_distribution_fini(&d);
}

static void a_wrong_file_names_its_line(void **state)
{
	static const struct {
		const char *content;
		const char *expected;
	} wrong[] = {
		{ "1us\n\n5\n", ":3: expected a time" },
		{ "1us 1 1\n", ":1: expected a time" },
		{ "1us x\n", ":1: expected a time" },
		{ "# nothing\n", "there is no time in it" },
		{ "1us 0\n", "all weights are 0" },
	};
	struct sb_distribution d;
	char why[SB_WHY_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		const char *text = file_of(wrong[i].content);

		assert_int_not_equal(sb_distribution_init(&d, text, why), 0);
		if (!strstr(why, wrong[i].expected))
			fail_msg("%s", why);
		unlink(text + 5);
	}
	CHECK_EQ(sb_distribution_init(&d, "file:/nonexistent/x", why), -ENOENT);
	assert_non_null(strstr(why, "cannot be opened"));
}

/* ---- text ---- */

static void what_is_wrong_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} wrong[] = {
		{ "", "expected T or fixed:T" },
		{ "exp", "expected T or fixed:T" },
		{ "gamma:1us", "expected T or fixed:T" },
		{ "exp:", "expected exp:T" },
		{ "exp:50", "expected exp:T" },
		{ "exp:0us", "expected exp:T" },
		{ "exp:-1us", "expected exp:T" },
		{ "exp:1e3us", "expected exp:T" },
		{ "exp:50us:1us", "expected exp:T" },
		{ "fixed:5 us", "expected fixed:T" },
		{ "uniform:3us:1us", "A < B" },
		{ "uniform:3us", "A < B" },
		{ "bimodal:1.1:1us:2us", "P from 0 to 1" },
		{ "bimodal:0.5:1us", "P from 0 to 1" },
		{ "modes:0.5:1us,0.4:2us", "add up to 1" },
		{ "modes:0.5:1us,0.5", "add up to 1" },
		{ "modes:0.5:1us,0.5:2us,", "add up to 1" },
		{ "lognormal:1us:0us", "lognormal:MEAN:SD" },
		{ "pareto:1us:1", "ALPHA > 1" },
		{ "pareto:5us:2:5us", "MAX > MIN" },
		{ "5+exp:1us", "before the +" },
		{ "5us+", "expected T or fixed:T" },
	};
	struct sb_distribution d;
	char why[SB_WHY_BYTES];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		if (!sb_distribution_init(&d, wrong[i].text, why))
			fail_msg("'%s' was not refused", wrong[i].text);
		if (!strstr(why, wrong[i].expected) || strchr(why, '\n'))
			fail_msg("'%s': %s", wrong[i].text, why);
	}
}

static void quantities_are_strict(void **state)
{
	uint64_t bytes;
	double x;

	(void)state;
	assert_true(sb_quantity_time("0.5us", &x) && x == 500);
	assert_true(sb_quantity_rate("200k/s", &x) && x == 200e3);
	assert_true(sb_quantity_percent("70%", &x) && fabs(x - 0.7) < 1e-12);
	assert_true(sb_quantity_bytes("64KiB", &bytes) && bytes == 65536);
	assert_false(sb_quantity_rate("200k", &x));
	assert_false(sb_quantity_rate("200 k/s", &x));
	assert_false(sb_quantity_percent("70", &x));
	assert_false(sb_quantity_bytes("64K", &bytes));
	assert_false(sb_quantity_bytes("0.3B", &bytes));
	assert_false(sb_quantity_time("1.us", &x));
	assert_false(sb_quantity_time("1.2.3us", &x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_the_closed_form),
		cmocka_unit_test(wrong_moments_are_seen),
		cmocka_unit_test(an_infinite_variance_says_so),
		cmocka_unit_test(continuous_ones_fit),
		cmocka_unit_test(a_wrong_parameter_does_not_fit),
		cmocka_unit_test(modes_fit),
		cmocka_unit_test(wrong_modes_do_not_fit),
		cmocka_unit_test(a_file_is_a_histogram),
		cmocka_unit_test(a_wrong_file_names_its_line),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(quantities_are_strict),
	};

	return cmocka_run_group_tests_name("distribution", tests, NULL, NULL);
}
