/*
 * internal.h - what the files of the scheduler share and nobody else sees: the
 * scheduler and its workers.
 *
 * From the ground up; a file calls only those above it in this list:
 *
 *   caller.c     what the calling thread has of its own
 *   live.c       how many processes are alive
 *   route.c      from a message or completion to a queued process
 *   step.c       one process: take, step, dispatch, let go, complete
 *   worker.c     where a worker finds work, and what it does without
 *   submit.c     how a process comes to be
 *   scheduler.c  life cycle and readings
 */
#ifndef SB_CORE_INTERNAL_H
#define SB_CORE_INTERNAL_H

#include <errno.h>

#include "core/deque.h"
#include "core/idle.h"
#include "core/pidmap.h"
#include "core/platform.h"
#include "core/pool.h"
#include "core/runq.h"
#include "core/scheduler.h"

enum sb_phase { SB_PHASE_STOPPED, SB_PHASE_RUNNING, SB_PHASE_STOPPING };

/*
 * Chooses what is timed: one in `every` on average (0: none), at random
 * distances. Even ones would alias with a workload's own rhythm: of a send and
 * a queueing in turn, every 64th is always of the same kind.
 */
struct sb_sampler {
	uint32_t left; /* until the next one */
	uint32_t every;
	struct sb_rng rng;
};

/*
 * A PID's process, as looked up since the worker's last quiescent state; see
 * `epoch`. Spares a conversation the hash table.
 */
struct sb_route {
	sb_pid pid;
	struct sb_process *process;
	uint64_t epoch;
};

#define SB_ROUTES 32

struct sb_worker {
	/* Lines 0-1: owner and thieves. */
	struct sb_deque deque;

	/* Line 2: anyone. Processes with affinity to this worker. */
	struct sb_runq inject;

	/* Line 3: wakers. */
	alignas(SB_LINE) struct sb_parker parker;

	/* Line 4: the reclaimer's thread. Chains of dead processes whose grace
	 * period has passed. */
	alignas(SB_LINE) _Atomic(struct sb_process *) reclaimed;

	/* From here on: the owner. */
	alignas(SB_LINE) struct sb_scheduler *scheduler;
	uint32_t id;
	uint32_t steps_to_tick;
	uint32_t credit; /* live processes reserved ahead; see live.c */
	struct sb_process *running;
	sb_pid pid_next;
	sb_pid pid_end;
	uint64_t epoch;		   /* counts quiescent states */
	bool own_work_unannounced; /* see run_again() in step.c */
	bool woken;		   /* parked since it last had work */
	struct sb_rng rng;
	struct sb_sampler sampler;

	struct sb_process *dead_first; /* completed, waiting to be a chain */
	struct sb_process *dead_last;
	uint32_t dead;

	struct sb_event *events; /* [event_budget], for step */
	struct sb_step step;
	struct sb_route route[SB_ROUTES];
	struct sb_pool pool;

	/* Read by anyone, on lines of their own. */
	alignas(SB_LINE) struct sb_counters counters;
	alignas(SB_LINE) struct sb_hists hists;
	alignas(SB_LINE) struct sb_steal_cell steals[]; /* [workers] */
};

static_assert(offsetof(struct sb_worker, inject) == 2 * SB_LINE, "line 2");
static_assert(offsetof(struct sb_worker, parker) == 3 * SB_LINE, "line 3");
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
	unsigned int arena;
	bool has_arena;
};

struct sb_scheduler {
	/* Constant while the workers run. */
	struct sb_config config;
	uint32_t workers;
	struct sb_worker **worker;		/* [workers] */
	struct sb_worker_thread *worker_thread; /* [workers] */
	struct sb_place *place;			/* [workers] */
	struct sb_pidmap *pidmap;
	struct sb_dispatch dispatch;

	/* Anyone, each on its own line. */
	struct sb_runq global;
	struct sb_idle idle;
	alignas(SB_LINE) _Atomic(uint64_t) live;
	alignas(SB_LINE) _Atomic(uint64_t) pid_next;
	alignas(SB_LINE) _Atomic(uint32_t) phase; /* enum sb_phase */
	_Atomic(uint32_t) halt; /* workers leave after their current step */

	/* Slow paths. */
	alignas(SB_LINE) struct sb_gate gate; /* live == 0; start and go */
	_Atomic(uint64_t) idle_since_ns;
	_Atomic(uint32_t) ready_workers;
	_Atomic(uint32_t) go;
	_Atomic(int) start_error;
	_Atomic(uint32_t) start_failed; /* the worker with the error */

	/* Foreign threads' memory, under the lock. */
	alignas(SB_LINE) struct sb_lock foreign_lock;
	struct sb_sampler foreign_sampler;
	struct sb_pool foreign_pool;
};

/* ---- worker.c ---- */

