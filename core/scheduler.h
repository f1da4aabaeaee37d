/*
 * scheduler.h - the work-stealing process scheduler: what the rest of the
 * project, and a program that embeds it, may call.
 *
 *	struct sb_config config = SB_CONFIG_DEFAULT;
 *	struct sb_scheduler *s;
 *	sb_pid pid;
 *
 *	sb_scheduler_create(&s, &config, &placement);
 *	sb_scheduler_register(s, MY_COMMAND, my_handler, NULL);
 *	sb_scheduler_start(s, NULL);
 *	sb_scheduler_submit(s, &my_ops, "main", sb_value_u64(42), &pid);
 *	sb_scheduler_wait_idle(s, UINT64_MAX);
 *	sb_scheduler_stop(s, timeout_ns);
 *	sb_scheduler_destroy(s);
 *
 * Functions return 0 or -errno. "Any thread" includes the workers, in a step.
 */
#ifndef SB_CORE_SCHEDULER_H
#define SB_CORE_SCHEDULER_H

#include "core/counters.h"
#include "core/queue/deque.h"
#include "core/dispatch.h"
#include "core/memory.h"
#include "core/placement.h"
#include "core/process.h"
#include "core/trace.h"

/* Where a process goes that a message or completion has made Ready. */
enum sb_wake {
	SB_WAKE_LOCAL,	/* the waking worker's own deque; else as affine */
	SB_WAKE_AFFINE, /* inject queue of the worker that ran it last */
	SB_WAKE_GLOBAL, /* the global queue */
};

/* What a worker does when it has spun in vain. */
enum sb_park_policy {
	SB_PARK_CONDVAR, /* sleeps on a mutex and condition variable */
	SB_PARK_FUTEX,	 /* sleeps on a futex */
	SB_PARK_POLL,	 /* never sleeps and never yields its thread: spins on.
			  * For workers that have a core each. */
};

/* From whom a worker without work steals first. */
enum sb_victim {
	SB_VICTIM_RANDOM, /* from a random worker on */
	SB_VICTIM_NEAR,	  /* nearest ring first, one further out when empty */
	SB_VICTIM_LAST,	  /* who gave last, then as random */
};

/* Where a process goes whose step says that it continues. */
enum sb_continue {
	SB_CONTINUE_BEHIND, /* behind all others of its worker */
	SB_CONTINUE_FRONT,  /* in front of them: the deque's hot end */
};

/* How a process ended. */
struct sb_exit {
	sb_pid pid;
	int error; /* 0, or -errno: the step's, or -ECANCELED for a process
		    * that was terminated or ended by force */
	union sb_value result;
};

/* A message and whom it is for. */
struct sb_package {
	sb_pid to;
	union sb_value message;
};

/*
 * Whatever takes messages: a scheduler, or a router in front of several.
 * send returns 0 or -errno as sb_scheduler_send, and may be called by any
 * thread.
 */
struct sb_receiver {
	int (*send)(struct sb_receiver *receiver,
		    const struct sb_package *package);
};

