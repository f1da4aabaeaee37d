/*
 * internal.h - what the files of the scheduler share and nobody else sees: the
 * scheduler and its workers.
 *
 * From the ground up; a file calls only those above it in this list:
 *
 *   account.c    what a worker spends its time on
 *   trace.c      what it did and when
 *   memory.c     which worker's memory comes from where
 *   caller.c     what the calling thread has of its own
 *   live.c       how many processes are alive
 *   route.c      from an event to a queued process
 *   handover.c   what a step has sent and nobody has seen yet
 *   send.c       messages, completions, cancelling, terminating
 *   relations.c  monitors and links
 *   timers.c     timers, and who wakes for them
 *   graves.c     the dead, until their memory is used again
 *   step.c       one process: take, step, dispatch, let go, complete
 *   steal.c      whom a worker steals from, and how
 *   worker.c     where a worker finds work, and what it does without
 *   watch.c      what others see of a long step
 *   submit.c     how a process comes to be
 *   commands.c   the built-in commands
 *   scheduler.c  life cycle
 *   readings.c   counters, histograms, the list of processes
 */
#ifndef SB_CORE_INTERNAL_H
#define SB_CORE_INTERNAL_H

#include <errno.h>

#include "core/record/account.h"
#include "core/queue/deque.h"
#include "core/process/handover.h"
#include "core/wake/idle.h"
#include "core/memory/pidmap.h"
#include "core/platform/platform.h"
#include "core/memory/pool.h"
#include "core/memory/reclaim.h"
#include "core/queue/runq.h"
#include "core/scheduler.h"
#include "core/trace.h"
#include "core/timers/wheel.h"

enum sb_phase {
	SB_PHASE_NEW, /* not started yet */
	SB_PHASE_STARTING,
	SB_PHASE_RUNNING,
	SB_PHASE_STOPPING, /* or being destroyed: refuses new processes */
	SB_PHASE_STOPPED,  /* may be started again */
};

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
 * A PID's process, as looked up when there had been so many burials; it holds
 * until there is another one. Spares a conversation the hash table.
 *
 * Why that is enough: a process's memory is used again a grace period after the
 * burial that it is in. A worker that does not see that burial in the count has
 * not been quiescent since, and the grace period waits for it.
 */
struct sb_route {
	sb_pid pid;
	struct sb_process *process;
	uint64_t burials;
};

#define SB_ROUTES 2048

/* Processes that one take from a queue moves, however large config.batch is. */
#define SB_TAKEN_MAX 65536

/* The kinds of queues that a worker sees to on a tick; see worker.c. */
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
	_Atomic(uint64_t)
		due; /* at which count of steps; the watcher stores 0 */
	_Atomic(uint64_t) epoch; /* counts ticks; the owner's */
	uint64_t steps;		 /* run until the last tick */
	uint64_t next;		 /* the count of steps at the next one */
	uint64_t now_ns;	 /* the time of the last tick */
	uint32_t every;	   /* at most config.tick; the time budget lowers it */
	uint32_t turn;	   /* whose turn it is first */
	bool newest_first; /* they did not come last time */
	uint32_t owed[SB_TURNS]; /* processes still to be run from each */
};

#define SB_RELATION_LOCKS 64

/* The timers of one worker. Anyone, under the lock. */
struct sb_timers {
	alignas(SB_LINE) struct sb_lock lock;
	_Atomic(uint64_t) next_ns; /* when to look; see sb_wheel_next_ns */
	struct sb_wheel wheel;
};

/* Which sleeper parks with a deadline; see core/timers/timers.c. */
struct sb_timekeeper {
	alignas(SB_LINE) _Atomic(uint32_t) who; /* a worker, or UINT32_MAX */
	_Atomic(uint32_t) needed; /* 1: a timer has been started, ever */
	_Atomic(uint64_t) until_ns;
};

/* What a worker has done without telling those who sleep, because it is likely
 * to see to it itself at once. See tell() in worker.c. */
enum sb_untold {
	SB_UNTOLD_WORK = 1,  /* put `untold_process` on its own deque */
	SB_UNTOLD_TIMER = 2, /* started a timer */
};

