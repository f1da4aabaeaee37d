/*
 * Options, numbers from text, what happens when a run cannot be had, rows of
 * `calibrate`, and units of work.
 *
 * Property: every default is valid and in its range; a value is taken from the
 *   command line before the environment before the default; what is wrong is
 *   refused with the documented status.
 * Method: calls with made-up command lines.
 */
#include <math.h>
#include <string.h>

#include "harness/calibrate/costs.h"
#include "harness/cli/options.h"
#include "harness/cli/policy.h"
#include "harness/run/config.h"
#include "harness/run/measure.h"
#include "harness/run/series.h"
#include "harness/system/child.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/record/series.h"
#include "tests/test.h"
#include "workloads/lib/work.h"

#define WORDS_MAX 16

/* Parses "run <line>", split at blanks, into options that live on. */
static int parse(struct sb_options *options, const char *line)
{
	static char copy[512];
	char *argv[WORDS_MAX] = { (char[]){ "run" } };
	char *rest = copy;
	int argc = 1;
	char *word;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	return sb_options_parse(options, argc, argv);
}

static void counts_and_times(void **state)
{
	static const char *const no_count[] = { "",	"-1",  "+1",
						" 1",	"1 ",  "1x",
						"0x10", "1.5", "99999999999999999999" };
	static const char *const no_percent[] = {
		"", "1", "%", ".5%", "1 %", "-1%", "1.2.3%", "1%%"
	};
	static const char *const no_time[] = { "",	 "1",	 "1 s",	 "s",		"-1s",
					       "1.2.3s", "1e3s", "1sec", "99999999999h" };
	uint64_t n;
	char text[SB_TIME_BYTES];

	(void)state;
	assert_true(sb_parse_count("0", &n));
	assert_true(sb_parse_count("18446744073709551615", &n));
	assert_true(n == UINT64_MAX);
	for (size_t i = 0; i < SB_ARRAY_SIZE(no_count); i++)
		assert_false(sb_parse_count(no_count[i], &n));
	assert_true(sb_parse_time("1.5us", &n));
	CHECK_EQ(n, 1500);
	assert_true(sb_parse_percent("0.5%", &n));
	CHECK_EQ(n, 5000);
	assert_true(sb_parse_percent("100%", &n));
	CHECK_EQ(n, 1000000);
	for (size_t i = 0; i < SB_ARRAY_SIZE(no_percent); i++)
		assert_false(sb_parse_percent(no_percent[i], &n));
	assert_true(sb_parse_time("2m", &n));
	CHECK_EQ(n, 120000000000);
	sb_format_time(text, n);
	assert_string_equal(text, "2m");
	assert_true(sb_parse_time("0", &n));
	CHECK_EQ(n, 0);
	sb_format_size(text, 3 << 19);
	assert_string_equal(text, "1536KiB");
	sb_format_size(text, 0);
	assert_string_equal(text, "0B");
	for (size_t i = 0; i < SB_ARRAY_SIZE(no_time); i++)
		assert_false(sb_parse_time(no_time[i], &n));
}

static void defaults_are_valid(void **state)
{
	struct sb_options options;

	(void)state;
	CHECK_EQ(parse(&options, "-w yield --forks 1"), 0);
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (id != SB_OPT_workload && id != SB_OPT_forks)
			assert_string_equal(options.value[id].source, "default");
		assert_true(strlen(sb_option[id].help) > 3);
	}
	CHECK_EQ(sb_opt(&options, SB_OPT_spin_yield), 12);
	CHECK_EQ(sb_opt(&options, SB_OPT_duration), 500000000);
	CHECK_EQ(sb_opt(&options, SB_OPT_record), 64);
	CHECK_EQ(options.value[SB_OPT_record].alternative, 2);
	sb_options_free(&options);
}

