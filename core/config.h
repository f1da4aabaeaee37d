/*
 * config.h - the parameters of a scheduler: meaning, unit, range and default of each.
 */
#ifndef SB_CORE_CONFIG_H
#define SB_CORE_CONFIG_H

#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many processes one steal takes from a deque. */
enum sb_steal_amount {
	SB_STEAL_HALF,	/* half of them, rounded up, at most steal_cap */
	SB_STEAL_COUNT, /* all of them, at most steal_cap */
};

/* The largest steal_cap. */
#define SB_STEAL_MAX 64

/* The algorithm of the workers' deques. */
enum sb_deque_kind {
	SB_DEQUE_COUNTED,   /* a steal takes several processes in one compare-and-swap */
	SB_DEQUE_CHASE_LEV, /* Chase and Lev, Dynamic Circular Work-Stealing Deque, SPAA 2005: a
			     * compare-and-swap for each process */
};

/* The queue of a waiting process that an event makes Ready. */
enum sb_wake {
	SB_WAKE_LOCAL,	/* the deque of the worker that delivers the event; if another thread
			 * delivers it, as SB_WAKE_AFFINE */
	SB_WAKE_AFFINE, /* the inject queue of the worker that ran the process last; if it has not
			 * run, the global queue */
	SB_WAKE_GLOBAL, /* the global queue */
};

/* What a worker does that has found no work after spin_tight and spin_yield searches. */
enum sb_park_policy {
	SB_PARK_CONDVAR, /* sleeps on a condition variable */
	SB_PARK_FUTEX,	 /* sleeps on a futex */
	SB_PARK_POLL,	 /* goes on searching with the pause instruction; needs a core for each
			  * worker */
};

/* The first victim of a worker that steals. */
enum sb_victim {
	SB_VICTIM_RANDOM, /* a random worker */
	SB_VICTIM_NEAR,	  /* a random one of the nearest workers; farther ones after those */
	SB_VICTIM_LAST,	  /* the worker of the last successful steal; then as SB_VICTIM_RANDOM */
};

/* The position of a process whose step returned SB_CONTINUE. */
enum sb_continue {
	SB_CONTINUE_BEHIND, /* behind all other Ready processes of its worker */
	SB_CONTINUE_FRONT,  /* in front of them */
};

/* The threads that allocate from one arena of jemalloc. In a program without jemalloc there are no
 * arenas: arenas, membind and huge_pages have no effect. */
enum sb_arenas {
	SB_ARENAS_PER_WORKER, /* one worker; foreign threads share an arena */
	SB_ARENAS_PER_NODE,   /* the workers of one NUMA node; foreign threads share an arena */
	SB_ARENAS_SHARED,     /* all */
};

/* The NUMA nodes of an arena's pages. No effect on a machine with one node, or if
 * sb_placement.os_node is NULL. If the kernel refuses a binding, the pages are not bound. */
enum sb_membind {
	SB_MEMBIND_LOCAL,      /* the node of the arena's threads; not bound if they have several */
	SB_MEMBIND_INTERLEAVE, /* all nodes in turn, page by page */
	SB_MEMBIND_NONE,       /* not bound */
};

/* The pages of arenas. */
enum sb_huge_pages {
	SB_HUGE_PAGES_EXPLICIT,	   /* reserved ones (vm.nr_hugepages); transparent ones if none
				    * is free */
	SB_HUGE_PAGES_TRANSPARENT, /* madvise(2), MADV_HUGEPAGE */
	SB_HUGE_PAGES_NONE,	   /* normal ones, whatever the system's setting */
};

/* The end of a process. */
struct sb_exit {
	sb_pid pid;
	int error; /* 0; the -errno of its last step; -ECANCELED: it was terminated, or ended by
		    * force; -ENOMEM also: a yield could not be completed for lack of memory */
	union sb_value result; /* sb_step_result of its last step; 0: that step did not call it, or
				* the process was terminated or ended by force */
};

/* A message and its receiver. */
struct sb_package {
	sb_pid to;
	union sb_value message;
};

/*
 * A receiver of messages: a scheduler (sb_scheduler_receiver), or a router of the program in front
 * of several. send returns 0 or -errno as sb_scheduler_send does. The receiver must remain valid
 * until each scheduler that it is configured for has been destroyed.
 */
struct sb_receiver {
	int (*send)(struct sb_receiver *receiver, const struct sb_package *package);
};

/* The parameters of a scheduler. Initialize with sb_config_init or SB_CONFIG_DEFAULT.
 * sb_scheduler_create copies the struct. Defaults are in brackets. */