/*
 * The workers a thief looks at, in rings of growing distance; within a ring it
 * begins anywhere. All in one ring: the order is random.
 */
struct sb_victims {
	uint32_t *worker; /* [workers - 1], nearest ring first */
	uint32_t rings;
	uint32_t *ring_end; /* [rings] */
	uint32_t reach;	    /* rings to look at in this round */
	uint32_t last;	    /* who gave last, or SB_WORKER_NONE */
};

/* Live processes that a worker has reserved ahead; see live.c. */
struct sb_credit {
	_Atomic(uint32_t) n;	   /* the owner's, and a collector's */
	_Atomic(uint32_t) touched; /* the owner is about to change n */
};

#define SB_GRAVE_ROOM 64

/*
 * Processes that have ended on one worker. One deferred call is for all of them,
 * and their memory is used again without being read once more, which by then has
 * left the caches.
 */
struct sb_grave {
	struct sb_deferred deferred;
	struct sb_worker *home;
	struct sb_grave *next;
	uint32_t count;
	size_t all_bytes; /* of those in it */
	struct sb_process *dead[SB_GRAVE_ROOM];
	size_t bytes[SB_GRAVE_ROOM];
};

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
	struct sb_process *untold_process; /* only compared; NULL: several */
	uint32_t untold;		   /* enum sb_untold, or-ed */
	bool woken;			   /* parked since it last had work */
	uint32_t moments;    /* of waiting for more; see gather() in worker.c */
	uint64_t gather_ns;  /* 0: it does not wait */
	uint64_t ran_out_ns; /* when it last ran out of work */
	bool naps;	    /* its last sleep was shorter than config.spin_ns */
	bool records;	    /* config.record */
	uint64_t slowed_ns; /* time of the last slow_down(), */
	uint64_t slowed_cpu_ns;	  /* of this thread */
	uint64_t step_end_ns;	  /* of the last step that was timed */
	struct sb_reader *reader; /* see core/memory/reclaim.h */
	struct sb_period *period;
	struct sb_rng rng;
	struct sb_sampler sampler;
	struct sb_victims victims;
	struct sb_trace trace;

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
	alignas(SB_LINE) struct sb_counters counters; /* without yields */
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
	uint32_t trace_events;	   /* of each worker, from the next start on */
	struct sb_worker **worker; /* [workers], NULL before the first start */
	struct sb_worker_thread *worker_thread; /* [workers] */
	struct sb_placement placement;
	struct sb_arena **arena; /* [arenas], each once */
	uint32_t arenas;
	struct sb_reclaim *reclaim;
	struct sb_watched *watched; /* [workers], the watcher's */
	uint64_t chores_ns;	    /* when the watcher did them last */
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
	_Atomic(uint64_t) dead_bytes; /* of those that cannot be freed yet */
	alignas(SB_LINE) _Atomic(uint64_t) burials; /* of dead processes */
	_Atomic(uint32_t) listings; /* that go on; see sb_scheduler_list() */
	alignas(SB_LINE) _Atomic(uint32_t) phase; /* enum sb_phase */
	_Atomic(uint32_t) halt;	  /* workers leave after their current step */
	_Atomic(uint32_t) recall; /* nothing is reserved ahead; see live.c */

	/* Slow paths. */
	alignas(SB_LINE) struct sb_gate gate; /* live == 0; start and go */
	_Atomic(uint64_t) idle_since_ns;
	_Atomic(int) shortage; /* see sb_scheduler_take_shortage() */
	_Atomic(uint32_t) ready_workers;
	_Atomic(uint32_t) go;
	_Atomic(int) start_error;
	_Atomic(uint32_t) start_failed; /* the worker with the error */

	struct sb_lock recall_lock; /* see live.c */
	struct sb_lock list_lock;   /* while one process is listed */

	/* Of the lists of relations; a process's PID chooses. */
	alignas(SB_LINE) struct sb_lock relation_lock[SB_RELATION_LOCKS];

	/* What foreign threads have instead of a worker's, under the lock. */
	alignas(SB_LINE) struct sb_lock foreign_lock;
	uint32_t foreign_credit; /* live processes reserved ahead; see live.c */
	uint32_t waiters;	 /* for none to live */
	struct sb_sampler foreign_sampler;
	struct sb_pids foreign_pids;
	struct sb_pool foreign_pool;
};

