/*
 * osview.h - the operating system's view of the workers over a repetition, read
 * from outside at its two ends: the workers do nothing for it, and make no
 * system call. Values that the kernel does not tell are NaN.
 *
 *   /proc/self/task/TID/{status,stat,schedstat,sched}   switches, faults, times
 *   clock_gettime(2) of the thread                      CPU time
 *   perf_event_open(2) on the thread                    cycles and the like
 *   /proc/self/task/TID/{stat,schedstat}                the same process's other threads,
 *   the process's CPU time                              those that have ended included
 *   /proc/stat                                          hypervisor steal
 *   cpu.stat of the own cgroups                         their quotas
 *   the system's clocks                                 steps, slewing, suspension
 */
#ifndef SB_HARNESS_KERNEL_OSVIEW_H
#define SB_HARNESS_KERNEL_OSVIEW_H

#include "affinity/mask.h"
#include "core/scheduler.h"
#include "results/record/record.h"

struct sb_osview_request {
	const char *root; /* of /proc and /sys, "" for the machine's own */
	uint32_t workers;
	const int *thread_id;		/* [workers], of this process */
	const struct sb_cpu_mask *cpus; /* whose steal is theirs */
	bool counts_syscalls;		/* see calls.h */
};

struct sb_osview;

/* Returns NULL without memory; everything else only leaves values unknown. */
struct sb_osview *sb_osview_open(const struct sb_osview_request *request);
void sb_osview_close(struct sb_osview *view);

/* The ends of a repetition, on one thread. counts: [workers]. */
void sb_osview_begin(struct sb_osview *view);
void sb_osview_end(struct sb_osview *view, struct sb_os_counts *counts,
		   struct sb_os_machine *machine);

/* Returns the workers' run delay since they began, in nanoseconds; NaN: the kernel does not count
 * it. Any thread; the files stay open, so that a reading is a system call for each worker. */
double sb_osview_run_delay_ns(const struct sb_osview *view);

/* System calls count within windows only: the time, by sb_clock_ns, of each
 * round, told before the next one begins. */
void sb_osview_window(struct sb_osview *view, uint64_t start_ns, uint64_t end_ns);

/* Of all counts of a thread whose files are in a folder. For view and tests. */
void sb_osview_read_files(const char *root, const char *folder, struct sb_os_counts *out);

#endif
