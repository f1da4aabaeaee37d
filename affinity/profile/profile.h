/*
 * profile.h - the ways to name a machine, and the ones that come with the
 * project.
 *
 *     ""                      this machine
 *     a name of sb_profiles   that one
 *     a file                  hwloc's XML, as `lstopo machine.xml` writes it
 *     a directory             a copy of /sys and /proc, as
 *                             hwloc-gather-topology packs it, or what
 *                             hwloc-gather-cpuid writes (one NUMA node)
 *     pack:2 core:4 pu:2      hwloc's synthetic description
 *
 * All but the first are emulated. A description from outside is loaded in a
 * child process first, with bounds on memory and time, so that one that crashes
 * hwloc does not crash the command.
 *
 * The folder is the command's, which owns its process: loading sets and removes
 * environment variables of hwloc's, limits CPU time by ITIMER_PROF, forks, and
 * turns standard error away for a moment. The library has none of its files.
 */
#ifndef SB_AFFINITY_PROFILE_PROFILE_H
#define SB_AFFINITY_PROFILE_PROFILE_H

#include "core/platform/base.h"

#define SB_PROFILE_THIS "this machine"

/* A larger file is refused without being read. */
#define SB_PROFILE_FILE_MAX (UINT64_C(64) << 20)
#define SB_PROFILE_PUS_MAX  16384

struct sb_profile {
	const char *name;
	const char *description;
	const char *source;    /* where its structure is known from */
	const char *synthetic; /* what hwloc makes of this, then changed by: */
	const char *only;      /* CPUs to keep, NULL: all */
	const char *fast;      /* the faster kind of CPUs, NULL: one kind */
	const char *distances; /* between nodes, row by row, NULL: none */
};

/* The last one has no name. */
extern const struct sb_profile sb_profiles[];

#endif