struct sb_config {
	enum sb_deque_kind deque;   /* [SB_DEQUE_COUNTED] */
	enum sb_steal_amount steal; /* [SB_STEAL_HALF] */
	uint32_t steal_cap;	    /* processes, 1 to SB_STEAL_MAX [32] */
	enum sb_victim victim;	    /* [SB_VICTIM_RANDOM] */
	enum sb_wake wake;	    /* [SB_WAKE_LOCAL] */
	enum sb_continue continues; /* [SB_CONTINUE_BEHIND] */

	/* Whether the receiver of a step's last messages may run next on the same worker, without
	 * a queue [true]. Steps then defer these messages (sb_step_send). No message is deferred if
	 * wake is not SB_WAKE_LOCAL, with a mailbox_bound or a router, or if the kernel does not
	 * offer membarrier(2). */
	bool handover;
	/* ns: longest time for which a step may defer a message, exceeded by up to about 2 ms. Steps
	 * that take longer than this on average defer none. 0: none does [50000] */
	uint64_t hold_ns;

	/* Most processes that a worker moves from a shared queue to its deque in addition to the
	 * one that it takes, 0 to UINT32_MAX - 1; more than 65535 count as 65535 [16] */
	uint32_t batch;
	/* Most steps between two ticks of a worker, 1 to 2^30 [61]. At a tick the worker serves
	 * each of its queues, oldest process first, and timers that are due. */
	uint32_t tick;
	/* ns: a tick also comes after this time, or after about 1 ms if this is shorter, as soon as
	 * the running step has ended; 0: only after `tick` steps [200000] */
	uint64_t tick_ns;

	uint32_t spin_tight; /* searches of an idle worker, with a pause instruction each [4] */
	uint32_t spin_yield; /* then searches that yield the CPU each; then it parks [12] */
	/* ns: a worker whose last park was shorter than this goes on searching for this time before
	 * it parks; 0: it does not [50000] (Karlin, Li, Manasse and Owicki, Empirical studies of
	 * competitive spinning for a shared-memory multiprocessor, SOSP 1991) */
	uint64_t spin_ns;
	/* Whether a worker that keeps running out of work may wait up to 2 us for several processes
	 * before it takes the first [true] */
	bool gather;
	/* Most workers that search at the same time; 0: half of those that are awake [0] */
	uint32_t searchers_max;
	enum sb_park_policy park; /* [SB_PARK_CONDVAR] */

	uint32_t event_budget; /* most events of one step, >= 1 [64] */
	/* ns: a step of 8 events or more that takes longer halves the event budget of its process,
	 * down to 1; one that takes less than half doubles it again. 0: never [200000] */
	uint64_t event_ns;
	/* Most messages that wait for one process; 0: no bound [0]. See sb_scheduler_send. */
	uint32_t mailbox_bound;

	/* Whether workers record times, histograms and steals for the sched-bench command; the
	 * library has no function that returns them [true] */
	bool record;
	uint32_t sample_every; /* with record: times one in N events, 0 to 2^30; 0: none [64] */
	/* With sample_every: slowest events that each worker keeps of each kind, 0 to
	 * SB_EXEMPLARS_MAX [16] */
	uint32_t exemplars;

	/* Most processes that exist at the same time, >= 1 [2^24]. The bound is exact. Further
	 * submissions fail with -EAGAIN. */
	uint64_t processes_max;
	/* Bytes, >= 1: bound on the memory of processes that have ended and that other threads may
	 * still read [256 MiB]. It is exceeded by up to a sixteenth, and by one block of PIDs for
	 * each thread that submits. See sb_scheduler_submit. */
	uint64_t dead_max_bytes;
	/* ns for which a chosen PID cannot be chosen again after its process has ended; 0: until
	 * the scheduler has retired the process [60 s]. See sb_scheduler_submit_as. */
	uint64_t pid_reuse_ns;
	uint64_t seed; /* of the workers' random numbers [1] */

	/* The scheduler names its threads PREFIX-w0, PREFIX-w1, ... and PREFIX-watch for top, perf and
	 * debuggers. 1 to SB_THREAD_PREFIX_MAX bytes, copied by sb_scheduler_create; NULL: "sb"
	 * [NULL] */
	const char *thread_prefix;

	enum sb_arenas arenas;	       /* [SB_ARENAS_PER_WORKER] */
	enum sb_membind membind;       /* [SB_MEMBIND_LOCAL] */
	enum sb_huge_pages huge_pages; /* [SB_HUGE_PAGES_NONE] */

