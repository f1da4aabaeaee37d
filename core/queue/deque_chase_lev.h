/*
 * deque_chase_lev.h - the Chase-Lev work-stealing deque, growing, as published
 * for C11: a LIFO for its owner, from whose old end thieves take one item.
 *
 * Roles: as in core/queue/deque_counted.h.
 *
 * State
 *   top     the oldest index; only grows, changed by CAS
 *   bottom  one past the newest index, written by the owner only
 *   The live items have the indices [top, bottom).
 *
 * The owner's pop lowers `bottom` first and reads `top` then; a thief reads
 * `top` first and `bottom` then. With a full fence between the two on each side
 * (F1, F2), one of them sees the other: either the owner sees that top has come
 * up to its item and settles the last one by a CAS on top (C1 against C2), or
 * the thief sees the lowered bottom. This holds for one item per claim only; see
 * core/queue/deque_counted.h for what happens with more. So taking half is a loop of
 * single steals here.
 *
 * Orders
 *   P1  push stores `bottom` with release: slot, contents and ring are visible
 *       to a thief that acquires it at T1. So does pop, because a thief may
 *       read what pop stored and then takes an item of an earlier push.
 *   T1  steal loads `bottom` with acquire, after the fence.
 *   T2  steal loads `ring` with acquire: pairs with G1.
 *   P2  push acquires `top` before it reuses a slot; pairs with the release of
 *       C2: the thief's read of the slot comes before.
 *   G1  grow publishes the new ring with release.
 *
 * Linearization points: push P1; pop the store of bottom, or C1 for the last
 * item; steal C2. Progress: push wait-free but for growth, pop wait-free, steal
 * lock-free. Indices are 64 bits wide and never wrap.
 *
 * Contracts of the functions: core/queue/deque.h.
 *
 * Sources: Chase and Lev, "Dynamic circular work-stealing deque", SPAA 2005;
 * Le, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for
 * weak memory models", PPoPP 2013, figure 1. There push has a release fence and
 * a relaxed store; here the stores release, which ThreadSanitizer understands.
 */
#ifndef SB_CORE_QUEUE_DEQUE_CHASE_LEV_H
#define SB_CORE_QUEUE_DEQUE_CHASE_LEV_H

#include "core/queue/ring.h"

struct sb_chase_lev {
	/* Line 0: thieves write top; all read bottom and ring. */
	alignas(SB_LINE) _Atomic(uint64_t) top;
	_Atomic(uint64_t) bottom;
	_Atomic(struct sb_ring *) ring;

	/* Line 1: the owner's copies; own_top may lag. */
	alignas(SB_LINE) uint64_t own_top;
	struct sb_ring *own_ring;
	struct sb_arena *arena; /* of the rings */
};

static_assert(offsetof(struct sb_chase_lev, own_top) == SB_LINE, "line 1");

int sb_chase_lev_init(struct sb_chase_lev *deque, struct sb_arena *arena);
void sb_chase_lev_fini(struct sb_chase_lev *deque);
bool sb_chase_lev_grow(struct sb_chase_lev *deque);

static inline bool sb_chase_lev_push(struct sb_chase_lev *deque, void *item)
{
	const uint64_t bottom = sb_load_rlx(&deque->bottom);

	if (SB_UNLIKELY(bottom - deque->own_top > deque->own_ring->mask)) {
		deque->own_top = sb_load_acq(&deque->top); /* P2 <- C2 */
		if (bottom - deque->own_top > deque->own_ring->mask && !sb_chase_lev_grow(deque))
			return false;
	}
	sb_store_rlx(sb_ring_slot(deque->own_ring, bottom), item);
	sb_store_rel(&deque->bottom, bottom + 1); /* P1 -> T1 */
	return true;
}

static inline void *sb_chase_lev_pop(struct sb_chase_lev *deque)
{
	const uint64_t bottom = sb_load_rlx(&deque->bottom);
	uint64_t top = sb_load_rlx(&deque->top);
	void *item;

	/* top only grows, so a stale one that is not below is no error. */
	if (top >= bottom)
		return NULL;
	sb_store_rel(&deque->bottom, bottom - 1); /* P1 -> T1 */
	SB_WINDOW();
	sb_fence_store_load(&deque->top); /* F1 with F2 */
	top = sb_load_rlx(&deque->top);
	item = sb_load_rlx(sb_ring_slot(deque->own_ring, bottom - 1));
	if (SB_LIKELY(top < bottom - 1))
		return item;
	/* The last one, or none: thieves may be after it. */
	if (top != bottom - 1 || !sb_cas_seq_cst(&deque->top, &top, top + 1)) /* C1 with C2 */
		item = NULL;
	sb_store_rel(&deque->bottom, bottom);
	return item;
}

/* *item is set on SB_STEAL_OK only. */
static inline enum sb_steal_result sb_chase_lev_steal_one(struct sb_chase_lev *deque, void **item)
{
	uint64_t top = sb_load_acq(&deque->top);
	struct sb_ring *ring;
	uint64_t bottom;
	void *found;

	sb_fence_store_load(&deque->top);     /* F2 with F1 */
	bottom = sb_load_acq(&deque->bottom); /* T1 <- P1 */
	if (top >= bottom)
		return SB_STEAL_EMPTY;
	SB_WINDOW();
	ring = sb_load_acq(&deque->ring); /* T2 <- G1 */
	found = sb_load_rlx(sb_ring_slot(ring, top));
	SB_WINDOW();
	if (!sb_cas_seq_cst(&deque->top, &top, top + 1)) /* C2 -> P2 */
		return SB_STEAL_LOST;
	*item = found;
	return SB_STEAL_OK;
}

static inline uint32_t sb_chase_lev_size(struct sb_chase_lev *deque)
{
	const uint64_t top = sb_load_acq(&deque->top);
	const uint64_t bottom = sb_load_rlx(&deque->bottom);

	return bottom > top ? (uint32_t)(bottom - top) : 0;
}

/* The items that the first look promised, one by one; fewer when others interfere. */
static inline enum sb_steal_result sb_chase_lev_steal(struct sb_chase_lev *deque,
						      enum sb_steal_amount amount, uint32_t max,
						      void **items, uint32_t *count)
{
	const uint32_t size = sb_chase_lev_size(deque);
	const uint32_t n = sb_steal_share(size ? size : 1, amount, max);
	enum sb_steal_result result = SB_STEAL_OK;

	*count = 0;
	while (*count < n && result == SB_STEAL_OK) {
		result = sb_chase_lev_steal_one(deque, &items[*count]);
		*count += result == SB_STEAL_OK;
	}
	return *count ? SB_STEAL_OK : result;
}

#endif
