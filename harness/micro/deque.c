/*
 * deque.c - the work-stealing deque, both algorithms: its owner alone, a thief
 * that meets nobody, and thieves against the owner.
 *
 * Check: what was taken, by whomever, is what was pushed: as many items, with
 * the same sum and the same sum of squares of their serial numbers.
 */
#include "core/memory/arena.h"
#include "core/queue/deque.h"
#include "harness/micro/kind.h"

struct deques {
	struct sb_deque deque;
	struct sb_micro_tally pushed;
	struct sb_micro_tally taken[SB_MICRO_THREADS_MAX];
	uint64_t begun[SB_MICRO_THREADS_MAX];	 /* runs, by each thread */
	alignas(SB_LINE) _Atomic(uint64_t) done; /* by the owner */
};

static enum sb_deque_kind algorithm(const struct sb_micro *m)
{
	return (enum sb_deque_kind)m->kind->variant;
}

static int set_up(struct sb_micro *m)
{
	struct deques *d = m->state;

	return sb_deque_init(&d->deque, algorithm(m), SB_HEAP);
}

static void tear_down(struct sb_micro *m)
{
	sb_deque_fini(&((struct deques *)m->state)->deque);
}

/* An item is its serial number, from 1 on. */
static inline void push(struct deques *d)
{
	const uint64_t number = d->pushed.items + 1;

	if (SB_LIKELY(sb_deque_push(&d->deque, (void *)(uintptr_t)number)))
		sb_micro_saw(&d->pushed, number);
}

static inline bool pop(struct deques *d)
{
	void *item = sb_deque_pop(&d->deque);

	if (item)
		sb_micro_saw(&d->taken[0], (uintptr_t)item);
	return item;
}

static const char *compare(const struct deques *d)
{
	struct sb_micro_tally all = { .items = 0 };

	for (int i = 0; i < SB_MICRO_THREADS_MAX; i++) {
		all.items += d->taken[i].items;
		all.sum += d->taken[i].sum;
		all.squares += d->taken[i].squares;
	}
	return sb_micro_same(&d->pushed, &all)
		       ? NULL
		       : "the items that were taken are not those that were pushed";
}

/* ---- the owner, and a thief, alone ---- */

static void run_push_pop(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct deques *d = m->state;

	(void)thread;
	while (n) {
		const uint64_t deep = sb_min_u64(n, (uint64_t)m->arg);

		for (uint64_t i = 0; i < deep; i++)
			push(d);
		for (uint64_t i = 0; i < deep; i++)
			pop(d);
		n -= deep;
	}
}

static void run_steal_one(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct deques *d = m->state;
	void *item;

	(void)thread;
	while (n--) {
		push(d);
		if (sb_deque_steal_one(&d->deque, &item) == SB_STEAL_OK)
			sb_micro_saw(&d->taken[1], (uintptr_t)item);
	}
}

static void steal_half(struct deques *d, struct sb_micro_tally *tally)
{
	void *item[SB_STEAL_MAX];
	uint32_t count = 0;

	tally->tries++;
	switch (sb_deque_steal(&d->deque, SB_STEAL_HALF, 32, item, &count)) {
	case SB_STEAL_OK:
		tally->hits++;
		for (uint32_t i = 0; i < count; i++)
			sb_micro_saw(tally, (uintptr_t)item[i]);
		break;
	case SB_STEAL_LOST:
		tally->retries++;
		break;
	case SB_STEAL_EMPTY:
	default:
		break;
	}
}

/* As many as there are, for a steal takes at most 32. */
static void run_steal_half(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct deques *d = m->state;

	(void)thread;
	while (n--) {
		for (int64_t i = 0; i < m->arg; i++)
			push(d);
		steal_half(d, &d->taken[1]);
		while (pop(d))
			continue;
	}
}

static const char *check_alone(struct sb_micro *m, uint64_t operations)
{
	const struct deques *d = m->state;

	if (d->pushed.items != operations)
		return "not every operation has pushed an item";
	return compare(d);
}

static const char *check_half(struct sb_micro *m, uint64_t operations)
{
	const struct deques *d = m->state;

	if (d->taken[1].hits != operations)
		return "not every steal has taken something";
	m->counter[0].name = "stolen";
	m->counter[0].value = (double)d->taken[1].items;
	return compare(d);
}

/* ---- thieves against the owner ---- */

#define BURST 16

static void own(struct deques *d, uint64_t n)
{
	while (n) {
		const uint64_t burst = sb_min_u64(n, BURST);

		for (uint64_t i = 0; i < burst; i++)
			push(d);
		while (pop(d))
			continue;
		n -= burst;
	}
	sb_store_rel(&d->done, sb_load_rlx(&d->done) + 1);
}

/* The owner's operation is one item; the thieves try to steal until it has done
 * all of them, so that it never has the deque for itself. */
static void run_contended(struct sb_micro *m, uint32_t thread, uint64_t n)
{
	struct deques *d = m->state;
	struct sb_micro_tally *tally = &d->taken[thread];
	const uint64_t round = ++d->begun[thread];
	uint32_t looks = 0;

	if (thread == 0) {
		own(d, n);
		return;
	}
	while (sb_load_acq(&d->done) < round) {
		const uint64_t hits = tally->hits;

		steal_half(d, tally);
		if (tally->hits == hits)
			sb_micro_wait(&looks);
	}
}

static const char *check_contended(struct sb_micro *m, uint64_t operations)
{
	const struct deques *d = m->state;
	uint64_t steals = 0;
	uint64_t lost = 0;

	for (uint32_t i = 1; i < m->threads; i++) {
		steals += d->taken[i].hits;
		lost += d->taken[i].retries;
	}
	m->counter[0].name = "steals";
	m->counter[0].value = (double)steals;
	m->counter[1].name = "retries";
	m->counter[1].value = (double)lost;
	m->items = d->pushed.items;
	if (d->pushed.items * m->threads != operations)
		return "not every operation was done";
	return compare(d);
}

#define BOTH(kind, ...)                                                                            \
	{ .name = "deque/" kind "/counted",                                                        \
	  .variant = SB_DEQUE_COUNTED,                                                             \
	  .state_bytes = sizeof(struct deques),                                                    \
	  .set_up = set_up,                                                                        \
	  .tear_down = tear_down,                                                                  \
	  __VA_ARGS__ },                                                                           \
	{                                                                                          \
		.name = "deque/" kind "/chase_lev", .variant = SB_DEQUE_CHASE_LEV,                 \
		.state_bytes = sizeof(struct deques), .set_up = set_up, .tear_down = tear_down,    \
		__VA_ARGS__                                                                        \
	}

const struct sb_micro_kind sb_micro_deque[] = {
	BOTH("push_pop", .doc = "so many items pushed, then popped; per item", .arg_name = "items",
	     .arg = { 1, 64, 1024 }, .run = run_push_pop, .check = check_alone),
	BOTH("steal_one", .doc = "an item pushed, then stolen", .run = run_steal_one,
	     .check = check_alone),
	BOTH("steal_half", .doc = "so many pushed, half stolen, the rest popped",
	     .arg_name = "items", .arg = { 4, 16, 64 }, .fit = SB_MICRO_FIT_N,
	     .run = run_steal_half, .check = check_half),
	BOTH("contended", .doc = "an owner pushes and pops, the others steal half",
	     .threads = { 2, 4 }, .elsewhere = true, .run = run_contended,
	     .check = check_contended),
	{ .name = NULL },
};
