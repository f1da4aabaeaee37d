/*
 * state.h - the two structs that everybody needs: the scheduler and its workers,
 * made of the structs of the modules. A module's functions are in its own header.
 */
#ifndef SB_CORE_STATE_H
#define SB_CORE_STATE_H

#include "core/memory/graves.h"
#include "core/memory/pidmap.h"
#include "core/memory/pool.h"
#include "core/memory/reclaim.h"
#include "core/message/handover.h"
#include "core/message/lookup.h"
#include "core/platform/platform.h"
#include "core/process/live.h"
#include "core/process/registry.h"
#include "core/process/relations.h"
#include "core/queue/deque.h"
#include "core/queue/runq.h"
#include "core/readings.h"
#include "core/record/account.h"
#include "core/record/exemplars.h"
#include "core/record/missed.h"
#include "core/record/sampler.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/idle.h"
#include "core/wake/publish.h"
#include "core/word.h"
#include "core/worker/spin.h"
#include "core/worker/steal.h"
#include "core/worker/tick.h"

enum sb_phase {
	SB_PHASE_NEW, /* not started yet */
	SB_PHASE_STARTING,
	SB_PHASE_RUNNING,
	SB_PHASE_STOPPING, /* or being destroyed: refuses new processes */
	SB_PHASE_STOPPED,  /* may be started again */
};

static inline bool sb_phase_is_at_rest(uint32_t phase)
{
	return phase == SB_PHASE_NEW || phase == SB_PHASE_STOPPED;
}

/* Processes that one take from a queue moves, however large config.batch is. */
#define SB_TAKEN_MAX 65536

struct sb_worker {
	/* Lines 0-2: owner and thieves. New and woken processes, newest first. */
	struct sb_deque deque;

	/* Lines 3-5: the same; those that continue, oldest first. */
	struct sb_deque cold;

	/* Lines 6-8: anyone. Processes with affinity to this worker. */
	struct sb_runq inject;

	/* Line 9: wakers. */
	alignas(SB_LINE) struct sb_parker parker;
	_Atomic(uint64_t) wake_ns; /* of the last wake; 0: not timed */
	_Atomic(uint64_t) wake_id; /* its name in the trace; 0: none */

	/* Line 10: the reclaimer's thread. Those whose grace period has passed. */
	alignas(SB_LINE) _Atomic(struct sb_grave *) reclaimed;
	_Atomic(uint64_t) dead_tally; /* not in the scheduler's dead_bytes; modulo 2^64 */

	/* Thieves. The end of one thief's turn at this worker's deques; 0: no turn. See
	 * core/worker/steal.c. */
	alignas(SB_LINE) _Atomic(uint64_t) turn_ns;

	/* Anyone, under its lock. */
	struct sb_timers timers;

	/* From here on: the owner. */
	alignas(SB_LINE) struct sb_scheduler *scheduler;
	struct sb_process *running;
	struct sb_process *next; /* Running; to be run before all others */
	struct sb_handover handover;
	uint32_t id;
	struct sb_credit credit;
	struct sb_tick tick;
	struct sb_untold untold;
	struct sb_search search;
	struct sb_slowed slowed;
	bool records;		  /* config.record */
	uint64_t step_end_ns;	  /* of the last step that was timed */
	uint32_t moved_from;	  /* who ran its process before, or SB_WORKER_NONE */
	uint32_t probed;	  /* of workers, whether they are idle; see core/record/missed.h */
	struct sb_reader *reader; /* see core/memory/reclaim.h */
	struct sb_period *period;
	struct sb_rng rng;
	struct sb_sampler sampler;
	struct sb_victims victims;
	struct sb_trace trace;
	struct sb_keeper *keeper; /* of exemplars; NULL: none are kept */

	struct sb_grave *grave;	 /* being filled */
	struct sb_grave *graves; /* empty ones */
	uint32_t empty_graves;

	uint32_t taken_max;	   /* config.batch + 1, or SB_TAKEN_MAX */
	struct sb_process **taken; /* [taken_max], from a queue just now */

	struct sb_event *events; /* [event_budget], for step */
	uint32_t watched_events; /* steps with so many are watched */
	struct sb_step step;
	struct sb_route route[SB_ROUTES];
	struct sb_pids pids;
	struct sb_pool pool;

	/* Read by anyone, on lines of their own. */
	alignas(SB_LINE) struct sb_account account;
	alignas(SB_LINE) struct sb_idleness idleness;
	alignas(SB_LINE) struct sb_counters counters;	     /* without yields */
	alignas(SB_LINE) sb_counter yields[SB_YIELD_COUNTS]; /* by command */
	alignas(SB_LINE) struct sb_hists hists;
	alignas(SB_LINE) struct sb_steal_cell steals[]; /* [workers] */
};

