/*
 * test_gate.c - a gate's conclusions: its rule keeps the errors that it states,
 * and finds what it is to find; limits; texts in the forms for CI systems.
 *
 * Method: simulation with the rule itself, over noises that are normal, have heavy
 * tails, or are skewed as little as blocks' differences can be (their signs are a
 * coin's); closed forms for
 * rates.
 */
#include <math.h>
#include <string.h>

#include "harness/compare/limits.h"
#include "harness/terminal/status.h"
#include "results/gate/gate.h"
#include "results/stats/sequential.h"
#include "results/text/escape.h"
#include "tests/test.h"

#define TRIALS ((uint32_t)SB_SCALE(2000))
#define ALPHA  0.02
/* Of one metric of two, in three workloads. */
#define SHARED (ALPHA / 6)
#define BETA   0.05
#define LIMIT  log1p(0.03)

/* ---- noises, with a standard deviation or scale of 1 ---- */

static double uniform(struct sb_rng *rng)
{
	return ((double)(sb_rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct sb_rng *rng)
{
	return sqrt(-2 * log(uniform(rng))) * cos(2 * M_PI * uniform(rng));
}

/* One in ten is ten times as large: another program was in the way. */
static double heavy(struct sb_rng *rng)
{
	return normal(rng) * (uniform(rng) < 0.1 ? 10 : 1);
}

/* ---- a gate of one metric ---- */

struct shown {
	uint32_t of[SB_GATE_VERDICTS];
	uint32_t values;
	uint32_t trials;
};

static void try_gate(struct shown *shown, struct sb_rng *rng, double (*noise)(struct sb_rng *rng),
		     double deviation, double shift, double alpha)
{
	struct sb_sequential test = {
		.limit = LIMIT, .alpha = alpha, .beta = BETA, .verdict = SB_GATE_UNDECIDED
	};
	double value[SB_LOOK_LAST];
	uint32_t n = 0;

	for (int i = 0; i < SB_LOOKS && test.verdict == SB_GATE_UNDECIDED; i++) {
		struct sb_evidence evidence;

		while (n < sb_look[i])
			value[n++] = shift + deviation * noise(rng);
		CHECK_EQ(sb_evidence_of(&evidence, value, n, LIMIT), 0);
		sb_sequential_look(&test, &evidence, (double)n / SB_LOOK_LAST);
	}
	assert_true(test.alpha_spent <= alpha * (1 + 1e-12));
	assert_true(test.beta_spent <= BETA * (1 + 1e-12));
	shown->of[test.verdict]++;
	shown->values += n;
	shown->trials++;
}

static struct shown try_gates(double (*noise)(struct sb_rng *rng), double deviation, double shift,
			      double alpha)
{
	struct shown shown = { .trials = 0 };
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed());
	for (uint32_t i = 0; i < TRIALS; i++)
		try_gate(&shown, &rng, noise, deviation, shift, alpha);
	print_message("# shift %+.2f %%, noise %.1f %%: %u regressed, %u fine, %u undecided of %u; "
		      "%.1f blocks\n",
		      100 * expm1(shift), 100 * deviation, shown.of[SB_GATE_REGRESSED],
		      shown.of[SB_GATE_FINE], shown.of[SB_GATE_UNDECIDED], TRIALS,
		      (double)shown.values / TRIALS);
	return shown;
}

/* With the chance p, more than that are found in fewer than one in 10^6 tests. */
static uint32_t at_most(uint32_t trials, double p)
{
	return (uint32_t)(trials * p + 5 * sqrt(trials * p * (1 - p)) + 5);
}

static void false_alarms_are_as_rare_as_stated(void **state)
{
	double (*const noises[])(struct sb_rng *) = { normal, heavy };
	const double deviation[] = { 0.005, 0.02, 0.1, 1 };

	(void)state;
	for (size_t n = 0; n < SB_ARRAY_SIZE(noises); n++) {
		for (size_t d = 0; d < SB_ARRAY_SIZE(deviation); d++) {
			const struct shown shown = try_gates(noises[n], deviation[d], 0, ALPHA);

			assert_uint_in_range(shown.of[SB_GATE_REGRESSED], 0,
					     at_most(TRIALS, ALPHA));
		}
	}
}

/* Without the estimate's part in it, the bound on the chance is nearly used up. */
static void the_level_is_spent(void **state)
{
	struct sb_sequential test = {
		.limit = 1e-9, .alpha = 1, .beta = 1, .verdict = SB_GATE_UNDECIDED
	};

	(void)state;
	sb_sequential_look(&test,
			   &(struct sb_evidence){
				   .estimate = 1, .p_worse = 0.3, .p_within = 1, .p_least = 0.01 },
			   0.25);
	CHECK_EQ(test.verdict, SB_GATE_UNDECIDED);
	assert_true(test.alpha_spent == 0.25);
	/* Now 0.5 - 0.25 is left. */
	sb_sequential_look(&test,
			   &(struct sb_evidence){
				   .estimate = 1, .p_worse = 0.26, .p_within = 1, .p_least = 0.01 },
			   0.5);
	CHECK_EQ(test.verdict, SB_GATE_UNDECIDED);
	/* A look that can show nothing leaves its part to the next one. */
	sb_sequential_look(&test,
			   &(struct sb_evidence){
				   .estimate = 1, .p_worse = 0.3, .p_within = 1, .p_least = 0.3 },
			   0.75);
	assert_true(test.alpha_spent == 0.5);
	sb_sequential_look(&test,
			   &(struct sb_evidence){
				   .estimate = 1, .p_worse = 0.49, .p_within = 1, .p_least = 0.01 },
			   1);
	CHECK_EQ(test.verdict, SB_GATE_REGRESSED);
}

static void at_its_limit_it_is_rarely_fine(void **state)
{
	const struct shown shown = try_gates(normal, 0.02, LIMIT, SHARED);

	(void)state;
	assert_uint_in_range(shown.of[SB_GATE_FINE], 0, at_most(TRIALS, BETA));
}

/* Blocks of runs here have a noise of 1 to 1.5 % in CPU time. */
static void five_percent_are_found(void **state)
{
	const struct shown shown = try_gates(normal, 0.015, log1p(0.05), SHARED);

	(void)state;
	assert_uint_in_range(shown.of[SB_GATE_REGRESSED], (uint32_t)(0.95 * TRIALS), TRIALS);
}

static void what_is_clear_ends_early(void **state)
{
	const struct shown same = try_gates(normal, 0.01, 0, SHARED);
	const struct shown slow = try_gates(normal, 0.01, log1p(0.1), SHARED);

	(void)state;
	assert_uint_in_range(same.of[SB_GATE_FINE], (uint32_t)(0.99 * TRIALS), TRIALS);
	assert_uint_in_range(same.values, 0, 10 * TRIALS);
	assert_uint_in_range(slow.of[SB_GATE_REGRESSED], (uint32_t)(0.99 * TRIALS), TRIALS);
	assert_uint_in_range(slow.values, 0, 12 * TRIALS);
}

/* A rise that is certain and within the limit is no regression. */
static void a_small_rise_is_fine(void **state)
{
	const struct shown shown = try_gates(normal, 0.002, log1p(0.015), SHARED);

	(void)state;
	CHECK_EQ(shown.of[SB_GATE_FINE], TRIALS);
}

/* However certain it is, and though it is not ruled out that it is beyond. */
static void a_rise_within_the_limit_is_no_regression(void **state)
{
	struct sb_sequential test = {
		.limit = LIMIT, .alpha = ALPHA, .beta = BETA, .verdict = SB_GATE_UNDECIDED
	};
	struct sb_evidence evidence = {
		.estimate = 0.99 * LIMIT, .p_worse = 1e-9, .p_within = 0.4, .p_least = 1e-9
	};

	(void)state;
	sb_sequential_look(&test, &evidence, 0.25);
	CHECK_EQ(test.verdict, SB_GATE_UNDECIDED);
	evidence.estimate = 1.01 * LIMIT;
	sb_sequential_look(&test, &evidence, 0.5);
	CHECK_EQ(test.verdict, SB_GATE_REGRESSED);
	/* The first answer is final. */
	evidence.p_within = 0;
	evidence.estimate = 0;
	sb_sequential_look(&test, &evidence, 1);
	CHECK_EQ(test.verdict, SB_GATE_REGRESSED);
}

static void the_forecast_holds(void **state)
{
	const uint32_t n = sb_sequential_forecast(LIMIT, BETA, 0.02);
	const struct shown shown = try_gates(normal, 0.02, 0, SHARED);

	(void)state;
	CHECK_EQ(sb_sequential_forecast(LIMIT, BETA, 1), 0);
	CHECK_EQ(sb_sequential_forecast(LIMIT, BETA, 1e-4), sb_look[0]);
	assert_uint_in_range(n, sb_look[0], SB_LOOK_LAST);
	/* What most need is not far from the mean. */
	assert_uint_in_range(shown.values / TRIALS, sb_look[0], 3 * n / 2);
}

static struct sb_sequential a_test(void)
{
	return (struct sb_sequential){
		.limit = LIMIT, .alpha = SHARED, .beta = BETA, .verdict = SB_GATE_UNDECIDED
	};
}

/* A verdict is as likely as it is said to be, after the first values. */
static void the_chance_of_a_verdict_holds(void **state)
{
	const double deviation[] = { 0.05, 0.1, 0.3 };
	const struct sb_sequential test = a_test();

	(void)state;
	for (size_t d = 0; d < SB_ARRAY_SIZE(deviation); d++) {
		const struct shown shown = try_gates(normal, deviation[d], 0, SHARED);
		const double clear = 1 - (double)shown.of[SB_GATE_UNDECIDED] / TRIALS;
		const double chance = sb_sequential_chance(&test, 0, deviation[d], 12);

		print_message("# noise %g: chance %.2f, clear %.2f\n", deviation[d], chance, clear);
		assert_true(fabs(chance - clear) < 0.25);
	}
	assert_true(sb_sequential_chance(&test, 0, 0.3, 12) < 0.1);
	assert_true(sb_sequential_chance(&test, 0, 0.02, 12) > 0.99);
	/* What is far beyond the limit will be regressed. */
	assert_true(sb_sequential_chance(&test, 0.4, 0.3, 12) > 0.5);
}

/* ---- rates ---- */

static void rates_have_their_exact_interval(void **state)
{
	const struct sb_rate none = sb_rate_of(0, 100);
	const struct sb_rate one = sb_rate_of(1, 160);
	const struct sb_rate all = sb_rate_of(20, 20);

	(void)state;
	/* 1 - 0.025^(1/n), of which tables have the first. */
	assert_true(none.low == 0 && fabs(none.high - 0.036217) < 1e-5);
	assert_true(fabs(one.low - 0.000158) < 1e-6 && fabs(one.high - 0.034329) < 1e-5);
	assert_true(all.high == 1 && fabs(all.low - 0.831566) < 1e-5);
}

/* ---- limits ---- */

static void limits_know_what_is_worse(void **state)
{
	struct sb_limits l;

	(void)state;
	CHECK_EQ(sb_limits_parse(&l, ""), 0);
	CHECK_EQ(l.n, 2);
	CHECK_EQ(l.limit[0].metric, SB_METRIC_ns_per_op);
	assert_true(!l.limit[0].is_fall && l.limit[0].part == 0.03);
	CHECK_EQ(sb_limits_parse(&l, "ops_per_s=5%,ns_per_op=±2.5%,rounds=-1%"), 0);
	CHECK_EQ(l.n, 4);
	assert_true(l.limit[0].is_fall && l.limit[0].part == 0.05);
	assert_true(!l.limit[1].is_fall && l.limit[2].is_fall);
	assert_true(l.limit[2].part == 0.025);
	assert_true(l.limit[3].is_fall);
}

/* Each kind keeps its default, unless one of its own is given. */
static void limits_are_of_two_kinds(void **state)
{
	enum sb_metric_id count;
	struct sb_limits times;
	struct sb_limits events;

	(void)state;
	CHECK_EQ(sb_limits_parse(&times, ""), 0);
	CHECK_EQ(sb_limits_split(&times, &events), 0);
	CHECK_EQ(times.n, 2);
	CHECK_EQ(events.n, 4);
	CHECK_EQ(events.limit[1].metric, SB_METRIC_steals_per_op);
	assert_true(events.limit[1].is_fall);
	CHECK_EQ(sb_limits_parse(&times, "cpu_ns_per_op=3%,parks_per_op=9%"), 0);
	CHECK_EQ(sb_limits_split(&times, &events), 0);
	CHECK_EQ(times.n, 1);
	CHECK_EQ(times.limit[0].metric, SB_METRIC_cpu_ns_per_op);
	CHECK_EQ(events.n, 1);
	assert_true(sb_limit_event(events.limit[0].metric, &count));
	CHECK_EQ(count, SB_METRIC_blocks);
	assert_false(sb_limit_event(SB_METRIC_ns_per_op, &count));
}

static void limits_that_are_none(void **state)
{
	static const char *const bad[] = {
		"ns_per_op",	  "ns_per_op=",
		"ns_per_op=3",	  "ns_per_op=0%",
		"ns_per_op=-3%",  "ops_per_s=+3%",
		"ns_per_op=++3%", "ns_per_opp=3%",
		"rounds=3%",	  "ops_per_s=100%",
		"ns_per_op=3%,",  "=3%",
		"ns_per_op=nan%", "ns_per_op=3%,ns_per_op=4%",
	};
	struct sb_limits l;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(bad); i++)
		CHECK_EQ(sb_limits_parse(&l, bad[i]), SB_EXIT_USAGE);
}

