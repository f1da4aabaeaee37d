/*
 * plan.h - which worker goes where, by a rule that a user chose.
 *
 * But for DISTRIB, no core gets a second worker while another core that may be
 * used has none; cores that are faster come before slower ones (under NUMA
 * within a node, under SCATTER after the first of each node); and more workers
 * than processing units begin again with the first.
 */
#ifndef SB_AFFINITY_PLAN_H
#define SB_AFFINITY_PLAN_H

#include "affinity/topology.h"

enum sb_placement_policy {
	SB_PLACEMENT_COMPACT, /* in hwloc's order: neighbours first */
	SB_PLACEMENT_SCATTER, /* one on each node, then as far apart as the
				 tree allows */
	SB_PLACEMENT_NUMA,    /* equally many on each node, as far as it has
				 cores; workers numbered node by node */
	SB_PLACEMENT_DISTRIB, /* hwloc_distrib(), the first CPU of each set */
};

enum sb_workers_rule {
	SB_WORKERS_NUMBER,
	SB_WORKERS_PER_CORE,
	SB_WORKERS_PER_PU,
	SB_WORKERS_PER_L3, /* per last-level cache, each on one of its cores */
	SB_WORKERS_PER_NUMA,
};

struct sb_plan_request {
	enum sb_placement_policy policy;
	enum sb_workers_rule rule;
	uint32_t workers; /* with SB_WORKERS_NUMBER, at least 1 */
	bool no_smt;	  /* one processing unit of each core */
	const char *cpus; /* list or location; NULL or "": all */

	/* In the same way, of all that is usable and not of cpus alone: CPUs
	 * for threads that generate load; NULL or "": none. No worker is put
	 * on any unit of their cores, where it would be disturbed. */
	const char *generator_cpus;
};

enum sb_plan_fault {
	SB_PLAN_FAULT_WORKERS,
	SB_PLAN_FAULT_CPUS,
	SB_PLAN_FAULT_GENERATOR_CPUS,
};

/* The counts are of what the request leaves to the workers. */
struct sb_plan {
	struct sb_placement placement;
	uint32_t cores;
	uint32_t pus;
	uint32_t generators;
	struct sb_place *generator; /* [generators], in hwloc's order */
	enum sb_plan_fault fault;   /* which of the requests does not fit */
};

/*
 * The same request on the same topology gives the same plan. On a profile
 * os_cpu is -1: nothing is there to be pinned to. The caller frees the plan.
 * Returns 0 or -errno with the reason in why and nothing to free: -EINVAL, the
 * request does not fit the machine.
 */
SB_MUST_CHECK int sb_plan_make(const struct sb_topology *topology,
			       const struct sb_plan_request *request, struct sb_plan *plan,
			       char *why, size_t bytes);
void sb_plan_free(struct sb_plan *plan);

#endif