static inline size_t sb_worker_bytes(const struct sb_scheduler *scheduler)
{
	return sizeof(struct sb_worker) +
	       scheduler->workers * sizeof(struct sb_steal_cell);
}

/* ---- memory.c ---- */

/* Makes all arenas, as configured and placed, and gives each worker's thread
 * its own. Returns 0 or -ENOMEM; fini also after that. */
int sb_arenas_init(struct sb_scheduler *scheduler);
void sb_arenas_fini(struct sb_scheduler *scheduler);

/* ---- worker.c ---- */

/* The body of a worker's thread, between its set-up and its end. */
void sb_worker_loop(struct sb_worker *worker);

/* ---- watch.c ---- */

/* What the watcher has seen of a worker. */
struct sb_watched {
	uint64_t epoch;	   /* of its ticks */
	uint64_t since_ns; /* how long that has not changed */
	uint64_t steps;	   /* at the last look */
	uint64_t held_ns;  /* since when its step holds something; 0: not */
	uint64_t held_steps;
};

/* The helper of the scheduler's reclamation looks at the workers, too; see
 * sb_reclaim_look. scheduler: struct sb_scheduler. */
uint64_t sb_watch_look(void *scheduler, uint64_t now_ns);

/* ---- steal.c ---- */

/* Makes the worker's rings of victims from the placement. Returns 0 or
 * -ENOMEM. */
int sb_victims_init(struct sb_worker *worker);
void sb_victims_fini(struct sb_worker *worker);

/* An idle episode begins: the nearest victims first, again. */
void sb_steal_begin(struct sb_worker *worker);

/* One look at the victims within reach. The rest of what was taken is on the
 * own deque. NULL: nothing; the next look reaches further. */
struct sb_process *sb_steal_round(struct sb_worker *worker);

/* Puts all but the first of the n processes in `taken` on the own deque, so that
 * the next pop is the second, and returns the first. Tells nobody. */
struct sb_process *sb_keep_rest(struct sb_worker *worker, uint32_t n);

/* ---- graves.c ---- */

/* Of a worker whose pool is there. Returns 0 or -ENOMEM. */
int sb_graves_init(struct sb_worker *worker);
void sb_graves_fini(struct sb_worker *worker);

/* A process of so many bytes has ended on the worker. */
void sb_worker_gather_dead(struct sb_worker *worker, struct sb_process *process,
			   size_t bytes);

/* Starts the grace period of the dead gathered so far. */
void sb_worker_bury(struct sb_worker *worker);

/* Frees the dead whose grace period has passed. */
void sb_worker_take_reclaimed(struct sb_worker *worker);

/* ---- step.c ---- */

/* Chooses the steps that are watched; before the worker's loop. */
void sb_worker_watch(struct sb_worker *worker);

/* Runs one step of a Ready process that the worker has taken from a queue. */
void sb_worker_run(struct sb_worker *worker, struct sb_process *process);

/* Completes a process whatever its state; for a worker-less scheduler. */
void sb_process_finish(struct sb_scheduler *scheduler, struct sb_worker *worker,
		       struct sb_process *process, int error,
		       union sb_value result);

/* ---- route.c; worker is the caller's own or NULL ---- */

/* Queues a process that has just become Ready, and wakes somebody for it. */
void sb_route_ready(struct sb_scheduler *scheduler, struct sb_worker *worker,
		    struct sb_process *process);

/* Queues a process on the hot end of the worker's own deque, or behind those that
 * continue, and wakes nobody. */
void sb_route_local(struct sb_worker *worker, struct sb_process *process,
		    bool behind);

/*
 * Queues a Running process that is to run again on the worker's own deque, and
 * tells nobody: the worker's step is over, and it takes the process back in a
 * moment. If it takes another one first, next_process() tells.
 */
void sb_route_requeue(struct sb_worker *worker, struct sb_process *process,
		      bool behind);

/* Queues a new process of the worker's own, and wakes somebody for it. With a fence
 * between all that the caller has stored before, and loads after it. */
void sb_route_new(struct sb_worker *worker, struct sb_process *process);

