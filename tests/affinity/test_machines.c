/*
 * test_machines.c - distances, NUMA nodes of special memory, fingerprints and names of machines.
 */
#include "core/worker/distance.h"
#include "tests/affinity/plan.h"

/* ---- distances, fingerprints, names ---- */

static void distances_are_the_machines(void **state)
{
	const struct sb_plan_request r = { .rule = SB_WORKERS_PER_NUMA };
	struct sb_topology *topology;
	struct sb_plan plan;
	char why[256];

	(void)state;
	CHECK_EQ(sb_topology_open(&topology, "ring-4s", why, sizeof(why)), 0);
	CHECK_EQ(sb_plan_make(topology, &r, &plan, why, sizeof(why)), 0);
	CHECK_EQ(plan.placement.nodes, 4);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t j = 0; j < 4; j++) {
			const uint32_t hops = (i + 4 - j) % 4;

			CHECK_EQ(sb_place_node_distance(&plan.placement, &plan.placement.place[i],
							&plan.placement.place[j]),
				 hops == 2 ? 31
				 : hops	   ? 21
					   : 10);
		}
	}
	sb_plan_free(&plan);
	sb_topology_free(topology);
}

/* Of two nodes with the same CPUs the plain one is the CPUs' own. */
static void special_memory_is_nobodys_own(void **state)
{
	static const struct {
		const char *profile;
		int node[4];
		uint32_t nodes;
	} machines[] = {
		{ "cxl-2s", { 0, 2 }, 2 },
		{ "tests/topologies/64intel64-fakeKNL-SNC4-hybrid.xml", { 0, 2, 4, 6 }, 4 },
		{ "[numa] pack:2 [numa(indexes=1,2,0)] core:2 pu:1", { 0, 1 }, 2 },
	};
	const struct sb_plan_request r = { .rule = SB_WORKERS_PER_NUMA };

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(machines); i++) {
		struct sb_topology *topology;
		struct sb_plan plan;
		char why[256];

		CHECK_EQ(sb_topology_open(&topology, machines[i].profile, why, sizeof(why)), 0);
		CHECK_EQ(sb_plan_make(topology, &r, &plan, why, sizeof(why)), 0);
		CHECK_EQ(plan.placement.workers, machines[i].nodes);
		for (uint32_t w = 0; w < plan.placement.workers; w++)
			CHECK_EQ(plan.placement.place[w].node, machines[i].node[w]);
		sb_plan_free(&plan);
		sb_topology_free(topology);
	}
}

/* Also where the other kind of memory has the smaller number. */
static void plain_memory_comes_before_other(void **state)
{
	static const char both[] = XML(
		"0x3",
		"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
		"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\" subtype=\"MCDRAM\"/>\n"
		"<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
		"nodeset=\"0x2\" complete_nodeset=\"0x2\" gp_index=\"3\"/>\n",
		PU("0", "0x1") PU("1", "0x2"));
	const struct sb_plan_request r = { .workers = 2 };
	const char *path = file_with(both, sizeof(both) - 1);
	struct sb_plan plan;
	hwloc_obj_t node;

	(void)state;
	open_machine(path);
	CHECK_EQ(m.facts.nodes, 2);
	plan = plan_of(&r);
	for (uint32_t w = 0; w < 2; w++) {
		node = hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_NUMANODE,
					     (unsigned)plan.placement.place[w].node);
		CHECK_EQ(node->os_index, 1);
	}
	sb_plan_free(&plan);
	close_machine();
}

/*
 * hwloc gives memory without CPUs the locality of the package it is nearest to;
 * here, on a machine made up by hand, it even has the smaller number. The
 * distances tell.
 */
static void memory_without_cpus_is_nobodys_own(void **state)
{
	const struct sb_plan_request r = { .rule = SB_WORKERS_PER_NUMA };
	struct sb_plan plan;

	(void)state;
	open_machine("tests/topologies/memory-without-cpus-first.xml");
	CHECK_EQ(m.facts.nodes, 3);
	plan = plan_of(&r);
	CHECK_EQ(plan.placement.workers, 2);
	for (uint32_t w = 0; w < 2; w++)
		CHECK_EQ(hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_NUMANODE,
					       (unsigned)plan.placement.place[w].node)
				 ->os_index,
			 w + 1);
	sb_placement_free(&plan.placement);
	close_machine();
}

/* The same again, and after an export; each machine its own. */
static uint64_t seen[256];
static size_t seens;

static void check_fingerprint(void)
{
	const uint64_t own = sb_topology_fingerprint(m.topology);
	struct sb_topology *again;
	char path[PATH_MAX];
	char why[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/export.xml", scratch_directory());
	out = fopen(path, "we");
	assert_non_null(out);
	CHECK_EQ(sb_topology_export(m.topology, out), 0);
	CHECK_EQ(fclose(out), 0);
	if (sb_topology_open(&again, path, why, sizeof(why)))
		fail_msg("%s: %s", m.profile, why);
	if (sb_topology_fingerprint(again) != own)
		fail_msg("%s: its export has another fingerprint", m.profile);
	sb_topology_free(again);
	for (size_t i = 0; i < seens; i++) {
		if (seen[i] == own)
			fail_msg("%s: another has its fingerprint", m.profile);
	}
	seen[seens++] = own;
}

static void fingerprints_tell_machines_apart(void **state)
{
	(void)state;
	seens = 0;
	on_all_machines(check_fingerprint);
}

static void names_are_distinct(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct sb_profile *p = sb_profiles; p->name; p++, n++) {
		assert_true(p->description && p->source && p->synthetic);
		for (const struct sb_profile *q = sb_profiles; q < p; q++)
			assert_string_not_equal(p->name, q->name);
	}
	assert_true(n >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_are_the_machines),
		cmocka_unit_test(special_memory_is_nobodys_own),
		cmocka_unit_test(plain_memory_comes_before_other),
		cmocka_unit_test(memory_without_cpus_is_nobodys_own),
		cmocka_unit_test(fingerprints_tell_machines_apart),
		cmocka_unit_test(names_are_distinct),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, remove_scratch);
}
