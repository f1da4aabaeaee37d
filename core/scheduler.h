/*
 * scheduler.h - the work-stealing process scheduler: what the rest of the
 * project, and a program that embeds it, may call.
 *
 *	struct sb_config config = SB_CONFIG_DEFAULT;
 *	struct sb_scheduler *s;
 *	sb_pid pid;
 *
 *	sb_scheduler_create(&s, &config, &placement);
 *	sb_scheduler_register(s, MY_COMMAND, my_handler, NULL);
 *	sb_scheduler_start(s, NULL);
 *	sb_scheduler_submit(s, &my_ops, "main", sb_value_u64(42), &pid);
 *	sb_scheduler_wait_idle(s, UINT64_MAX);
 *	sb_scheduler_stop(s, timeout_ns);
 *	sb_scheduler_destroy(s);
 *
 * Functions return 0 or -errno. The comment of each names its callers. "Any thread" means
 * foreign threads, workers in a step, every callback, and the helper thread, in every state of
 * the scheduler. schedbench(3) has a table of callers, states and results.
 */
#ifndef SB_CORE_SCHEDULER_H
#define SB_CORE_SCHEDULER_H

#include "core/commands.h"
#include "core/config.h"
#include "core/dispatch.h"
#include "core/placement.h"
#include "core/process.h"
#include "core/step.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sb_scheduler;

/*
 * Makes a stopped scheduler with placement->workers workers, and its helper thread,
 * which is not pinned; both structs are copied. Returns 0, -EINVAL (a parameter is
 * out of range), -ENOMEM, or -EAGAIN (there can be no more threads). Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_create(struct sb_scheduler **scheduler,
				      const struct sb_config *config,
				      const struct sb_placement *placement);

/* Frees a scheduler that is created or stopped; otherwise an assertion fails. Processes that
 * were submitted and never started are ended by force, as in stop. Waits for threads that are
 * in a call of it. The scheduler and its completers must not be used afterwards. NULL is
 * allowed. Callers: foreign threads; for workers, callbacks and the helper thread an
 * assertion fails. */
void sb_scheduler_destroy(struct sb_scheduler *scheduler);

/* Registers a command's handler. Returns 0, -EEXIST (the command has a handler), -EINVAL (no
 * handler), -ENOMEM, or -EROFS (after the first start). Callers: any thread, one at a time, and
 * not beside a start. */
SB_MUST_CHECK int sb_scheduler_register(struct sb_scheduler *scheduler, uint32_t command,
					sb_handler handler, void *context);

/*
 * Starts the workers and freezes the registry. Returns 0, -EALREADY (it is started, starting
 * or stopping), -EINVAL when a worker cannot be pinned, or -errno of the thread's
 * creation or its set-up; then it is stopped again, and *failed (may be NULL)
 * is the worker. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_start(struct sb_scheduler *scheduler, uint32_t *failed);

/*
 * Refuses new processes, sends every process a cancel event, and waits until
 * all are complete or timeout_ns has passed; then completes the rest by force
 * with -ECANCELED. Returns 0, or -ETIMEDOUT if force was needed. A step that
 * is running is waited for in any case, and so is a submission under way, which is
 * refused. Start may follow. -EALREADY: it is not started, or another thread is stopping it.
 * Callers: foreign threads; workers, callbacks and the helper thread get -EDEADLK. Their wait
 * could be for themselves, so nothing is done; those of another scheduler get it, too.
 *
 * Schedulers of one program do not wait for each other.
 */