/* Wakes a worker that an idle claim has returned. */
void sb_route_unpark(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     uint32_t id);

/* Work has become visible: wakes a sleeper if that is called for. near: whom
 * to wake by preference. */
void sb_route_publish(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      uint32_t near);

/*
 * After a publish: what has become visible is the last of so many in the global
 * queue. If they have piled up there, wakes a sleeper though others search: these
 * may be descheduled, in favour of the caller, even.
 */
void sb_route_backlog(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      uint32_t length);

/* An event goes behind the backlog of a process that the caller's worker runs. */
static inline void sb_backlog_put(struct sb_process *process,
				  struct sb_event_node *node)
{
	if (process->backlog_first)
		process->backlog_last->next = node;
	else
		process->backlog_first = node;
	process->backlog_last = node;
}

/* Drops an event that no step will see: on_drop, and its memory. */
void sb_route_drop(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_event_node *node);

/* Events, linked from the newest to the oldest, go behind the backlog of a process
 * that the caller's worker has taken. */
void sb_backlog_append(struct sb_process *process,
		       struct sb_event_node *newest);

/* Pushes events, linked from the newest to the oldest, and queues the process if
 * they have made it Ready. Takes the nodes over unless it returns
 * SB_POST_GONE. */
enum sb_post_result sb_route_post(struct sb_scheduler *scheduler,
				  struct sb_worker *worker,
				  struct sb_process *process,
				  struct sb_event_node *newest,
				  struct sb_event_node *oldest);

static inline void sb_note_dead_letter(struct sb_worker *worker)
{
	if (worker)
		sb_counter_add(&worker->counters.dead_letters, 1);
}

/* ---- handover.c ---- */

/*
 * Sends a message of the running step, as late as at the end of that step, or
 * when the step does something else that others see: between two processes the
 * order of all that is sent is kept. Outside (core/process/handover.h); the worker's
 * steps hold what they send. Returns as sb_route_event.
 */
int sb_route_hold(struct sb_worker *worker, sb_pid to, union sb_value message);

/* Sends what is held, if anything is. The worker is inside. */
void sb_route_flush(struct sb_worker *worker);

/*
 * The step is over: sends what it held, not NULL, and if its process waits for
 * that, it is the next that this worker runs: no queue, and nobody is told.
 */
void sb_route_hand_over(struct sb_worker *worker, struct sb_event_node *held);

/*
 * If the worker is in the code of a step: makes visible what that holds, and
 * passes a quiescent state for it. The watcher only. Returns whether it was.
 */
bool sb_route_take_held(struct sb_worker *worker);

/*
 * Whether a worker whose steps take so long on average holds what they send:
 * not if they are long, because until a step ends nobody else can take what it
 * holds. Nor with a bounded mailbox, which is full or not, and has nothing under
 * way to it; and a router is told at once.
 */
static inline bool sb_config_holds(const struct sb_config *config,
				   uint64_t step_ns)
{
	return config->handover && config->wake == SB_WAKE_LOCAL &&
	       !config->mailbox_bound && !config->router &&
	       step_ns < config->hold_ns && sb_fence_heavy_works();
}

struct sb_process *sb_route_look_up(struct sb_scheduler *scheduler,
				    struct sb_worker *worker, sb_pid pid);

/* Whether a route leads to a process still: nobody has been buried since. */
static inline bool sb_route_holds(struct sb_worker *worker,
				  const struct sb_route *route)
{
	return route->burials == sb_load_rlx(&worker->scheduler->burials);
}

/*
 * The process of a PID, until the caller's next quiescent state; NULL: none.
 * For a worker the one it is running is found, too.
 */
static inline struct sb_process *sb_route_find(struct sb_scheduler *scheduler,
					       struct sb_worker *worker,
					       sb_pid pid)
{
	const struct sb_route *route;

	if (!worker)
		return sb_route_look_up(scheduler, NULL, pid);
	if (worker->running && worker->running->pid == pid)
		return worker->running;
	route = &worker->route[pid % SB_ROUTES];
	if (SB_LIKELY(route->pid == pid && sb_route_holds(worker, route)))
		return route->process;
	return sb_route_look_up(scheduler, worker, pid);
}

