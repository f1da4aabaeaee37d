#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/planner.h"

static int refuse(struct planner *p, const char *what)
{
	snprintf(p->why, p->bytes, "%s", what);
	return -EINVAL;
}

/* ---- what may be used ---- */

static bool is_allowed(const struct planner *p, const struct sb_unit *unit)
{
	return hwloc_bitmap_isset(p->allowed, unit->pu->os_index);
}

static uint32_t first_of_core(const struct sb_topology *t, uint32_t i)
{
	while (i && t->unit[i - 1].core == t->unit[i].core)
		i--;
	return i;
}

/* How many of the core's units have their turn before this one: the faster
 * ones, and of the same speed the earlier ones. */
static uint32_t rank_of(const struct planner *p, uint32_t i)
{
	const struct sb_topology *t = p->topology;
	const struct sb_unit *own = &t->unit[i];
	uint32_t rank = 0;

	for (uint32_t j = first_of_core(t, i); j < t->pus && t->unit[j].core == own->core; j++) {
		const int faster = t->unit[j].speed - own->speed;

		rank += is_allowed(p, &t->unit[j]) && (faster > 0 || (!faster && j < i));
	}
	return rank;
}

static bool is_given(const char *cpus)
{
	return cpus && *cpus;
}

/* From the workers, the generator's whole core. */
static void keep_core_apart(struct planner *p, uint32_t i)
{
	const struct sb_topology *t = p->topology;

	for (uint32_t j = first_of_core(t, i); j < t->pus && t->unit[j].core == t->unit[i].core;
	     j++)
		hwloc_bitmap_clr(p->allowed, t->unit[j].pu->os_index);
}

static int allow_without_generators(struct planner *p)
{
	const struct sb_topology *t = p->topology;
	int rc;

	if (!is_given(p->request->generator_cpus))
		return 0;
	p->fault = SB_PLAN_FAULT_GENERATOR_CPUS;
	rc = sb_cpus_parse(t, p->request->generator_cpus, p->generators, p->why, p->bytes);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < t->pus; i++) {
		if (hwloc_bitmap_isset(p->generators, t->unit[i].pu->os_index))
			keep_core_apart(p, i);
	}
	return hwloc_bitmap_iszero(p->allowed) ? refuse(p, "leaves no CPU for workers") : 0;
}

static int allow_only_named(struct planner *p)
{
	hwloc_bitmap_t named;
	int rc;

	if (!is_given(p->request->cpus))
		return 0;
	p->fault = SB_PLAN_FAULT_CPUS;
	named = hwloc_bitmap_alloc();
	rc = named ? sb_cpus_parse(p->topology, p->request->cpus, named, p->why, p->bytes)
		   : -ENOMEM;
	if (!rc)
		rc = hwloc_bitmap_and(p->allowed, p->allowed, named) ? -ENOMEM : 0;
	hwloc_bitmap_free(named);
	if (!rc && hwloc_bitmap_iszero(p->allowed))
		rc = refuse(p, "names only cores that are the generators'");
	return rc;
}

static void gather(struct planner *p)
{
	const struct sb_topology *t = p->topology;
	const struct sb_unit *last = NULL;

	p->n = 0;
	p->cores = 0;
	for (uint32_t i = 0; i < t->pus; i++) {
		const struct sb_unit *unit = &t->unit[i];
		const uint32_t rank = rank_of(p, i);

		if (!is_allowed(p, unit))
			continue;
		p->cores += !last || last->core != unit->core;
		last = unit;
		if (rank && p->request->no_smt)
			continue;
		p->candidate[p->n++] =
			(struct candidate){ .unit = unit, .rank = rank, .order = p->cores - 1 };
	}
}

static int group_of(const struct sb_unit *unit, enum sb_workers_rule rule)
{
	return rule == SB_WORKERS_PER_L3 ? unit->place.cache : unit->place.node;
}

