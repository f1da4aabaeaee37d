/*
 * take.h - the queues that a worker takes processes from. Each function returns
 * the process to run next, or NULL: there is none.
 */
#ifndef SB_CORE_WORKER_TAKE_H
#define SB_CORE_WORKER_TAKE_H

#include "core/state.h"

/* At most max of them; the rest is on the own deque. */
struct sb_process *sb_take_inject(struct sb_worker *worker, uint32_t max);
struct sb_process *sb_take_global(struct sb_worker *worker, uint32_t max);

/* The oldest one of the own deque. */
struct sb_process *sb_take_oldest(struct sb_worker *worker);

/* Of those that continue. Oldest first: each has its turn. */
struct sb_process *sb_take_cold(struct sb_worker *worker);

/* The newest one of the own deque. */
static inline struct sb_process *sb_take_newest(struct sb_worker *worker)
{
	struct sb_process *process = sb_deque_pop(&worker->deque);

	if (process)
		sb_counter_add(&worker->counters.local_pops, 1);
	return process;
}

/* Whether there is work on a worker's deques. Any thread; a hint, see sb_deque_size. */
static inline bool sb_has_queued(struct sb_worker *worker)
{
	return sb_deque_size(&worker->deque) || sb_deque_size(&worker->cold);
}

/* Puts all but the first of the n processes in `taken` on the own deque, so that
 * the next pop is the second, and returns the first. Tells nobody. */
struct sb_process *sb_keep_rest(struct sb_worker *worker, uint32_t n);

/* More may have come to the own deque than this worker is about to run. */
void sb_announce_rest(struct sb_worker *worker);

/* The worker goes on with `process`, and not with what it has told nobody about.
 * Without one it searches, and may find another process to go on with, or sleep. */
void sb_tell_untold(struct sb_worker *worker, const struct sb_process *process);

#endif
