/* distance.h - how far workers are from each other, which orders victims. */
#ifndef SB_CORE_WORKER_DISTANCE_H
#define SB_CORE_WORKER_DISTANCE_H

#include "core/placement.h"

/* How far a victim is from a thief; the nearest class that holds. */
enum sb_distance {
	SB_DISTANCE_SELF,
	SB_DISTANCE_SMT,   /* same core */
	SB_DISTANCE_CACHE, /* same last-level cache */
	SB_DISTANCE_NODE,  /* same NUMA node */
	SB_DISTANCE_REMOTE,
	SB_DISTANCES
};

/* "self", "smt" and so on. */
static inline const char *sb_distance_name(enum sb_distance distance)
{
	static const char *const names[SB_DISTANCES] = {
		[SB_DISTANCE_SELF] = "self",	 [SB_DISTANCE_SMT] = "smt",
		[SB_DISTANCE_CACHE] = "cache",	 [SB_DISTANCE_NODE] = "node",
		[SB_DISTANCE_REMOTE] = "remote",
	};

	return names[distance];
}

/* Also where their node may not be used and is not known: then the package has
 * to tell. */
static inline bool sb_place_same_node(const struct sb_place *a, const struct sb_place *b)
{
	return a->node == b->node && (a->node >= 0 || a->package == b->package);
}

/* SB_DISTANCE_SELF only for two workers on one processing unit. */
static inline enum sb_distance sb_place_distance(const struct sb_place *a, const struct sb_place *b)
{
	if (a->pu == b->pu)
		return SB_DISTANCE_SELF;
	if (a->core >= 0 && a->core == b->core)
		return SB_DISTANCE_SMT;
	if (a->cache >= 0 && a->cache == b->cache)
		return SB_DISTANCE_CACHE;
	return sb_place_same_node(a, b) ? SB_DISTANCE_NODE : SB_DISTANCE_REMOTE;
}

/* The machine's distance from a's node to b's; 0: unknown. */
static inline uint32_t sb_place_node_distance(const struct sb_placement *p,
					      const struct sb_place *a, const struct sb_place *b)
{
	if (!p->node_distance || a->node < 0 || b->node < 0 || (uint32_t)a->node >= p->nodes ||
	    (uint32_t)b->node >= p->nodes)
		return 0;
	return p->node_distance[(uint32_t)a->node * p->nodes + (uint32_t)b->node];
}

/*
 * Orders victims from near to far. The number compares the class
 * first; within a class (a cache may serve several nodes) the own node comes
 * first, then the nodes by the machine's distance, an unknown one last, and
 * then the own package. Victims with equal numbers are equally far.
 */
static inline uint64_t sb_place_remoteness(const struct sb_placement *p, const struct sb_place *a,
					   const struct sb_place *b)
{
	const uint64_t class = sb_place_distance(a, b);
	const uint32_t known = sb_place_node_distance(p, a, b);
	const uint64_t distance = sb_place_same_node(a, b) ? 0 : known ? known : UINT32_MAX;

	return class << 40 | distance << 1 | (a->package != b->package);
}

#endif
