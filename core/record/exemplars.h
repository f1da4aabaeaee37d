/*
 * exemplars.h - a worker keeps the slowest of its timed events, with what it knows of each.
 *
 * An event costs one comparison, with the fastest of those that are kept; what else is known is
 * gathered when it enters, which becomes rare: of n events in random order 16 x (1 + ln(n / 16))
 * or so do. So that there is something to gather, the worker notes at its ticks and at its timed
 * steps how long it has been since the last note, and how many steps that were (a run); and every
 * millisecond or so what the system counts of its thread (a look), unless it polls.
 *
 * Of runs the latest of each power of two of nanoseconds is remembered: a long one is not pushed
 * out by the short ones behind it.
 *
 * Roles: the owner alone. Others read what is kept while no process is alive.
 */
#ifndef SB_CORE_RECORD_EXEMPLARS_H
#define SB_CORE_RECORD_EXEMPLARS_H

#include "core/exemplars.h"
#include "core/platform/platform.h"

struct sb_arena;
struct sb_scheduler;
struct sb_worker;

/* Steps between two notes. */
struct sb_run_of_steps {
	uint64_t begin_ns;
	uint64_t end_ns;
	sb_pid pid; /* of the last */
	uint32_t steps;
};

/* The counts of the operating system for the thread between two looks. */
struct sb_looked {
	uint64_t begin_ns;
	struct sb_usage usage;
	uint64_t parked_ns;
};

#define SB_LOOKS 64

struct sb_keeper {
	/* Asked at each timed event, and written at each note. */
	uint64_t bound_ns[SB_EXEMPLAR_KINDS]; /* faster ones are of no interest */
	uint64_t noted_ns;
	uint64_t noted_steps;
	uint64_t look_at_ns;  /* when it looks again; UINT64_MAX: it does not */
	sb_pid before;	      /* the timed step that goes on: whose step was before it, */
	uint32_t last_worker; /* and who ran its process last */

	bool was_parked;
	uint64_t busy_ns;		/* when the worker last began to have work */
	struct sb_run_of_steps run[64]; /* by the length of its duration in bits */

	struct sb_exemplar *exemplar; /* [SB_EXEMPLAR_KINDS x room] */
	uint32_t room;
	uint32_t kept[SB_EXEMPLAR_KINDS];

	bool looks;
	struct sb_usage_source source;
	uint64_t looked_ns;
	struct sb_usage usage;
	uint64_t parked_ns;
	struct sb_looked look[SB_LOOKS];
	uint32_t next; /* the look to be overwritten */
};

/* An event, when it has ended. */
struct sb_timed_event {
	uint64_t begin_ns;
	uint64_t start_ns; /* of the step */
	uint64_t end_ns;
	uint64_t late_ns;
	uint64_t ready_ns;
	bool has_begun;			  /* the step, or it has even ended */
	const struct sb_process *process; /* NULL: none */
	uint32_t last_worker;
};

/* Returns 0 or -ENOMEM. Without recorded latencies, or with config.exemplars 0, it has none. */
SB_MUST_CHECK int sb_keeper_init(struct sb_worker *worker, struct sb_arena *arena);
void sb_keeper_fini(struct sb_worker *worker);

/* By the worker's thread: it begins, and it ends. */
void sb_keeper_begin(struct sb_worker *worker);
void sb_keeper_end(struct sb_worker *worker);

/* Shorter runs explain nothing. */
#define SB_RUN_NS 2048

/* Times that are known: the steps since the last one are a run. Of a step that was timed both its
 * ends are. Where little happens between them nothing is called. */
SB_COLD void sb_keeper_note(struct sb_worker *worker, uint64_t now_ns);
SB_COLD void sb_keeper_note_step(struct sb_worker *worker, uint64_t start_ns, uint64_t end_ns);

static inline bool sb_keeper_wants(struct sb_keeper *keeper, uint64_t now_ns)
{
	return SB_UNLIKELY(now_ns - keeper->noted_ns >= SB_RUN_NS || now_ns >= keeper->look_at_ns);
}

/* It has work again, since now. */
SB_COLD void sb_keeper_busy(struct sb_worker *worker, uint64_t now_ns);

SB_COLD void sb_keeper_keep(struct sb_worker *worker, enum sb_exemplar_kind kind,
			    const struct sb_timed_event *moment);

#endif
