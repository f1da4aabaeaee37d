#include "core/queue/deque.h"

#include <errno.h>

/* ---- counted ---- */

int sb_counted_init(struct sb_counted *deque, struct sb_arena *arena)
{
	struct sb_ring *ring = sb_ring_create(arena);

	if (!ring)
		return -ENOMEM;
	*deque = (struct sb_counted){ .own_ring = ring, .arena = arena };
	sb_store_rlx(&deque->ring, ring);
	return 0;
}

void sb_counted_fini(struct sb_counted *deque)
{
	sb_ring_destroy(deque->own_ring);
	deque->own_ring = NULL;
}

bool sb_counted_grow(struct sb_counted *deque)
{
	const uint32_t size = deque->own_pushes - deque->own_pops - deque->own_head;
	struct sb_ring *ring = sb_ring_grow(deque->own_ring, deque->arena, deque->own_head,
					    (uint64_t)deque->own_head + size);

	if (!ring)
		return false;
	deque->own_ring = ring;
	sb_store_rel(&deque->ring, ring); /* G1 -> T2 */
	return true;
}

/* ---- Chase-Lev ---- */

int sb_chase_lev_init(struct sb_chase_lev *deque, struct sb_arena *arena)
{
	struct sb_ring *ring = sb_ring_create(arena);

	if (!ring)
		return -ENOMEM;
	*deque = (struct sb_chase_lev){ .own_ring = ring, .arena = arena };
	sb_store_rlx(&deque->ring, ring);
	return 0;
}

void sb_chase_lev_fini(struct sb_chase_lev *deque)
{
	sb_ring_destroy(deque->own_ring);
	deque->own_ring = NULL;
}

bool sb_chase_lev_grow(struct sb_chase_lev *deque)
{
	struct sb_ring *ring = sb_ring_grow(deque->own_ring, deque->arena, deque->own_top,
					    sb_load_rlx(&deque->bottom));

	if (!ring)
		return false;
	deque->own_ring = ring;
	sb_store_rel(&deque->ring, ring); /* G1 -> T2 */
	return true;
}

/* ---- whichever it is ---- */

int sb_deque_init(struct sb_deque *deque, enum sb_deque_kind kind, struct sb_arena *arena)
{
	deque->kind = kind;
	return kind == SB_DEQUE_COUNTED ? sb_counted_init(&deque->counted, arena)
					: sb_chase_lev_init(&deque->chase_lev, arena);
}

void sb_deque_fini(struct sb_deque *deque)
{
	if (deque->kind == SB_DEQUE_COUNTED)
		sb_counted_fini(&deque->counted);
	else
		sb_chase_lev_fini(&deque->chase_lev);
}
