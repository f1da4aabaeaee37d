#include "core/deque.h"

#include <errno.h>

#include "core/mem.h"

static struct sb_ring *ring_create(uint32_t slots, unsigned int arena)
{
	struct sb_ring *ring = sb_mem_alloc(
		arena, sizeof(*ring) + slots * sizeof(ring->slot[0]), SB_LINE);

	if (!ring)
		return NULL;
	ring->mask = slots - 1;
	ring->previous = NULL;
	return ring;
}

int sb_deque_init(struct sb_deque *deque, unsigned int arena)
{
	struct sb_ring *ring = ring_create(SB_DEQUE_SLOTS, arena);

	if (!ring)
		return -ENOMEM;
	*deque = (struct sb_deque){ .own_ring = ring, .arena = arena };
	sb_store_rlx(&deque->ring, ring);
	return 0;
}

void sb_deque_fini(struct sb_deque *deque)
{
	struct sb_ring *ring = deque->own_ring;

	while (ring) {
		struct sb_ring *previous = ring->previous;

		sb_mem_free(ring);
		ring = previous;
	}
	deque->own_ring = NULL;
}

bool sb_deque_grow(struct sb_deque *deque)
{
	struct sb_ring *old = deque->own_ring;
	const uint32_t tail = deque->own_pushes - deque->own_pops;
	struct sb_ring *ring;

	/* The indices are 32 bits wide; half of them bounds the size. */
	if (old->mask > UINT32_MAX / 4)
		return false;
	ring = ring_create(2 * (old->mask + 1), deque->arena);
	if (!ring)
		return false;
	for (uint32_t i = deque->own_head; i != tail; i++)
		sb_store_rlx(&ring->slot[i & ring->mask],
			     sb_load_rlx(&old->slot[i & old->mask]));
	ring->previous = old;
	deque->own_ring = ring;
	sb_store_rel(&deque->ring, ring); /* G1 -> T2 */
	return true;
}
