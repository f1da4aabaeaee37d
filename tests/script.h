/*
 * script.h - a process that does what its script says: one function that is its
 * step, and what it saw.
 */
#ifndef SB_TESTS_SCRIPT_H
#define SB_TESTS_SCRIPT_H

#include <errno.h>
#include <string.h>

#include "tests/fixture.h"

/* What a step of the scripted process is to do, and what it saw. */
struct script {
	struct fixture *f;
	int (*step)(struct script *script, struct sb_step *step, const struct sb_event *events,
		    uint32_t count);
	_Atomic(uint64_t) steps; /* several processes may share a script */
	uint64_t seen;
	sb_pid other;
	struct sb_completer later;
	_Atomic(uint32_t) flag;
};

static inline int script_init(void *state, const char *method, union sb_value input)
{
	*(struct script **)state = input.ptr;
	if (strcmp(method, "positive") == 0)
		return 1;
	return strcmp(method, "main") ? -ENOTSUP : 0;
}

static inline int script_step(void *state, struct sb_step *step, const struct sb_event *events,
			      uint32_t count)
{
	struct script *script = *(struct script **)state;

	sb_add_rlx(&script->steps, 1);
	return script->step(script, step, events, count);
}

static inline void script_close(void *state)
{
	struct script *script = *(struct script **)state;

	sb_add_rlx(&script->f->closed, 1);
}

static const struct sb_process_ops scripted = {
	.name = "scripted",
	.state_bytes = sizeof(struct script *),
	.init = script_init,
	.step = script_step,
	.close = script_close,
};

static inline bool flag_set(struct script *script)
{
	return sb_load_acq(&script->flag);
}

/* Waits until a step has raised the flag: it is known to run by then. */
static inline void await_flag(struct script *script)
{
	while (!flag_set(script))
		sb_thread_yield();
}

static inline void await_steps(struct script *script, uint64_t steps)
{
	while (sb_load_acq(&script->steps) < steps)
		sb_thread_yield();
}

/* Steps that several tests use. */

static inline int done_with_42(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	CHECK_EQ(count, 0);
	sb_step_result(step, sb_value_u64(42));
	return SB_DONE;
}

/* Whatever has come: a stop's cancel event may overtake the first step. */
static inline int done_at_once(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	(void)count;
	return SB_DONE;
}

static inline int wait_for_message(struct script *script, struct sb_step *step,
				   const struct sb_event *events, uint32_t count)
{
	(void)step;
	for (uint32_t i = 0; i < count; i++)
		script->seen = events[i].data.u64;
	sb_store_rel(&script->flag, 1);
	return count ? SB_DONE : SB_IDLE;
}

/* Continues until somebody raises the flag. */
static inline int endless(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return flag_set(script) ? SB_DONE : SB_CONTINUE;
}

/* A handler that leaves the completer in the script, for later; and its id. */
#define KEEPS 5

static inline int keeps(void *context, const struct sb_command *command,
			const struct sb_completer *completer)
{
	struct script *script = command->arg.ptr;

	(void)context;
	script->later = *completer;
	sb_store_rel(&script->flag, 1);
	return 0;
}

/* Holds its worker until somebody sets the flag to 2. */
static inline int hold_until_told(struct script *script, struct sb_step *step,
				  const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&script->flag, 1);
	while (sb_load_acq(&script->flag) == 1)
		sb_thread_yield();
	return SB_DONE;
}

static inline int ignore_everything(struct script *script, struct sb_step *step,
				    const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	script->seen += count;
	sb_store_rel(&script->flag, 1);
	return SB_IDLE;
}

static inline int end_on_cancel(struct script *script, struct sb_step *step,
				const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	return SB_IDLE;
}

static inline int continue_until_cancel(struct script *script, struct sb_step *step,
					const struct sb_event *events, uint32_t count)
{
	const int status = end_on_cancel(script, step, events, count);

	return status == SB_DONE ? SB_DONE : SB_CONTINUE;
}

static inline int block_until_cancel(struct script *script, struct sb_step *step,
				     const struct sb_event *events, uint32_t count)
{
	if (!count)
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), 1), 0);
	return end_on_cancel(script, step, events, count) == SB_DONE ? SB_DONE : SB_YIELD;
}

#endif
