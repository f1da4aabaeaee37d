#include "affinity/plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/internal.h"

/* A unit that the request leaves over, and what its turn depends on. */
struct candidate {
	const struct sb_unit *unit;
	uint32_t rank;	/* how many units of its core come before it */
	uint32_t order; /* of its core, under the policy */
};

struct planner {
	const struct sb_topology *topology;
	const struct sb_plan_request *request;
	char *why;
	size_t bytes;
	enum sb_plan_fault fault;
	hwloc_bitmap_t allowed;	   /* to workers */
	hwloc_bitmap_t generators; /* the CPUs, not their whole cores */
	uint32_t n;
	uint32_t cores;
	struct candidate *candidate; /* [n]; sorted: the workers' order */
};

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

	for (uint32_t j = first_of_core(t, i);
	     j < t->pus && t->unit[j].core == own->core; j++) {
		const int faster = t->unit[j].speed - own->speed;

		rank += is_allowed(p, &t->unit[j]) &&
			(faster > 0 || (!faster && j < i));
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

	for (uint32_t j = first_of_core(t, i);
	     j < t->pus && t->unit[j].core == t->unit[i].core; j++)
		hwloc_bitmap_clr(p->allowed, t->unit[j].pu->os_index);
}

static int allow_without_generators(struct planner *p)
{
	const struct sb_topology *t = p->topology;
	int rc;

	if (!is_given(p->request->generator_cpus))
		return 0;
	p->fault = SB_PLAN_FAULT_GENERATOR_CPUS;
	rc = sb_cpus_parse(t, p->request->generator_cpus, p->generators, p->why,
			   p->bytes);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < t->pus; i++) {
		if (hwloc_bitmap_isset(p->generators, t->unit[i].pu->os_index))
			keep_core_apart(p, i);
	}
	return hwloc_bitmap_iszero(p->allowed)
		       ? refuse(p, "leaves no CPU for workers")
		       : 0;
}

static int allow_only_named(struct planner *p)
{
	hwloc_bitmap_t named;
	int rc;

	if (!is_given(p->request->cpus))
		return 0;
	p->fault = SB_PLAN_FAULT_CPUS;
	named = hwloc_bitmap_alloc();
	rc = named ? sb_cpus_parse(p->topology, p->request->cpus, named, p->why,
				   p->bytes)
		   : -ENOMEM;
	if (!rc)
		rc = hwloc_bitmap_and(p->allowed, p->allowed, named) ? -ENOMEM
								     : 0;
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
		p->candidate[p->n++] = (struct candidate){
			.unit = unit, .rank = rank, .order = p->cores - 1
		};
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
			return refuse(p, rule == SB_WORKERS_PER_L3
						 ? "per-l3: the machine has "
						   "cores without a cache"
						 : "per-numa: the machine has "
						   "cores without a node");
		while (j < kept &&
		       group_of(p->candidate[j].unit, rule) != group)
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
		hwloc_bitmap_set(p->allowed,
				 p->candidate[i].unit->pu->os_index);
	return p->n ? 0 : refuse(p, "no CPU is left to use");
}

/* ---- compact, and the order that the others refine ---- */

static int by_turn(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->unit->speed != y->unit->speed)
		return x->unit->speed > y->unit->speed ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return by_order(a, b);
}

static void sort_by_turn(struct planner *p)
{
	qsort(p->candidate, p->n, sizeof(*p->candidate), by_turn);
}

/* ---- scatter ---- */

/* Cores are dealt to the turns of an object's children one by one. */
struct deal {
	const struct planner *planner;
	const uint32_t *core_of; /* [cores of the topology] -> core, or none */
	uint32_t *scratch;	 /* [cores] */
};

#define NO_CORE UINT32_MAX

static bool is_leaf(hwloc_obj_t obj)
{
	return obj->type == HWLOC_OBJ_CORE || !obj->arity;
}

/* The parts of out, one for each child, become one list: the first of each
 * part, then the second of each, and so on. */