int sb_scheduler_stop(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/*
 * Starts a process. Before a start of the workers the process
 * waits for that. On 0, *pid (may be NULL) is its PID, and it may already have
 * completed. Errors, with nothing left behind: -ESHUTDOWN (stopping), -EAGAIN (as
 * many as processes_max are alive, or about to be), -ENOMEM, or what init or
 * on_start returned.
 *
 * The memory of processes that have ended is used again when nobody can be looking at
 * them, usually within a millisecond. At dead_max_bytes of it a submission waits until
 * there is less, for at most a second; then it is refused with -ENOMEM. On the helper thread,
 * in on_drop and in the visitor of a list a submission does not wait and is refused at once.
 * Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_submit(struct sb_scheduler *scheduler,
				      const struct sb_process_ops *ops, const char *method,
				      union sb_value input, sb_pid *pid);

/*
 * The same with a PID of the caller's choice, from SB_PID_CHOSEN up. More
 * errors, before a call of init: -EINVAL (it is below), -EEXIST (a process has it,
 * or had it less than config.pid_reuse_ns ago, or somebody else is about to use
 * it). Until then a sender to the earlier process learns that it is gone; a
 * completion for it never reaches a later one. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_submit_as(struct sb_scheduler *scheduler, sb_pid pid,
					 const struct sb_process_ops *ops, const char *method,
					 union sb_value input);

/*
 * Submits and waits until the process has completed; *exit says how. Returns 0,
 * or an error of submit (*exit is unchanged); -ESHUTDOWN also after a stop, because there may be
 * no other start. Before the first start it waits for that. Stop by force completes the process,
 * too. Callers: foreign threads; workers, callbacks and the helper thread get -EDEADLK.
 */
SB_MUST_CHECK int sb_scheduler_execute(struct sb_scheduler *scheduler,
				       const struct sb_process_ops *ops, const char *method,
				       union sb_value input, struct sb_exit *exit);

/*
 * Ends a process wherever it is, with -ECANCELED, without waiting for that: a
 * step that is running is the last one, and a process that is queued, Blocked
 * or Idle is not stepped again. A process may terminate itself.
 * Returns 0, -ESRCH (no such process, or it has just completed) or -ENOMEM.
 * Callers: any thread.
 */
int sb_scheduler_terminate(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Asks a process to finish: it gets one SB_EVENT_CANCEL in its life, however
 * often it is asked. Returns 0, -ESRCH or -ENOMEM. Callers: any thread.
 */
int sb_scheduler_cancel(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Sends a message to a process of this scheduler, lock-free for
 * workers. Returns 0: the process was alive and gets the message unless it
 * completes first; or, and the value stays the caller's: -ESRCH (no such
 * process), -EWOULDBLOCK (it has mailbox_bound messages unread), -ENOMEM.
 * From one sender to one process, order is kept. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_send(struct sb_scheduler *scheduler, sb_pid to,
				    union sb_value message);

/* The scheduler as a receiver: its send is sb_scheduler_send. Callers: any thread. */
struct sb_receiver *sb_scheduler_receiver(struct sb_scheduler *scheduler);

/*
 * Completes a yield: the process gets an SB_EVENT_COMPLETION with the result
 * or, if error is not 0, the error. Returns 0, -ESRCH (the process
 * is gone; the value stays the caller's) or -ENOMEM. Callers: any thread.
 */
int sb_complete(const struct sb_completer *completer, union sb_value result, int error);

/*
 * Waits until no process is alive, or timeout_ns has passed (UINT64_MAX:
 * for ever). Returns 0 or -ETIMEDOUT. Callers: foreign threads; workers, callbacks and the helper
 * thread get -EDEADLK.
 */
int sb_scheduler_wait_idle(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/*
 * Once no process is alive: waits until what the completed ones have left
 * behind is free again. Until then workers may be asked for quiescent states,
 * and the answer to that can be a system call. Returns 0. Callers: foreign threads; workers,
 * callbacks and the helper thread get -EDEADLK.
 */
int sb_scheduler_settle(struct sb_scheduler *scheduler);

/* When the last process completed, by sb_clock_ns; only while none lives. Callers: any thread. */
uint64_t sb_scheduler_idle_since_ns(struct sb_scheduler *scheduler);

/*
 * Whether a process has ended for want of memory, or of places (processes_max),
 * since the last call: -ENOMEM or -EAGAIN, the error of the last such process,
 * or 0. Others may wait for it for ever. Callers: any thread.
 */
int sb_scheduler_take_shortage(struct sb_scheduler *scheduler);

/* The number of workers of its placement. Callers: any thread. */
uint32_t sb_scheduler_workers(const struct sb_scheduler *scheduler);

#define SB_LISTED_NAME_BYTES 64

/* A process as the list shows it, at some moment during the call. */
struct sb_process_info {
	sb_pid pid;
	const char *name; /* of its operations, cut off at SB_LISTED_NAME_BYTES - 1 bytes;
			   * valid during the visit */
	enum sb_state state;
	uint64_t steps;	   /* run so far */
	uint64_t start_ns; /* when it was submitted, by sb_clock_ns; by a step:
			    * as of its worker's last tick, or exact if timed */
};

/*
 * Calls visit for every process, while everything goes on: one that comes or
 * goes meanwhile may be missed. visit must not block; it may call what any thread may, and
 * what its step may. Callers: any thread.
 */
void sb_scheduler_list(struct sb_scheduler *scheduler,
		       void (*visit)(void *arg, const struct sb_process_info *info), void *arg);

#ifdef __cplusplus
}
#endif

#endif
