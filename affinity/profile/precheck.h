/*
 * precheck.h - what is wrong with a description of a machine, as far as that can
 * be said without hwloc, or better than hwloc says it.
 */
#ifndef SB_AFFINITY_PROFILE_PRECHECK_H
#define SB_AFFINITY_PROFILE_PRECHECK_H

#include <hwloc.h>
#include <sys/types.h>

#include "affinity/profile/shape.h"

#define SB_PRECHECK_TOO_MANY " has more than 16384 processing units; expected fewer"

/* before'text'after into why. Returns rc. */
int sb_precheck_refuse(char *why, size_t bytes, int rc, const char *before, const char *text,
		       const char *after);

/* Return 0, or -errno with the reason in why. */
int sb_precheck_file(const char *path, off_t size, char *why, size_t bytes);
int sb_precheck_directory(const char *path, char *why, size_t bytes);
int sb_precheck_synthetic(const char *text, struct sb_shape *shape, char *why, size_t bytes);

/* The same of what hwloc made of it. */
int sb_precheck_loaded(hwloc_topology_t topology, const char *text, char *why, size_t bytes);

#endif
