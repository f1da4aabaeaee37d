/*
 * step.h - what a process may call within a step, with the step output that it was
 * given: yield, send, spawn, and its result. Callers: the step, and an init, on_start or
 * visitor that it calls. Others must not use the output: they are another thread, or the step has
 * returned. In a debug build an assertion of send, flush and spawn finds another thread.
 */
#ifndef SB_CORE_STEP_H
#define SB_CORE_STEP_H

#include "core/dispatch.h"
#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* For sb_step_yield alone, when the array is full. Callers: the step, and an init, on_start or
 * visitor that it calls. */
int sb_step_yield_overflow(struct sb_step *step, const struct sb_yield *yield);

/*
 * Asks for a command. It is dispatched when the step returns, unless that is
 * done or an error. Returns 0 or -ENOMEM (only beyond SB_STEP_YIELDS). Callers: the step, and an
 * init, on_start or visitor that it calls.
 */
static inline int sb_step_yield(struct sb_step *step, uint32_t command, union sb_value arg,
				uint64_t tag)
{
	const struct sb_yield yield = { { command, arg }, tag };

	if (SB_UNLIKELY(step->yields >= SB_STEP_YIELDS))
		return sb_step_yield_overflow(step, &yield);
	step->yield[step->yields++] = yield;
	return 0;
}

/* The worker that runs the step, from 0 on. Callers: the step, and an init, on_start or visitor
 * that it calls. */
uint32_t sb_step_worker(const struct sb_step *step);

/* The result that `done` completes with; 0 if never called. Callers: the step, and an init,
 * on_start or visitor that it calls. */
static inline void sb_step_result(struct sb_step *step, union sb_value result)
{
	step->result = result;
}

/* The PID of the process. Callers: the step, and an init, on_start or visitor that it calls. */
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
 * milliseconds; sb_step_flush does so at once. Callers: the step, and an init, on_start or
 * visitor that it calls.
 */
SB_MUST_CHECK int sb_step_send(struct sb_step *step, sb_pid to, union sb_value message);
void sb_step_flush(struct sb_step *step);
SB_MUST_CHECK int sb_step_spawn(struct sb_step *step, const struct sb_process_ops *ops,
				const char *method, union sb_value input, sb_pid *pid);

#ifdef __cplusplus
}
#endif

#endif
