#include "core/platform/virtual/explore.h"

#include <string.h>

/* RANDOM: the least, and how often at most it is doubled, each time by a coin. */
#define STEP_PS	     UINT64_C(1000)
#define DOUBLED_MOST 12

/* PREEMPT: far less than a look-ahead, and far more. */
#define SHORT_PS     UINT64_C(10)
#define INTERRUPT_PS UINT64_C(20000000)

/* The operations that are interrupted are among the first 2^n; n is drawn, too: programs differ in
 * length, and so do their parts. */
#define RANGE_LOG2_LEAST 5
#define RANGE_LOG2_MOST	 17

void sb_explorer_init(struct sb_explorer *e, const struct sb_explore *explore, uint64_t seed)
{
	uint64_t range;

	*e = (struct sb_explorer){ .explore = *explore };
	sb_rng_seed(&e->rng, seed);
	range = UINT64_C(1) << (RANGE_LOG2_LEAST +
				sb_rng_below(&e->rng, RANGE_LOG2_MOST - RANGE_LOG2_LEAST + 1));
	for (uint32_t i = 0; i < explore->depth; i++)
		e->interrupt[i] = 1 + sb_rng_below(&e->rng, (uint32_t)range);
}

static uint64_t doubled(struct sb_explorer *e)
{
	const uint64_t coins = sb_rng_next(&e->rng) | UINT64_C(1) << DOUBLED_MOST;

	return STEP_PS << __builtin_ctzll(coins);
}

uint64_t sb_explorer_operation_ps(struct sb_explorer *e)
{
	if (e->explore.kind == SB_EXPLORE_RANDOM)
		return doubled(e);
	e->operations++;
	for (uint32_t i = 0; i < e->explore.depth; i++) {
		if (e->interrupt[i] == e->operations)
			return INTERRUPT_PS;
	}
	return SHORT_PS;
}

uint64_t sb_explorer_wake_ps(struct sb_explorer *e)
{
	if (e->explore.kind == SB_EXPLORE_RANDOM)
		return doubled(e);
	return sb_rng_next(&e->rng) & 1 ? INTERRUPT_PS : 0;
}

/* ---- stores that wait ---- */

/* Of a thread's own operations, on average. */
#define KEPT 8

bool sb_explorer_lets_go(struct sb_explorer *e)
{
	return sb_rng_below(&e->rng, KEPT) == 0;
}

void sb_pending_add(struct sb_pending *p, volatile void *address, const void *value, uint32_t bytes)
{
	struct sb_pending_store *store;

	if (p->stores == SB_PENDING_MAX)
		sb_pending_let_go(p);
	store = &p->store[p->stores++];
	*store = (struct sb_pending_store){ .address = address, .bytes = bytes };
	memcpy(&store->value, value, bytes);
}

const void *sb_pending_find(const struct sb_pending *p, const volatile void *address)
{
	for (uint32_t i = p->stores; i > 0; i--) {
		if (p->store[i - 1].address == address)
			return &p->store[i - 1].value;
	}
	return NULL;
}

void sb_pending_let_go(struct sb_pending *p)
{
	const struct sb_pending_store *oldest = &p->store[0];

	if (!p->stores)
		return;
	memcpy((void *)(uintptr_t)oldest->address, &oldest->value, oldest->bytes);
	p->stores--;
	memmove(&p->store[0], &p->store[1], p->stores * sizeof(p->store[0]));
}

void sb_pending_let_all_go(struct sb_pending *p)
{
	while (p->stores)
		sb_pending_let_go(p);
}
