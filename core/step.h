/*
 * step.h - the functions for the step of a process: yields, messages, new processes, the result.
 *
 * Each takes the step output, the second argument of sb_process_ops.step, which is valid until the
 * step returns. Only the step may use it, and an init, on_start or visitor that the step calls; any
 * other use is undefined. In debug builds of the library sb_step_send, sb_step_flush and
 * sb_step_spawn detect a use on another thread by an assertion.
 */
#ifndef SB_CORE_STEP_H
#define SB_CORE_STEP_H

#include "core/dispatch.h"
#include "core/process.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A command and the tag of its completion. */
struct sb_yield {
	struct sb_command command;
	uint64_t tag;
};

/* Yields of one step that need no memory. */
#define SB_STEP_YIELDS 8

/* The output of a step. The fields are the scheduler's and must not be read or written by the
 * program; they are here for the inline functions below. */
struct sb_step {
	sb_pid self;
	struct sb_worker *worker;
	union sb_value result;
	uint32_t yields;
	uint32_t overflow_room;
	struct sb_yield yield[SB_STEP_YIELDS];
	struct sb_yield *overflow;
};

/* Stores a yield after the first SB_STEP_YIELDS; sb_step_yield calls it. Returns 0 or -ENOMEM.
 * Callers: the step, and an init, on_start or visitor that it calls. */
int sb_step_yield_overflow(struct sb_step *step, const struct sb_yield *yield);

/*
 * Requests a command. When the step has returned, the handler of the command is called with arg,
 * in the order of the yields; if the step ends the process, no handler is called. The process gets
 * an SB_EVENT_COMPLETION with the tag, which need not be unique. There is no limit on the number of
 * yields. Returns 0; -ENOMEM, only after the first SB_STEP_YIELDS: the command is not requested.
 * Callers: the step, and an init, on_start or visitor that it calls.
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

/* Returns the index of the worker that runs the step, 0 to sb_scheduler_workers() - 1. Callers: the
 * step, and an init, on_start or visitor that it calls. */
uint32_t sb_step_worker(const struct sb_step *step);

/* Sets the result of the process (sb_exit.result), if this step ends it. Without a call the result
 * is 0. Callers: the step, and an init, on_start or visitor that it calls. */
static inline void sb_step_result(struct sb_step *step, union sb_value result)
{
	step->result = result;
}

/* Returns the PID of the process. Callers: the step, and an init, on_start or visitor that it
 * calls. */
static inline sb_pid sb_step_self(const struct sb_step *step)
{
	return step->self;
}

/*
 * Sends a message: to sb_config.router if there is one, else to a process of this scheduler, which
 * may be the sender. Returns 0: the receiver gets the message unless it ends first; or an error,
 * and the message remains with the caller: -ESRCH: no such process; -EWOULDBLOCK: mailbox_bound
 * messages wait for it; -ENOMEM; or an error of the router. From one process to another the order
 * is kept.
 *
 * With sb_config.handover the last messages to one process are deferred. They are sent when the
 * step returns, sends to another process, starts a process, or calls sb_step_flush or a function
 * that sends an event; in a long step within about hold_ns and 2 ms. If the receiver has ended by
 * then, on_drop gets them, although 0 was returned.
 *
 * Does not wait. Takes no lock, except in the allocator and, unless sb_config.wake is
 * SB_WAKE_LOCAL, the lock of a queue. Callers: the step, and an init, on_start or visitor that it
 * calls.
 */
SB_MUST_CHECK int sb_step_send(struct sb_step *step, sb_pid to, union sb_value message);

/* Sends the messages that sb_step_send has deferred. Does not wait. Callers: the step, and an init,
 * on_start or visitor that it calls. */
void sb_step_flush(struct sb_step *step);

/*
 * Starts a process as sb_scheduler_submit does, with the same errors, and queues it on the worker
 * of the step. Deferred messages are sent first. Callers: the step, and an init, on_start or
 * visitor that it calls.
 */
SB_MUST_CHECK int sb_step_spawn(struct sb_step *step, const struct sb_process_ops *ops,
				const char *method, union sb_value input, sb_pid *pid);

#ifdef __cplusplus
}
#endif

#endif
