/*
 * process.h - processes: their operations, their events, and the values that they exchange.
 *
 * A process is a state machine: any C type with the three operations of struct sb_process_ops.
 * Worker threads run the steps of many processes. A step handles events, states what the process
 * does next, and returns; it must not block its worker.
 */
#ifndef SB_CORE_PROCESS_H
#define SB_CORE_PROCESS_H

#include "core/platform/public.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A process identifier (PID). 0 is not a PID. The scheduler gives each of its PIDs to one process
 * only. PIDs from SB_PID_CHOSEN on are chosen by the program (sb_scheduler_submit_as) and may be
 * used again after their process has ended (sb_config.pid_reuse_ns). PIDs are valid within one
 * scheduler.
 */
typedef uint64_t sb_pid;

#define SB_PID_CHOSEN (UINT64_C(1) << 63)

/*
 * The content of a message, an input or a result: eight bytes or a pointer. The receiver of a
 * pointer owns the memory that it points to. sb_config.on_drop gets the values that no process
 * receives. If a function refuses a value with an error, the value remains with its caller.
 */
union sb_value {
	uint64_t u64;
	void *ptr;
};

/* Return a value that is a number, and one that is a pointer. Callers: any thread. */
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

/*
 * The kinds of events. Two events of one kind that one thread or process causes reach a process in
 * the order in which they were caused. Between kinds there is no order. If more events wait than
 * one step takes (sb_config.event_budget), cancel and exit events are delivered first, and messages
 * share each step with completions and timer events. So a cancel event or an exit event may
 * overtake messages that were sent before it.
 */
enum sb_event_type {
	/* A yield has completed. tag: the tag of the yield; data: the result; error: 0 or -errno. */
	SB_EVENT_COMPLETION,
	/* A message. data: the message; tag and error: 0. */
	SB_EVENT_MESSAGE,
	/* A monitored process has ended. tag: its PID; data and error: as in struct sb_exit. The
	 * monitoring process does not own data. */
	SB_EVENT_EXIT,
	/* A timer or a ticker has fired. tag: the tag of the yield that started it; data.u64: 1 for
	 * a timer; for a ticker the number of periods since the last event of it that the process
	 * received. At most one event of a ticker waits for a process. */
	SB_EVENT_TIMER,
	/* The process should end soon: sb_scheduler_cancel or sb_scheduler_stop was called, or
	 * another process yielded SB_COMMAND_CANCEL. tag, data and error: 0. A process receives at
	 * most one. */
	SB_EVENT_CANCEL,
};

struct sb_event {
	uint32_t type; /* enum sb_event_type */
	int32_t error;
	uint64_t tag;
	union sb_value data;
};

/*
 * The results of a step. A negative result is -errno: the process ends with this error. A positive
 * result that is not listed here ends it with -EINVAL. The commands that the step has yielded are
 * dispatched unless the process ends.
 */
enum sb_status {
	SB_CONTINUE, /* run the next step without waiting for an event; if the step has yielded, as
		      * SB_YIELD */
	SB_YIELD,    /* wait for the next event, usually a completion; the process is Blocked */
	SB_IDLE,     /* wait for the next event, usually a message; the process is Idle, or Blocked
		      * if the step has yielded */
	SB_DONE,     /* end with error 0 and the result of sb_step_result */
};

/* The output of a step. See core/step.h. */
struct sb_step;

/*
 * The operations of a kind of process. The struct must remain valid until close has returned; if
 * close is NULL, until sb_config.on_complete is called or sb_scheduler_execute returns.
 *
 * The operations may call every function whose callers are "any thread". They must not wait for
 * another process or for a lock that a step may hold for long: a blocked worker runs no other
 * process, and sb_scheduler_stop waits for every operation that has begun.
 */
struct sb_process_ops {
	/* For lists; may be NULL. The text must remain valid as long as the struct. */
	const char *name;

	/* The size of the state in bytes; 0 is allowed. The state is aligned to 16 bytes and
	 * filled with zeros before init. */
	size_t state_bytes;

	/*
	 * Prepares the state of a new process for an entry method. Called once, by the thread that
	 * submits or by the worker whose step spawns, before the process is visible to others.
	 * method and input are those of the submission; method is not copied. Returns 0, -ENOTSUP
	 * if there is no such method, or another -errno, which refuses the process. close is called
	 * in every case. Must not be NULL.
	 */
	int (*init)(void *state, const char *method, union sb_value input);

	/*
	 * Runs one step. events[0] to events[count - 1] are the events since the last step; count
	 * is 0 to sb_config.event_budget. The array is valid during the call. Steps of one process
	 * never run at the same time; each sees the memory writes of the one before it, on whatever
	 * worker that ran. Returns an enum sb_status or -errno. Must not be NULL.
	 */
	int (*step)(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count);

	/*
	 * Releases what init and the steps have acquired. Called exactly once after each init, also
	 * after one that failed: by a worker when the process has ended, by the submitting thread
	 * when the process is refused, or by the thread in sb_scheduler_stop or
	 * sb_scheduler_destroy when it ends by force. NULL: there is nothing to release.
	 */
	void (*close)(void *state);
};

/* The state of a process, as sb_scheduler_list reports it. */
enum sb_state {
	SB_STATE_READY = 1, /* waits for a worker */
	SB_STATE_RUNNING,   /* a worker runs its step, or is about to */
	SB_STATE_BLOCKED,   /* waits for an event after SB_YIELD, or after a yield */
	SB_STATE_IDLE,	    /* waits for an event after SB_IDLE */
	SB_STATE_COMPLETE,  /* has ended; not reported */
};

#ifdef __cplusplus
}
#endif

#endif
