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
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <hwloc.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "affinity/plan.h"
#include "affinity/profile/profile.h"
#include "tests/test.h"

static const char *const synthetics[] = {
	"pu:1",
	"pu:7",
	"core:4 pu:1",
	"pack:2 core:4 pu:2",
	"pack:2 numa:2 l3:2 core:4 pu:2",
	"pack:2 [numa] l3:1 core:6 pu:2(indexes=2*12:12*1)",
	"numa:3 pu:5",
	"group:2 group:3 numa:1 core:2 pu:2",
	"pack:4 die:2 l3:1 l2:4 core:1 pu:1",
	"pack:2 [numa] [numa(memory=1GiB)] l3:2 core:2 pu:4",
	"[numa] pack:2 [numa] l3:2 core:3 pu:1",
	"numa:8 core:1 pu:1",
	"pack:1 l2:5 core:2 pu:8",
	"1000",
	"pack:10 l3:10 core:5 pu:2",
};

static const char *const policies[] = { "compact", "scatter", "numa", "distrib" };

/* ---- the oracle: the topology as the library gives it ---- */

struct machine {
	const char *profile;
	struct sb_topology *topology;
	struct sb_machine facts;
	hwloc_topology_t hwloc; /* NULL: only our own description */
	uint32_t core[16384];	/* of each unit */
	int speed[16384];
};

static struct machine m;

static void open_oracle(const char *profile)
{
	const bool file = strstr(profile, ".xml");

	CHECK_EQ(hwloc_topology_init(&m.hwloc), 0);
	CHECK_EQ(file ? hwloc_topology_set_xml(m.hwloc, profile)
		      : hwloc_topology_set_synthetic(m.hwloc, profile),
		 0);
	CHECK_EQ(hwloc_topology_load(m.hwloc), 0);
}

/* What the project makes of its own profiles is judged by its export. */
static void open_oracle_of_named(const char *directory)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/named.xml", directory);
	out = fopen(path, "we");
	assert_non_null(out);
	CHECK_EQ(sb_topology_export(m.topology, out), 0);
	CHECK_EQ(fclose(out), 0);
	open_oracle(path);
}

static bool is_named(const char *profile)
{
	for (const struct sb_profile *p = sb_profiles; p->name; p++) {
		if (!strcmp(p->name, profile))
			return true;
	}
	return false;
}

static int speed_by_oracle(hwloc_obj_t pu)
{
	const int kind = hwloc_cpukinds_get_by_cpuset(m.hwloc, pu->cpuset, 0);
	int efficiency = -1;

	if (kind >= 0)
		hwloc_cpukinds_get_info(m.hwloc, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0);
	return efficiency < 0 ? 0 : efficiency;
}

static const char *scratch_directory(void)
{
	static char directory[] = "/tmp/sb-plan-XXXXXX";

	if (strstr(directory, "XXXXXX"))
		assert_non_null(mkdtemp(directory));
	return directory;
}

static void open_machine(const char *profile)
{
	char why[256];
	uint32_t cores = 0;
	hwloc_obj_t last = NULL;

	m.profile = profile;
	if (sb_topology_open(&m.topology, profile, why, sizeof(why)))
		fail_msg("%s: %s", profile, why);
	sb_topology_machine(m.topology, &m.facts);
	assert_true(m.facts.emulated);
	if (is_named(profile))
		open_oracle_of_named(scratch_directory());
	else
		open_oracle(profile);
	CHECK_EQ(m.facts.pus, hwloc_get_nbobjs_by_type(m.hwloc, HWLOC_OBJ_PU));
	for (uint32_t i = 0; i < m.facts.pus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(m.hwloc, HWLOC_OBJ_PU, i);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(m.hwloc, HWLOC_OBJ_CORE, pu);

		cores += !core || core != last;
		last = core;
		m.core[i] = cores - 1;
		m.speed[i] = speed_by_oracle(pu);
		CHECK_EQ(sb_topology_os_cpu(m.topology, (int)i), pu->os_index);
	}
	CHECK_EQ(m.facts.cores, cores);
	CHECK_EQ(sb_topology_os_cpu(m.topology, -1), -1);
	CHECK_EQ(sb_topology_os_cpu(m.topology, (int)m.facts.pus), -1);
}

