/*
 * mask.h - a set of the operating system's CPUs, and the one that the calling
 * thread may run on: sched_setaffinity(2), with cpusets taken into account.
 */
#ifndef SB_AFFINITY_MASK_H
#define SB_AFFINITY_MASK_H

#include "core/platform/base.h"

/* As many as a profile may have, and more than any Linux is built for. */
#define SB_CPUS_MAX 16384

struct sb_cpu_mask {
	unsigned long word[SB_CPUS_MAX / (8 * sizeof(unsigned long))];
};

/* A CPU that is not in 0 .. SB_CPUS_MAX - 1 is left out. */
void sb_cpu_mask_add(struct sb_cpu_mask *mask, int cpu);
bool sb_cpu_mask_has(const struct sb_cpu_mask *mask, int cpu);
bool sb_cpu_mask_is_equal(const struct sb_cpu_mask *a, const struct sb_cpu_mask *b);

/* How many CPUs it has. */
uint32_t sb_cpu_mask_count(const struct sb_cpu_mask *mask);

/* A list as the kernel writes it, "0-3,8" or "". False: it is none. */
bool sb_cpu_mask_parse(const char *text, struct sb_cpu_mask *mask);

/* "0-3,8"; what does not fit is cut off. Returns out. */
const char *sb_cpu_mask_text(const struct sb_cpu_mask *mask, char *out, size_t bytes);

/* Of the calling thread. The kernel leaves out what the thread's cpuset does
 * not have, also when that changes. Returns 0 or -errno. */
SB_MUST_CHECK int sb_cpu_mask_read(struct sb_cpu_mask *mask);

/*
 * Binds the calling thread, and the threads and processes that it starts from
 * now on, to these CPUs. Returns 0, -EINVAL (not all of them may be used) or
 * another -errno.
 */
int sb_cpu_mask_bind(const struct sb_cpu_mask *mask);

#endif