/* A name as bad as can be leaves each form in order. */
static void forms_survive_any_name(void **state)
{
	struct sb_gate_test test = {
		.workload = strdup("a\"<b>&'|`@x%\n::error::]]>"),
		.metric = "ns_per_op",
		.unit = "ns",
		.limit = 0.03,
		.rule = { .verdict = SB_GATE_REGRESSED },
		.base = 10,
		.candidate = 12,
		.change = 0.2,
		.low = -INFINITY,
		.high = INFINITY,
	};
	struct sb_gate_report gate = { .tests = 1,
				       .test = &test,
				       .baseline = strdup("old"),
				       .candidate = strdup("new"),
				       .method = "pairs" };
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;

	(void)state;
	sb_gate_conclude(&gate);
	CHECK_EQ(gate.verdict, SB_GATE_REGRESSED);
	out = open_memstream(&text, &bytes);
	sb_gate_write_annotations(&gate, out);
	fclose(out);
	assert_int_equal(strncmp(text, "::error title=", 14), 0);
	assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
	free(text);
	out = open_memstream(&text, &bytes);
	sb_gate_write_junit(&gate, out);
	fclose(out);
	assert_null(strstr(text, "<b>"));
	assert_null(strstr(text, "]]>"));
	assert_non_null(strstr(text, "failures=\"1\""));
	free(text);
	out = open_memstream(&text, &bytes);
	CHECK_EQ(sb_gate_write_json(&gate, out), 0);
	fclose(out);
	assert_null(strstr(text, "inf"));
	free(text);
	free(test.workload);
	free(gate.baseline);
	free(gate.candidate);
}