/* An event's type and error, in one register. */
struct sb_event_kind {
	enum sb_event_type type;
	int32_t error;
};

static inline struct sb_event_kind sb_kind(enum sb_event_type type, int error)
{
	return (struct sb_event_kind){ type, error };
}

/*
 * Sends an event to a process; NULL: there is none. Returns 0, -ESRCH (it is
 * gone), or -ENOMEM. Messages are timed, as sampled.
 */
int sb_route_event(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_process *process, struct sb_event_kind kind,
		   uint64_t tag, union sb_value data);

/* The same for the completion of a yield, timed if that was. */
int sb_route_completion(struct sb_worker *worker, struct sb_process *process,
			struct sb_event_kind kind,
			const struct sb_completer *completer,
			union sb_value data);

/* The same with the caller's node, an object that it gives away. */
int sb_route_deliver(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     struct sb_process *process, struct sb_event_node *node);

/*
 * An event, written once into the node that carries it: a struct built first
 * and copied is read back wider than it was written, which stalls.
 */
static inline void sb_event_fill(struct sb_event_node *node,
				 struct sb_event_kind kind, uint64_t tag,
				 union sb_value data)
{
	node->next = NULL;
	node->sent_ns = 0;
	node->event.type = kind.type;
	node->event.error = kind.error;
	node->event.tag = tag;
	node->event.data = data;
}

/* What most completions are: of the process that the worker runs, at once. */
static inline int sb_route_complete_own(struct sb_worker *worker,
					struct sb_event_kind kind,
					const struct sb_completer *completer,
					union sb_value data)
{
	struct sb_event_node *node =
		sb_pool_alloc(&worker->pool, sizeof(*node));

	if (SB_UNLIKELY(!node))
		return -ENOMEM;
	sb_event_fill(node, kind, completer->tag, data);
	node->sent_ns = completer->issued_ns;
	sb_backlog_put(worker->running, node);
	return 0;
}

/* ---- send.c; worker is the caller's own or NULL ---- */

void sb_send_init(struct sb_scheduler *scheduler);

/* By the router that is configured, or here. As sb_step_send. */
int sb_send_routed(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   sb_pid to, union sb_value message);

/* As sb_scheduler_cancel; the process is known, or not. */
int sb_cancel_process(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      struct sb_process *process);
int sb_cancel_pid(struct sb_scheduler *scheduler, struct sb_worker *worker,
		  sb_pid pid);

/* As sb_scheduler_terminate. */
int sb_terminate_pid(struct sb_scheduler *scheduler, struct sb_worker *worker,
		     sb_pid pid);

/* ---- relations.c ---- */

enum sb_relation_kind {
	SB_RELATION_MONITOR, /* one is told when the other ends */
	SB_RELATION_LINK,    /* each ends when the other fails */
};

/* Between the process that the worker runs and another. Errors: see the
 * commands in core/commands.h. */
int sb_relation_add(struct sb_worker *worker, enum sb_relation_kind kind,
		    sb_pid peer);
int sb_relation_remove(struct sb_worker *worker, enum sb_relation_kind kind,
		       sb_pid peer);

/* Tells all who are to know. The process's word is Complete. */
void sb_relations_end(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      struct sb_process *process, const struct sb_exit *exit);

/* ---- timers.c ---- */

struct sb_timer_spec {
	uint64_t delay_ns;
	uint64_t period_ns; /* 0: it fires once */
	sb_pid pid;
	uint64_t tag;
	enum sb_event_type type;
};

void sb_timers_init(struct sb_timers *timers, struct sb_arena *arena);
void sb_timers_fini(struct sb_timers *timers);

/* Forgets all timers. No worker runs. */
void sb_timers_clear(struct sb_timers *timers);

/* Starts a timer of the process that the worker runs, in the worker's wheel.
 * Returns 0 or -ENOMEM. */
int sb_timers_start(struct sb_worker *worker, const struct sb_timer_spec *spec,
		    uint64_t *id);

/* Stops a timer of process pid, whatever wheel it is in. Returns 0: it will not
 * fire (again); -ENOENT: there is none, or it has fired. */
int sb_timers_stop(struct sb_scheduler *scheduler, uint64_t id, sb_pid pid);

