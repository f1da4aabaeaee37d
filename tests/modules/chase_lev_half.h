/*
 * chase_lev_half.h - the negative control: a Chase-Lev deque (Lê et al., PPoPP
 * 2013, bounded) with a steal that claims half of it in one CAS of `top`. It is
 * unsound, core/queue/deque_counted.h says why, and tests/modules/test_deque.c demands that the
 * torture test finds that out. Never use it.
 */
#ifndef SB_TESTS_MODULES_CHASE_LEV_HALF_H
#define SB_TESTS_MODULES_CHASE_LEV_HALF_H

#include "core/queue/deque.h"

#define CLH_SLOTS 65536

struct clh_deque {
	alignas(SB_LINE) _Atomic(int64_t) top;
	alignas(SB_LINE) _Atomic(int64_t) bottom;
	_Atomic(void *) slot[CLH_SLOTS];
};

static inline bool clh_push(struct clh_deque *d, void *item)
{
	const int64_t b = sb_load_rlx(&d->bottom);

	sb_store_rlx(&d->slot[b % CLH_SLOTS], item);
	sb_store_rel(&d->bottom, b + 1);
	return true;
}

static inline void *clh_pop(struct clh_deque *d)
{
	const int64_t b = sb_load_rlx(&d->bottom) - 1;
	int64_t t;
	void *item;

	sb_store_rlx(&d->bottom, b);
	sb_fence_store_load(&d->top);
	t = sb_load_rlx(&d->top);
	if (t > b) {
		sb_store_rlx(&d->bottom, b + 1);
		return NULL;
	}
	item = sb_load_rlx(&d->slot[b % CLH_SLOTS]);
	if (t == b) {
		if (!sb_cas_acq_rel(&d->top, &t, t + 1))
			item = NULL;
		sb_store_rlx(&d->bottom, b + 1);
	}
	return item;
}

static inline enum sb_steal_result clh_steal_half(struct clh_deque *d, uint32_t max, void **items,
						  uint32_t *count)
{
	int64_t t = sb_load_acq(&d->top);
	int64_t size;
	uint32_t n;

	*count = 0;
	sb_fence_store_load(&d->top);
	size = sb_load_acq(&d->bottom) - t;
	if (size <= 0)
		return SB_STEAL_EMPTY;
	n = (uint32_t)(size - size / 2);
	n = n > max ? max : n;
	SB_WINDOW();
	for (uint32_t i = 0; i < n; i++)
		items[i] = sb_load_rlx(&d->slot[(t + i) % CLH_SLOTS]);
	SB_WINDOW();
	if (!sb_cas_acq_rel(&d->top, &t, t + n))
		return SB_STEAL_LOST;
	*count = n;
	return SB_STEAL_OK;
}

#endif
