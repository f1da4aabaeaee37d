/*
 * Profiles and placements.
 *
 * Property: on any machine that hwloc can describe, each worker is on a unit
 *   that may be used; no core has two while another has none, but under
 *   distrib, which is hwloc_distrib(); faster cores come first; numa is balanced
 *   within one as far as nodes have cores; --cpus, --no-smt and one worker per
 *   core, unit, cache or node are kept; no worker is on a generator's core, and
 *   all this holds of the rest; the same request gives the same plan.
 *   A description that is no machine is refused with one line.
 * Method: every file of tests/topologies, every profile of the project and
 *   synthetic machines, each under every policy with several counts, against
 *   what hwloc itself says of the file. Bad descriptions by hand, files cut
 *   short, and files with bytes changed.
 * Bound: up to 1000 units.
 */
#include "tests/affinity/plan.h"

static const char *const policies[] = { "compact", "scatter", "numa", "distrib" };

#define CHECK_PLAN(condition, request, plan)                                                       \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("%s: %s of %u workers: %s", m.profile,                            \
				 policies[(request)->policy], (plan)->placement.workers,           \
				 #condition);                                                      \
	} while (0)

static int ancestor(hwloc_obj_t pu, hwloc_obj_type_t type)
{
	hwloc_obj_t obj = hwloc_get_ancestor_obj_by_type(m.hwloc, type, pu);

	return obj ? (int)obj->logical_index : -1;
}

/* Each place is a unit's, with its core, package and a node that has it. */
static void places_are_the_machines(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	for (uint32_t i = 0; i < plan->placement.workers; i++) {
		const struct sb_place *place = &plan->placement.place[i];
		hwloc_obj_t pu;
		hwloc_obj_t node;

		CHECK_PLAN(place->pu >= 0 && (uint32_t)place->pu < m.facts.pus, r, plan);
		CHECK_PLAN(place->os_cpu == -1, r, plan);
		pu = hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_PU, (unsigned)place->pu);
		CHECK_EQ(place->core, ancestor(pu, HWLOC_OBJ_CORE));
		CHECK_EQ(place->package, ancestor(pu, HWLOC_OBJ_PACKAGE));
		node = place->node < 0 ? NULL
				       : hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_NUMANODE,
							       (unsigned)place->node);
		CHECK_PLAN(node && hwloc_bitmap_isset(node->cpuset, pu->os_index), r, plan);
	}
}

struct load {
	uint32_t core[16384]; /* workers on each core */
	uint32_t pu[16384];
	uint32_t node[1024];
	uint32_t node_cores[1024]; /* cores of the node that have none */
	uint32_t node_pus[1024];
};

static struct load load;

static void count_load(const struct sb_plan *plan)
{
	memset(&load, 0, sizeof(load));
	for (uint32_t i = 0; i < plan->placement.workers; i++) {
		const struct sb_place *place = &plan->placement.place[i];

		load.core[m.core[place->pu]]++;
		load.pu[place->pu]++;
		load.node[place->node]++;
	}
}

/* Whether a generator keeps workers away from a core. */
static bool is_apart[16384];

static void learn_generators(const struct sb_plan *plan)
{
	memset(is_apart, 0, sizeof(is_apart));
	for (uint32_t i = 0; i < plan->generators; i++)
		is_apart[m.core[plan->generator[i].pu]] = true;
}

/* A core's second worker comes after every core's first, and a unit's second
 * after every unit's first. */
static void nobody_shares_too_early(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	bool core_free = false;
	bool core_shared = false;
	bool pu_free = false;
	bool pu_shared = false;

	for (uint32_t i = 0; i < m.facts.pus; i++) {
		if (is_apart[m.core[i]])
			continue;
		core_free |= !load.core[m.core[i]];
		core_shared |= load.core[m.core[i]] > 1;
		pu_free |= !load.pu[i];
		pu_shared |= load.pu[i] > 1;
	}
	CHECK_PLAN(!(core_free && core_shared), r, plan);
	CHECK_PLAN(!(pu_free && pu_shared), r, plan);
}

static void faster_come_first(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	for (uint32_t i = 0; i < m.facts.pus; i++) {
		if (load.core[m.core[i]] || is_apart[m.core[i]])
			continue;
		for (uint32_t j = 0; j < plan->placement.workers; j++)
			/* Scatter puts one on each node. */
			CHECK_PLAN((r->policy == SB_PLACEMENT_SCATTER &&
				    load.node[plan->placement.place[j].node] == 1) ||
					   m.speed[plan->placement.place[j].pu] >= m.speed[i],
				   r, plan);
	}
}

