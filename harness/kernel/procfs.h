/*
 * procfs.h - small files of the kernel's, in /proc and /sys, and what stands in
 * them. Each path is below a root, "" for the machine's own, so that tests can
 * show made-up machines. A parser takes the text; false: it is not there, or
 * not what is expected. Names of processes stand in some of these texts, and
 * may be anything.
 */
#ifndef SB_HARNESS_KERNEL_PROCFS_H
#define SB_HARNESS_KERNEL_PROCFS_H

#include "core/platform/base.h"

/* Reads at most bytes - 1 and ends them with '\0'. Returns 0 or -errno. */
int sb_procfs_read(const char *root, const char *path, char *out, size_t bytes);

/* The first line, without its end. */
bool sb_procfs_line(const char *root, const char *path, char *out, size_t bytes);

/* A file that is one number, as sysctls are. */
bool sb_procfs_number(const char *root, const char *path, int64_t *out);

/* The number behind "key:", in a line of its own; of several lines the last. */
bool sb_procfs_field(const char *text, const char *key, uint64_t *out);

/* The count that is a line's word'th word, from 0; words have blanks between. */
bool sb_procfs_word(const char *line, unsigned int word, uint64_t *out);

/* Of a process's or thread's stat: what comes behind the name, of which the
 * state is word 0. NULL: it is none. */
const char *sb_procfs_stat_words(const char *text);

/* Of a thread's stat. */
struct sb_procfs_faults {
	uint64_t minor, major;
};
bool sb_procfs_stat_faults(const char *text, struct sb_procfs_faults *out);

/* Of a thread's schedstat, in nanoseconds. */
struct sb_procfs_times {
	uint64_t run_ns, delay_ns;
};
bool sb_procfs_schedstat(const char *text, struct sb_procfs_times *out);

/* Of the machine's stat: one CPU's ticks, all and those that the hypervisor
 * gave to others. cpu < 0: all CPUs together. */
struct sb_procfs_ticks {
	uint64_t all, steal;
};
bool sb_procfs_cpu_ticks(const char *text, int cpu, struct sb_procfs_ticks *out);

#endif
