#include "core/queue/ring.h"

#include "core/memory/arena.h"

static struct sb_ring *create(uint32_t slots, struct sb_arena *arena)
{
	struct sb_ring *ring =
		sb_mem_alloc(arena, sizeof(*ring) + slots * sizeof(ring->slot[0]), SB_LINE);

	if (!ring)
		return NULL;
	ring->mask = slots - 1;
	ring->previous = NULL;
	return ring;
}

struct sb_ring *sb_ring_create(struct sb_arena *arena)
{
	return create(SB_DEQUE_SLOTS, arena);
}

struct sb_ring *sb_ring_grow(struct sb_ring *old, struct sb_arena *arena, uint64_t from,
			     uint64_t to)
{
	/* The counted deque's indices are 32 bits wide. */
	struct sb_ring *ring =
		old->mask > UINT32_MAX / 4 ? NULL : create(2 * (old->mask + 1), arena);

	if (!ring)
		return NULL;
	for (uint64_t i = from; i != to; i++)
		sb_store_rlx(sb_ring_slot(ring, i), sb_load_rlx(sb_ring_slot(old, i)));
	ring->previous = old;
	return ring;
}

void sb_ring_destroy(struct sb_ring *ring)
{
	while (ring) {
		struct sb_ring *previous = ring->previous;

		sb_mem_free(ring);
		ring = previous;
	}
}
