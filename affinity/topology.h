/*
 * topology.h - a machine as hwloc sees it, reduced to what may be used: this
 * one, or one that a profile describes.
 *
 * "Usable" is, of this machine, what the affinity mask and the cpuset cgroup
 * that the command was started under leave over; of a profile, what its
 * description does not call offline or disallowed.
 */
#ifndef SB_AFFINITY_TOPOLOGY_H
#define SB_AFFINITY_TOPOLOGY_H

#include <stdio.h>

#include "core/placement.h"

struct sb_topology;

/* The machine after the reduction. Objects that a machine's description
 * lacks count 0. cpu_model and profile belong to the topology. */
struct sb_machine {
	uint32_t packages;
	uint32_t nodes;
	uint32_t caches; /* last-level */
	uint32_t cores;	 /* processing units, where there are no cores */
	uint32_t pus;
	const char *cpu_model;
	const char *profile; /* "this machine", or as it was asked for */
	bool emulated;	     /* not this machine */
};

/*
 * Reads this machine, as the library does: changes nothing of the process, so hwloc's own
 * environment variables count (HWLOC_XMLFILE, ...), and nothing limits its time. Returns 0,
 * -ENOMEM or -EIO. Any thread.
 */
SB_MUST_CHECK int sb_topology_here(struct sb_topology **topology);

/* The two below are the command's alone: they change the environment, a timer and the standard
 * error of the process (see profile.h). */

/* This machine. Returns 0 or -errno. */
SB_MUST_CHECK int sb_topology_load(struct sb_topology **topology);

/*
 * The machine that profile names (see profile.h). Returns 0 or -errno, with the
 * reason in why, which may quote the profile as it is: -ESRCH, no such profile or
 * file; -EIO, this machine cannot be read; others, the description is bad.
 */
SB_MUST_CHECK int sb_topology_open(struct sb_topology **topology, const char *profile, char *why,
				   size_t bytes);

/* Another name for the profile, which is shown. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_topology_rename(struct sb_topology *topology, const char *profile);
void sb_topology_free(struct sb_topology *topology);

void sb_topology_machine(const struct sb_topology *topology, struct sb_machine *machine);

/* The operating system's number of a processing unit, also where no thread may
 * be pinned to it; -1: none. */
int sb_topology_os_cpu(const struct sb_topology *topology, int pu);

/* The operating system's number of a node; -1: none. */
int sb_topology_os_node(const struct sb_topology *topology, int node);

/* The kind of core of a processing unit, the slowest 0; -1: all are of one. */
int sb_topology_kind(const struct sb_topology *topology, int pu);

/*
 * Equal for two descriptions with the same structure: objects, their order and
 * numbers, cache sizes, kinds of cores, localities and distances of memory.
 * Amounts of memory and names do not count.
 */
uint64_t sb_topology_fingerprint(const struct sb_topology *topology);

/* hwloc's XML, to the stream. Returns 0 or -errno. */
SB_MUST_CHECK int sb_topology_export(const struct sb_topology *topology, FILE *out);

/* The same in one line that --profile takes, hwloc's synthetic description.
 * Returns 0 or -ENOTSUP: the machine is too irregular for that. */
#define SB_SYNTHETIC_BYTES 1024
SB_MUST_CHECK int sb_topology_describe(const struct sb_topology *topology,
				       char out[SB_SYNTHETIC_BYTES]);

/* Places n >= 1 workers compactly on all that is usable (see plan.h). The
 * caller frees the placement. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_placement_make(const struct sb_topology *topology, uint32_t n,
				    struct sb_placement *placement);

#endif