static void close_machine(void)
{
	sb_topology_free(m.topology);
	hwloc_topology_destroy(m.hwloc);
}

typedef void (*on_machine)(void);

/* On every machine there is; returns how many files. */
static void on_all_machines(on_machine act)
{
	glob_t files;

	CHECK_EQ(glob("tests/topologies/*.xml", 0, NULL, &files), 0);
	assert_true(files.gl_pathc >= 14);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		open_machine(files.gl_pathv[i]);
		act();
		close_machine();
	}
	globfree(&files);
	for (size_t i = 0; i < SB_ARRAY_SIZE(synthetics); i++) {
		open_machine(synthetics[i]);
		act();
		close_machine();
	}
	for (const struct sb_profile *p = sb_profiles; p->name; p++) {
		open_machine(p->name);
		act();
		close_machine();
	}
}

/* ---- invariants ---- */

static struct sb_plan plan_of(const struct sb_plan_request *request)
{
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(m.topology, request, &plan, why, sizeof(why)))
		fail_msg("%s: %s", m.profile, why);
	return plan;
}

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

/* ---- orders, by hand ---- */

/* The units in the order of the workers, as text. */
static void expect_order(const char *profile, struct sb_plan_request request, const char *expected)
{
	char got[512] = "";
	size_t used = 0;
	struct sb_topology *topology;
	struct sb_plan plan;
	char why[256];

	CHECK_EQ(sb_topology_open(&topology, profile, why, sizeof(why)), 0);
	if (sb_plan_make(topology, &request, &plan, why, sizeof(why))) {
		assert_string_equal(why, expected);
	} else {
		for (uint32_t i = 0; i < plan.placement.workers; i++)
			used += (size_t)snprintf(
				got + used, sizeof(got) - used, "%s%d", i ? " " : "",
				sb_topology_os_cpu(topology, plan.placement.place[i].pu));
		assert_string_equal(got, expected);
		sb_plan_free(&plan);
	}
	sb_topology_free(topology);
}

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

static void expect_bad_list(const struct sb_topology *topology, const struct sb_plan_request *r,
			    enum sb_plan_fault fault)
{
	struct sb_plan plan;
	char why[256];

	if (sb_plan_make(topology, r, &plan, why, sizeof(why)) != -EINVAL)
		fail_msg("'%s%s' is accepted", r->cpus ? r->cpus : "",
			 r->generator_cpus ? r->generator_cpus : "");
	CHECK_EQ(plan.fault, fault);
	assert_non_null(strstr(why, "expected a list"));
	assert_null(strchr(why, '\n'));
}

static void bad_lists_are_refused(void **state)
{
	static const char *const lists[] = {
		"99",
		"0-99",
		"3-1",
		"x",
		"core",
		"core:",
		"core:9",
		"core:0-9",
		"l1:0",
		"numa:0.core:2",
		"zebra:0",
		"core:0-x",
		"numa:0..1",
		"numa:all.core:2",
		"core:0.numa:0",
		"core:all.pu:1-",
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
		"machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0."
		"machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0.machine:0."
		"machine:0",
		",",
		"0;1",
		"4294967296",
		"core:99999999999",
	};
	struct sb_topology *topology;
	char why[256];

	(void)state;
	CHECK_EQ(sb_topology_open(&topology, "numa:2 core:2 pu:1", why, sizeof(why)), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(lists); i++) {
		const struct sb_plan_request r = { .workers = 1, .cpus = lists[i] };
		const struct sb_plan_request g = { .workers = 1, .generator_cpus = lists[i] };

		expect_bad_list(topology, &r, SB_PLAN_FAULT_CPUS);
		expect_bad_list(topology, &g, SB_PLAN_FAULT_GENERATOR_CPUS);
	}
	sb_topology_free(topology);
}

/* ---- descriptions that are none ---- */

static void expect_refusal(const char *profile, const char *pattern)
{
	struct sb_topology *topology;
	char why[512];

	if (!sb_topology_open(&topology, profile, why, sizeof(why)))
		fail_msg("'%s' is accepted", profile);
	if (!strstr(why, pattern) || strchr(why, '\n'))
		fail_msg("'%s': '%s', expected '%s'", profile, why, pattern);
}

