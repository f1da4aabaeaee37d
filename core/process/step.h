/* step.h - one process: take, step, dispatch, let go, complete. */
#ifndef SB_CORE_PROCESS_STEP_H
#define SB_CORE_PROCESS_STEP_H

#include <errno.h>

#include "core/word.h"

struct sb_scheduler;
struct sb_worker;

/* Chooses the steps that are watched; before the worker's loop. */
void sb_worker_watch(struct sb_worker *worker);

/* Runs one step of a Ready process that the worker has taken from a queue. */
void sb_worker_run(struct sb_worker *worker, struct sb_process *process);

/* Completes a process whatever its state; for a worker-less scheduler. */
void sb_process_finish(struct sb_scheduler *scheduler, struct sb_worker *worker,
		       struct sb_process *process, int error, union sb_value result);

/* The error of a callback that did not return 0; a positive value is no -errno. */
static inline int sb_as_error(int rc)
{
	return rc < 0 ? rc : -EINVAL;
}

/* From its return on nobody reads process->ops. */
static inline void sb_process_close(struct sb_process *process)
{
	if (process->ops->close)
		process->ops->close(process->state);
}

/* Whole lines, so that the pool's objects of this size are aligned to them. */
static inline size_t sb_process_bytes(const struct sb_process_ops *ops)
{
	const size_t line = alignof(struct sb_process);

	return (offsetof(struct sb_process, state) + ops->state_bytes + line - 1) & ~(line - 1);
}

#endif