/* The node of a unit, as a plan of all units says it. */
static int node_of[16384];

static void learn_nodes(void)
{
	const struct sb_plan_request all = { .rule = SB_WORKERS_PER_PU };
	struct sb_plan plan = plan_of(&all);

	CHECK_EQ(plan.placement.workers, m.facts.pus);
	for (uint32_t i = 0; i < m.facts.pus; i++)
		node_of[plan.placement.place[i].pu] = plan.placement.place[i].node;
	sb_plan_free(&plan);
}

/* No node has two more than one that has room: a free core while workers are
 * no more than cores, a free unit afterwards. */
static void node_is_not_behind(const struct sb_plan_request *r, const struct sb_plan *plan,
			       uint32_t node)
{
	const uint32_t room = plan->placement.workers <= plan->cores ? load.node_cores[node]
								     : load.node_pus[node];

	for (uint32_t a = 0; a < m.facts.nodes && room; a++)
		CHECK_PLAN(load.node[a] <= load.node[node] + 1, r, plan);
}

static void nodes_are_balanced(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	const uint32_t n = plan->placement.workers;

	/* With cores of several sizes, a unit may be left whose core has more
	 * workers than another's. */
	if (n > plan->pus ||
	    (n > plan->cores && (plan->pus % plan->cores || m.facts.pus % m.facts.cores)))
		return;
	for (uint32_t i = 0; i < m.facts.pus; i++) {
		if (is_apart[m.core[i]])
			continue;
		load.node_cores[node_of[i]] += !load.core[m.core[i]];
		load.node_pus[node_of[i]] += !load.pu[i];
	}
	for (uint32_t node = 0; node < m.facts.nodes; node++)
		node_is_not_behind(r, plan, node);
}

static void is_hwlocs_own(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	const uint32_t n = plan->placement.workers;
	hwloc_bitmap_t *set = calloc(n, sizeof(*set));
	hwloc_obj_t root = hwloc_get_root_obj(m.hwloc);

	CHECK_EQ(hwloc_distrib(m.hwloc, &root, 1, set, n, INT_MAX, 0), 0);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_PLAN(sb_topology_os_cpu(m.topology, plan->placement.place[i].pu) ==
				   hwloc_bitmap_first(set[i]),
			   r, plan);
		hwloc_bitmap_free(set[i]);
	}
	free(set);
}

static void is_the_same_again(const struct sb_plan_request *r, const struct sb_plan *plan)
{
	struct sb_plan again = plan_of(r);

	CHECK_EQ(again.placement.workers, plan->placement.workers);
	assert_memory_equal(again.placement.place, plan->placement.place,
			    plan->placement.workers * sizeof(*plan->placement.place));
	sb_plan_free(&again);
}

static void check_plan(const struct sb_plan_request *r)
{
	struct sb_plan plan = plan_of(r);

	CHECK_EQ(plan.placement.workers, r->workers);
	CHECK_EQ(plan.pus, m.facts.pus);
	CHECK_EQ(plan.cores, m.facts.cores);
	places_are_the_machines(r, &plan);
	CHECK_EQ(plan.generators, 0);
	learn_generators(&plan);
	count_load(&plan);
	if (r->policy == SB_PLACEMENT_DISTRIB)
		is_hwlocs_own(r, &plan);
	else
		nobody_shares_too_early(r, &plan);
	if (r->policy == SB_PLACEMENT_COMPACT || r->policy == SB_PLACEMENT_SCATTER)
		faster_come_first(r, &plan);
	if (r->policy == SB_PLACEMENT_NUMA)
		nodes_are_balanced(r, &plan);
	is_the_same_again(r, &plan);
	sb_plan_free(&plan);
}

static void check_counts(void)
{
	const uint32_t c = m.facts.cores;
	const uint32_t p = m.facts.pus;
	const uint32_t counts[] = { 1, 2,     3,	   5, c / 2, c - 1,
				    c, c + 1, (c + p) / 2, p, p + 1, 2 * p + 1 };

	learn_nodes();
	for (int policy = 0; policy <= SB_PLACEMENT_DISTRIB; policy++) {
		for (size_t i = 0; i < SB_ARRAY_SIZE(counts); i++) {
			const struct sb_plan_request r = {
				.policy = (enum sb_placement_policy)policy,
				.workers = counts[i],
			};

			if (counts[i])
				check_plan(&r);
		}
	}
}

