/*
 * exemplars.h - the slowest of the timed events, each with what its worker knew of it when it
 * was recorded: plain data that workers fill in and results are computed from.
 */
#ifndef SB_CORE_EXEMPLARS_H
#define SB_CORE_EXEMPLARS_H

#include "core/platform/base.h"
#include "core/process.h"

/* No worker. */
#define SB_WORKER_NONE UINT32_MAX

enum sb_exemplar_kind {
#define X(name) SB_EXEMPLAR_##name,
#include "core/exemplars.def"
#undef X
	SB_EXEMPLAR_KINDS
};

/* An event that takes longer ends all traces; UINT64_MAX: none does. */
struct sb_trace_bound {
	enum sb_exemplar_kind kind;
	uint64_t ns;
};

#define SB_EXEMPLAR_NAME_BYTES 24

/*
 * An event waits until a step begins, and may go on in that step:
 *
 *   begin          late   visible                    wait        took
 *     | submitted late | held, or sent | behind others | the step |
 *     |<- idle: the worker has no work ->|
 */
struct sb_exemplar {
	uint64_t begin_ns;   /* sent, queued, submitted, woken, or when a request was due */
	uint64_t took_ns;    /* the latency */
	uint64_t late_ns;    /* until a request was submitted */
	uint64_t visible_ns; /* until its process was Ready; 0: not timed, or it was before */
	uint64_t wait_ns;    /* until the step began */
	uint64_t idle_ns;    /* until the worker last had work; 0: it had some all the time */
	uint64_t front_ns;   /* of the wait, in the longest known run of steps in front */

	/* Of the worker's thread, over the last looked_ns, which are as little as is known; 0:
	 * nothing is. */
	uint64_t looked_ns;
	uint64_t cpu_ns;
	uint64_t parked_ns;
	uint64_t delay_ns; /* ready to run, and without a CPU */

	sb_pid pid;	      /* 0: of no process */
	sb_pid front_pid;     /* of the last step of that run; 0: unknown */
	uint32_t front_steps; /* in that run */
	uint32_t worker;
	uint32_t last_worker;		   /* that ran the process before, or SB_WORKER_NONE */
	uint32_t was_parked;		   /* 1: the worker was, before it last had work */
	uint32_t has_sleeper;		   /* 1: another worker was parked for most of the wait, */
	uint32_t sleeper;		   /* this one */
	uint32_t faults;		   /* of pages; these three as looked_ns */
	uint32_t preempted;		   /* involuntary switches */
	uint32_t gave_up;		   /* voluntary ones */
	char name[SB_EXEMPLAR_NAME_BYTES]; /* of the process's operations, cut off; "": none */
};

static_assert(sizeof(struct sb_exemplar) == 168,
	      "some hundred of them are kept of each repetition");

#endif