static void interleave(uint32_t *out, const uint32_t *end, uint32_t parts,
		       uint32_t *scratch)
{
	const uint32_t all = parts ? end[parts - 1] : 0;
	uint32_t n = 0;

	for (uint32_t turn = 0; n < all; turn++) {
		for (uint32_t part = 0; part < parts; part++) {
			const uint32_t at = (part ? end[part - 1] : 0) + turn;

			if (at < end[part])
				scratch[n++] = out[at];
		}
	}
	memcpy(out, scratch, all * sizeof(*out));
}

static uint32_t core_of_leaf(const struct deal *d, hwloc_obj_t leaf)
{
	while (leaf && leaf->type != HWLOC_OBJ_PU)
		leaf = leaf->first_child;
	if (!leaf) /* a package or group of memory alone */
		return NO_CORE;
	return d->core_of[d->planner->topology->unit[leaf->logical_index].core];
}

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

/* The cores under an object, in the order of scatter, to out. Returns how many,
 * or -ENOMEM. */
static int64_t deal_object(const struct deal *d, hwloc_obj_t obj, uint32_t *out)
{
	uint32_t *end;
	uint32_t n = 0;

	if (is_leaf(obj)) {
		*out = core_of_leaf(d, obj);
		return *out != NO_CORE;
	}
	end = calloc(obj->arity, sizeof(*end));
	if (!end)
		return -ENOMEM;
	for (unsigned int i = 0; i < obj->arity; i++) {
		const int64_t got = deal_object(d, obj->children[i], out + n);

		if (got < 0) {
			free(end);
			return got;
		}
		n += (uint32_t)got;
		end[i] = n;
	}
	interleave(out, end, obj->arity, d->scratch);
	free(end);
	return n;
}

/* NOLINTEND(misc-no-recursion) */

static int scatter(struct planner *p)
{
	const uint32_t all = p->topology->cores;
	uint32_t *core_of = malloc(all * sizeof(*core_of));
	/* A leaf without a core writes one entry beyond. */
	uint32_t *dealt = calloc(all + 1, sizeof(*dealt));
	uint32_t *turn = calloc(all + 1, sizeof(*turn));
	struct deal d = { p, core_of, turn };
	int64_t n = -ENOMEM;

	if (core_of && dealt && turn) {
		memset(core_of, 0xff, all * sizeof(*core_of));
		for (uint32_t i = 0; i < p->n; i++)
			core_of[p->candidate[i].unit->core] =
				p->candidate[i].order;
		n = deal_object(&d, hwloc_get_root_obj(p->topology->hwloc),
				dealt);
	}
	for (int64_t i = 0; i < n; i++)
		turn[dealt[i]] = (uint32_t)i;
	for (uint32_t i = 0; i < p->n && n >= 0; i++)
		p->candidate[i].order = turn[p->candidate[i].order];
	free(core_of);
	free(dealt);
	free(turn);
	if (n < 0)
		return -ENOMEM;
	sort_by_turn(p);
	return 0;
}

/* ---- numa ---- */

/* The next candidate for the node with the fewest workers: of the lowest rank
 * that is left anywhere, so that no core gets a second one too early. */
static uint32_t next_for_nodes(const struct planner *p, const bool *taken,
			       const uint32_t *workers)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct candidate *c = &p->candidate[i];

		if (taken[i])
			continue;
		if (best == UINT32_MAX) {
			best = i;
			continue;
		}
		if (c->rank != p->candidate[best].rank)
			break;
		if (workers[c->unit->place.node + 1] <
		    workers[p->candidate[best].unit->place.node + 1])
			best = i;
	}
	return best;
}

/* Within what is chosen for `take` workers, node by node. */
static int by_node(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;

	if (x->unit->place.node != y->unit->place.node)
		return x->unit->place.node < y->unit->place.node ? -1 : 1;
	return by_turn(a, b);
}