static void forks_change_defaults(void **state)
{
	static const struct {
		const char *line;
		uint64_t forks, repetitions, duration_ms;
	} cases[] = {
		{ "-w yield", 9, 3, 130 },
		{ "-w yield --forks 12 -r 5 -d 20ms", 12, 5, 20 },
		{ "-w yield --forks 1", 1, 9, 500 },
		/* What other verbs start. */
		{ "-w yield --repetitions=1", 1, 1, 500 },
		{ "-w yield --repetitions=1 --forks 2", 2, 1, 130 },
		{ "-w yield --virtual", 1, 3, 5 },
		{ "-w yield --trace", 1, 9, 500 },
		{ "-w service --find-slo p99<1ms", 1, 9, 500 },
	};
	struct sb_options options;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		CHECK_EQ(parse(&options, cases[i].line), 0);
		CHECK_EQ(sb_opt(&options, SB_OPT_forks), cases[i].forks);
		CHECK_EQ(sb_opt(&options, SB_OPT_repetitions), cases[i].repetitions);
		CHECK_EQ(sb_opt(&options, SB_OPT_duration), 1000000 * cases[i].duration_ms);
		sb_options_free(&options);
	}
	/* It may be meant for other runs. */
	setenv("SCHED_BENCH_FORKS", "5", 1);
	CHECK_EQ(parse(&options, "-w yield --virtual"), 0);
	CHECK_EQ(sb_opt(&options, SB_OPT_forks), 1);
	sb_options_free(&options);
	unsetenv("SCHED_BENCH_FORKS");
	CHECK_EQ(parse(&options, "-w yield --virtual --forks 5"), SB_EXIT_USAGE);
	sb_options_free(&options);
}

static void sources_have_their_order(void **state)
{
	struct sb_options options;

	(void)state;
	setenv("SCHED_BENCH_SPIN_YIELD", "77", 1);
	setenv("SCHED_BENCH_BATCH", "3", 1);
	CHECK_EQ(parse(&options, "-w yield --batch=5"), 0);
	CHECK_EQ(sb_opt(&options, SB_OPT_spin_yield), 77);
	CHECK_EQ(sb_opt(&options, SB_OPT_batch), 5);
	sb_options_free(&options);
	setenv("SCHED_BENCH_BATCH", "many", 1);
	CHECK_EQ(parse(&options, "-w yield"), SB_EXIT_USAGE);
	unsetenv("SCHED_BENCH_SPIN_YIELD");
	unsetenv("SCHED_BENCH_BATCH");
}

static void options_reach_the_scheduler(void **state)
{
	const struct sb_config initial = SB_CONFIG_DEFAULT;
	struct sb_options options;
	struct sb_config config;

	(void)state;
	CHECK_EQ(parse(&options, "-w yield"), 0);
	config = sb_config_of(&options);
	CHECK_EQ(config.continues, initial.continues);
	CHECK_EQ(config.gather, initial.gather);
	CHECK_EQ(config.dead_max_bytes, initial.dead_max_bytes);
	sb_options_free(&options);
	CHECK_EQ(parse(&options,
		       "-w yield --continue front --gather no --dead-max 1.5MiB --spin-time 0"),
		 0);
	config = sb_config_of(&options);
	CHECK_EQ(config.continues, SB_CONTINUE_FRONT);
	assert_false(config.gather);
	CHECK_EQ(config.dead_max_bytes, 3 << 19);
	CHECK_EQ(config.spin_ns, 0);
	sb_options_free(&options);
}

/* What it does not set is as by default. */
static void policies_set_what_they_say(void **state)
{
	(void)state;
	for (const struct sb_policy *p = sb_policies; p->name; p++) {
		const struct sb_policy_value *v = p->value;
		struct sb_options options;
		char line[100];
		uint32_t set = 0;

		snprintf(line, sizeof(line), "-w yield --policy %s", p->name);
		CHECK_EQ(parse(&options, line), 0);
		assert_string_equal(options.value[SB_OPT_policy].text, p->name);
		for (; v->text; v++) {
			assert_string_equal(options.value[v->id].source, "policy");
			assert_string_equal(options.value[v->id].text, v->text);
			assert_string_not_equal(sb_option[v->id].initial, v->text);
		}
		for (int id = 0; id < SB_OPTIONS; id++)
			set += !strcmp(options.value[id].source, "policy");
		CHECK_EQ(set, v - p->value);
		sb_options_free(&options);
	}
}

/* The policy of the specification, and ours. */
static void two_policies_are_the_schedulers(void **state)
{
	const struct sb_config ours = SB_CONFIG_DEFAULT;
	struct sb_options options;
	struct sb_config config;

	(void)state;
	CHECK_EQ(parse(&options, "-w yield --policy spec"), 0);
	config = sb_config_of(&options);
	CHECK_EQ(config.continues, SB_CONTINUE_FRONT);
	CHECK_EQ(config.wake, SB_WAKE_GLOBAL);
	assert_false(config.handover);
	CHECK_EQ(config.hold_ns, 0);
	CHECK_EQ(config.spin_ns, 0);
	assert_false(config.gather);
	CHECK_EQ(config.tick, ours.tick);
	CHECK_EQ(config.tick_ns, ours.tick_ns);
	sb_options_free(&options);
	CHECK_EQ(parse(&options, "-w yield --policy default"), 0);
	config = sb_config_of(&options);
	CHECK_EQ(config.continues, ours.continues);
	CHECK_EQ(config.wake, ours.wake);
	CHECK_EQ(config.hold_ns, ours.hold_ns);
	sb_options_free(&options);
}