/* Parameters; constant while the scheduler lives. */
struct sb_config {
	enum sb_deque_kind deque;
	enum sb_steal_amount
		steal;	    /* half, or steal_cap if there are so many */
	uint32_t steal_cap; /* most items of one steal, 1 to SB_STEAL_MAX */
	enum sb_victim victim;
	enum sb_wake wake;
	enum sb_continue continues;
	bool handover; /* what a step's last message wakes runs next, and what is
			* to run again at once does, without a queue */
	uint64_t
		hold_ns; /* with handover: how long a step may hold what it sends:
			   * a longer step's is made visible meanwhile, and where
			   * steps take longer on average none holds any; 0: none
			   * ever does */
	uint32_t batch; /* most extra processes one take moves, >= 0 */
	uint32_t tick;	/* most steps between ticks, >= 1: on a tick a worker
			   * serves all kinds of queues, and timers that are due */
	uint64_t
		tick_ns; /* a tick also comes after that time, or a millisecond if
			   * that is longer, when the running step has ended, however
			   * long steps are; 0: only after so many steps */
	uint32_t spin_tight; /* spins with the pause hint, >= 0 */
	uint32_t spin_yield; /* then spins with a thread yield, >= 0 */
	uint64_t
		spin_ns; /* after a sleep shorter than that, more of these, for so
			   * long; 0: never */
	bool gather; /* a worker that finds one process at a time waits a moment
		      * for several */
	uint32_t
		searchers_max; /* 0: half of the awake workers, not counting those
				 * who have run out of work a moment ago */
	enum sb_park_policy park;
	uint32_t event_budget; /* most events of one step, >= 1 */
	uint64_t event_ns; /* while a step with many takes longer, the process
			    * gets fewer, down to one; 0: never */
	uint32_t mailbox_bound; /* most unread messages; 0: no bound */
	bool record; /* false: no account of time, no steal matrix, and no
		      * histograms; only the counters of steps and what they did */
	uint32_t
		sample_every; /* with record: time one in N queueings, sends and
				* wakes, and turns of a process that yields or
				* continues, and what becomes of them; 0: none */
	uint64_t processes_max;
	uint64_t dead_max_bytes; /* bound on the memory of processes that have
				  * ended and cannot be freed yet */
	uint64_t pid_reuse_ns; /* for so long after its process has ended a PID
				* that the caller has chosen cannot be chosen */
	uint64_t seed;
	uint32_t slowdown_ppm; /* by which the workers' CPU time is lengthened,
				* to test who is to find that out; 0: it is not */
	enum sb_arenas arenas;
	enum sb_membind membind;
	enum sb_huge_pages huge_pages;

	/* Where steps' messages go; NULL: to this scheduler. It may pass them
	 * on to sb_scheduler_receiver() of this one or another. */
	struct sb_receiver *router;

	/*
	 * Callbacks, each may be NULL; hook is passed to all. They run on the
	 * thread in question, on_drop also on the scheduler's helper thread, and
	 * must not block; nor must init and close: a stop waits for them.
	 *   on_start     before the process is visible; an error refuses it:
	 *                submit returns it and everything is rolled back
	 *   on_complete  exactly once for each process that on_start let pass,
	 *                after its close; it still counts for processes_max.
	 *                With -ESHUTDOWN: stop began meanwhile, it never ran
	 *   on_drop      a message, or a handler's completion, that no step will
	 *                see; the value is the hook's
	 */
	void *hook;
	int (*on_start)(void *hook, sb_pid pid);
	void (*on_complete)(void *hook, const struct sb_exit *exit);
	void (*on_drop)(void *hook, const struct sb_event *event);
};

/*
 * Defaults. batch, tick and the spin thresholds are the specification's. wake
 * is local: a receiver then runs where its message is in the cache. Measured
 * on two cores of an EPYC 9004: README, "Choosing --wake".
 */
#define SB_CONFIG_DEFAULT                                                      \
	{                                                                      \
		.deque = SB_DEQUE_COUNTED, .steal = SB_STEAL_HALF,             \
		.steal_cap = 32, .victim = SB_VICTIM_RANDOM,                   \
		.wake = SB_WAKE_LOCAL, .handover = true, .hold_ns = 50000,     \
		.batch = 16, .tick = 61, .tick_ns = 200000, .spin_tight = 4,   \
		.spin_yield = 12, .spin_ns = 50000, .gather = true,            \
		.searchers_max = 0, .event_budget = 64, .event_ns = 200000,    \
		.record = true, .sample_every = 64,                            \
		.processes_max = UINT64_C(1) << 24,                            \
		.dead_max_bytes = UINT64_C(64) << 20,                          \
		.pid_reuse_ns = UINT64_C(60000000000), .seed = 1,              \
		.arenas = SB_ARENAS_PER_WORKER, .membind = SB_MEMBIND_LOCAL,   \
		.huge_pages = SB_HUGE_PAGES_NONE                               \
	}

/* As many as there can be arenas, and fewer than a timer's id has room for. */
#define SB_WORKERS_MAX 4000

