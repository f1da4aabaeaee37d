/* tick.h - now and then a worker looks at all queues, at timers, and so on. */
#ifndef SB_CORE_WORKER_TICK_H
#define SB_CORE_WORKER_TICK_H

#include "core/platform/atomic.h"

struct sb_process;
struct sb_worker;

/* The kinds of queues that a worker sees to on a tick. */
enum sb_turn {
	SB_TURN_NEWEST, /* of its own deque: timers have just put them there */
	SB_TURN_OLDEST, /* of its own deque */
	SB_TURN_COLD,	/* those that continue */
	SB_TURN_INJECT,
	SB_TURN_GLOBAL,
	SB_TURNS
};

/*
 * When a worker is to look at the other queues, at timers, and so on: after
 * `every` steps, or when the watcher says so.
 */
struct sb_tick {
	_Atomic(uint64_t) due;	 /* at which count of steps; the watcher stores 0 */
	_Atomic(uint64_t) epoch; /* counts ticks; the owner's */
	uint64_t steps;		 /* run until the last tick */
	uint64_t next;		 /* the count of steps at the next one */
	uint64_t now_ns;	 /* the time of the last tick */
	uint32_t every;		 /* at most config.tick; the time budget lowers it */
	uint32_t turn;		 /* whose turn it is first */
	bool newest_first;	 /* they did not come last time */
	uint32_t owed[SB_TURNS]; /* processes still to be run from each */
	uint64_t unwatched_ns; /* when the worker came online while the helper slept; 0: watched */
	bool has_woken;	       /* the worker has woken the helper since it last parked */
};

/* When the worker was last slowed down. */
struct sb_slowed {
	uint64_t ns;
	uint64_t cpu_ns; /* of this thread */
};

/*
 * A tick is due, or turns of the last one are still owed. next: the process that
 * would have been run, or NULL; it is one of the newest now.
 */
struct sb_process *sb_take_on_tick(struct sb_worker *worker, struct sb_process *next);

#endif
