/*
 * deque_counted.h - the counted-pop work-stealing deque: a LIFO for its owner,
 * from whose old end thieves take one item or half of the items in one CAS.
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
 * (tests/modules/chase_lev_half.h keeps that variant as its negative control.) Here
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
 *   S1  size loads `meet` with acquire: pairs with the release of pop's CAS, so
 *       with a pop come the pushes that it counts against. With fewer of them a
 *       sleeper would not see an item that lies there.
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
 * Contracts of the functions: core/queue/deque.h.
 *
 * Sources: the optimistic copy-then-CAS batch is Go's runqgrab; the packed
 * counts are those of the st3 work-stealing queue (LIFO variant). Growth as in
 * Chase and Lev, "Dynamic circular work-stealing deque", SPAA 2005, section 3.
 */
#ifndef SB_CORE_QUEUE_DEQUE_COUNTED_H
#define SB_CORE_QUEUE_DEQUE_COUNTED_H

#include "core/queue/ring.h"

struct sb_counted {
	/* Line 0: where owner and thieves meet. One line, so that a probe by a
	 * thief moves one line. */
	alignas(SB_LINE) _Atomic(uint64_t) meet;
	_Atomic(uint32_t) pushes;
	_Atomic(struct sb_ring *) ring;

	/* Line 1: the owner's copies. own_pops is exact, own_head may lag. */
	alignas(SB_LINE) uint32_t own_pushes;
	uint32_t own_pops;
	uint32_t own_head;
	struct sb_arena *arena; /* of the rings */
	struct sb_ring *own_ring;
};

static_assert(offsetof(struct sb_counted, meet) % SB_LINE == 0, "line 0");
static_assert(offsetof(struct sb_counted, own_pushes) == SB_LINE, "line 1");
static_assert(sizeof(struct sb_counted) == 2 * SB_LINE, "two lines");
int sb_counted_init(struct sb_counted *deque, struct sb_arena *arena);
void sb_counted_fini(struct sb_counted *deque);
bool sb_counted_grow(struct sb_counted *deque);

static inline uint32_t sb_meet_head(uint64_t meet)
{
	return (uint32_t)meet;
}

static inline uint32_t sb_meet_pops(uint64_t meet)
{
	return (uint32_t)(meet >> 32);
}

static inline bool sb_counted_push(struct sb_counted *deque, void *item)
{
	const uint32_t tail = deque->own_pushes - deque->own_pops;

	if (SB_UNLIKELY(tail - deque->own_head > deque->own_ring->mask)) {
		/* P2, pairs with T3. */
		deque->own_head = sb_meet_head(sb_load_acq(&deque->meet));
		if (tail - deque->own_head > deque->own_ring->mask && !sb_counted_grow(deque))
			return false;
	}
	sb_store_rlx(sb_ring_slot(deque->own_ring, tail), item);
	deque->own_pushes++;
	sb_store_rel(&deque->pushes, deque->own_pushes); /* P1 -> T1 */
	return true;
}

static inline void *sb_counted_pop(struct sb_counted *deque)
{
	const uint32_t tail = deque->own_pushes - deque->own_pops;
	uint64_t meet = sb_load_rlx(&deque->meet);

	do {
		/* head only grows, so a stale one cannot equal tail. */
		if (sb_meet_head(meet) == tail)
			return NULL;
	} while (!sb_cas_weak_acq_rel(&deque->meet, &meet, /* -> S1 */
				      meet + (UINT64_C(1) << 32)));
	deque->own_pops++;
	return sb_load_rlx(sb_ring_slot(deque->own_ring, tail - 1));
}

static inline enum sb_steal_result sb_counted_steal(struct sb_counted *deque,
						    enum sb_steal_amount amount, uint32_t max,
						    void **items, uint32_t *count)
{
	uint64_t meet = sb_load_rlx(&deque->meet);
	const uint32_t head = sb_meet_head(meet);
	const uint32_t pushes = sb_load_acq(&deque->pushes); /* T1 <- P1 */
	const int32_t size = (int32_t)(pushes - sb_meet_pops(meet) - head);
	struct sb_ring *ring;
	uint32_t n;

	*count = 0;
	if (size <= 0)
		return SB_STEAL_EMPTY;
	n = sb_steal_share((uint32_t)size, amount, max);
	SB_WINDOW();
	ring = sb_load_acq(&deque->ring); /* T2 <- G1 */
	for (uint32_t i = 0; i < n; i++)
		items[i] = sb_load_rlx(sb_ring_slot(ring, head + i));
	SB_WINDOW();
	if (!sb_cas_acq_rel(&deque->meet, &meet, /* T3 -> P2 */
			    (meet & ~(uint64_t)UINT32_MAX) | (uint32_t)(head + n)))
		return SB_STEAL_LOST;
	*count = n;
	return SB_STEAL_OK;
}

static inline uint32_t sb_counted_size(struct sb_counted *deque)
{
	const uint64_t meet = sb_load_acq(&deque->meet); /* S1 */
	const int32_t size =
		(int32_t)(sb_load_rlx(&deque->pushes) - sb_meet_pops(meet) - sb_meet_head(meet));

	return size > 0 ? (uint32_t)size : 0;
}

#endif
