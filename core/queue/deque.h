/*
 * deque.h - the work-stealing deque: a LIFO for its owner, from whose old end
 * thieves take. One interface, two algorithms, chosen when a deque is made; the
 * choice is a branch that always goes the same way, not an indirect call.
 *
 * Roles
 *   owner   one thread: push, pop; and steal, to get its own oldest item
 *   thief   any thread, any number: steal, size
 */
#ifndef SB_CORE_QUEUE_DEQUE_H
#define SB_CORE_QUEUE_DEQUE_H

#include "core/queue/deque_chase_lev.h"
#include "core/queue/deque_counted.h"

struct sb_deque {
	/* Line 0: constant, so that every thief has a copy of it. */
	alignas(SB_LINE) enum sb_deque_kind kind;

	/* Lines 1-2. */
	union {
		struct sb_counted counted;
		struct sb_chase_lev chase_lev;
	};
};

static_assert(offsetof(struct sb_deque, counted) == SB_LINE, "line 1");
static_assert(sizeof(struct sb_deque) == 3 * SB_LINE, "three lines");

/* Makes an empty deque. Returns 0 or -ENOMEM. arena: see core/memory/arena.h. */
SB_MUST_CHECK int sb_deque_init(struct sb_deque *deque, enum sb_deque_kind kind,
				struct sb_arena *arena);

/* The ring in use. Owner only, or when there is none. */
static inline const struct sb_ring *sb_deque_ring(const struct sb_deque *deque)
{
	return deque->kind == SB_DEQUE_COUNTED ? deque->counted.own_ring
					       : deque->chase_lev.own_ring;
}

/* Frees all rings. No other thread may use the deque any more. */
void sb_deque_fini(struct sb_deque *deque);

/*
 * Adds an item at the owner's end. Owner only. Returns false, with nothing
 * changed, when the ring is full and there is no memory for a larger one.
 */
static inline bool sb_deque_push(struct sb_deque *deque, void *item)
{
	if (SB_LIKELY(deque->kind == SB_DEQUE_COUNTED))
		return sb_counted_push(&deque->counted, item);
	return sb_chase_lev_push(&deque->chase_lev, item);
}

/* Takes the newest item, or returns NULL when there is none. Owner only. */
static inline void *sb_deque_pop(struct sb_deque *deque)
{
	if (SB_LIKELY(deque->kind == SB_DEQUE_COUNTED))
		return sb_counted_pop(&deque->counted);
	return sb_chase_lev_pop(&deque->chase_lev);
}

/*
 * Takes items, oldest first, into items[0..*count); max is 1 to SB_STEAL_MAX.
 * Any thread. On SB_STEAL_EMPTY and SB_STEAL_LOST nothing was taken and *count
 * is 0.
 */
static inline enum sb_steal_result sb_deque_steal(struct sb_deque *deque,
						  enum sb_steal_amount amount, uint32_t max,
						  void **items, uint32_t *count)
{
	if (SB_LIKELY(deque->kind == SB_DEQUE_COUNTED))
		return sb_counted_steal(&deque->counted, amount, max, items, count);
	return sb_chase_lev_steal(&deque->chase_lev, amount, max, items, count);
}

/* Takes the oldest item. Any thread. *item is set on SB_STEAL_OK only. */
static inline enum sb_steal_result sb_deque_steal_one(struct sb_deque *deque, void **item)
{
	uint32_t count;

	if (SB_LIKELY(deque->kind == SB_DEQUE_COUNTED))
		return sb_counted_steal(&deque->counted, SB_STEAL_COUNT, 1, item, &count);
	return sb_chase_lev_steal_one(&deque->chase_lev, item);
}

/*
 * Number of items. Any thread. A hint while others are active; after a full
 * fence it is not 0 for an item pushed before the partner's fence, unless the
 * owner is about to take it.
 */
static inline uint32_t sb_deque_size(struct sb_deque *deque)
{
	if (SB_LIKELY(deque->kind == SB_DEQUE_COUNTED))
		return sb_counted_size(&deque->counted);
	return sb_chase_lev_size(&deque->chase_lev);
}

#endif
