/*
 * caller.h - what the calling thread has of its own, be it a worker or a foreign
 * thread: which worker it is, and its objects.
 */
#ifndef SB_CORE_MESSAGE_CALLER_H
#define SB_CORE_MESSAGE_CALLER_H

#include "core/state.h"

/* The worker that the calling thread is, or NULL. */
static inline struct sb_worker *sb_worker_current(void)
{
	return sb_thread_own()->worker;
}

/* The worker of a step. A debug build catches a step that is used after it has
 * ended. */
static inline struct sb_worker *sb_step_worker_of(const struct sb_step *step)
{
	SB_ASSERT((uintptr_t)step->worker, ==, (uintptr_t)sb_worker_current());
	return step->worker;
}

/* The same, if it is one of this scheduler. */
static inline struct sb_worker *sb_worker_of(struct sb_scheduler *scheduler)
{
	struct sb_worker *worker = sb_worker_current();

	return SB_LIKELY(worker && worker->scheduler == scheduler) ? worker : NULL;
}

/* Around a submission of a foreign thread. They may nest. */
void sb_caller_submits(bool begins);

/*
 * Around a call of a foreign thread that is in no read-side section and that others may
 * learn of before it returns: destroy waits for its end. After sb_call_end the
 * scheduler may be freed. A submission counts its begin and its end under the locks that
 * it takes in any case (core/process/submit.c).
 */
void sb_call_begin(struct sb_scheduler *scheduler);
void sb_call_end(struct sb_scheduler *scheduler);

/* Whether a counted call is under way. */
bool sb_calls_under_way(struct sb_scheduler *scheduler);

/* The caller of a function that any thread may call. */
struct sb_caller {
	struct sb_worker *worker; /* of this scheduler, or NULL */
	uint32_t side;		  /* of its section; see sb_reclaim_enter() */
	bool has_entered;	  /* see sb_handover_try_enter() */
};

/*
 * Whether the caller may wait for a process: no worker, no helper thread, and no
 * thread in a callback. There the wait would keep stop from ending what it waits for:
 * in a submission, which stop waits for, or in a read-side section.
 */
bool sb_caller_may_wait(void);

/*
 * Around a callback that is called while the scheduler holds a process that it has
 * looked up: nothing in it may pass a quiescent state. A submission that would have to
 * wait for memory is refused instead. They may nest.
 */
static inline void sb_callback_begin(void)
{
	sb_thread_own()->sections++;
}

static inline void sb_callback_end(void)
{
	sb_thread_own()->sections--;
}

/*
 * Around whatever may be called by any thread, in a step, too: what the caller
 * looks up stays a process in between.
 */
static inline struct sb_caller sb_caller_enter(struct sb_scheduler *scheduler)
{
	struct sb_caller caller = { .worker = sb_worker_of(scheduler) };

	if (SB_LIKELY(caller.worker))
		caller.has_entered = sb_handover_try_enter(&caller.worker->handover);
	else
		caller.side = sb_reclaim_enter(scheduler->reclaim);
	return caller;
}

static inline void sb_caller_leave(struct sb_scheduler *scheduler, const struct sb_caller *caller)
{
	if (SB_LIKELY(caller->worker))
		sb_handover_end(&caller->worker->handover, caller->has_entered);
	else
		sb_reclaim_exit(scheduler->reclaim, caller->side);
}

/* One object of the caller's pool: the worker's, or the locked foreign one. */
void *sb_object_alloc(struct sb_scheduler *scheduler, struct sb_worker *worker, size_t size);
void sb_object_free(struct sb_scheduler *scheduler, struct sb_worker *worker, void *object,
		    size_t size);

/* The process's extra, made if there is none; NULL: no memory. By the thread that has the
 * process to itself, until sb_process_finish. */
struct sb_extra *sb_extra_of(struct sb_scheduler *scheduler, struct sb_worker *worker,
			     struct sb_process *process);

#endif