static int balance(struct planner *p, uint32_t take)
{
	struct candidate *chosen = calloc(p->n, sizeof(*chosen));
	bool *taken = calloc(p->n, sizeof(*taken));
	uint32_t *workers = calloc(p->topology->nodes + 1, sizeof(*workers));
	const bool memory = chosen && taken && workers;

	sort_by_turn(p);
	for (uint32_t n = 0; memory && n < p->n; n++) {
		const uint32_t i = next_for_nodes(p, taken, workers);

		taken[i] = true;
		workers[p->candidate[i].unit->place.node + 1]++;
		chosen[n] = p->candidate[i];
	}
	if (memory) {
		memcpy(p->candidate, chosen, p->n * sizeof(*chosen));
		/* More rounds than one stay in the order of their turns. */
		if (take <= p->n)
			qsort(p->candidate, take, sizeof(*chosen), by_node);
	}
	free(chosen);
	free(taken);
	free(workers);
	return memory ? 0 : -ENOMEM;
}

/* ---- distrib ---- */

static const struct sb_unit *unit_of_cpu(const struct sb_topology *t,
					 unsigned int cpu)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t->hwloc, cpu);

	return pu ? &t->unit[pu->logical_index] : NULL;
}

static int distribute_on(struct planner *p, hwloc_topology_t t, uint32_t n,
			 struct sb_place *place)
{
	hwloc_obj_t root = hwloc_get_root_obj(t);
	hwloc_bitmap_t *set = calloc(n, sizeof(*set));
	int rc = set ? 0 : -ENOMEM;

	if (!rc && hwloc_distrib(t, &root, 1, set, n, INT_MAX, 0))
		rc = -ENOMEM;
	for (uint32_t i = 0; i < n && !rc; i++) {
		const struct sb_unit *unit = unit_of_cpu(
			p->topology, (unsigned)hwloc_bitmap_first(set[i]));

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

	if (hwloc_topology_dup(&t, p->topology->hwloc))
		return -ENOMEM;
	if (p->n < p->topology->pus &&
	    hwloc_topology_restrict(t, p->allowed, 0))
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
		rc = scatter(p);
		break;
	case SB_PLACEMENT_NUMA:
		rc = balance(p, n);
		break;
	case SB_PLACEMENT_COMPACT:
	default:
		sort_by_turn(p);
		break;
	}
	for (uint32_t i = 0; i < n && !rc; i++)
		place[i] = p->candidate[i % p->n].unit->place;
	return rc;
}

static int copy_distances(const struct sb_topology *t,
			  struct sb_placement *placement)
{
	const size_t bytes =
		(size_t)t->nodes * t->nodes * sizeof(*t->node_distance);

	if (!t->node_distance)
		return 0;
	placement->node_distance = malloc(bytes);
	if (!placement->node_distance)
		return -ENOMEM;
	memcpy(placement->node_distance, t->node_distance, bytes);
	return 0;
}

/* No memory can be bound to the nodes of another machine. */
static int copy_os_nodes(const struct sb_topology *t,
			 struct sb_placement *placement)
{
	if (t->emulated)
		return 0;
	placement->os_node = calloc(t->nodes, sizeof(*placement->os_node));
	if (!placement->os_node)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nodes; i++)
		placement->os_node[i] = (int)hwloc_get_obj_by_type(
						t->hwloc, HWLOC_OBJ_NUMANODE, i)
						->os_index;
	return 0;
}

static int copy_nodes(const struct sb_topology *t,
		      struct sb_placement *placement)
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

	*plan = (struct sb_plan){ .placement = { .workers = n },
				  .cores = p->cores,
				  .pus = p->n };
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

int sb_plan_make(const struct sb_topology *topology,
		 const struct sb_plan_request *request, struct sb_plan *plan,
		 char *why, size_t bytes)
{
	struct planner p = {
		.topology = topology,
		.request = request,
		.why = why,
		.bytes = bytes,
		.allowed = hwloc_bitmap_dup(
			hwloc_topology_get_topology_cpuset(topology->hwloc)),
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