struct sb_scheduler;

/*
 * Makes a stopped scheduler with placement->workers workers, and its helper thread,
 * which is not pinned; both structs are copied. Returns 0, -EINVAL (a parameter is
 * out of range), -ENOMEM, or -EAGAIN (there can be no more threads).
 */
SB_MUST_CHECK int sb_scheduler_create(struct sb_scheduler **scheduler,
				      const struct sb_config *config,
				      const struct sb_placement *placement);

/* Frees a stopped scheduler. Not a worker, nor in a callback; nobody uses it, or a
 * completer of it, afterwards. Processes that were submitted and never started are
 * ended by force, as in stop. Waits for those that are in a call of it. NULL is
 * allowed. */
void sb_scheduler_destroy(struct sb_scheduler *scheduler);

/* Registers a command's handler; before the first start. Errors: see
 * sb_dispatch_register. */
SB_MUST_CHECK int sb_scheduler_register(struct sb_scheduler *scheduler,
					uint32_t command, sb_handler handler,
					void *context);

/*
 * Starts the workers and freezes the registry. Not a worker. Returns 0,
 * -EALREADY, -EINVAL when a worker cannot be pinned, or -errno of the thread's
 * creation or its set-up; then it is stopped again, and *failed (may be NULL)
 * is the worker.
 */
SB_MUST_CHECK int sb_scheduler_start(struct sb_scheduler *scheduler,
				     uint32_t *failed);

/*
 * Refuses new processes, sends every process a cancel event, and waits until
 * all are complete or timeout_ns has passed; then completes the rest by force
 * with -ECANCELED. Returns 0, or -ETIMEDOUT if force was needed. A step that
 * is running is waited for in any case, and so is a submission under way, which is
 * refused. Start may follow. A worker, in a step,
 * and any callback would wait for itself: -EDEADLK, and nothing is done. -EALREADY: not started,
 * or somebody else is stopping it.
 *
 * Schedulers of one program do not wait for each other.
 */
