/*
 * topology.h - the machine as hwloc sees it, reduced to what may be used, and
 * placements made from it. The only user of hwloc.
 *
 * "Usable" is what the affinity mask and the cpuset cgroup that the command was
 * started under leave over.
 */
#ifndef SB_AFFINITY_TOPOLOGY_H
#define SB_AFFINITY_TOPOLOGY_H

#include "core/placement.h"

struct sb_topology;

/* What there is, after the reduction. Objects that a machine's description
 * lacks count 0. cpu_model belongs to the topology. */
struct sb_machine {
	uint32_t packages;
	uint32_t nodes;
	uint32_t caches; /* last-level */
	uint32_t cores;	 /* processing units, where there are no cores */
	uint32_t pus;
	const char *cpu_model;
};

/* This machine. Returns 0 or -errno. */
SB_MUST_CHECK int sb_topology_load(struct sb_topology **topology);
void sb_topology_free(struct sb_topology *topology);

void sb_topology_machine(const struct sb_topology *topology,
			 struct sb_machine *machine);

/*
 * Places n >= 1 workers: each on a core of its own as long as there are cores,
 * in hwloc's order; then on the cores' further processing units; then round
 * again. The caller frees the placement. Returns 0 or -ENOMEM.
 */
SB_MUST_CHECK int sb_placement_make(const struct sb_topology *topology,
				    uint32_t n, struct sb_placement *placement);
void sb_placement_free(struct sb_placement *placement);

#endif
