/*
 * model.h - a modelled machine: its CPUs, how far they are from each other, and what
 * operations cost. Data alone; lines.h and engine.h charge by it.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_MODEL_H
#define SB_CORE_PLATFORM_VIRTUAL_MODEL_H

#include "core/platform/base.h"
#include "core/platform/straight.h"

/* The nearest thing that two CPUs share. */
enum sb_hop {
	SB_HOP_CORE,	/* a core: two hardware threads */
	SB_HOP_CACHE,	/* a last-level cache */
	SB_HOP_NODE,	/* a NUMA node */
	SB_HOP_PACKAGE, /* a package */
	SB_HOP_REMOTE,	/* the machine alone */
	SB_HOPS
};

/* In picoseconds; see costs.def. */
struct sb_costs {
#define SB_COST(name, ps, meaning) uint64_t name##_ps;
#include "core/platform/virtual/costs.def"
#undef SB_COST
};

/* Numbers of what a CPU belongs to; equal is the same one. */
struct sb_model_place {
	uint16_t core, cache, node, package;
	uint16_t slow_permille; /* straight code takes that many thousandths of its time; 0: 1000 */
};

struct sb_model {
	uint32_t cpus;
	const struct sb_model_place *place; /* [cpus]; NULL: all share a cache */
	/* Of NUMA nodes, for those of other packages: relative to the nearest of these. NULL: all
	 * are equally far. */
	const uint32_t *node_distance; /* [nodes * nodes] */
	uint32_t nodes;
	uint32_t nearest_remote;
	/* Transfer of a cache line from one CPU to another. */
	uint64_t transfer_ps[SB_HOPS];
	/* The same between two slow CPUs of one cache; 0: as between others. */
	uint64_t transfer_slow_ps;
	struct sb_costs cost;
	/* Code of the scheduler between its accesses to shared memory, each time. */
	uint64_t straight_ps[SB_STRAIGHTS];
	/* Throughput of a core with two busy hardware threads, in thousandths of its throughput with one.
	 * Each further busy thread adds the same difference. 0: hardware threads do not share the core. */
	uint32_t smt_permille;
	/* A CPU's own cache, in lines: a power of two; 0: SB_MODEL_CACHE_LINES. */
	uint32_t cache_lines;
};

/* 256 KiB. */
#define SB_MODEL_CACHE_LINES 4096

/* CPUs that share one cache, with the values of costs.def; straight code is free. */
struct sb_model sb_model_plain(uint32_t cpus);

static inline enum sb_hop sb_model_hop(const struct sb_model *model, uint32_t a, uint32_t b)
{
	const struct sb_model_place *x;
	const struct sb_model_place *y;

	if (!model->place)
		return SB_HOP_CACHE;
	x = &model->place[a];
	y = &model->place[b];
	if (x->package != y->package)
		return SB_HOP_REMOTE;
	if (x->core == y->core)
		return SB_HOP_CORE;
	if (x->cache == y->cache)
		return SB_HOP_CACHE;
	return x->node == y->node ? SB_HOP_NODE : SB_HOP_PACKAGE;
}

static inline uint64_t sb_model_transfer_ps(const struct sb_model *model, uint32_t a, uint32_t b)
{
	const enum sb_hop hop = sb_model_hop(model, a, b);

	if (hop == SB_HOP_CACHE && model->transfer_slow_ps &&
	    model->place[a].slow_permille > 1000 && model->place[b].slow_permille > 1000)
		return model->transfer_slow_ps;
	if (hop != SB_HOP_REMOTE || !model->node_distance)
		return model->transfer_ps[hop];
	return model->transfer_ps[hop] *
	       model->node_distance[model->place[a].node * model->nodes + model->place[b].node] /
	       model->nearest_remote;
}

#endif