/* Keeps one unit of each cache or node: the first of the fastest. */
static int keep_one_each(struct planner *p)
{
	const enum sb_workers_rule rule = p->request->rule;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct candidate *c = &p->candidate[i];
		const int group = group_of(c->unit, rule);
		uint32_t j = 0;

		if (group < 0)
			return refuse(p,
				      rule == SB_WORKERS_PER_L3
					      ? "per-l3: the machine has cores without a cache"
					      : "per-numa: the machine has cores without a node");
		while (j < kept && group_of(p->candidate[j].unit, rule) != group)
			j++;
		if (j == kept)
			p->candidate[kept++] = *c;
		else if (c->unit->speed > p->candidate[j].unit->speed)
			p->candidate[j] = *c;
	}
	p->n = kept;
	p->cores = kept;
	for (uint32_t i = 0; i < kept; i++)
		p->candidate[i].rank = 0;
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;

	return x->unit->place.pu < y->unit->place.pu ? -1 : 1;
}

static int choose(struct planner *p)
{
	int rc = allow_without_generators(p);

	if (!rc)
		rc = allow_only_named(p);
	if (rc)
		return rc;
	p->fault = SB_PLAN_FAULT_WORKERS;
	gather(p);
	if (p->request->rule >= SB_WORKERS_PER_L3)
		rc = keep_one_each(p);
	if (rc)
		return rc;
	qsort(p->candidate, p->n, sizeof(*p->candidate), by_order);
	hwloc_bitmap_zero(p->allowed);
	for (uint32_t i = 0; i < p->n; i++)
		hwloc_bitmap_set(p->allowed, p->candidate[i].unit->pu->os_index);
	return p->n ? 0 : refuse(p, "no CPU is left to use");
}

/* ---- distrib ---- */

static const struct sb_unit *unit_of_cpu(const struct sb_topology *t, unsigned int cpu)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t->hwloc, cpu);

	return pu ? &t->unit[pu->logical_index] : NULL;
}

static int distribute_on(struct planner *p, hwloc_topology_t t, uint32_t n, struct sb_place *place)
{
	hwloc_obj_t root = hwloc_get_root_obj(t);
	hwloc_bitmap_t *set = calloc(n, sizeof(*set));
	int rc = set ? 0 : -ENOMEM;

	if (!rc && hwloc_distrib(t, &root, 1, set, n, INT_MAX, 0))
		rc = -ENOMEM;
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct sb_unit *unit =
			unit_of_cpu(p->topology, (unsigned)hwloc_bitmap_first(set[i]));

		if (unit)
			place[i] = unit->place;
		else
			rc = refuse(p, "hwloc has no distribution for that");
	}
	for (uint32_t i = 0; i < n && set; i++)
		hwloc_bitmap_free(set[i]);
	free(set);
	return rc;
}

static int distribute(struct planner *p, uint32_t n, struct sb_place *place)
{
	hwloc_topology_t t;
	int rc = 0;

	if (p->n == p->topology->pus)
		return distribute_on(p, p->topology->hwloc, n, place);
	if (hwloc_topology_dup(&t, p->topology->hwloc))
		return -ENOMEM;
	if (hwloc_topology_restrict(t, p->allowed, 0))
		rc = refuse(p, "hwloc cannot restrict the machine to that");
	if (!rc)
		rc = distribute_on(p, t, n, place);
	hwloc_topology_destroy(t);
	return rc;
}

/* ---- all together ---- */

static uint32_t count_workers(const struct planner *p)
{
	switch (p->request->rule) {
	case SB_WORKERS_PER_CORE:
		return p->cores;
	case SB_WORKERS_PER_PU:
	case SB_WORKERS_PER_L3:
	case SB_WORKERS_PER_NUMA:
		return p->n;
	case SB_WORKERS_NUMBER:
	default:
		return p->request->workers;
	}
}