static void one_undecided_is_undecided(void **state)
{
	struct sb_gate_test test[2] = {
		{ .workload = NULL, .rule = { .verdict = SB_GATE_FINE } },
		{ .workload = NULL, .rule = { .verdict = SB_GATE_UNDECIDED } },
	};
	struct sb_gate_report gate = { .tests = 2, .test = test };
	char name[] = "a";

	(void)state;
	test[0].workload = test[1].workload = name;
	test[0].metric = test[1].metric = "ns_per_op";
	sb_gate_conclude(&gate);
	CHECK_EQ(gate.verdict, SB_GATE_UNDECIDED);
	test[1].rule.verdict = SB_GATE_FINE;
	sb_gate_conclude(&gate);
	CHECK_EQ(gate.verdict, SB_GATE_FINE);
	gate.tests = 0;
	sb_gate_conclude(&gate);
	CHECK_EQ(gate.verdict, SB_GATE_UNDECIDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(false_alarms_are_as_rare_as_stated),
		cmocka_unit_test(the_level_is_spent),
		cmocka_unit_test(at_its_limit_it_is_rarely_fine),
		cmocka_unit_test(five_percent_are_found),
		cmocka_unit_test(what_is_clear_ends_early),
		cmocka_unit_test(a_small_rise_is_fine),
		cmocka_unit_test(a_rise_within_the_limit_is_no_regression),
		cmocka_unit_test(the_forecast_holds),
		cmocka_unit_test(the_chance_of_a_verdict_holds),
		cmocka_unit_test(rates_have_their_exact_interval),
		cmocka_unit_test(limits_know_what_is_worse),
		cmocka_unit_test(limits_are_of_two_kinds),
		cmocka_unit_test(limits_that_are_none),
		cmocka_unit_test(forms_survive_any_name),
		cmocka_unit_test(one_undecided_is_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
