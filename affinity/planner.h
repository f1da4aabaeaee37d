/*
 * planner.h - a plan in the making, between plan.c, which knows what may be
 * used, and orders.c, which knows the policies.
 */
#ifndef SB_AFFINITY_PLANNER_H
#define SB_AFFINITY_PLANNER_H

#include "affinity/internal.h"
#include "affinity/plan.h"

/* A unit that the request leaves over, and what its turn depends on. */
struct candidate {
	const struct sb_unit *unit;
	uint32_t rank;	/* how many units of its core come before it */
	uint32_t order; /* of its core, under the policy */
	bool late;	/* its node has another one before it */
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

/* ---- orders.c ---- */

/* Sorts the candidates. The last ones return 0 or -ENOMEM. */
void sb_order_compact(struct planner *p);
SB_MUST_CHECK int sb_order_scatter(struct planner *p);
/* take: so many of them get a worker. */
SB_MUST_CHECK int sb_order_numa(struct planner *p, uint32_t take);

#endif
