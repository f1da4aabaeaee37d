/*
 * scheduler.h - the scheduler: creation, start and stop, processes, messages.
 *
 * A complete program:
 *
 *	#include <schedbench.h>
 *	#include <stdio.h>
 *
 *	struct sum {
 *		uint64_t next, total;
 *	};
 *
 *	static int init(void *state, const char *method, union sb_value input)
 *	{
 *		(void)method;
 *		((struct sum *)state)->next = input.u64;
 *		return 0;
 *	}
 *
 *	static int step(void *state, struct sb_step *out, const struct sb_event *events, uint32_t count)
 *	{
 *		struct sum *sum = (struct sum *)state;
 *
 *		(void)events, (void)count;
 *		sum->total += sum->next;
 *		if (sum->next--)
 *			return SB_CONTINUE;
 *		sb_step_result(out, sb_value_u64(sum->total));
 *		return SB_DONE;
 *	}
 *
 *	int main(void)
 *	{
 *		static const struct sb_process_ops ops = { "sum", sizeof(struct sum), init, step, NULL };
 *		struct sb_placement placement;
 *		struct sb_scheduler *s = NULL;
 *		struct sb_config config;
 *		struct sb_exit exit;
 *		int rc;
 *
 *		sb_config_init(&config);
 *		rc = sb_placement_here(0, &placement);
 *		if (!rc) {
 *			rc = sb_scheduler_create(&s, &config, &placement);
 *			sb_placement_free(&placement);
 *		}
 *		if (!rc)
 *			rc = sb_scheduler_start(s, NULL);
 *		if (!rc) {
 *			rc = sb_scheduler_execute(s, &ops, "main", sb_value_u64(100), &exit);
 *			if (!rc && !exit.error)
 *				printf("%u\n", (unsigned)exit.result.u64);
 *			sb_scheduler_stop(s, UINT64_MAX);
 *		}
 *		sb_scheduler_destroy(s);
 *		return rc != 0;
 *	}
 *
 * The program ends here. It prints 5050.
 *
 * Functions return 0 or -errno unless their comment says otherwise; times are in nanoseconds.
 * A positive result of init, on_start or a command handler counts as -EINVAL.
 *
 * "Any thread" means foreign threads, workers in a step, every callback, and the helper thread of a
 * scheduler, in every state of the scheduler that the function names. Foreign threads are the
 * threads of the program, in no callback. schedbench(3) has a table of callers, states and results.
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
 * Creates a scheduler with placement->workers workers, which do not run yet, and its helper thread,
 * which inherits the CPU affinity of the caller. Both structs are copied. The threads of a
 * scheduler block all signals but those of a fault. Returns 0; -EINVAL: a parameter is out of its
 * range; -ENOMEM; -EAGAIN: no further thread can be created. On an error *scheduler is unchanged.
 * May be called in a step. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_create(struct sb_scheduler **scheduler,
				      const struct sb_config *config,
				      const struct sb_placement *placement);

/*
 * Frees a scheduler that has not been started, or has been stopped; in other states an assertion
 * fails. Processes that wait for a start end by force, as in sb_scheduler_stop. Waits for calls of
 * submit, execute, wait_idle, settle, start, send, complete, cancel, terminate and list that other
 * threads have begun. A call that begins after destroy has begun is an error of the program, also
 * with a completer of the scheduler. NULL has no effect. Callers: foreign threads; for workers,
 * callbacks and the helper thread an assertion fails.
 */
void sb_scheduler_destroy(struct sb_scheduler *scheduler);

/*
 * Registers the handler of a command; the handler gets context. command: any id, except those of
 * core/commands.h. Returns 0; -EEXIST: the command has a handler; -EINVAL: handler is NULL;
 * -ENOMEM; -EROFS: sb_scheduler_start has been called. Callers: any thread, one at a time, and not
 * beside a start.
 */
SB_MUST_CHECK int sb_scheduler_register(struct sb_scheduler *scheduler, uint32_t command,
					sb_handler handler, void *context);

