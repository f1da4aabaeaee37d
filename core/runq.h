/*
 * runq.h - a FIFO of Ready processes with many producers and many consumers:
 * the global queue, and each worker's inject queue.
 *
 * A list of arrays under a short lock, with its length beside it so that looking
 * at an empty queue touches no lock. Any thread may call any function at the same
 * time, but for init.
 *
 * Why a lock and not a lock-free list: the consumers take a batch and need its
 * fair share of the length, both in one step; a batch makes the lock one of
 * many costs. Go's and Tokio's global queues are the same. Why not linked through
 * the processes, as these are: their memory was last written on another core, and
 * of a list each has to arrive before it is known where the next one is. Of an
 * array all are fetched at the same time.
 */
#ifndef SB_CORE_RUNQ_H
#define SB_CORE_RUNQ_H

#include "core/platform.h"

/* With the link, 1 KiB. Tests build with fewer. */
#ifndef SB_RUNQ_SLOTS
#define SB_RUNQ_SLOTS 127
#endif

struct sb_arena;
struct sb_process;

struct sb_runq_part {
	struct sb_runq_part *next;
	struct sb_process *slot[SB_RUNQ_SLOTS];
};

/* All under the lock but reading length. */
struct sb_runq {
	alignas(SB_LINE) struct sb_lock lock;
	_Atomic(uint32_t) length;
	struct sb_runq_part *head, *tail; /* NULL, until the first push */
	uint32_t begin,
		end; /* the first in head, and behind the last in tail */
	struct sb_arena *arena;
	/* Without memory for another part they are linked; these come behind
	 * those in the parts, and while there are any, the next one is, too. */
	struct sb_process *first, *last;
};

static_assert(sizeof(struct sb_runq) == SB_LINE, "one line each");

/* arena: where parts come from. */
void sb_runq_init(struct sb_runq *queue, struct sb_arena *arena);

/* Forgets what is in it, and has no memory any more. It may be used again. */
void sb_runq_clear(struct sb_runq *queue);

/* Appends one process. Never fails. The caller holds the lock. Returns the length
 * then. */
uint32_t sb_runq_append(struct sb_runq *queue, struct sb_process *process);

/* The same, with the lock. */
uint32_t sb_runq_push(struct sb_runq *queue, struct sb_process *process);

/*
 * Takes from the front, in order, at most max processes (what `out` has room for)
 * and at most length / share + 1 (share: how many workers live on this queue;
 * never 0). Returns how many.
 */
uint32_t sb_runq_take(struct sb_runq *queue, uint32_t max, uint32_t share,
		      struct sb_process **out);

/* A hint while others are active; see sb_deque_size about fences. */
static inline uint32_t sb_runq_length(struct sb_runq *queue)
{
	return sb_load_rlx(&queue->length);
}

#endif