static void parameters_reach_their_workloads(void **state)
{
	static const char *const labels[] = {
		"pairs=7 round-trips=500000 self-message=no begin=at-once", "leaves=100",
		"processes=1 yields=1000000 handler=async"
	};
	const struct sb_placement placement = { .workers = 0 };
	struct sb_result result = { .all_series = SB_ARRAY_SIZE(labels) };
	struct sb_options options;

	(void)state;
	CHECK_EQ(parse(&options,
		       "-w pingpong -w skynet,yield --pairs 7 --leaves 100 --handler async"),
		 0);
	CHECK_EQ(options.chosens, SB_ARRAY_SIZE(labels));
	result.series = calloc(SB_ARRAY_SIZE(labels), sizeof(*result.series));
	for (size_t i = 0; i < SB_ARRAY_SIZE(labels); i++) {
		CHECK_EQ(
			sb_series_init(&result.series[i], &options, &options.chosen[i], &placement),
			0);
		assert_string_equal(result.series[i].label, labels[i]);
	}
	CHECK_EQ(sb_series_setting(result.series, "pairs")->number, 7);
	assert_true(isnan(sb_series_setting(&result.series[2], "handler")->number));
	assert_null(sb_series_setting(&result.series[1], "pairs"));
	sb_result_free(&result);
	sb_options_free(&options);
}

static void what_is_wrong_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"-w",
		"-w nosuch",
		"-w yield, ",
		"-w yield --bogus",
		"-w yield --bogus=3",
		"-w yield -Z",
		"-w yield --batch",
		"-w yield --batch=",
		"-w yield --batch 65536",
		"-w yield --batch -1",
		"-w yield --tick 0",
		"-w yield --duration 5",
		"-w yield --duration 10ns",
		"-w yield --wake somewhere",
		"-w yield --policy spc",
		"-w yield --continue",
		"-w yield --continue last",
		"-w yield --gather 1",
		"-w yield --dead-max 65536",
		"-w yield --dead-max 1KiB",
		"-w yield --record sampled:0",
		"-w yield --record sampled:",
		"-w yield --workers 0",
		"-w yield --quiet=yes",
		"-w yield --pairs 3",
		"-w yield --handler later",
		"-w pingpong --pairs 0",
		"-w pingpong extra",
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong); i++) {
		struct sb_options options;

		if (parse(&options, wrong[i]) != SB_EXIT_USAGE)
			fail_msg("'%s' was not refused", wrong[i]);
		sb_options_free(&options);
	}
}

static const char *candidate(const void *unused, size_t i)
{
	static const char *const names[] = { "spin-tight", "spin-yield", "batch", NULL };

	(void)unused;
	return names[i];
}

static void suggestions_are_close(void **state)
{
	(void)state;
	assert_string_equal(sb_most_like("spin-yeild", candidate, NULL), "spin-yield");
	assert_string_equal(sb_most_like("bach", candidate, NULL), "batch");
	assert_null(sb_most_like("frobnicate", candidate, NULL));
}

