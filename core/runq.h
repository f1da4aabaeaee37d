/*
 * runq.h - a FIFO of Ready processes with many producers and many consumers:
 * the global queue, and each worker's inject queue.
 *
 * A linked list through the processes themselves under a short lock, with its
 * length beside it so that looking at an empty queue touches no lock. Any
 * thread may call any function at the same time.
 *
 * Why a lock and not a lock-free list: the consumers take a batch and need its
 * fair share of the length, both in one step; a batch makes the lock one of
 * many costs. Go's and Tokio's global queues are the same.
 */
#ifndef SB_CORE_RUNQ_H
#define SB_CORE_RUNQ_H

#include "core/platform.h"

struct sb_process;

struct sb_runq {
	alignas(SB_LINE) struct sb_lock lock;
	_Atomic(uint32_t) length; /* written under the lock */
	struct sb_process *first;
	struct sb_process *last;
};

static_assert(sizeof(struct sb_runq) == SB_LINE, "one line each");

void sb_runq_init(struct sb_runq *queue);

/* Appends one process. Never fails. */
void sb_runq_push(struct sb_runq *queue, struct sb_process *process);

/*
 * Takes from the front at most max processes and at most length / share + 1
 * (share: how many workers live on this queue; never 0), in order, linked
 * through `next`, the last with next == NULL. *count is how many.
 */
struct sb_process *sb_runq_take(struct sb_runq *queue, uint32_t max,
				uint32_t share, uint32_t *count);

/* A hint while others are active; see sb_deque_size about fences. */
static inline uint32_t sb_runq_length(struct sb_runq *queue)
{
	return sb_load_rlx(&queue->length);
}

#endif