static void every_machine_keeps_the_invariants(void **state)
{
	(void)state;
	on_all_machines(check_counts);
}

/* ---- restrictions ---- */

/* Every other unit, as a list. */
static void check_half(void)
{
	char list[65536] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < m.facts.pus; i += 2)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d", i ? "," : "",
					 sb_topology_os_cpu(m.topology, (int)i));
	for (int policy = 0; policy <= SB_PLACEMENT_DISTRIB; policy++) {
		const struct sb_plan_request r = {
			.policy = (enum sb_placement_policy)policy,
			.rule = SB_WORKERS_PER_PU,
			.cpus = list,
		};
		struct sb_plan plan = plan_of(&r);

		CHECK_EQ(plan.pus, (m.facts.pus + 1) / 2);
		CHECK_EQ(plan.placement.workers, plan.pus);
		for (uint32_t i = 0; i < plan.placement.workers; i++)
			CHECK_EQ(plan.placement.place[i].pu % 2, 0);
		places_are_the_machines(&r, &plan);
		sb_plan_free(&plan);
	}
}

/* Distinct values of an index of the places. */
static uint32_t count_distinct(const struct sb_plan *plan, size_t offset)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->placement.workers; i++) {
		const char *place = (const char *)&plan->placement.place[i];
		bool seen = false;

		for (uint32_t j = 0; j < i && !seen; j++)
			seen = *(const int *)(const void *)(place + offset) ==
			       *(const int *)(const void *)((const char *)&plan->placement
								    .place[j] +
							    offset);
		n += !seen;
	}
	return n;
}

static void check_rule(const struct sb_plan_request *r, size_t offset)
{
	struct sb_plan_request everywhere = { .rule = SB_WORKERS_PER_PU };
	struct sb_plan all = plan_of(&everywhere);
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(m.topology, r, &plan, why, sizeof(why))) {
		/* Only where there are no caches. */
		CHECK_EQ(r->rule, SB_WORKERS_PER_L3);
		assert_true(all.placement.place[0].cache < 0);
		assert_non_null(strstr(why, "per-l3"));
	} else {
		CHECK_EQ(plan.placement.workers, count_distinct(&all, offset));
		CHECK_EQ(count_distinct(&plan, offset), plan.placement.workers);
		sb_plan_free(&plan);
	}
	sb_plan_free(&all);
}

static void check_rules(void)
{
	for (int policy = 0; policy < SB_PLACEMENT_DISTRIB; policy++) {
		const enum sb_placement_policy chosen = (enum sb_placement_policy)policy;
		const struct sb_plan_request per_l3 = { .policy = chosen,
							.rule = SB_WORKERS_PER_L3 };
		const struct sb_plan_request per_numa = { .policy = chosen,
							  .rule = SB_WORKERS_PER_NUMA };
		const struct sb_plan_request no_smt = { .policy = chosen,
							.rule = SB_WORKERS_PER_PU,
							.no_smt = true };
		struct sb_plan plan = plan_of(&no_smt);

		check_rule(&per_l3, offsetof(struct sb_place, cache));
		check_rule(&per_numa, offsetof(struct sb_place, node));
		CHECK_EQ(plan.placement.workers, m.facts.cores);
		count_load(&plan);
		for (uint32_t i = 0; i < m.facts.pus; i++)
			CHECK_EQ(load.core[m.core[i]], 1);
		sb_plan_free(&plan);
	}
}

static void every_machine_can_be_restricted(void **state)
{
	(void)state;
	on_all_machines(check_half);
	on_all_machines(check_rules);
}

/* ---- generators ---- */

/* The places are those of the units, and no worker is on a core of theirs. */
static void generators_are_apart(const struct sb_plan_request *r, const struct sb_plan *plan,
				 const bool *is_generator)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m.facts.pus; i++) {
		if (!is_generator[i])
			continue;
		CHECK_PLAN(n < plan->generators, r, plan);
		CHECK_PLAN(plan->generator[n].pu == (int)i, r, plan);
		CHECK_PLAN(plan->generator[n].os_cpu == -1, r, plan);
		n++;
	}
	CHECK_EQ(plan->generators, n);
	for (uint32_t i = 0; i < plan->placement.workers; i++)
		CHECK_PLAN(!is_apart[m.core[plan->placement.place[i].pu]], r, plan);
}

