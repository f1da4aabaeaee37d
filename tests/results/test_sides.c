/*
 * test_sides.c - how a comparison is worded, the words of a side, and error rates of the tests by simulation.
 */
#include "tests/results/paired.h"

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

#define RUNS_MAX (2 * PAIRS_MAX)

#define SERIES SB_SCALE(2000)

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
		cmocka_unit_test(words_are_a_shells),
		cmocka_unit_test(too_many_words_are_refused),
		cmocka_unit_test(errors_are_as_rare_as_stated),
		cmocka_unit_test(unpaired_errors_are_as_rare_as_stated),
		cmocka_unit_test(what_could_be_seen_is_seen),
	};

	sb_rng_seed(&rng, sb_test_seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
