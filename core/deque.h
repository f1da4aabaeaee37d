/*
 * deque.h - the counted-pop work-stealing deque: a LIFO for its owner, from
 * whose old end thieves take one item or half of the items in one CAS.
 *
 * Roles
 *   owner   one thread: push, pop; and steal, to get its own oldest item
 *   thief   any thread, any number: steal, size
 *
 * State
 *   meet    { pops:32 | head:32 }, changed by CAS only: a pop adds 1 to pops,
 *           a steal of n adds n to head
 *   pushes  number of pushes, written by the owner only
 *   tail = pushes - pops. The live items have the indices [head, tail), modulo
 *   2^32; index i lies in slot[i & mask] of the ring.
 *
 * Why not a plain Chase-Lev deque. There a pop lowers `bottom` without touching
 * `top` while more than one item is left. A thief that wants half reads top = 0
 * and bottom = 4, copies items 0 and 1, and is delayed; the owner pops 3, 2
 * and 1 without a CAS; the thief's CAS top 0 -> 2 succeeds all the same. Item 1
 * is delivered twice, top has passed bottom, and what is pushed next is lost.
 * (tests/chase_lev_half.h keeps that variant as its negative control.) Here
 * owner and thieves meet on one word, so every pop invalidates every claim in
 * flight, and a claim that commits was computed for the current pop count.
 *
 * Orders (each label names its partner)
 *   P1  push stores `pushes` with release: the slot, the item's contents and
 *       the ring are visible to a thief that acquires it at T1.
 *   T1  steal loads `pushes` with acquire: see P1.
 *   T2  steal loads `ring` with acquire, after T1: pairs with G1.
 *   T3  steal's CAS has release: its slot reads cannot move behind it. Pairs
 *       with P2, and later read-modify-writes continue its release sequence.
 *   P2  push acquires `meet` before it reuses a slot that looked occupied.
 *   G1  grow publishes the new ring with release; the old ring is never
 *       written again, so a thief that still holds it reads right values.
 *
 * Why a stale `pushes` is harmless: it only makes a claim smaller. For the
 * current pop count p, the last write to an index i < c - p was made by a push
 * numbered <= c, and T1 made all of those visible.
 *
 * Linearization points: push P1; pop and steal their successful CAS.
 * Progress: push wait-free but for growth; pop and steal lock-free.
 * ABA: pops and head only grow; a false match needs a thief that sleeps
 * between its load and its CAS for an exact multiple of 2^32 pops.
 * Grown rings stay on a chain until fini (together below 2x the last one).
 *
 * Sources: the optimistic copy-then-CAS batch is Go's runqgrab; the packed
 * counts are those of the st3 work-stealing queue (LIFO variant). Growth as in
 * Chase and Lev, "Dynamic circular work-stealing deque", SPAA 2005, section 3.
 */
#ifndef SB_CORE_DEQUE_H
#define SB_CORE_DEQUE_H

#include "core/atomic.h"
#include "core/base.h"

/* Initial number of slots, a power of two. Tests build with 4. */
#ifndef SB_DEQUE_SLOTS
#define SB_DEQUE_SLOTS 256
#endif

/* The most items one steal can take; callers' buffers have this size. */
#define SB_STEAL_MAX 64

struct sb_ring {
	uint32_t mask;
	struct sb_ring *previous;
	_Atomic(void *) slot[];
};

struct sb_deque {
	/* Line 0: where owner and thieves meet. One line, so that a probe by a
	 * thief moves one line. */
	alignas(SB_LINE) _Atomic(uint64_t) meet;
	_Atomic(uint32_t) pushes;
	_Atomic(struct sb_ring *) ring;

	/* Line 1: the owner's copies. own_pops is exact, own_head may lag. */
	alignas(SB_LINE) uint32_t own_pushes;
	uint32_t own_pops;
	uint32_t own_head;
	unsigned int arena; /* of the rings */
	struct sb_ring *own_ring;
};

static_assert(offsetof(struct sb_deque, meet) % SB_LINE == 0, "line 0");
static_assert(offsetof(struct sb_deque, own_pushes) == SB_LINE, "line 1");
static_assert(sizeof(struct sb_deque) == 2 * SB_LINE, "two lines");
static_assert((SB_DEQUE_SLOTS & (SB_DEQUE_SLOTS - 1)) == 0, "power of two");

/* A lost race is not emptiness: the caller may try again at once. */
enum sb_steal_result { SB_STEAL_OK, SB_STEAL_EMPTY, SB_STEAL_LOST };

