/*
 * ring.h - the growing ring of slots that the work-stealing deques share, and
 * what they call their results.
 *
 * A ring that is outgrown stays on a chain until the deque dies: a thief may
 * still be reading it. Together they are smaller than the last one.
 */
#ifndef SB_CORE_QUEUE_RING_H
#define SB_CORE_QUEUE_RING_H

#include "core/config.h"
#include "core/platform/atomic.h"
#include "core/platform/base.h"

/* Initial number of slots, a power of two. Tests build with 4. */
#ifndef SB_DEQUE_SLOTS
#define SB_DEQUE_SLOTS 256
#endif

static_assert((SB_DEQUE_SLOTS & (SB_DEQUE_SLOTS - 1)) == 0, "power of two");

/* A lost race is not emptiness: the caller may try again at once. */
enum sb_steal_result { SB_STEAL_OK, SB_STEAL_EMPTY, SB_STEAL_LOST };

struct sb_arena;

struct sb_ring {
	uint32_t mask;
	struct sb_ring *previous;
	_Atomic(void *) slot[];
};

static inline size_t sb_ring_bytes(const struct sb_ring *ring)
{
	return sizeof(*ring) + ((size_t)ring->mask + 1) * sizeof(ring->slot[0]);
}

static inline _Atomic(void *) *sb_ring_slot(struct sb_ring *ring, uint64_t index)
{
	return &ring->slot[index & ring->mask];
}

/* Returns NULL when there is no memory. arena: see core/memory/arena.h. */
struct sb_ring *sb_ring_create(struct sb_arena *arena);

/* A ring of twice the size with the items [from, to); NULL: no memory, or it
 * would have more than 2^31 slots. The old one goes on its chain. */
struct sb_ring *sb_ring_grow(struct sb_ring *old, struct sb_arena *arena, uint64_t from,
			     uint64_t to);

/* Frees a ring and all on its chain. */
void sb_ring_destroy(struct sb_ring *ring);

static inline uint32_t sb_steal_share(uint32_t size, enum sb_steal_amount amount, uint32_t max)
{
	const uint32_t n = amount == SB_STEAL_HALF ? size - size / 2 : size;

	return n < max ? n : max;
}

#endif
