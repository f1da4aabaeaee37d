/* test_orders.c - orders of workers, by hand. */
#include "tests/affinity/plan.h"

struct order {
	const char *profile;
	struct sb_plan_request request;
	const char *expected;
};

static void expect_orders(const struct order *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_order(cases[i].profile, cases[i].request, cases[i].expected);
}

static const char two[] = "pack:2 [numa] l3:2 core:2 pu:2";

static void orders_are_what_they_say(void **state)
{
	static const struct order cases[] = {
		{ two, { .workers = 9 }, "0 2 4 6 8 10 12 14 1" },
		{ two, { .workers = 9, .policy = SB_PLACEMENT_SCATTER }, "0 8 4 12 2 10 6 14 1" },
		{ two, { .workers = 4, .policy = SB_PLACEMENT_NUMA }, "0 2 8 10" },
		{ two, { .workers = 3, .policy = SB_PLACEMENT_NUMA }, "0 2 8" },
		{ two, { .rule = SB_WORKERS_PER_L3 }, "0 4 8 12" },
		{ two, { .rule = SB_WORKERS_PER_NUMA, .policy = SB_PLACEMENT_SCATTER }, "0 8" },
		{ two, { .rule = SB_WORKERS_PER_CORE, .cpus = "numa:1.core:0-1" }, "8 10" },
		{ two, { .rule = SB_WORKERS_PER_PU, .cpus = "pack:1.l3:1" }, "12 14 13 15" },
		{ two, { .rule = SB_WORKERS_PER_PU, .cpus = "15,pu:0, 2-3" }, "0 2 15 3" },
		{ two,
		  { .rule = SB_WORKERS_PER_PU, .cpus = "core:all", .no_smt = true },
		  "0 2 4 6 8 10 12 14" },
		{ two, { .rule = SB_WORKERS_PER_PU, .cpus = "core:6-" }, "12 14 13 15" },
		/* A step counts anew in each object of the one before it. */
		{ two,
		  { .rule = SB_WORKERS_PER_PU, .cpus = "core:all.pu:1" },
		  "1 3 5 7 9 11 13 15" },
		{ two,
		  { .rule = SB_WORKERS_PER_PU, .cpus = "numa:0-1.core:1-2" },
		  "2 4 10 12 3 5 11 13" },
		/* P cores first, and E cores before a P core's second unit. */
		{ "laptop-6p8e", { .workers = 16 }, "0 2 4 6 8 10 12 13 14 15 16 17 18 19 1 3" },
		/* The faster unit of a core, and the fastest of a node. */
		{ "tests/topologies/fakecpukinds.xml",
		  { .rule = SB_WORKERS_PER_CORE, .no_smt = true },
		  "3 2" },
		{ "tests/topologies/fakecpukinds.xml", { .rule = SB_WORKERS_PER_NUMA }, "3" },
		{ "laptop-6p8e", { .rule = SB_WORKERS_PER_CORE, .cpus = "2-3,12-13" }, "2 12 13" },
	};

	(void)state;
	expect_orders(cases, SB_ARRAY_SIZE(cases));
}

static void generators_change_the_orders(void **state)
{
	static const struct order cases[] = {
		/* The second unit of a core takes the first one, too. */
		{ two,
		  { .rule = SB_WORKERS_PER_PU, .generator_cpus = "numa:0,9" },
		  "10 12 14 11 13 15" },
		{ two, { .rule = SB_WORKERS_PER_L3, .generator_cpus = "pack:1.l3:0" }, "0 4 12" },
		{ two, { .rule = SB_WORKERS_PER_NUMA, .generator_cpus = "numa:1" }, "0" },
		{ two,
		  { .workers = 4,
		    .policy = SB_PLACEMENT_DISTRIB,
		    .generator_cpus = "core:0-2,core:5-7" },
		  "6 7 8 9" },
		/* What both lists name is the generators'. */
		{ two,
		  { .rule = SB_WORKERS_PER_PU, .cpus = "0-3,8", .generator_cpus = "1,8" },
		  "2 3" },
	};

	(void)state;
	expect_orders(cases, SB_ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_what_they_say),
		cmocka_unit_test(generators_change_the_orders),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, remove_scratch);
}
