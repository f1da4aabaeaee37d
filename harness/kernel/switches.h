/*
 * switches.h - which threads took a CPU from the workers, and when: from the tracepoint
 * sched:sched_switch, where tracefs is mounted and the user may read it (root). The kernel
 * writes a record when a worker loses its CPU without having blocked, and looks at each of the
 * workers' switches for that; so only what is traced anyway is watched.
 */
#ifndef SB_HARNESS_KERNEL_SWITCHES_H
#define SB_HARNESS_KERNEL_SWITCHES_H

#include "results/record/record.h"

struct sb_switches;

/* root: where /sys is. NULL: this kernel, or this user, may not, or there is no memory. */
struct sb_switches *sb_switches_open(const char *root, const int *thread_id, uint32_t workers);

/* NULL is nothing. */
void sb_switches_close(struct sb_switches *switches);

/* Takes the records so far, ordered by worker and then by time, with times of sb_clock_ns. *n: their
 * number. The caller frees them; NULL: there are none, or no memory. */
struct sb_thief *sb_switches_take(struct sb_switches *switches, uint32_t *n);

#endif
