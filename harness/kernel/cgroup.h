/*
 * cgroup.h - the control groups of this process, versions 1 and 2: their CPU
 * quotas, and for how long these have stopped it. Files are below a root, as in
 * procfs.h.
 */
#ifndef SB_HARNESS_KERNEL_CGROUP_H
#define SB_HARNESS_KERNEL_CGROUP_H

#include "core/platform/base.h"

/* The path of this process below a controller's hierarchy ("": version 2), from
 * the text of /proc/self/cgroup. */
bool sb_cgroup_own(const char *text, const char *controller, char *out, size_t bytes);

/* How long the CPUs' threads have waited for a quota's next period, in
 * milliseconds, in the own group and in all around it; each CPU counts. NaN: no
 * group says. */
double sb_cgroup_throttled_ms(const char *root);

struct sb_quota {
	double cpus;	 /* of the tightest; INFINITY: no group has one */
	uint32_t groups; /* that have one */
	char lift[512];	 /* how to take the tightest away */
};

/* The quotas of the own group and of all around it: each limits all of its
 * threads. False: no group says whether it has one. */
bool sb_cgroup_quota(const char *root, struct sb_quota *quota);

#endif