static int place_in_order(struct planner *p, uint32_t n, struct sb_place *place)
{
	int rc = 0;

	switch (p->request->policy) {
	case SB_PLACEMENT_DISTRIB:
		return distribute(p, n, place);
	case SB_PLACEMENT_SCATTER:
		rc = sb_order_scatter(p);
		break;
	case SB_PLACEMENT_NUMA:
		rc = sb_order_numa(p, n);
		break;
	case SB_PLACEMENT_COMPACT:
	default:
		sb_order_compact(p);
		break;
	}
	for (uint32_t i = 0; i < n && !rc; i++)
		place[i] = p->candidate[i % p->n].unit->place;
	return rc;
}

static int copy_distances(const struct sb_topology *t, struct sb_placement *placement)
{
	const size_t bytes = (size_t)t->nodes * t->nodes * sizeof(*t->node_distance);

	if (!t->node_distance)
		return 0;
	placement->node_distance = malloc(bytes);
	if (!placement->node_distance)
		return -ENOMEM;
	memcpy(placement->node_distance, t->node_distance, bytes);
	return 0;
}

/* No memory can be bound to the nodes of another machine. */
static int copy_os_nodes(const struct sb_topology *t, struct sb_placement *placement)
{
	if (t->emulated)
		return 0;
	placement->os_node = calloc(t->nodes, sizeof(*placement->os_node));
	if (!placement->os_node)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nodes; i++)
		placement->os_node[i] =
			(int)hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, i)->os_index;
	return 0;
}

static int copy_nodes(const struct sb_topology *t, struct sb_placement *placement)
{
	const int rc = copy_distances(t, placement);

	placement->nodes = t->nodes;
	return rc ? rc : copy_os_nodes(t, placement);
}

static int place_generators(const struct planner *p, struct sb_plan *plan)
{
	const struct sb_topology *t = p->topology;
	const int n = hwloc_bitmap_weight(p->generators);

	if (!n)
		return 0;
	plan->generator = calloc((size_t)n, sizeof(*plan->generator));
	if (!plan->generator)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->pus; i++) {
		if (hwloc_bitmap_isset(p->generators, t->unit[i].pu->os_index))
			plan->generator[plan->generators++] = t->unit[i].place;
	}
	return 0;
}

static void pin_to_nothing(struct sb_place *places, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		places[i].os_cpu = -1;
}

static int place(struct planner *p, struct sb_plan *plan)
{
	const uint32_t n = count_workers(p);
	struct sb_placement *placement = &plan->placement;
	int rc;

	*plan = (struct sb_plan){ .placement = { .workers = n }, .cores = p->cores, .pus = p->n };
	placement->place = calloc(n, sizeof(*placement->place));
	if (!placement->place)
		return -ENOMEM;
	rc = place_in_order(p, n, placement->place);
	if (!rc)
		rc = copy_nodes(p->topology, placement);
	if (!rc)
		rc = place_generators(p, plan);
	if (rc) {
		sb_plan_free(plan);
	} else if (p->topology->emulated) {
		pin_to_nothing(placement->place, n);
		pin_to_nothing(plan->generator, plan->generators);
	}
	return rc;
}

int sb_plan_make(const struct sb_topology *topology, const struct sb_plan_request *request,
		 struct sb_plan *plan, char *why, size_t bytes)
{
	struct planner p = {
		.topology = topology,
		.request = request,
		.why = why,
		.bytes = bytes,
		.allowed = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(topology->hwloc)),
		.generators = hwloc_bitmap_alloc(),
		.candidate = calloc(topology->pus, sizeof(*p.candidate)),
	};
	int rc = -ENOMEM;

	snprintf(why, bytes, "no memory");
	*plan = (struct sb_plan){ .generator = NULL };
	if (p.allowed && p.generators && p.candidate)
		rc = choose(&p);
	if (!rc)
		rc = place(&p, plan);
	plan->fault = p.fault;
	hwloc_bitmap_free(p.allowed);
	hwloc_bitmap_free(p.generators);
	free(p.candidate);
	return rc;
}

void sb_plan_free(struct sb_plan *plan)
{
	sb_placement_free(&plan->placement);
	free(plan->generator);
	plan->generator = NULL;
	plan->generators = 0;
}