/* One worker, on a CPU that is not there. Returns what sb_measure does. */
static int measure_nowhere(struct sb_ground *ground, struct sb_record *record)
{
	struct sb_place place = { .os_cpu = 1 << 14 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	struct sb_series series = { .records = 1, .record = record };
	struct sb_options options;
	int rc;

	CHECK_EQ(parse(&options, "-w yield"), 0);
	CHECK_EQ(sb_cpu_mask_read(&ground->usable), 0);
	ground->placement = &placement;
	rc = sb_measure(&series, &options.chosen[0], &options, ground, NULL);
	ground->placement = NULL;
	sb_options_free(&options);
	return rc;
}

/* Status 4: the environment does not allow it. */
static void a_cpu_that_cannot_be_had(void **state)
{
	struct sb_ground ground = { .held = false };
	struct sb_record record = { 0 };

	(void)state;
	CHECK_EQ(measure_nowhere(&ground, &record), SB_EXIT_ENVIRONMENT);
	assert_string_equal(ground.lost, "");
}

/* What has been measured before is kept; this and all that follows is not. */
static void a_cpu_that_can_no_longer_be_had(void **state)
{
	struct sb_ground ground = { .held = true };
	struct sb_record record[2] = { { .verdict = SB_VALID } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(measure_nowhere(&ground, &record[i]), 0);
		CHECK_EQ(record[i].verdict, SB_INVALID);
		assert_string_equal(record[i].reason,
				    "worker 0 can no longer be pinned to CPU 16384");
		ground.held = false; /* lost is lost */
	}
}

static void costs_are_summed_up(void **state)
{
	struct sb_calibration c = { .load = 1.1, .cpus = 2 };
	double sample[101];

	(void)state;
	for (int i = 0; i < 101; i++)
		sample[i] = (i * 37) % 101;
	sb_calibration_add(&c, SB_COST_steal_ns, "smt", sample, 101);
	sb_calibration_add(&c, SB_COST_steal_ns, "none", sample, 0);
	sb_calibration_add(&c, SB_COST_steal_ns, "few", sample, 99);
	sb_calibration_add_one(&c, SB_COST_clock_hz, "", NAN);
	sb_calibration_add_one(&c, SB_COST_clock_hz, "", 7);
	CHECK_EQ(c.costs, 3);
	assert_string_equal(c.cost[0].of, "smt");
	CHECK_EQ(c.cost[0].spread.n, 101);
	CHECK_EQ(c.cost[0].spread.median, 50);
	CHECK_EQ(c.cost[0].spread.min, 0);
	CHECK_EQ(c.cost[0].spread.q1, 25);
	CHECK_EQ(c.cost[0].spread.max, 100);
	CHECK_EQ(c.cost[0].p99, 99);
	assert_true(isnan(c.cost[1].p99));
	CHECK_EQ(c.cost[2].id, SB_COST_clock_hz);
	CHECK_EQ(c.cost[2].spread.median, 7);
	assert_true(sb_calibration_is_disturbed(&c));
	c.load = 1;
	assert_false(sb_calibration_is_disturbed(&c));
	c.load = NAN;
	assert_false(sb_calibration_is_disturbed(&c));
	CHECK_EQ(sb_calibration_samples(&c, 15), 15);
	c.quick = true;
	CHECK_EQ(sb_calibration_samples(&c, 15), 2);
	sb_calibration_free(&c);
}

/* A unit is one step of x -> a x + b: of n steps, that is a polynomial in a. */
static void work_is_done(void **state)
{
	const uint64_t a = UINT64_C(6364136223846793005);
	const uint64_t b = UINT64_C(1442695040888963407);
	struct sb_work_rate rate;

	(void)state;
	CHECK_EQ(sb_work_spin(0), 1);
	CHECK_EQ(sb_work_spin(1), a + b);
	CHECK_EQ(sb_work_spin(3), a * a * a + b * (a * a + a + 1));
	sb_work_calibrate(&rate);
	CHECK_EQ(rate.samples, SB_WORK_SAMPLES);
	assert_true(rate.units_per_us > 0);
	for (uint32_t i = 0; i < rate.samples; i++)
		assert_true(rate.sample[i] > 0);
	rate.units_per_us = 250;
	CHECK_EQ(sb_work_units(&rate, 0), 0);
	CHECK_EQ(sb_work_units(&rate, 1000), 250);
	CHECK_EQ(sb_work_units(&rate, 10), 3); /* 2.5 */
}

/* It would never end, and its time on the wall has no bound. */
static void a_child_has_a_limit_of_cpu_time(void **state)
{
	static char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
				(char *)(uintptr_t) "while :; do :; done", NULL };
	static struct sb_child child;
	char why[200];

	(void)state;
	child = (struct sb_child){
		.argv = argv, .program = "/bin/sh", .limit_ns = UINT64_MAX, .limit_cpu_s = 1
	};
	CHECK_EQ(sb_child_run(&child), 0);
	assert_false(child.hung);
	sb_child_describe(&child, why, sizeof(why));
	assert_string_equal(why, "killed after 1 s of CPU time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_times),
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(forks_change_defaults),
		cmocka_unit_test(sources_have_their_order),
		cmocka_unit_test(options_reach_the_scheduler),
		cmocka_unit_test(policies_set_what_they_say),
		cmocka_unit_test(two_policies_are_the_schedulers),
		cmocka_unit_test(parameters_reach_their_workloads),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(suggestions_are_close),
		cmocka_unit_test(a_cpu_that_cannot_be_had),
		cmocka_unit_test(a_cpu_that_can_no_longer_be_had),
		cmocka_unit_test(costs_are_summed_up),
		cmocka_unit_test(work_is_done),
		cmocka_unit_test(a_child_has_a_limit_of_cpu_time),
	};

	return cmocka_run_group_tests_name("harness", tests, NULL, NULL);
}