static_assert(offsetof(struct sb_worker, inject) == 6 * SB_LINE, "line 6");
static_assert(offsetof(struct sb_worker, parker) == 9 * SB_LINE, "line 9");
static_assert(offsetof(struct sb_worker, reclaimed) % SB_LINE == 0, "own line");
static_assert(offsetof(struct sb_worker, scheduler) % SB_LINE == 0, "owner's");
static_assert(offsetof(struct sb_worker, counters) % SB_LINE == 0, "own lines");

/* A foreign thread that waits for one process; on its stack. */
struct sb_waiter {
	struct sb_gate gate;
	struct sb_exit exit;
	bool done; /* under the gate's lock */
};

/* A worker's thread; outlives the worker's memory. */
struct sb_worker_thread {
	struct sb_scheduler *scheduler;
	uint32_t id;
	struct sb_thread thread;
	int thread_id; /* before it is ready */
	struct sb_arena *arena;
};

struct sb_scheduler {
	/* Constant while the workers run. */
	struct sb_config config;
	uint32_t workers;
	uint32_t trace_events;			/* of each worker, from the next start on */
	bool trace_sends;			/* and spawns */
	uint32_t slowdown_ppm;			/* see sb_scheduler_slow_down() */
	struct sb_trace_bound trace_bound;	/* likewise */
	struct sb_worker **worker;		/* [workers], NULL before the first start */
	struct sb_worker_thread *worker_thread; /* [workers] */
	struct sb_placement placement;
	struct sb_arena **arena; /* [arenas], each once */
	uint32_t arenas;
	struct sb_reclaim *reclaim;
	char thread_prefix[SB_THREAD_PREFIX_MAX + 1];
	struct sb_watched *watched; /* [workers], the watcher's */
	uint64_t chores_ns;	    /* when the watcher did them last */
	uint64_t chores_steps;	    /* steps of all workers at the last call of chores() */
	uint32_t chores_left;
	uint64_t trim_ns;	      /* when it trims the foreign pool next */
	_Atomic(uint32_t) is_watched; /* from creation to destruction */
	struct sb_pidmap *pidmap;
	struct sb_dispatch dispatch;
	struct sb_receiver receiver;

	/* Anyone, each on its own line. */
	struct sb_runq global;
	struct sb_idle idle;
	struct sb_timekeeper timekeeper;
	alignas(SB_LINE) _Atomic(uint64_t) live; /* see live.c */
	/* Of those that cannot be freed yet, but for the tallies of workers; see graves.c. */
	alignas(SB_LINE) _Atomic(uint64_t) dead_bytes;
	/* Seldom written: not on the line of what every worker writes. */
	_Atomic(uint64_t) trace_end_ns;		     /* UINT64_MAX: they go on */
	alignas(SB_LINE) _Atomic(uint32_t) listings; /* that go on; see sb_scheduler_list() */
	_Atomic(uint32_t) phase;		     /* enum sb_phase */
	_Atomic(uint32_t) halt;			     /* workers leave after their current step */
	_Atomic(uint32_t) recall;		     /* nothing is reserved ahead; see live.c */

	/* Under global.push_lock: how many of calls_begun have ended. */
	alignas(SB_LINE) uint64_t calls_ended;

	/* Slow paths. */
	alignas(SB_LINE) struct sb_gate gate; /* live == 0; start and go */
	_Atomic(uint64_t) idle_since_ns;
	_Atomic(int) shortage;	   /* see sb_scheduler_take_shortage() */
	_Atomic(int) cancel_again; /* 1: there was no memory for a cancel event of stop's */
	_Atomic(uint32_t) ready_workers;
	_Atomic(uint32_t) go;
	_Atomic(int) start_error;
	_Atomic(uint32_t) start_failed; /* the worker with the error */

	struct sb_lock recall_lock; /* see live.c */
	struct sb_lock list_lock;   /* while one process is listed */

	/* Of the lists of relations; a process's PID chooses. */
	alignas(SB_LINE) struct sb_lock relation_lock[SB_RELATION_LOCKS];

	/* The foreign threads' counterpart of a worker's, under the lock. */
	alignas(SB_LINE) struct sb_lock foreign_lock;
	uint32_t foreign_credit; /* live processes reserved ahead; see live.c */
	uint32_t waiters;	 /* for none to live */
	uint64_t calls_begun;	 /* that destroy waits for, see caller.h */
	struct sb_sampler foreign_sampler;
	struct sb_pids foreign_pids;
	struct sb_pool foreign_pool;
};

static inline size_t sb_worker_bytes(const struct sb_scheduler *scheduler)
{
	return sizeof(struct sb_worker) + scheduler->workers * sizeof(struct sb_steal_cell);
}

#endif
