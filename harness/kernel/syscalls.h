/*
 * syscalls.h - the system calls of a thread, each with its time, so that those
 * within a window can be told from those around it: at the end of a round its
 * last worker wakes the threads that wait for that.
 *
 * They come from the tracepoint raw_syscalls:sys_enter. This makes every system call of the
 * machine a little slower, and costs nothing where there are none. Records that found no room
 * count as within.
 */
#ifndef SB_HARNESS_KERNEL_SYSCALLS_H
#define SB_HARNESS_KERNEL_SYSCALLS_H

#include "harness/kernel/tracepoint.h"

struct sb_calls {
	struct sb_tracepoint tracepoint;
	uint64_t within;	   /* so far */
	uint64_t start_ns, end_ns; /* the window */
};

/* root: where /sys is. False: this kernel, or this user, may not; nothing is
 * open. */
bool sb_calls_open(struct sb_calls *calls, const char *root, int thread_id);
void sb_calls_close(struct sb_calls *calls);

/* Counts those from start_ns to end_ns, by sb_clock_ns; those before start_ns
 * are forgotten, and so is everything that is there by now. */
void sb_calls_window(struct sb_calls *calls, uint64_t start_ns, uint64_t end_ns);

#endif
