/*
 * cpuid.h - what hwloc-gather-cpuid writes: a directory with a summary and, for
 * each processing unit, a file of what its CPUID instruction answers.
 */
#ifndef SB_AFFINITY_PROFILE_CPUID_H
#define SB_AFFINITY_PROFILE_CPUID_H

#include "core/platform/base.h"

bool sb_cpuid_is_dump(const char *directory);

/*
 * hwloc itself takes the CPU that it runs on instead of a dump that it does not
 * like, and crashes on some. Returns 0 and how many units there are, or -errno
 * with the reason in why.
 */
SB_MUST_CHECK int sb_cpuid_check(const char *directory, uint32_t *units, char *why, size_t bytes);

#endif
