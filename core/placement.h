/*
 * placement.h - which worker runs where, as plain data. affinity/ makes it from
 * a topology; the scheduler only reads it.
 */
#ifndef SB_CORE_PLACEMENT_H
#define SB_CORE_PLACEMENT_H

#include "core/platform/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Indices are hwloc's logical ones, but for os_cpu; -1: the machine has none. A node that
 * is not below sb_placement.nodes counts as none. */
struct sb_place {
	int os_cpu; /* to pin to; -1: not pinned */
	int pu;
	int core;
	int cache;
	int node;
	int package;
};

/* The most NUMA nodes. */
#define SB_NODES_MAX 1024

struct sb_placement {
	uint32_t workers;
	struct sb_place *place; /* [workers] */

	uint32_t nodes;
	/* The operating system's numbers, to bind memory to; NULL: this is not
	 * the machine that runs. */
	int *os_node; /* [nodes] */
	/* The machine's own matrix, from row to column; 0: unknown. NULL: it
	 * has none. */
	uint32_t *node_distance; /* [nodes * nodes] */
};

/* A deep copy. Returns 0 or -ENOMEM; to is then empty. Callers: any thread. */
SB_MUST_CHECK int sb_placement_copy(struct sb_placement *to, const struct sb_placement *from);

/* Frees the arrays; it is empty afterwards. Callers: any thread. */
void sb_placement_free(struct sb_placement *placement);

#ifdef __cplusplus
}
#endif

#endif
