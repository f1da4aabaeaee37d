/*
 * internal.h - what the files of affinity/ share: the topology behind its
 * opaque name, with hwloc's objects.
 */
#ifndef SB_AFFINITY_INTERNAL_H
#define SB_AFFINITY_INTERNAL_H

#include <hwloc.h>

#include "affinity/topology.h"

/* A processing unit that may be used. */
struct sb_unit {
	struct sb_place place; /* os_cpu is the unit's own, also of a profile */
	hwloc_obj_t pu;
	uint32_t core; /* counts units where there are no cores */
	int speed;     /* of its kind: more is faster */
};

struct sb_topology {
	hwloc_topology_t hwloc;
	char *name; /* of the profile */
	bool emulated;
	uint32_t pus;
	uint32_t cores;
	uint32_t caches;
	uint32_t nodes;
	bool kinds;		 /* of cores there are several */
	struct sb_unit *unit;	 /* [pus], in hwloc's order: cores together */
	uint32_t *node_distance; /* [nodes * nodes] or NULL */
};

/* ---- topology.c ---- */

/* Makes a topology of one that hwloc has loaded and that has processing units; it owns hwloc's
 * from then on, also after an error. Returns 0 or -ENOMEM. */
int sb_topology_adopt(struct sb_topology **topology, hwloc_topology_t hwloc, const char *name,
		      bool emulated);

/* ---- named.c ---- */

struct sb_profile;

/* Its synthetic description becomes the machine. 0: done. */
int sb_profile_finish(hwloc_topology_t topology, const struct sb_profile *profile);

/* ---- cpus.c ---- */

/* The CPUs that a list or location names, into set. Returns 0, or -EINVAL with
 * the reason in why. */
int sb_cpus_parse(const struct sb_topology *topology, const char *text, hwloc_bitmap_t set,
		  char *why, size_t bytes);

#endif