/* A process that has an extra ends: stops all of its timers. worker is the
 * caller's own or NULL. */
void sb_timers_end(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_process *process);

/* Sends the events of some timers that are due in owner's wheel. */
void sb_timers_run(struct sb_worker *worker, struct sb_worker *owner,
		   uint64_t now_ns);

/* The same, for all wheels. */
void sb_timers_run_all(struct sb_worker *worker);

void sb_timekeeper_init(struct sb_timekeeper *keeper);

/* Before a worker sleeps: until when at the latest, SB_WHEEL_NEVER for ever.
 * Again at each look; and end, when it does not sleep any more. */
uint64_t sb_timekeeper_begin(struct sb_worker *worker);
void sb_timekeeper_end(struct sb_worker *worker);

/* The worker goes on to other work with a timer started. */
void sb_timekeeper_tell(struct sb_worker *worker);

/* The worker has found work, and somebody else is to keep the time. */
void sb_timekeeper_replace(struct sb_worker *worker);

/* ---- submit.c ---- */

/* As sb_step_spawn. */
int sb_submit_here(struct sb_worker *worker, const struct sb_process_ops *ops,
		   const char *method, union sb_value input, sb_pid *pid);

/* ---- commands.c ---- */

/* Registers the built-in commands. */
void sb_commands_register(struct sb_scheduler *scheduler);

/* ---- live.c; worker is the caller's own or NULL ---- */

/* Waits until no process is alive, and nobody is about to make one. False: the time
 * is out. See sb_caller_may_wait. */
bool sb_live_wait_none(struct sb_scheduler *scheduler, uint64_t timeout_ns);

void sb_live_init(struct sb_scheduler *scheduler);

/* Reserves one live process, or refuses: as many as processes_max are alive, or
 * about to be. */
bool sb_live_reserve(struct sb_worker *worker);

/* The same for foreign threads. The first, under their lock, may fail though fewer
 * are alive; then the second, under no lock, decides. */
bool sb_live_reserve_foreign(struct sb_scheduler *scheduler);
bool sb_live_reserve_exactly(struct sb_scheduler *scheduler);

/* Undoes that: there will be no process. */
void sb_live_unreserve(struct sb_scheduler *scheduler,
		       struct sb_worker *worker);

/* A process of this worker has completed. */
void sb_live_complete(struct sb_worker *worker);

/* Gives n reservations back, of which the last was needed until then. */
void sb_live_release(struct sb_scheduler *scheduler, uint64_t n,
		     uint64_t since_ns);

/* Gives back what the worker has reserved ahead; it has had no work since then. */
void sb_worker_release_credit(struct sb_worker *worker, uint64_t since_ns);

/* ---- caller.c ---- */

/* The worker that the calling thread is, or NULL. */
extern _Thread_local struct sb_worker *sb_current_worker;

static inline struct sb_worker *sb_worker_current(void)
{
	return sb_current_worker;
}

/* The worker of a step. A debug build catches a step that is used after it has
 * ended. */
static inline struct sb_worker *sb_step_worker_of(const struct sb_step *step)
{
	SB_ASSERT((uintptr_t)step->worker, ==, (uintptr_t)sb_current_worker);
	return step->worker;
}

/* The same, if it is one of this scheduler. */
static inline struct sb_worker *sb_worker_of(struct sb_scheduler *scheduler)
{
	struct sb_worker *worker = sb_worker_current();

	return SB_LIKELY(worker && worker->scheduler == scheduler) ? worker
								   : NULL;
}

/* Around a submission of a foreign thread. They may nest. */
void sb_caller_submits(bool begins);

/* Of whoever calls a function that any thread may call. */
struct sb_caller {
	struct sb_worker *worker; /* of this scheduler, or NULL */
	uint32_t side;		  /* of its section; see sb_reclaim_enter() */
	bool has_entered;	  /* see sb_handover_try_enter() */
};

/*
 * Whether the caller may wait for a process: no worker, nor a foreign thread in a
 * callback. There the wait would keep stop from ending what it waits for: in a
 * submission, which stop waits for, or in a read-side section.
 */
bool sb_caller_may_wait(void);

