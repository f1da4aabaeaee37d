/* config.h - the parameters of a scheduler, with their defaults. */
#ifndef SB_CORE_CONFIG_H
#define SB_CORE_CONFIG_H

#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much one steal takes. */
enum sb_steal_amount {
	SB_STEAL_HALF,	/* half of the items, rounded up, but at most max */
	SB_STEAL_COUNT, /* as many as there are, but at most max */
};

/* The most items one steal can take; callers' buffers have this size. */
#define SB_STEAL_MAX 64

/* The algorithm of the workers' deques. */
enum sb_deque_kind {
	SB_DEQUE_COUNTED,   /* core/queue/deque_counted.h: takes half in one CAS */
	SB_DEQUE_CHASE_LEV, /* core/queue/deque_chase_lev.h: takes one at a time */
};

/* Where a process goes that a message or completion has made Ready. */
enum sb_wake {
	SB_WAKE_LOCAL,	/* the waking worker's own deque; else as affine */
	SB_WAKE_AFFINE, /* inject queue of the worker that ran it last */
	SB_WAKE_GLOBAL, /* the global queue */
};

/* A worker that has spun in vain does one of these. */
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

/* The threads that allocate from one arena, see core/memory/arena.h. In a program without
 * jemalloc there are no arenas: this, and the two below, have no effect. */
enum sb_arenas {
	SB_ARENAS_PER_WORKER,
	SB_ARENAS_PER_NODE, /* the workers of one NUMA node */
	SB_ARENAS_SHARED,   /* all workers, and foreign threads */
};

/*
 * Where an arena's pages lie, on a machine with several nodes. NONE: on the node
 * of who touches them first, or as a policy says that was inherited.
 */
enum sb_membind {
	SB_MEMBIND_LOCAL,      /* on its users' node; all users': not bound */
	SB_MEMBIND_INTERLEAVE, /* page by page on all nodes in turn */
	SB_MEMBIND_NONE,       /* where the operating system puts them */
};

/* The pages of arenas. */
enum sb_huge_pages {
	SB_HUGE_PAGES_EXPLICIT,
	SB_HUGE_PAGES_TRANSPARENT,
	SB_HUGE_PAGES_NONE, /* not even where the system's setting is "always" */
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
	int (*send)(struct sb_receiver *receiver, const struct sb_package *package);
};

/* Parameters; constant while the scheduler lives. */
struct sb_config {
	enum sb_deque_kind deque;
	enum sb_steal_amount steal; /* half, or steal_cap if there are so many */
	uint32_t steal_cap;	    /* most items of one steal, 1 to SB_STEAL_MAX */
	enum sb_victim victim;
	enum sb_wake wake;
	enum sb_continue continues;
	bool handover;		/* what a step's last message wakes runs next, and what is
			* to run again at once does, without a queue */
	uint64_t hold_ns;	/* with handover: how long a step may hold what it sends:
			   * a longer step's is made visible meanwhile, and where
			   * steps take longer on average none holds any; 0: none
			   * ever does */
	uint32_t batch;		/* most extra processes one take moves, >= 0 */
	uint32_t tick;		/* most steps between ticks, >= 1: on a tick a worker
			   * serves all kinds of queues, and timers that are due */
	uint64_t tick_ns;	/* a tick also comes after that time, or a millisecond if
			   * that is longer, when the running step has ended, however
			   * long steps are; 0: only after so many steps */
	uint32_t spin_tight;	/* spins with the pause hint, >= 0 */
	uint32_t spin_yield;	/* then spins with a thread yield, >= 0 */
	uint64_t spin_ns;	/* after a sleep shorter than that, more of these, for so
			   * long; 0: never */
	bool gather;		/* a worker that finds one process at a time waits a moment
		      * for several */
	uint32_t searchers_max; /* 0: half of the awake workers, not counting those
				 * who have run out of work a moment ago */
	enum sb_park_policy park;
	uint32_t event_budget;	/* most events of one step, >= 1 */
	uint64_t event_ns;	/* while a step with many takes longer, the process
			    * gets fewer, down to one; 0: never */
	uint32_t mailbox_bound; /* most unread messages; 0: no bound */
	bool record;		/* false: no account of time, no steal matrix, and no
		      * histograms; only the counters of steps and what they did */
	uint32_t sample_every;	/* with record: time one in N queueings, sends and
				* wakes, and turns of a process that yields or
				* continues, and what becomes of them; 0: none */
	uint32_t exemplars;	/* with sample_every: the slowest of those that are timed, so many
			     * of each kind and worker, are kept with what is known of them */
	uint64_t processes_max;
	uint64_t dead_max_bytes; /* bound, exact to a sixteenth, on the memory of processes
				  * that have ended and cannot be freed yet */
	uint64_t pid_reuse_ns;	 /* for so long after its process has ended a PID
				* that the caller has chosen cannot be chosen */
	uint64_t seed;
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
 * Defaults; the command's options have them from here, too. batch, tick and the spin
 * thresholds are the specification's. wake is local: a receiver then runs where its
 * message is in the cache (see core/wake/README.md).
 */
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

/* The same, also for C++. Callers: any thread. */
void sb_config_init(struct sb_config *config);

/* As many as there can be arenas, and fewer than a timer's id has room for. */
#define SB_WORKERS_MAX 4000

#ifdef __cplusplus
}
#endif

#endif