int sb_scheduler_stop(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/*
 * Starts a process. Any thread, also before the workers are started: then it
 * waits for that. On 0, *pid (may be NULL) is its PID, and it may already have
 * completed. Errors, with nothing left behind: -ESHUTDOWN (stopping), -EAGAIN (as
 * many as processes_max are alive, or about to be), -ENOMEM, or what init or
 * on_start returned.
 *
 * The memory of processes that have ended is used again when nobody can be looking at
 * them, usually within a millisecond. At dead_max_bytes of it a submission waits until
 * there is less, for at most a second; then it is refused with -ENOMEM.
 */
SB_MUST_CHECK int sb_scheduler_submit(struct sb_scheduler *scheduler,
				      const struct sb_process_ops *ops,
				      const char *method, union sb_value input,
				      sb_pid *pid);

/*
 * The same with a PID of the caller's choice, from SB_PID_CHOSEN up. More
 * errors, before a call of init: -EINVAL (it is below), -EEXIST (a process has it,
 * or had it less than config.pid_reuse_ns ago, or somebody else is about to use
 * it). Until then whoever sends to the earlier process learns that it is gone; a
 * completion for it never reaches a later one.
 */
SB_MUST_CHECK int sb_scheduler_submit_as(struct sb_scheduler *scheduler,
					 sb_pid pid,
					 const struct sb_process_ops *ops,
					 const char *method,
					 union sb_value input);

/*
 * Submits and waits until the process has completed; *exit says how. Returns 0,
 * an error of submit (*exit is unchanged), -ESHUTDOWN also after a stop, or
 * -EDEADLK for a worker and in a callback of submit, which
 * would wait for itself. Stop by force completes the process, too.
 */
SB_MUST_CHECK int sb_scheduler_execute(struct sb_scheduler *scheduler,
				       const struct sb_process_ops *ops,
				       const char *method, union sb_value input,
				       struct sb_exit *exit);

/*
 * Ends a process wherever it is, with -ECANCELED, without waiting for that: a
 * step that is running is the last one, and a process that is queued, Blocked
 * or Idle is not stepped again. Any thread; a process may terminate itself.
 * Returns 0, -ESRCH (no such process, or it has just completed) or -ENOMEM.
 */
int sb_scheduler_terminate(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Asks a process to finish: it gets one SB_EVENT_CANCEL in its life, however
 * often it is asked. Any thread. Returns 0, -ESRCH or -ENOMEM.
 */
int sb_scheduler_cancel(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Sends a message to a process of this scheduler. Any thread, lock-free for
 * workers. Returns 0: the process was alive and gets the message unless it
 * completes first; or, and the value stays the caller's: -ESRCH (no such
 * process), -EWOULDBLOCK (it has mailbox_bound messages unread), -ENOMEM.
 * From one sender to one process, order is kept.
 */
SB_MUST_CHECK int sb_scheduler_send(struct sb_scheduler *scheduler, sb_pid to,
				    union sb_value message);

/* The scheduler as a receiver: its send is sb_scheduler_send. */
struct sb_receiver *sb_scheduler_receiver(struct sb_scheduler *scheduler);

/*
 * Completes a yield: the process gets an SB_EVENT_COMPLETION with the result
 * or, if error is not 0, the error. Any thread. Returns 0, -ESRCH (the process
 * is gone; the value stays the caller's) or -ENOMEM.
 */
int sb_complete(const struct sb_completer *completer, union sb_value result,
		int error);

/*
 * Waits until no process is alive, or timeout_ns has passed (UINT64_MAX:
 * for ever). Returns 0, -ETIMEDOUT, or -EDEADLK as execute.
 */
int sb_scheduler_wait_idle(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/*
 * Once no process is alive: waits until what the completed ones have left
 * behind is free again. Until then workers may be asked for quiescent states,
 * and the answer to that can be a system call. -EDEADLK as execute.
 */
int sb_scheduler_settle(struct sb_scheduler *scheduler);

/* When the last process completed, by sb_clock_ns; only while none lives. */
uint64_t sb_scheduler_idle_since_ns(struct sb_scheduler *scheduler);

/*
 * Whether a process has ended for want of memory, or of places (processes_max),
 * since the last call: -ENOMEM or -EAGAIN, the error of the last such process,
 * or 0. Others may wait for it for ever. Any thread.
 */
int sb_scheduler_take_shortage(struct sb_scheduler *scheduler);

uint32_t sb_scheduler_workers(const struct sb_scheduler *scheduler);

/* Whether the worker's thread is still bound to its CPU alone: others may move
 * it, and so may a change of its cpuset. True for one that was never pinned.
 * Any thread, between start and stop. */
bool sb_scheduler_is_pinned(const struct sb_scheduler *scheduler,
			    uint32_t worker);

/* The operating system's number of the worker's thread, for a look at it from
 * outside. Any thread, between start and stop. */
int sb_scheduler_thread_id(const struct sb_scheduler *scheduler,
			   uint32_t worker);

/*
 * Reads what a worker has recorded since the first start. Any thread, at any
 * time after it. out->steals must have room for all workers.
 */
void sb_scheduler_read(struct sb_scheduler *scheduler, uint32_t worker,
		       struct sb_worker_reading *out);

/* A process as the list shows it, at some moment during the call. */
struct sb_process_info {
	sb_pid pid;
	const char *name; /* of its operations */
	enum sb_state state;
	uint64_t steps;	   /* run so far */
	uint64_t start_ns; /* when it was submitted, by sb_clock_ns; by a step:
			    * as of its worker's last tick, or exact if timed */
};

/*
 * Calls visit for every process, while everything goes on: one that comes or
 * goes meanwhile may be missed. Any thread; visit must not block.
 */
void sb_scheduler_list(struct sb_scheduler *scheduler,
		       void (*visit)(void *arg,
				     const struct sb_process_info *info),
		       void *arg);

/* Memory, of all workers and foreign threads. Any thread, at any time; a moment's view while workers run. */
void sb_scheduler_read_memory(struct sb_scheduler *scheduler,
			      struct sb_memory *out);

/*
 * Asks the operating system on which nodes a worker's memory lies, page by
 * page, against the worker's own. After the first start, while it is stopped.
 * Its errors: -ENOTSUP (this is not the machine that the placement is for, or
 * the worker has no node), or the operating system's.
 */
void sb_scheduler_locate(struct sb_scheduler *scheduler, uint32_t worker,
			 struct sb_residence *out);

/* Reads one of the histograms, summed over all workers. As above. */
void sb_scheduler_read_hist(struct sb_scheduler *scheduler, enum sb_hist_id id,
			    struct sb_hist_counts *out);

/*
 * From the next start on each worker keeps a trace of its newest `events`; 0:
 * none, and there is no trace any more. Each start begins with an empty one. A
 * worker without the memory for it fails the start, with -ENOMEM. While it is
 * stopped; nobody else uses the scheduler meanwhile. Returns 0 or -EBUSY.
 */
SB_MUST_CHECK int sb_scheduler_trace(struct sb_scheduler *scheduler,
				     uint32_t events);

/* A worker's trace since the last start. After the first start, while it is
 * stopped; until the next one, or sb_scheduler_destroy. */
const struct sb_trace *sb_scheduler_read_trace(struct sb_scheduler *scheduler,
					       uint32_t worker);

/* ---- within a step, with the step output that it was given ---- */

/* A yield: a command, and the tag its completion will carry. */
struct sb_yield {
	struct sb_command command;
	uint64_t tag;
};

#define SB_STEP_YIELDS 8

struct sb_step {
	sb_pid self;
	struct sb_worker *worker;
	union sb_value result;
	uint32_t yields;
	uint32_t overflow_room;
	struct sb_yield yield[SB_STEP_YIELDS];
	struct sb_yield *overflow; /* the 9th yield and those after it */
};

int sb_step_yield_overflow(struct sb_step *step, const struct sb_yield *yield);

/*
 * Asks for a command. It is dispatched when the step returns, unless that is
 * done or an error. Returns 0 or -ENOMEM (only beyond SB_STEP_YIELDS).
 */
static inline int sb_step_yield(struct sb_step *step, uint32_t command,
				union sb_value arg, uint64_t tag)
{
	const struct sb_yield yield = { { command, arg }, tag };

	if (SB_UNLIKELY(step->yields >= SB_STEP_YIELDS))
		return sb_step_yield_overflow(step, &yield);
	step->yield[step->yields++] = yield;
	return 0;
}

/* The worker that runs the step, from 0 on. */
uint32_t sb_step_worker(const struct sb_step *step);

/* A block from that worker's arena, aligned to a cache line; for sb_mem_free,
 * before the scheduler is destroyed. NULL: there is no memory. */
void *sb_step_alloc(const struct sb_step *step, size_t bytes);

/* The result that `done` completes with; 0 if never called. */
static inline void sb_step_result(struct sb_step *step, union sb_value result)
{
	step->result = result;
}

static inline sb_pid sb_step_self(const struct sb_step *step)
{
	return step->self;
}

/*
 * As sb_scheduler_send and sb_scheduler_submit, from within a step. Messages go
 * by the router, if there is one; the new process to the worker's own deque.
 *
 * With config.handover the last message may reach its process as late as at the
 * end of the step, or when the step spawns, so that what a new process sends
 * cannot overtake it; if the receiver has ended by then, it is dropped (on_drop).
 * Of a step that goes on for long it is made visible within config.hold_ns and two
 * milliseconds; sb_step_flush does so at once. A step is not used after it has
 * returned: a debug build catches that.
 */
SB_MUST_CHECK int sb_step_send(struct sb_step *step, sb_pid to,
			       union sb_value message);
void sb_step_flush(struct sb_step *step);
SB_MUST_CHECK int sb_step_spawn(struct sb_step *step,
				const struct sb_process_ops *ops,
				const char *method, union sb_value input,
				sb_pid *pid);

#endif
