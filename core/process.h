/*
 * process.h - what a process is to those who write one, and what the scheduler
 * keeps about it.
 *
 * A process is a state machine: any C type with the three operations of struct
 * sb_process_ops. It never blocks its worker; it runs one step, says what it
 * wants next, and returns.
 */
#ifndef SB_CORE_PROCESS_H
#define SB_CORE_PROCESS_H

#include "core/platform/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names one process for ever: no PID is given out twice. 0 is no PID. Those from
 * SB_PID_CHOSEN up are the callers' to choose, see sb_scheduler_submit_as. */
typedef uint64_t sb_pid;

#define SB_PID_CHOSEN (UINT64_C(1) << 63)

/*
 * The content of messages, inputs and results: eight bytes or a pointer. Ownership
 * of what a pointer points to goes with it; see sb_config.on_drop for the
 * values that nobody receives.
 */
union sb_value {
	uint64_t u64;
	void *ptr;
};

/* A value that is a number, or a pointer. Callers: any thread. */
static inline union sb_value sb_value_u64(uint64_t n)
{
	union sb_value value;

	value.u64 = n;
	return value;
}

static inline union sb_value sb_value_ptr(void *p)
{
	union sb_value value;

	value.ptr = p;
	return value;
}

enum sb_event_type {
	SB_EVENT_COMPLETION, /* of the yield `tag`: data is its result */
	SB_EVENT_MESSAGE,    /* data is the message; tag is 0 */
	SB_EVENT_EXIT,	     /* a monitored process ended: tag is its PID, error
			      * and data (not owned) are as in struct sb_exit */
	SB_EVENT_TIMER,	     /* of the yield `tag` that started the timer; data
			      * is how many periods have passed since the last */
	SB_EVENT_CANCEL,     /* somebody, or the scheduler's stop, asks it to
			      * finish soon */
};

struct sb_event {
	uint32_t type; /* enum sb_event_type */
	int32_t error; /* 0, or -errno of a failed yield */
	uint64_t tag;
	union sb_value data;
};

/* The results of a step; a negative value is -errno and completes the process. */
enum sb_status {
	SB_CONTINUE, /* has more to do */
	SB_YIELD,    /* waits for the completions of its yields; with none under
		      * way, for the next event of any kind */
	SB_IDLE,     /* waits for a message */
	SB_DONE,     /* finished; sb_step_result may have been called */
};

/* The step output; it belongs to the scheduler. See core/scheduler.h. */
struct sb_step;

/*
 * Must stay valid until the process's close has returned, and no longer; after an
 * sb_scheduler_execute, until that has returned. Only the text of the name must
 * outlive the scheduler's traces.
 */
struct sb_process_ops {
	const char *name;
	size_t state_bytes; /* size of the state that init prepares; it is
			     * aligned to 16 */

	/*
	 * Prepares state (state_bytes, zeroed) for an entry method. Called once
	 * by the thread that submits, before anyone can see the process.
	 * Returns 0, -ENOTSUP for a method that it does not offer, or another
	 * -errno; close is called in any case.
	 */
	int (*init)(void *state, const char *method, union sb_value input);

	/*
	 * Advances the machine. Never two at once. events[0..count) came since
	 * the last step; the array is the scheduler's and valid during the call.
	 * Returns an enum sb_status, or -errno.
	 */
	int (*step)(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count);

	/* Releases what init and step acquired. Once for each init, on every way
	 * out; after an init that failed, with what that left in state. NULL:
	 * there is nothing to release. */
	void (*close)(void *state);
};

/* The state of a process between its steps; see core/word.h. */
enum sb_state {
	SB_STATE_READY = 1,
	SB_STATE_RUNNING,
	SB_STATE_BLOCKED,
	SB_STATE_IDLE,
	SB_STATE_COMPLETE,
};

#define SB_WORKER_NONE UINT32_MAX

#ifdef __cplusplus
}
#endif

#endif
