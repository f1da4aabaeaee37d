/*
 * placement.h - which worker runs where, as plain data. affinity/ makes it from
 * a topology; the scheduler only reads it.
 */
#ifndef SB_CORE_PLACEMENT_H
#define SB_CORE_PLACEMENT_H

#include "core/base.h"

/* How far a victim is from a thief; the nearest class that holds. */
enum sb_distance {
	SB_DISTANCE_SELF,
	SB_DISTANCE_SMT,   /* same core */
	SB_DISTANCE_CACHE, /* same last-level cache */
	SB_DISTANCE_NODE,  /* same NUMA node */
	SB_DISTANCE_REMOTE,
	SB_DISTANCES
};

/* Indices are hwloc's logical ones, but for os_cpu; -1: the machine has none. */
struct sb_place {
	int os_cpu; /* to pin to; -1: not pinned */
	int pu;
	int core;
	int cache;
	int node;
	int package;
};

struct sb_placement {
	uint32_t workers;
	struct sb_place *place; /* [workers] */
};

/* SB_DISTANCE_SELF only for two workers on one processing unit. */
static inline enum sb_distance sb_place_distance(const struct sb_place *a,
						 const struct sb_place *b)
{
	if (a->pu == b->pu)
		return SB_DISTANCE_SELF;
	if (a->core >= 0 && a->core == b->core)
		return SB_DISTANCE_SMT;
	if (a->cache >= 0 && a->cache == b->cache)
		return SB_DISTANCE_CACHE;
	if (a->node == b->node)
		return SB_DISTANCE_NODE;
	return SB_DISTANCE_REMOTE;
}

#endif