/* Makes an empty deque. Returns 0 or -ENOMEM. arena: see core/mem.h. */
SB_MUST_CHECK int sb_deque_init(struct sb_deque *deque, unsigned int arena);

/* Frees all rings. No other thread may use the deque any more. */
void sb_deque_fini(struct sb_deque *deque);

/* Doubles the ring. Owner only. Returns false when there is no memory. */
bool sb_deque_grow(struct sb_deque *deque);

static inline uint32_t sb_meet_head(uint64_t meet)
{
	return (uint32_t)meet;
}

static inline uint32_t sb_meet_pops(uint64_t meet)
{
	return (uint32_t)(meet >> 32);
}

/*
 * Adds an item at the owner's end. Owner only. Returns false, with nothing
 * changed, when the ring is full and there is no memory for a larger one.
 */
static inline bool sb_deque_push(struct sb_deque *deque, void *item)
{
	const uint32_t tail = deque->own_pushes - deque->own_pops;

	if (SB_UNLIKELY(tail - deque->own_head > deque->own_ring->mask)) {
		/* P2, pairs with T3. */
		deque->own_head = sb_meet_head(sb_load_acq(&deque->meet));
		if (tail - deque->own_head > deque->own_ring->mask &&
		    !sb_deque_grow(deque))
			return false;
	}
	sb_store_rlx(&deque->own_ring->slot[tail & deque->own_ring->mask],
		     item);
	deque->own_pushes++;
	sb_store_rel(&deque->pushes, deque->own_pushes); /* P1 -> T1 */
	return true;
}

/* Takes the newest item, or returns NULL when there is none. Owner only. */
static inline void *sb_deque_pop(struct sb_deque *deque)
{
	const uint32_t tail = deque->own_pushes - deque->own_pops;
	uint64_t meet = sb_load_rlx(&deque->meet);

	do {
		/* head only grows, so a stale one cannot equal tail. */
		if (sb_meet_head(meet) == tail)
			return NULL;
	} while (!sb_cas_weak_acq_rel(&deque->meet, &meet,
				      meet + (UINT64_C(1) << 32)));
	deque->own_pops++;
	return sb_load_rlx(
		&deque->own_ring->slot[(tail - 1) & deque->own_ring->mask]);
}

/*
 * Takes half of the items, rounded up, at most max (1 to SB_STEAL_MAX), oldest
 * first into items[0..*count). Any thread. On SB_STEAL_EMPTY and SB_STEAL_LOST
 * nothing was taken and *count is 0.
 */
static inline enum sb_steal_result sb_deque_steal_half(struct sb_deque *deque,
						       uint32_t max,
						       void **items,
						       uint32_t *count)
{
	uint64_t meet = sb_load_rlx(&deque->meet);
	const uint32_t head = sb_meet_head(meet);
	const uint32_t pushes = sb_load_acq(&deque->pushes); /* T1 <- P1 */
	const int32_t size = (int32_t)(pushes - sb_meet_pops(meet) - head);
	const struct sb_ring *ring;
	uint32_t n;

	*count = 0;
	if (size <= 0)
		return SB_STEAL_EMPTY;
	n = (uint32_t)size - (uint32_t)size / 2;
	if (n > max)
		n = max;
	SB_WINDOW();
	ring = sb_load_acq(&deque->ring); /* T2 <- G1 */
	for (uint32_t i = 0; i < n; i++)
		items[i] = sb_load_rlx(&ring->slot[(head + i) & ring->mask]);
	SB_WINDOW();
	if (!sb_cas_acq_rel(&deque->meet, &meet, /* T3 -> P2 */
			    (meet & ~(uint64_t)UINT32_MAX) |
				    (uint32_t)(head + n)))
		return SB_STEAL_LOST;
	*count = n;
	return SB_STEAL_OK;
}

/* Takes the oldest item. Any thread. *item is set on SB_STEAL_OK only. */
static inline enum sb_steal_result sb_deque_steal(struct sb_deque *deque,
						  void **item)
{
	uint32_t count;

	return sb_deque_steal_half(deque, 1, item, &count);
}

/*
 * Number of items. Any thread. A hint while others are active; after a full
 * fence it is not 0 for an item pushed before the partner's fence.
 */
static inline uint32_t sb_deque_size(struct sb_deque *deque)
{
	/* Acquire: with the pops of this word come at least the pushes that were
	 * popped. Fewer of them would hide an item that lies there. */
	const uint64_t meet = sb_load_acq(&deque->meet);
	const int32_t size = (int32_t)(sb_load_rlx(&deque->pushes) -
				       sb_meet_pops(meet) - sb_meet_head(meet));

	return size > 0 ? (uint32_t)size : 0;
}

#endif
