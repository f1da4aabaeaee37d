/*
 * runq.h - a FIFO of Ready processes with many producers and many consumers:
 * the global queue, and each worker's inject queue.
 *
 * A list of arrays with a short lock at each end (Michael and Scott, Simple, Fast, and
 * Practical Non-Blocking and Blocking Concurrent Queue Algorithms, PODC 1996, section
 * 3: the two-lock queue), and two counts, of all that was ever pushed and of all that
 * was ever taken, modulo 2^32. Any thread may call any function at the same time, but
 * for init.
 *
 * Linearization points: the store of `pushed`, and that of `taken`. A push stores the
 * process, then `pushed` with release; a take reads `pushed` with acquire, so all that
 * it counts can be read.
 *
 * Why locks and not a lock-free list: the consumers take a batch and need its fair
 * share of the length, both in one step; a batch makes the lock one of many costs.
 * Why one for each end: with a single one its line, and the lengths beside it, cross
 * from who submits to the worker and back for each process that a worker takes at
 * once. Why not linked through the processes, as Go's and Tokio's global queues are:
 * their memory was last written on another core, and of a list each has to arrive
 * before it is known where the next one is. Of an array all are fetched at the same
 * time.
 */
#ifndef SB_CORE_QUEUE_RUNQ_H
#define SB_CORE_QUEUE_RUNQ_H

#include "core/platform/atomic.h"
#include "core/platform/platform.h"

/* With the link, 1 KiB. Tests build with fewer. */
#ifndef SB_RUNQ_SLOTS
#define SB_RUNQ_SLOTS 127
#endif

/* A power of two. */
#define SB_RUNQ_HOT 4

/* The length from which on a push counts exactly. */
#define SB_RUNQ_LONG 64

struct sb_arena;
struct sb_process;

struct sb_runq_part {
	struct sb_runq_part *next; /* written before what is in there is counted */
	struct sb_process *slot[SB_RUNQ_SLOTS];
};

struct sb_runq {
	/* Line 0: who pushes; idle workers look at it all the time. */
	alignas(SB_LINE) _Atomic(uint32_t) pushed;
	/* The latest, at their numbers: number n is there until n + SB_RUNQ_HOT is
	 * pushed. So who has seen the count has the process already. */
	_Atomic(struct sb_process *) hot[SB_RUNQ_HOT];

	/* Line 1: who pushes, under its lock. */
	alignas(SB_LINE) struct sb_lock push_lock;
	uint32_t count;		    /* what `pushed` is: its line may be with who looks */
	uint32_t end;		    /* behind the last in tail */
	struct sb_runq_part *tail;  /* NULL: end is SB_RUNQ_SLOTS */
	struct sb_runq_part *start; /* the first one ever */
	struct sb_runq_part *empty; /* linked, to be used again */
	struct sb_arena *arena;
	uint32_t taken_seen; /* `taken`, some time ago */
	bool links;	     /* the last push has linked, see below */
	bool empty_old;	     /* `empty` is what the last trim has left there */

	/* Line 2: who takes, under its lock, which a push that links takes, too.
	 * Anyone reads `taken`, and takes `emptied`. */
	alignas(SB_LINE) struct sb_lock take_lock;
	_Atomic(uint32_t) taken;
	struct sb_runq_part *head; /* NULL: nothing has been taken yet */
	uint32_t begin;		   /* the first in head */
	/* Without memory for another part processes are linked; these come behind
	 * those in the parts, and while there are any, the next one is, too. */
	uint32_t linked;
	struct sb_process *first, *last;
	/* Linked; who pushes takes all. A queue keeps what it once needed until it is
	 * trimmed, so that a worker that polls never gives memory back. */
	_Atomic(struct sb_runq_part *) emptied;
};

static_assert(sizeof(struct sb_runq) == 3 * SB_LINE, "three lines each");
static_assert(offsetof(struct sb_runq, hot[SB_RUNQ_HOT]) <= SB_FETCHED, "fetched at once");

/* arena: where parts come from. */
void sb_runq_init(struct sb_runq *queue, struct sb_arena *arena);

/* Forgets what is in it, and has no memory any more. It may be used again. */
void sb_runq_clear(struct sb_runq *queue);

/* Appends one process. Never fails. The caller holds push_lock. Returns the length
 * then, or, below SB_RUNQ_LONG, no less than that and below it, too. */
uint32_t sb_runq_append(struct sb_runq *queue, struct sb_process *process);

/* The same, with the lock. */
uint32_t sb_runq_push(struct sb_runq *queue, struct sb_process *process);

/*
 * Takes from the front, in order, at most max processes (what `out` has room for)
 * and at most length / share + 1 (share: how many workers live on this queue;
 * never 0). Returns how many.
 */
uint32_t sb_runq_take(struct sb_runq *queue, uint32_t max, uint32_t share, struct sb_process **out);

/*
 * Frees the empty parts that no push has needed since the last trim; so what a peak
 * has taken is free after two trims, or three. To be called about once a second, by
 * any thread. Returns how many.
 */
uint32_t sb_runq_trim(struct sb_runq *queue);

/* A hint while others are active, and never less than what was pushed before the
 * caller's last fence and is still there; see sb_deque_size about fences. */
static inline uint32_t sb_runq_length(struct sb_runq *queue)
{
	/* First: it never passes the other one. */
	const uint32_t taken = sb_load_acq(&queue->taken);

	return sb_load_rlx(&queue->pushed) - taken;
}

#endif