/* A file of the scratch directory with that text. */
static const char *file_with(const char *text, size_t bytes)
{
	static char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/bad.xml", scratch_directory());
	out = fopen(path, "we");
	assert_non_null(out);
	CHECK_EQ(fwrite(text, 1, bytes, out), bytes);
	CHECK_EQ(fclose(out), 0);
	return path;
}

#define NODE                                                                                       \
	"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" "                                 \
	"complete_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "                        \
	"gp_index=\"2\"/>\n"
#define XML(allowed, nodes, pus)                                                                   \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"                                              \
	"<topology version=\"2.0\">\n<object type=\"Machine\" os_index=\"0\" "                     \
	"cpuset=\"0x3\" complete_cpuset=\"0x3\" allowed_cpuset=\"" allowed                         \
	"\" nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" "                     \
	"gp_index=\"1\">\n" nodes pus "</object>\n</topology>\n"
#define PU(n, set)                                                                                 \
	"<object type=\"PU\" os_index=\"" n "\" cpuset=\"" set "\" complete_cpuset=\"" set         \
	"\" nodeset=\"0x1\" "                                                                      \
	"complete_nodeset=\"0x1\" gp_index=\"1" n "\"/>\n"

static void bad_descriptions_are_refused(void **state)
{
	static const char good[] = XML("0x3", NODE, PU("0", "0x1") PU("1", "0x2"));
	static const char disallowed[] = XML("0x0", NODE, PU("0", "0x1") PU("1", "0x2"));
	static const char empty[] = XML("0x3", NODE, "");
	static const char newer[] = "<?xml version=\"1.0\"?>\n"
				    "<topology version=\"3.0\">\n</topology>\n";
	struct sb_topology *topology;
	char why[256];
	char big[PATH_MAX];
	int fd;

	(void)state;
	CHECK_EQ(sb_topology_open(&topology, file_with(good, sizeof(good) - 1), why, sizeof(why)),
		 0);
	sb_topology_free(topology);
	expect_refusal(file_with(disallowed, sizeof(disallowed) - 1),
		       "has no processing unit that may be used");
	expect_refusal(file_with(empty, sizeof(empty) - 1),
		       "has no processing unit that may be used");
	expect_refusal(file_with(newer, sizeof(newer) - 1), "hwloc 3");
	expect_refusal(file_with("", 0), "is not XML");
	expect_refusal(file_with("hello\n", 6), "is not XML");
	expect_refusal(file_with("<topology", 9), "is not XML");
	expect_refusal("no/such/file", "there is no file");
	expect_refusal("missing.xml", "there is no file");
	expect_refusal("no-such-profile", "there is no profile");
	expect_refusal("/dev/null", "neither a file nor a directory");
	expect_refusal(scratch_directory(), "has no sys/devices/system/cpu");
	expect_refusal("pack:2 zebra:3", "is no synthetic description");
	expect_refusal("pack:0 core:1", "is no synthetic description");
	expect_refusal("pu:2 pu:2 core:1 :", "is no synthetic description");
	expect_refusal("pack:1000000 core:1000000", "16384");
	expect_refusal("pu:99999999999999999999", "16384");
	snprintf(big, sizeof(big), "%s/big.xml", scratch_directory());
	fd = open(big, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	CHECK_EQ(ftruncate(fd, (off_t)1 << 30), 0);
	close(fd);
	expect_refusal(big, "larger than 64 MiB");
	unlink(big);
}

/* Either a machine or a refusal; nothing else is asked. */
static void try_damaged(const char *text, size_t bytes)
{
	struct sb_topology *topology;
	char why[512];

	if (!sb_topology_open(&topology, file_with(text, bytes), why, sizeof(why)))
		sb_topology_free(topology);
	else
		assert_null(strchr(why, '\n'));
}

static void damaged_files_do_no_harm(void **state)
{
	static const char *const paths[] = {
		"tests/topologies/16em64t-4s2c2t.xml",
		"tests/topologies/64intel64-fakeKNL-SNC4-hybrid.xml",
		"tests/topologies/power8gpudistances.xml",
	};
	static char text[65536];
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	for (size_t f = 0; f < SB_ARRAY_SIZE(paths); f++) {
		FILE *in = fopen(paths[f], "re");
		size_t bytes;

		assert_non_null(in);
		bytes = fread(text, 1, sizeof(text), in);
		fclose(in);
		for (int i = 0; i < 16; i++)
			try_damaged(text, sb_rng_below(&rng, (uint32_t)bytes));
		for (int i = 0; i < SB_SCALE(160); i++) {
			const uint32_t at = sb_rng_below(&rng, (uint32_t)bytes);
			const char was = text[at];

			text[at] = "0123456789f\"<>x -"[sb_rng_below(&rng, 17)];
			try_damaged(text, bytes);
			if (i % 4)
				text[at] = was;
		}
	}
}

/* ---- a gathered directory ---- */

static void put_file(const char *root, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *c = path + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(path, 0700);
		*c = '/';
	}
	out = fopen(path, "we");
	assert_non_null(out);
	fprintf(out, "%s\n", text);
	CHECK_EQ(fclose(out), 0);
}