/*
 * Around whatever may be called by any thread, in a step, too: what the caller
 * looks up stays a process in between.
 */
static inline struct sb_caller sb_caller_enter(struct sb_scheduler *scheduler)
{
	struct sb_caller caller = { .worker = sb_worker_of(scheduler) };

	if (SB_LIKELY(caller.worker))
		caller.has_entered =
			sb_handover_try_enter(&caller.worker->handover);
	else
		caller.side = sb_reclaim_enter(scheduler->reclaim);
	return caller;
}

static inline void sb_caller_leave(struct sb_scheduler *scheduler,
				   const struct sb_caller *caller)
{
	if (SB_LIKELY(caller->worker))
		sb_handover_end(&caller->worker->handover, caller->has_entered);
	else
		sb_reclaim_exit(scheduler->reclaim, caller->side);
}

/* One object of the caller's pool: the worker's, or the locked foreign one. */
void *sb_object_alloc(struct sb_scheduler *scheduler, struct sb_worker *worker,
		      size_t size);
void sb_object_free(struct sb_scheduler *scheduler, struct sb_worker *worker,
		    void *object, size_t size);

/* The process's extra, made if there is none; NULL: no memory. By whoever has the
 * process to itself, until sb_process_finish. */
struct sb_extra *sb_extra_of(struct sb_scheduler *scheduler,
			     struct sb_worker *worker,
			     struct sb_process *process);

void sb_sampler_init(struct sb_sampler *sampler, uint32_t every, uint64_t seed);

/* The next distance: uniform in 1 .. 2 x every - 1, so `every` on average. */
void sb_sampler_advance(struct sb_sampler *sampler);

/* Whether this one is to be timed. Its owner only. */
static inline bool sb_sampler_chooses(struct sb_sampler *sampler)
{
	if (SB_LIKELY(--sampler->left))
		return false;
	if (sampler->every == 1)
		sampler->left = 1;
	else
		sb_sampler_advance(sampler);
	return sampler->every;
}

/* Time now, for a recording, after everything before it in the program; counted, so
 * that its cost is known. For the ends of what is measured. */
static inline uint64_t sb_worker_look(struct sb_worker *worker)
{
	sb_counter_add(&worker->counters.clock_looks, 1);
	return sb_clock_stamp_ns();
}

/* The same, or a little earlier, at half the cost; counted as a look. For the
 * beginnings: whoever measures from there has it handed over, and looks after that. */
static inline uint64_t sb_worker_mark(struct sb_worker *worker)
{
	sb_counter_add(&worker->counters.clock_looks, 1);
	return sb_clock_ns();
}

/* Time now if this one is to be timed, else 0; see sb_worker_mark(). */
static inline uint64_t sb_worker_mark_some(struct sb_worker *worker)
{
	return SB_UNLIKELY(sb_sampler_chooses(&worker->sampler))
		       ? sb_worker_mark(worker)
		       : 0;
}

uint64_t sb_foreign_mark_some(struct sb_scheduler *scheduler);

/* The same for any caller; worker is its own or NULL. */
static inline uint64_t sb_caller_mark_some(struct sb_scheduler *scheduler,
					   struct sb_worker *worker)
{
	return worker ? sb_worker_mark_some(worker)
		      : sb_foreign_mark_some(scheduler);
}

/* What is kept at every level of recording but `off`. */
static inline void sb_worker_note(struct sb_worker *worker,
				  struct sb_hist *hist, uint64_t value)
{
	if (SB_LIKELY(worker->records))
		sb_hist_record(hist, value);
}

/* What a callback returned instead of 0; a positive value is no -errno. */
static inline int sb_as_error(int rc)
{
	return rc < 0 ? rc : -EINVAL;
}

/* From its return on nobody reads process->ops. */
static inline void sb_process_close(struct sb_process *process)
{
	if (process->ops->close)
		process->ops->close(process->state);
}

/* Whole lines, so that the pool's objects of this size are aligned to them. */
static inline size_t sb_process_bytes(const struct sb_process_ops *ops)
{
	const size_t line = alignof(struct sb_process);

	return (offsetof(struct sb_process, state) + ops->state_bytes + line -
		1) &
	       ~(line - 1);
}

#endif
