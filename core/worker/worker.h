/* worker.h - the loop of a worker. */
#ifndef SB_CORE_WORKER_WORKER_H
#define SB_CORE_WORKER_WORKER_H

#include "core/state.h"

/* The body of a worker's thread, between its set-up and its end. */
void sb_worker_loop(struct sb_worker *worker);

static inline bool sb_is_halted(struct sb_scheduler *scheduler)
{
	return sb_load_acq(&scheduler->halt);
}

static inline void sb_worker_quiescent(struct sb_worker *worker)
{
	sb_reader_quiescent(worker->reader, worker->period);
}

static inline uint64_t sb_worker_steps(struct sb_worker *worker)
{
	return sb_counter_read(&worker->counters.steps);
}

/* A worker that polls makes no system call. */
static inline void sb_worker_give_memory_back(struct sb_worker *worker, uint64_t now)
{
	if (worker->scheduler->config.park != SB_PARK_POLL)
		sb_pool_trim(&worker->pool, now);
}

#endif
