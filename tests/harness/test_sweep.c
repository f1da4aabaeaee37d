/*
 * The plan of a sweep.
 *
 * Property: ranges and lists are what was written, or refused; every combination
 *   is in every round once, and so is the default; the same seed gives the same order.
 * Method: tables of texts; all slots counted.
 */
#include <string.h>

#include "harness/sweep/sweep.h"
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
	{ 'P', "spin-yield=0..11:5", "0 5 10 11" },
	{ 'P', "spin-yield=7..7", "7" },
	{ 'P', "spin-yield=0..16:log2", "0 1 2 4 8 16" },
	{ 'P', "batch=3..20:log2", "3 6 12 20" },
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
	{ 'P', "spin-time=0us..100us:30us", "0ns 30us 60us 90us 100us" },
	{ 'P', "batch=8..100:log2", "8 16 32 64 100" },
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
	uint32_t seen[7 + 14] = { 0 };

	(void)state;
	choose(SB_ARRAY_SIZE(argv), argv);
	CHECK_EQ(sb_sweep_plan(&sweep, &options), 0);
	/* skynet has no yields: 3 x 2; yield: 3 x 2 x 2; and the default of each work. */
	CHECK_EQ(sweep.configurations, 7 + 14);
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

/* configurations, and the labels of those that are the default, in their order. */
static const struct {
	const char *argument[2];
	uint32_t configurations;
	const char *label[2];
} defaults[] = {
	/* A combination, */
	{ { "-Lspin-yield=0,12", "-Lbatch=16,1" }, 4, { "skynet spin-yield=12 batch=16" } },
	{ { "-Lspin-time=0us,50000ns", "-Lbatch=1,16" },
	  4,
	  { "skynet spin-time=50000ns batch=16" } },
	/* one more configuration, */
	{ { "-Lspin-yield=0,1", "-Lbatch=16,1" }, 5, { "skynet spin-yield=12 batch=16" } },
	{ { "-Lpolicy=spec", "-Lno-smt=yes" }, 2, { "skynet policy=default no-smt=yes" } },
	/* of each work, */
	{ { "-Lleaves=10,100", "-Lbatch=1,2" },
	  6,
	  { "skynet leaves=10 batch=16", "skynet leaves=100 batch=16" } },
	/* and none where nothing tunes the scheduler. */
	{ { "-Lleaves=10,100", "-Lworkers=1,2" }, 4, { NULL } },
};

static void the_default_is_a_configuration(void **state)
{
	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(defaults); i++) {
		const char *const argv[] = { "sweep", "-w", "skynet", defaults[i].argument[0],
					     defaults[i].argument[1] };
		struct sb_sweep sweep;
		uint32_t found = 0;

		choose(SB_ARRAY_SIZE(argv), argv);
		CHECK_EQ(sb_sweep_plan(&sweep, &options), 0);
		CHECK_EQ(sweep.configurations, defaults[i].configurations);
		for (uint32_t c = 0; c < sweep.configurations; c++) {
			if (!sb_sweep_is_default(&sweep, &sweep.configuration[c]))
				continue;
			assert_true(found < 2 && defaults[i].label[found]);
			assert_string_equal(sweep.configuration[c].label,
					    defaults[i].label[found++]);
		}
		assert_true(found == 2 || !defaults[i].label[found]);
		sb_sweep_free(&sweep);
		sb_options_free(&options);
	}
}

/* That of the workload, unless others are given. */
static void objectives_are_chosen(void **state)
{
	static const char *const argv[] = { "sweep", "-w", "skynet,trickle", "-Lbatch=1,2" };
	const char *own[] = { "ns_per_op", "wake_ns_p90" };
	struct sb_sweep sweep;

	(void)state;
	choose(4, argv);
	CHECK_EQ(sb_sweep_plan(&sweep, &options), 0);
	CHECK_EQ(sb_sweep_choose_objectives(&sweep, &options), 0);
	for (int i = 0; i < 2; i++) {
		const struct sb_objectives *o = sb_sweep_objectives(&sweep, &options.chosen[i]);

		CHECK_EQ(o->n, 1);
		assert_string_equal(sb_metric[o->metric[0]].name, own[i]);
	}
	sb_sweep_free(&sweep);
	sb_options_free(&options);
}

static const struct {
	const char *text;
	int status;
} objective_texts[] = {
	{ "ns_per_op", 0 },
	{ "wake_ns_p99,cpu_ns_per_op", 0 },
	{ "wake_ns_p99,cpu_ns_per_op,ns_per_op", 3 },
	{ "ns_per_op,ns_per_op", 3 },
	{ "ns_per_op,", 3 },
	{ "ns_per_op,steal_attempts", 3 },
};

static void two_objectives_at_most(void **state)
{
	struct sb_objectives o;

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(objective_texts); i++)
		CHECK_EQ(sb_parse_objectives("--objective", objective_texts[i].text, &o),
			 objective_texts[i].status);
}

/* Every workload's own objective is one. */
static void workloads_have_objectives(void **state)
{
	struct sb_objectives o;

	(void)state;
	for (const struct sb_workload **w = sb_workloads; *w; w++)
		CHECK_EQ(sb_parse_objectives((*w)->name, sb_workload_objective(*w), &o), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_what_they_say),
		cmocka_unit_test(all_combinations_once),
		cmocka_unit_test(the_seed_makes_the_order),
		cmocka_unit_test(the_command_line_comes_back),
		cmocka_unit_test(a_policy_goes_by_its_name),
		cmocka_unit_test(the_default_is_a_configuration),
		cmocka_unit_test(objectives_are_chosen),
		cmocka_unit_test(two_objectives_at_most),
		cmocka_unit_test(workloads_have_objectives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
