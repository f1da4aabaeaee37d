/*
 * stops.h - for how long the whole process did not run: SIGSTOP, a frozen cgroup,
 * a virtual machine that was paused. The kernel counts none of these, and a
 * thread that was running takes the time for its own. A thread that waits with a
 * timeout sees it: the wait was longer than it may be, and the thread was not
 * waiting for a CPU. Stops between its waits, and shorter ones, are not seen, except in an open loop
 * (workloads/load/generator.c): from 5 ms on.
 */
#ifndef SB_HARNESS_KERNEL_STOPS_H
#define SB_HARNESS_KERNEL_STOPS_H

#include "core/requests.h"

/* One thread's. */
struct sb_stops {
	uint64_t stopped_ns;
	uint64_t delay_ns;		   /* that the thread had waited for CPUs so far */
	struct sb_stop stop[SB_STOPS_MAX]; /* the first of them, by sb_clock_ns */
	uint32_t stops;
};

void sb_stops_begin(struct sb_stops *stops);

/* After a wait that was to last no longer than most_ns. */
void sb_stops_waited(struct sb_stops *stops, uint64_t took_ns, uint64_t most_ns);

/* A stop that another thread has seen; this one may have seen a part of it. */
void sb_stops_add(struct sb_stops *stops, struct sb_stop stop);

/* The time beyond the wait and the delay; 0: too short to tell. */
uint64_t sb_stops_excess(uint64_t took_ns, uint64_t most_ns, uint64_t delay_ns);

#endif
