/*
 * cgroup.h - the control groups of this process, versions 1 and 2, and for how
 * long their CPU quotas have stopped it. Files are below a root, as in procfs.h.
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

#endif
