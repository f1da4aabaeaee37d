/* queues.c - scenarios of the queues alone: what is pushed is taken once. */
#include "core/memory/arena.h"
#include "core/queue/deque.h"
#include "core/queue/runq.h"
#include "core/state.h"
#include "tests/explore/explore.h"

#define ITEMS	8
#define THIEVES 2

/* ---- the deques ---- */

struct table {
	struct sb_deque deque;
	_Atomic(uint32_t) taken[ITEMS + 1];
	_Atomic(uint32_t) over;
};

static void note(struct table *t, void *item)
{
	CHECK_EQ(sb_add_rlx(&t->taken[(uintptr_t)item], 1), 0);
}

static void *steal(void *arg)
{
	struct table *t = arg;
	void *items[SB_STEAL_MAX];
	uint32_t n = 0;
	bool is_over;

	do {
		is_over = sb_load_acq(&t->over);
		if (sb_deque_steal(&t->deque, SB_STEAL_HALF, 4, items, &n) == SB_STEAL_OK) {
			for (uint32_t i = 0; i < n; i++)
				note(t, items[i]);
		}
		sb_cpu_pause();
	} while (!is_over);
	return NULL;
}

static void pop(struct table *t)
{
	void *item = sb_deque_pop(&t->deque);

	if (item)
		note(t, item);
}

/* In memory of the run's, where stores may wait. */
static void *make(size_t bytes)
{
	void *made = sb_mem_zalloc(SB_HEAP, bytes, SB_LINE);

	assert_non_null(made);
	return made;
}

/* Pushes two and pops one, so that owner and thieves meet at one item again and again. */
static void torture(enum sb_deque_kind kind)
{
	struct table *t = make(sizeof(*t));
	struct sb_thread thief[THIEVES];

	CHECK_EQ(sb_deque_init(&t->deque, kind, SB_HEAP), 0);
	for (int i = 0; i < THIEVES; i++)
		CHECK_EQ(sb_thread_start(&thief[i], -1, steal, t), 0);
	for (uintptr_t i = 1; i <= ITEMS; i++) {
		assert_true(sb_deque_push(&t->deque, (void *)i));
		if (i % 2 == 0)
			pop(t);
	}
	for (int i = 0; i < ITEMS; i++)
		pop(t);
	sb_store_rel(&t->over, 1);
	for (int i = 0; i < THIEVES; i++)
		sb_thread_join(&thief[i]);
	for (int i = 1; i <= ITEMS; i++)
		CHECK_EQ(sb_load_rlx(&t->taken[i]), 1);
	sb_deque_fini(&t->deque);
	sb_mem_free(t);
}

static void counted(void)
{
	torture(SB_DEQUE_COUNTED);
}

static void chase_lev(void)
{
	torture(SB_DEQUE_CHASE_LEV);
}

/* ---- the run queue ---- */

#define PUSHERS 2
#define EACH	3

struct line {
	struct sb_runq queue;
	struct sb_process process[PUSHERS][EACH];
	_Atomic(uint32_t) pushers; /* begun, so far */
	_Atomic(uint32_t) taken[PUSHERS][EACH];
	_Atomic(uint32_t) total;
};

static void *push_some(void *arg)
{
	struct line *l = arg;
	const uint32_t me = sb_add_acq_rel(&l->pushers, 1);

	for (int i = 0; i < EACH; i++)
		sb_runq_push(&l->queue, &l->process[me][i]);
	return NULL;
}

/* Of one pusher's, a take has the earlier ones first. */
static void check_order(struct line *l, struct sb_process **out, uint32_t n)
{
	int last[PUSHERS] = { -1, -1 };

	for (uint32_t i = 0; i < n; i++) {
		const ptrdiff_t at = out[i] - &l->process[0][0];

		assert_uint_in_range(at, 0, PUSHERS * EACH - 1);
		assert_true(at % EACH > last[at / EACH]);
		last[at / EACH] = (int)(at % EACH);
		CHECK_EQ(sb_add_rlx(&l->taken[at / EACH][at % EACH], 1), 0);
	}
	sb_add_acq_rel(&l->total, n);
}

static void *take_all(void *arg)
{
	struct line *l = arg;
	struct sb_process *out[4];

	while (sb_load_acq(&l->total) < PUSHERS * EACH) {
		if (!sb_runq_length(&l->queue)) {
			sb_thread_yield();
			continue;
		}
		check_order(l, out, sb_runq_take(&l->queue, 4, 2, out));
		(void)sb_runq_trim(&l->queue);
	}
	return NULL;
}

static void run_queue(void)
{
	struct line *l = make(sizeof(*l));
	struct sb_thread thread[2 * PUSHERS];

	sb_runq_init(&l->queue, SB_HEAP);
	for (int i = 0; i < 2 * PUSHERS; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, i % 2 ? push_some : take_all, l), 0);
	for (int i = 0; i < 2 * PUSHERS; i++)
		sb_thread_join(&thread[i]);
	CHECK_EQ(sb_load_rlx(&l->total), PUSHERS * EACH);
	CHECK_EQ(sb_runq_length(&l->queue), 0);
	sb_runq_clear(&l->queue);
	sb_mem_free(l);
}

const struct scenario queue_scenarios[] = {
	{ "counted", "the counted deque: an owner and two thieves", counted },
	{ "chase-lev", "the Chase-Lev deque: an owner and two thieves", chase_lev },
	{ "runq", "the run queue: two who push, two who take and trim", run_queue },
	{ NULL, NULL, NULL },
};
