/*
 * wide.h - hwloc's topology of a synthetic description, sooner than hwloc makes
 * it.
 *
 * From a synthetic description hwloc inserts each object by its CPUs, and
 * compares it with all siblings: 16 384 processing units side by side take it
 * some ten minutes. It is asked for a small machine instead, with at most two
 * objects below each other one. That one is written out in full, as XML, where
 * hwloc takes the objects as they come.
 */
#ifndef SB_AFFINITY_PROFILE_WIDE_H
#define SB_AFFINITY_PROFILE_WIDE_H

#include <hwloc.h>

#include "affinity/profile/shape.h"

/* Loads a topology that is only initialized. OS indexes are in hwloc's order:
 * has_indexes is false. Returns 0 or an errno. */
SB_MUST_CHECK int sb_wide_load(hwloc_topology_t topology, const char *text,
			       const struct sb_shape *shape);

#endif
