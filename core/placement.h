/*
 * placement.h - the places of workers on a machine, as plain data. sb_placement_here of
 * affinity/machine.h reads it from the machine; a program may also fill it in.
 */
#ifndef SB_CORE_PLACEMENT_H
#define SB_CORE_PLACEMENT_H

#include "core/platform/public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The place of a worker. All fields but os_cpu are hwloc's logical indices, or -1: unknown, or the
 * machine has no such object. They decide which workers are near (SB_VICTIM_NEAR) and which share
 * an arena (SB_ARENAS_PER_NODE). */
struct sb_place {
	int os_cpu; /* the operating system's number of the CPU that the worker is pinned to; < 0:
		     * it is not pinned */
	int pu;
	int core;
	int cache; /* the last-level cache */
	int node;  /* the NUMA node; a number that is not below sb_placement.nodes counts as -1 */
	int package;
};

/* Most NUMA nodes of a placement. */
#define SB_NODES_MAX 1024

struct sb_placement {
	uint32_t workers;	/* 1 to SB_WORKERS_MAX */
	struct sb_place *place; /* [workers] */

	uint32_t nodes; /* NUMA nodes, 0 to SB_NODES_MAX */
	/* [nodes], the operating system's numbers, to which memory is bound; NULL: no memory is
	 * bound. */
	int *os_node;
	/* [nodes * nodes], the distance from the node of the row to the node of the column, in the
	 * units of the machine's table; 0: unknown. NULL: all are unknown. */
	uint32_t *node_distance;
};

/* Copies a placement with its arrays. Returns 0; or -ENOMEM, and *to is empty. The caller frees *to
 * with sb_placement_free; what it contained before is not freed. Callers: any thread. */
SB_MUST_CHECK int sb_placement_copy(struct sb_placement *to, const struct sb_placement *from);

/* Frees the arrays of a placement with free(3), and empties it. Freeing an empty placement has no
 * effect. Callers: any thread. */
void sb_placement_free(struct sb_placement *placement);

#ifdef __cplusplus
}
#endif

#endif