	/* The receiver of the messages of sb_step_send and SB_COMMAND_SEND; NULL: this scheduler.
	 * Its send runs on the worker, in the step or after it. It may pass messages on to
	 * sb_scheduler_receiver of this scheduler or of another. [NULL] */
	struct sb_receiver *router;

	/*
	 * Callbacks. Each may be NULL; hook is the first argument of all. They may call every
	 * function whose callers are "any thread", and must not block: the thread that calls them
	 * runs no process meanwhile, and sb_scheduler_stop waits for it.
	 */
	void *hook;
	/* Accepts or refuses a process: called once for each process, after init has succeeded and
	 * before others can see it, by the thread that called init. Returns 0, or -errno, which the
	 * submission returns; close is called, on_complete is not. */
	int (*on_start)(void *hook, sb_pid pid);
	/* Reports the end of a process: called exactly once for each process that was accepted,
	 * after its close. By a worker; by the thread in sb_scheduler_stop or sb_scheduler_destroy
	 * if the process ends by force; or by the submitting thread, with -ESHUTDOWN, if a stop or
	 * destroy began during the submission, which is refused then. The process still counts for
	 * processes_max. */
	void (*on_complete)(void *hook, const struct sb_exit *exit);
	/* Takes a value that was accepted and that no step will receive: called exactly once for
	 * each such message, and for each such completion except that of a built-in command that
	 * has succeeded. event is valid during the call; the callback owns event->data. By a worker,
	 * by the helper thread of the scheduler, or by the thread in sb_scheduler_stop or
	 * sb_scheduler_destroy. */
	void (*on_drop)(void *hook, const struct sb_event *event);
};

#define SB_THREAD_PREFIX_MAX 8

/* The defaults, in the units of their names. */
#define SB_DEFAULT_STEAL_CAP	 32
#define SB_DEFAULT_HOLD_US	 50
#define SB_DEFAULT_BATCH	 16
#define SB_DEFAULT_TICK		 61
#define SB_DEFAULT_TICK_US	 200
#define SB_DEFAULT_SPIN_TIGHT	 4
#define SB_DEFAULT_SPIN_YIELD	 12
#define SB_DEFAULT_SPIN_US	 50
#define SB_DEFAULT_EVENT_BUDGET	 64
#define SB_DEFAULT_EVENT_US	 200
#define SB_DEFAULT_SAMPLE_EVERY	 64
#define SB_DEFAULT_EXEMPLARS	 16
#define SB_EXEMPLARS_MAX	 1024
#define SB_DEFAULT_PROCESSES_MAX 16777216
#define SB_DEFAULT_DEAD_MAX_MIB	 256
#define SB_DEFAULT_SEED		 1
#ifndef __cplusplus
#define SB_CONFIG_DEFAULT                                                                          \
	{                                                                                          \
		.deque = SB_DEQUE_COUNTED, .steal = SB_STEAL_HALF,                                 \
		.steal_cap = SB_DEFAULT_STEAL_CAP, .victim = SB_VICTIM_RANDOM,                     \
		.wake = SB_WAKE_LOCAL, .handover = true, .hold_ns = SB_DEFAULT_HOLD_US * 1000,     \
		.batch = SB_DEFAULT_BATCH, .tick = SB_DEFAULT_TICK,                                \
		.tick_ns = SB_DEFAULT_TICK_US * 1000, .spin_tight = SB_DEFAULT_SPIN_TIGHT,         \
		.spin_yield = SB_DEFAULT_SPIN_YIELD, .spin_ns = SB_DEFAULT_SPIN_US * 1000,         \
		.gather = true, .searchers_max = 0, .event_budget = SB_DEFAULT_EVENT_BUDGET,       \
		.event_ns = SB_DEFAULT_EVENT_US * 1000, .record = true,                            \
		.sample_every = SB_DEFAULT_SAMPLE_EVERY, .exemplars = SB_DEFAULT_EXEMPLARS,        \
		.processes_max = SB_DEFAULT_PROCESSES_MAX,                                         \
		.dead_max_bytes = (uint64_t)SB_DEFAULT_DEAD_MAX_MIB << 20,                         \
		.pid_reuse_ns = UINT64_C(60000000000), .seed = SB_DEFAULT_SEED,                    \
		.arenas = SB_ARENAS_PER_WORKER, .membind = SB_MEMBIND_LOCAL,                       \
		.huge_pages = SB_HUGE_PAGES_NONE                                                   \
	}
#endif

/* Sets all fields to their defaults; for C and C++. Callers: any thread. */
void sb_config_init(struct sb_config *config);

/* Most workers of a scheduler. */
#define SB_WORKERS_MAX 4000

#ifdef __cplusplus
}
#endif

#endif