/*
 * Starts the workers, and waits until each is ready. Returns 0; -EALREADY: the scheduler is
 * started, starting or stopping; -EINVAL: a worker cannot be pinned; -ENOMEM or -EAGAIN: there is
 * no memory or thread for a worker. After these three errors *failed (may be NULL) is the index of
 * such a worker, and the scheduler is in the state from before the call. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_start(struct sb_scheduler *scheduler, uint32_t *failed);

/*
 * Stops the workers. Refuses new processes, sends a cancel event to every process, again later if
 * there is no memory for it, and waits until all have ended or timeout_ns has passed (UINT64_MAX:
 * no limit). The processes that remain end by force, with -ECANCELED. A step that runs and a
 * submission that has begun are waited for without a limit.
 *
 * Returns 0; -ETIMEDOUT: processes have ended by force, and the scheduler is stopped; -EALREADY: it
 * is not started, or another thread stops it. It may be started again. Schedulers of one program
 * do not wait for each other. Callers: foreign threads; workers, callbacks and the helper thread
 * get -EDEADLK. They may be what the stop would wait for, so nothing is done.
 */
int sb_scheduler_stop(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/*
 * Starts a process. ops: see struct sb_process_ops. method and input: the arguments of its init. If
 * the workers do not run, the process waits for sb_scheduler_start. *pid (may be NULL) is its PID,
 * stored before its first step; on an error *pid is unchanged.
 *
 * Returns 0: the process has started, and may have ended already. Or an error, and the process has
 * left nothing behind: -ESHUTDOWN: the scheduler stops; -EAGAIN: processes_max processes exist, or
 * are about to; -ENOMEM, also for a state_bytes that no memory holds; or the error of init or
 * on_start. The process owns input from the call of init on, also if it is refused after that.
 *
 * The memory of processes that have ended is used again when no thread can read it, usually within
 * a millisecond. While it has dead_max_bytes, a submission waits, also in a step, for up to a
 * second, and then returns -ENOMEM. In on_drop, in the visitor of a list and on the helper thread
 * it returns -ENOMEM at once. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_submit(struct sb_scheduler *scheduler,
				      const struct sb_process_ops *ops, const char *method,
				      union sb_value input, sb_pid *pid);

/*
 * Starts a process as sb_scheduler_submit does, with a PID that the caller chooses, SB_PID_CHOSEN
 * or above. Returns as sb_scheduler_submit; also, before init is called, -EINVAL: pid is below
 * SB_PID_CHOSEN; -EEXIST: a process has the PID, another submission is about to use it, or less
 * than pid_reuse_ns has passed since the worker retired its process: when it next ran out of work
 * or had a tick, usually within a millisecond of the end. Messages to the PID are refused until it
 * is used again. Completions, timers and exit events of the earlier process never reach the later
 * one. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_submit_as(struct sb_scheduler *scheduler, sb_pid pid,
					 const struct sb_process_ops *ops, const char *method,
					 union sb_value input);

/*
 * Starts a process as sb_scheduler_submit does, and waits until it has ended, without a limit;
 * before the first start of the workers also for that. *exit reports the end. on_complete has run
 * before the function returns, and the process no longer counts for processes_max. Returns 0, also
 * if the process ended with an error or by force; or an error of submit, and *exit is unchanged;
 * -ESHUTDOWN also after a stop, because there may be no further start. Callers: foreign threads;
 * workers, callbacks and the helper thread get -EDEADLK.
 */
SB_MUST_CHECK int sb_scheduler_execute(struct sb_scheduler *scheduler,
				       const struct sb_process_ops *ops, const char *method,
				       union sb_value input, struct sb_exit *exit);

/*
 * Terminates a process: it runs no further step, and ends with -ECANCELED. Does not wait for that.
 * A step that runs goes on; if it ends the process, that end counts. A process may terminate
 * itself. Returns 0, also if the process has been terminated before; -ESRCH: there is no such
 * process, or it has ended; -ENOMEM. Callers: any thread.
 */
int sb_scheduler_terminate(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Sends a process its SB_EVENT_CANCEL, which asks it to end. A process gets at most one in its
 * life. Returns 0, also if it was sent before; -ESRCH: there is no such process, or it has ended;
 * -ENOMEM. Callers: any thread.
 */
int sb_scheduler_cancel(struct sb_scheduler *scheduler, sb_pid pid);

/*
 * Sends a message to a process of this scheduler, whatever the router. Returns 0: the process gets
 * the message unless it ends first; then on_drop gets it. Or an error, and the message remains with
 * the caller: -ESRCH: there is no such process, or it has ended; -EWOULDBLOCK: mailbox_bound
 * messages wait for it; -ENOMEM. From one sender to one process the order is kept.
 *
 * Does not wait for the process. A worker takes no lock, as in sb_step_send; other threads take a
 * short one that they share. Callers: any thread.
 */
SB_MUST_CHECK int sb_scheduler_send(struct sb_scheduler *scheduler, sb_pid to,
				    union sb_value message);

/* Returns the scheduler as a receiver, whose send is sb_scheduler_send. It is valid until
 * sb_scheduler_destroy. Callers: any thread. */
struct sb_receiver *sb_scheduler_receiver(struct sb_scheduler *scheduler);

/*
 * Completes a yield: its process gets an SB_EVENT_COMPLETION with result and error (0 or -errno).
 * To be called once for each yield; each further call sends a further event. Returns 0: the process
 * gets the event unless it ends first; then on_drop gets it. Or an error, and result remains with
 * the caller: -ESRCH: the process has ended; -ENOMEM: may be called again. Does not wait. Callers:
 * any thread.
 */
int sb_complete(const struct sb_completer *completer, union sb_value result, int error);

/* Waits until no process exists and no submission is under way, or timeout_ns has passed
 * (UINT64_MAX: no limit; 0: only checks). Returns 0 or -ETIMEDOUT. Callers: foreign threads;
 * workers, callbacks and the helper thread get -EDEADLK. */
int sb_scheduler_wait_idle(struct sb_scheduler *scheduler, uint64_t timeout_ns);

/* Waits until the memory of processes that have ended can be used again; to be called after
 * sb_scheduler_wait_idle, before a measurement. Returns 0. Callers: foreign threads; workers,
 * callbacks and the helper thread get -EDEADLK. */
int sb_scheduler_settle(struct sb_scheduler *scheduler);

/* Returns the time at which the last process ended (CLOCK_MONOTONIC, ns); 0: none has ended. Valid
 * while no process exists. Callers: any thread. */
uint64_t sb_scheduler_idle_since_ns(struct sb_scheduler *scheduler);

/* Returns -ENOMEM or -EAGAIN if a process has ended with this error since the last call (the error
 * of the last such process), else 0. Processes that wait for a message of such a process may never
 * end. Callers: any thread. */
int sb_scheduler_take_shortage(struct sb_scheduler *scheduler);

/* Returns the number of workers. Callers: any thread. */
uint32_t sb_scheduler_workers(const struct sb_scheduler *scheduler);

#define SB_LISTED_NAME_BYTES 64

/* A process at some moment during the list. */
struct sb_process_info {
	sb_pid pid;
	const char *name; /* a copy of sb_process_ops.name, cut off at SB_LISTED_NAME_BYTES - 1
			   * bytes; "" for NULL; valid during the visit */
	enum sb_state state;
	uint64_t steps;	   /* begun so far */
	uint64_t start_ns; /* the time of the submission (CLOCK_MONOTONIC, ns); of one by a worker
			    * the time of that worker's last tick, or exact */
};

/*
 * Calls visit(arg, info) for each process that exists during the whole call; processes that start
 * or end meanwhile may be missed. *info is valid during the visit. visit is called by the calling
 * thread under no lock. It must not block; it may call every function whose callers are "any
 * thread", and in a step those of core/step.h. Callers: any thread.
 */
void sb_scheduler_list(struct sb_scheduler *scheduler,
		       void (*visit)(void *arg, const struct sb_process_info *info), void *arg);

#ifdef __cplusplus
}
#endif

#endif