/* The body of a worker's thread, between its set-up and its end. */
void sb_worker_loop(struct sb_worker *worker);

/* ---- step.c ---- */

/* Runs one step of a Ready process that the worker has taken from a queue. */
void sb_worker_run(struct sb_worker *worker, struct sb_process *process);

/* Completes a process whatever its state; for a worker-less scheduler. */
void sb_process_finish(struct sb_scheduler *scheduler, struct sb_worker *worker,
		       struct sb_process *process, int error,
		       union sb_value result);

/* Starts the grace period of the dead gathered so far. */
void sb_worker_bury(struct sb_worker *worker);

/* Frees the dead whose grace period has passed. */
void sb_worker_take_reclaimed(struct sb_worker *worker);

/* ---- route.c; worker is the caller's own or NULL ---- */

/* Queues a process that has just become Ready, and wakes somebody for it. */
void sb_route_ready(struct sb_scheduler *scheduler, struct sb_worker *worker,
		    struct sb_process *process);

/* Queues a process on the worker's own deque, and wakes nobody. */
void sb_route_local(struct sb_worker *worker, struct sb_process *process);

/* Queues a new process, and wakes somebody for it. */
void sb_route_new(struct sb_scheduler *scheduler, struct sb_worker *worker,
		  struct sb_process *process);

/* Wakes a worker that an idle claim has returned. */
void sb_route_unpark(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     uint32_t id);

/* Work has become visible: wakes a sleeper if that is called for. near: whom
 * to wake by preference. */
void sb_route_publish(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      uint32_t near);

/* Sends the cancel event, once. The process cannot vanish meanwhile. */
void sb_route_cancel(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     struct sb_process *process);

/* Gives the process that this worker is running the completion of a yield that
 * has failed. Returns 0 or -ENOMEM. */
int sb_route_fail_own(struct sb_worker *worker, uint64_t tag, int error);

/* ---- live.c; worker is the caller's own or NULL ---- */

/* Reserves one live process, or refuses: processes_max. */
bool sb_live_reserve(struct sb_scheduler *scheduler, struct sb_worker *worker);

/* Undoes that: there will be no process. */
void sb_live_unreserve(struct sb_scheduler *scheduler,
		       struct sb_worker *worker);

/* A process of this worker has completed. */
void sb_live_complete(struct sb_worker *worker);

/* Gives n reservations back. */
void sb_live_release(struct sb_scheduler *scheduler, uint64_t n);

/* Gives back what the worker has reserved ahead. */
void sb_worker_release_credit(struct sb_worker *worker);

/* ---- caller.c ---- */

/* The worker that the calling thread is, or NULL. */
struct sb_worker *sb_worker_current(void);
void sb_worker_set_current(struct sb_worker *worker);

/*
 * Around whatever may be called by any thread. Enter returns the worker of this
 * scheduler that the caller is; or NULL, and then the caller is online for RCU
 * until it leaves.
 */
static inline struct sb_worker *sb_caller_enter(struct sb_scheduler *scheduler)
{
	struct sb_worker *worker = sb_worker_current();

	if (SB_LIKELY(worker && worker->scheduler == scheduler))
		return worker;
	sb_rcu_foreign_enter();
	return NULL;
}

static inline void sb_caller_leave(struct sb_worker *worker)
{
	if (SB_UNLIKELY(!worker))
		sb_rcu_foreign_exit();
}

/* One object of the caller's pool: the worker's, or the locked foreign one. */
void *sb_object_alloc(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      size_t size);
void sb_object_free(struct sb_scheduler *scheduler, struct sb_worker *worker,
		    void *object, size_t size);

void sb_sampler_init(struct sb_sampler *sampler, uint32_t every, uint64_t seed);

/* The next distance: uniform in 1 .. 2 x every - 1, so `every` on average. */
void sb_sampler_advance(struct sb_sampler *sampler);

/* Time now if this one is to be timed, else 0. Its owner only. */
static inline uint64_t sb_sampler_stamp(struct sb_sampler *sampler)
{
	if (SB_LIKELY(--sampler->left))
		return 0;
	sb_sampler_advance(sampler);
	return sampler->every ? sb_clock_ns() : 0;
}

/* What a callback returned instead of 0; a positive value is no -errno. */
static inline int sb_as_error(int rc)
{
	return rc < 0 ? rc : -EINVAL;
}

static inline void sb_process_close(struct sb_process *process)
{
	if (process->ops->close)
		process->ops->close(process->state);
}

/* Whole lines, so that the pool's objects of this size are aligned to them. */
static inline size_t sb_process_bytes(const struct sb_process_ops *ops)
{
	const size_t line = alignof(struct sb_process);

	return (sizeof(struct sb_process) + ops->state_bytes + line - 1) &
	       ~(line - 1);
}

#endif
