#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/planner.h"

/* ---- compact, and the order that the others refine ---- */

static int by_turn(const void *a, const void *b)
{
	const struct candidate *x = a;
	const struct candidate *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->late != y->late)
		return x->late ? 1 : -1;
	if (x->unit->speed != y->unit->speed)
		return x->unit->speed > y->unit->speed ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->unit->place.pu < y->unit->place.pu ? -1 : 1;
}

void sb_order_compact(struct planner *p)
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
static void interleave(uint32_t *out, const uint32_t *end, uint32_t parts, uint32_t *scratch)
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

/*
 * Where a node is deep in the tree or beside single cores, its turn comes late:
 * so the first of each node is put before all others. Of nodes with several kinds
 * of cores, a fast one.
 */
static int put_each_node_first(struct planner *p)
{
	struct candidate **first = calloc(p->topology->nodes + 1, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++) {
		struct candidate *c = &p->candidate[i];
		struct candidate **best = &first[c->unit->place.node + 1];

		c->late = true;
		if (!*best || by_turn(c, *best) < 0)
			*best = c;
	}
	/* A core without a node stands for none. */
	for (uint32_t node = 1; node <= p->topology->nodes; node++) {
		if (first[node])
			first[node]->late = false;
	}
	free(first);
	return 0;
}

int sb_order_scatter(struct planner *p)
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
			core_of[p->candidate[i].unit->core] = p->candidate[i].order;
		n = deal_object(&d, hwloc_get_root_obj(p->topology->hwloc), dealt);
	}
	for (int64_t i = 0; i < n; i++)
		turn[dealt[i]] = (uint32_t)i;
	for (uint32_t i = 0; i < p->n && n >= 0; i++)
		p->candidate[i].order = turn[p->candidate[i].order];
	free(core_of);
	free(dealt);
	free(turn);
	if (n < 0 || put_each_node_first(p))
		return -ENOMEM;
	sb_order_compact(p);
	return 0;
}

/* ---- numa ---- */

/* The next candidate for the node with the fewest workers: of the lowest rank
 * that is left anywhere, so that no core gets a second one too early. */
static uint32_t next_for_nodes(const struct planner *p, const bool *taken, const uint32_t *workers)
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

int sb_order_numa(struct planner *p, uint32_t take)
{
	struct candidate *chosen = calloc(p->n, sizeof(*chosen));
	bool *taken = calloc(p->n, sizeof(*taken));
	uint32_t *workers = calloc(p->topology->nodes + 1, sizeof(*workers));
	const bool memory = chosen && taken && workers;

	sb_order_compact(p);
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