/* Two packages of two cores, one node each; CPUs 0 and 2 are the first's. */
static void a_directory_is_read(void **state)
{
	char root[PATH_MAX];
	struct sb_topology *topology;
	struct sb_machine machine;
	char why[256];

	(void)state;
	snprintf(root, sizeof(root), "%s/machine", scratch_directory());
	CHECK_EQ(mkdir(root, 0700), 0);
	put_file(root, "sys/devices/system/cpu/online", "0-3");
	put_file(root, "sys/devices/system/cpu/possible", "0-3");
	put_file(root, "sys/devices/system/node/online", "0-1");
	put_file(root, "proc/cpuinfo", "");
	for (int cpu = 0; cpu < 4; cpu++) {
		char name[80];
		char mask[8];
		const int package = cpu % 2;

#define PUT(what, format, value)                                                                   \
	do {                                                                                       \
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%d/" what, cpu);           \
		snprintf(mask, sizeof(mask), format, value);                                       \
		put_file(root, name, mask);                                                        \
	} while (0)
		PUT("online", "%d", 1);
		PUT("topology/core_id", "%d", cpu / 2);
		PUT("topology/physical_package_id", "%d", package);
		PUT("topology/core_siblings", "%x", 5 << package);
		PUT("topology/thread_siblings", "%x", 1 << cpu);
		PUT("topology/package_cpus", "%x", 5 << package);
		PUT("topology/core_cpus", "%x", 1 << cpu);
#undef PUT
	}
	put_file(root, "sys/devices/system/node/node0/cpumap", "5");
	put_file(root, "sys/devices/system/node/node1/cpumap", "a");
	put_file(root, "sys/devices/system/node/node0/distance", "10 21");
	put_file(root, "sys/devices/system/node/node1/distance", "21 10");
	if (sb_topology_open(&topology, root, why, sizeof(why)))
		fail_msg("%s", why);
	sb_topology_machine(topology, &machine);
	assert_true(machine.emulated);
	CHECK_EQ(machine.packages, 2);
	CHECK_EQ(machine.nodes, 2);
	CHECK_EQ(machine.cores, 4);
	assert_null(getenv("HWLOC_FSROOT"));
	sb_topology_free(topology);
	expect_order(root, (struct sb_plan_request){ .workers = 4, .policy = SB_PLACEMENT_NUMA },
		     "0 2 1 3");
}

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

static int remove_scratch(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch_directory());
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_machine_keeps_the_invariants),
		cmocka_unit_test(every_machine_can_be_restricted),
		cmocka_unit_test(workers_keep_off_the_generators_cores),
		cmocka_unit_test(orders_are_what_they_say),
		cmocka_unit_test(generators_change_the_orders),
		cmocka_unit_test(bad_lists_are_refused),
		cmocka_unit_test(bad_descriptions_are_refused),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(a_directory_is_read),
		cmocka_unit_test(distances_are_the_machines),
		cmocka_unit_test(special_memory_is_nobodys_own),
		cmocka_unit_test(plain_memory_comes_before_other),
		cmocka_unit_test(memory_without_cpus_is_nobodys_own),
		cmocka_unit_test(fingerprints_tell_machines_apart),
		cmocka_unit_test(names_are_distinct),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, remove_scratch);
}