/* What is left without the generators' cores, by the oracle. */
static void count_rest(uint32_t *cores, uint32_t *pus)
{
	*cores = 0;
	*pus = 0;
	for (uint32_t i = 0; i < m.facts.pus; i++) {
		if (is_apart[m.core[i]])
			continue;
		++*pus;
		*cores += !i || m.core[i] != m.core[i - 1];
	}
}

static void check_generators_with(struct sb_plan_request r, const bool *is_generator)
{
	struct sb_plan plan = plan_of(&r);
	uint32_t cores;
	uint32_t pus;

	learn_generators(&plan);
	count_rest(&cores, &pus);
	CHECK_EQ(plan.cores, cores);
	CHECK_EQ(plan.pus, pus);
	if (r.rule == SB_WORKERS_PER_CORE)
		CHECK_EQ(plan.placement.workers, cores);
	if (r.rule == SB_WORKERS_PER_PU)
		CHECK_EQ(plan.placement.workers, pus);
	places_are_the_machines(&r, &plan);
	generators_are_apart(&r, &plan, is_generator);
	count_load(&plan);
	if (r.policy != SB_PLACEMENT_DISTRIB)
		nobody_shares_too_early(&r, &plan);
	if (r.policy == SB_PLACEMENT_COMPACT || r.policy == SB_PLACEMENT_SCATTER)
		faster_come_first(&r, &plan);
	if (r.policy == SB_PLACEMENT_NUMA)
		nodes_are_balanced(&r, &plan);
	is_the_same_again(&r, &plan);
	sb_plan_free(&plan);
}

/* Under every policy, by cores, by units, and more workers than units. */
static void check_generators(const char *list, const bool *is_generator)
{
	for (int policy = 0; policy <= SB_PLACEMENT_DISTRIB; policy++) {
		struct sb_plan_request r = {
			.policy = (enum sb_placement_policy)policy,
			.generator_cpus = list,
		};

		for (int rule = SB_WORKERS_PER_CORE; rule <= SB_WORKERS_PER_PU; rule++) {
			r.rule = (enum sb_workers_rule)rule;
			check_generators_with(r, is_generator);
		}
		r.rule = SB_WORKERS_NUMBER;
		for (r.workers = 1; r.workers <= 2 * m.facts.pus + 1; r.workers = 3 * r.workers + 2)
			check_generators_with(r, is_generator);
	}
}

/* Every unit a generator: nothing is left; every unit named, too. */
static void nothing_is_left(const char *list)
{
	const struct sb_plan_request none = { .workers = 1, .generator_cpus = "pu:0-" };
	const struct sb_plan_request overlap = { .workers = 1,
						 .cpus = list,
						 .generator_cpus = list };
	struct sb_plan plan;
	char why[256];

	CHECK_EQ(sb_plan_make(m.topology, &none, &plan, why, sizeof(why)), -EINVAL);
	CHECK_EQ(plan.fault, SB_PLAN_FAULT_GENERATOR_CPUS);
	assert_string_equal(why, "leaves no CPU for workers");
	if (!*list)
		return;
	CHECK_EQ(sb_plan_make(m.topology, &overlap, &plan, why, sizeof(why)), -EINVAL);
	CHECK_EQ(plan.fault, SB_PLAN_FAULT_CPUS);
}

/* The last unit of the first core; of every third core from there; all but the
 * last core. Not so many that no core is left. */
static void check_some_generators(void)
{
	static bool chosen[16384];
	static char list[131072];

	learn_nodes();
	for (int which = 0; which < 3; which++) {
		size_t used = 0;

		memset(chosen, 0, sizeof(chosen));
		*list = '\0';
		for (uint32_t i = 0; i < m.facts.pus; i++) {
			const uint32_t core = m.core[i];
			const bool is_last = i + 1 == m.facts.pus || m.core[i + 1] != core;

			if (core + 1 == m.facts.cores || (which == 0 && (core || !is_last)) ||
			    (which == 1 && (core % 3 || !is_last)))
				continue;
			chosen[i] = true;
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d",
						 used ? "," : "",
						 sb_topology_os_cpu(m.topology, (int)i));
		}
		check_generators(list, chosen);
		nothing_is_left(list);
	}
}

static void workers_keep_off_the_generators_cores(void **state)
{
	(void)state;
	on_all_machines(check_some_generators);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_keeps_the_invariants),
		cmocka_unit_test(every_machine_can_be_restricted),
		cmocka_unit_test(workers_keep_off_the_generators_cores),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, remove_scratch);
}
