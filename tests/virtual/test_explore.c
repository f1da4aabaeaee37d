/*
 * test_explore.c - schedules that look for mistakes.
 *
 * Property: they show what x86 may do, and nothing else; one seed is one schedule.
 * Method: litmus tests, each of two threads and two words, over many seeds.
 */
#include <string.h>

#include "core/memory/arena.h"
#include "core/platform/virtual/explore.h"
#include "tests/test.h"

#define CPUS  4
#define SEEDS 2000

struct litmus {
	_Atomic(uint32_t) x;
	alignas(SB_LINE) _Atomic(uint32_t) y;
	_Atomic(uint32_t) z;
	uint32_t left, right;
	void *(*left_side)(void *arg);
	void *(*right_side)(void *arg);
};

/* In memory of the run's: elsewhere stores do not wait. */
static void *run_litmus(void *arg)
{
	struct litmus *given = arg;
	struct litmus *l = sb_mem_zalloc(SB_HEAP, sizeof(*l), SB_LINE);
	struct sb_thread side[2];

	assert_non_null(l);
	CHECK_EQ(sb_thread_start(&side[0], -1, given->left_side, l), 0);
	CHECK_EQ(sb_thread_start(&side[1], -1, given->right_side, l), 0);
	sb_thread_join(&side[0]);
	sb_thread_join(&side[1]);
	given->left = l->left;
	given->right = l->right;
	sb_mem_free(l);
	return NULL;
}

static void run(struct litmus *l, const struct sb_explore *explore, uint64_t seed)
{
	const struct sb_model model = sb_model_plain(CPUS);
	const struct sb_virtual_setup setup = {
		.model = &model,
		.seed = seed,
		.explore = explore,
	};
	struct sb_virtual_counts counts;

	CHECK_EQ(sb_virtual_run(&setup, run_litmus, l, &counts), 0);
}

/* How often the sides have seen which values of 0 and 1. */
struct outcomes {
	uint32_t of[2][2];
};

static struct outcomes try(void *(*left)(void *arg), void *(*right)(void *arg),
			   enum sb_explore_kind kind, bool stores)
{
	const struct sb_explore explore = { .kind = kind,
					    .depth = kind == SB_EXPLORE_PREEMPT ? 3 : 0,
					    .stores = stores };
	struct outcomes outcomes = { { { 0 } } };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct litmus l = { .left_side = left, .right_side = right };

		run(&l, &explore, seed);
		outcomes.of[l.left][l.right]++;
	}
	return outcomes;
}

/* ---- store buffering ---- */

/* What comes next: with the end of a thread its stores go. */
static void go_on(struct litmus *l)
{
	for (int i = 0; i < 4; i++)
		(void)sb_load_rlx(&l->z);
}

static void *store_x_load_y(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->x, 1);
	l->left = sb_load_rlx(&l->y);
	go_on(l);
	return NULL;
}

static void *store_y_load_x(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->y, 1);
	l->right = sb_load_rlx(&l->x);
	go_on(l);
	return NULL;
}

static void *store_x_fence_load_y(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->x, 1);
	sb_fence_store_load(&l->x);
	l->left = sb_load_rlx(&l->y);
	go_on(l);
	return NULL;
}

static void *store_y_fence_load_x(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->y, 1);
	sb_fence_store_load(&l->y);
	l->right = sb_load_rlx(&l->x);
	go_on(l);
	return NULL;
}

static void *store_y_heavy_load_x(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->y, 1);
	sb_fence_heavy();
	l->right = sb_load_rlx(&l->x);
	go_on(l);
	return NULL;
}

/* That neither sees the other's store needs stores that wait, and all other outcomes are met. */
static void a_store_waits_behind_a_load(void **state)
{
	(void)state;
	for (int kind = SB_EXPLORE_RANDOM; kind <= SB_EXPLORE_PREEMPT; kind++) {
		const struct outcomes with = try(store_x_load_y, store_y_load_x, kind, true);
		const struct outcomes without = try(store_x_load_y, store_y_load_x, kind, false);

		assert_uint_in_range(with.of[0][0], 1, SEEDS);
		CHECK_EQ(without.of[0][0], 0);
		assert_uint_in_range(without.of[0][1], 1, SEEDS);
		assert_uint_in_range(without.of[1][0], 1, SEEDS);
	}
}

static void a_fence_lets_them_go(void **state)
{
	(void)state;
	for (int kind = SB_EXPLORE_RANDOM; kind <= SB_EXPLORE_PREEMPT; kind++) {
		CHECK_EQ(try(store_x_fence_load_y, store_y_fence_load_x, kind, true).of[0][0], 0);
		assert_uint_in_range(try(store_x_fence_load_y, store_y_load_x, kind, true).of[0][0],
				     1, SEEDS);
		/* Of the other thread, too. */
		CHECK_EQ(try(store_x_load_y, store_y_heavy_load_x, kind, true).of[0][0], 0);
	}
}

/* ---- message passing ---- */

static void *store_both(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->x, 1);
	sb_store_rlx(&l->y, 1);
	return NULL;
}

static void *load_both(void *arg)
{
	struct litmus *l = arg;

	l->left = sb_load_rlx(&l->y);
	l->right = sb_load_rlx(&l->x);
	return NULL;
}

static void stores_keep_their_order(void **state)
{
	(void)state;
	for (int kind = SB_EXPLORE_RANDOM; kind <= SB_EXPLORE_PREEMPT; kind++) {
		const struct outcomes o = try(store_both, load_both, kind, true);

		CHECK_EQ(o.of[1][0], 0);
		assert_uint_in_range(o.of[0][0] + o.of[0][1], 1, SEEDS);
		assert_uint_in_range(o.of[1][1], 1, SEEDS);
	}
}

/* ---- one's own ---- */

static void *store_and_load(void *arg)
{
	struct litmus *l = arg;

	sb_store_rlx(&l->x, 2);
	sb_store_rlx(&l->x, 1);
	l->left = sb_load_rlx(&l->x);
	return NULL;
}

static void *nothing(void *arg)
{
	(void)arg;
	return NULL;
}

static void a_thread_sees_its_own_stores(void **state)
{
	(void)state;
	CHECK_EQ(try(store_and_load, nothing, SB_EXPLORE_RANDOM, true).of[1][0], SEEDS);
}

/* ---- seeds ---- */

static void one_seed_is_one_schedule(void **state)
{
	const struct sb_explore explore = { .kind = SB_EXPLORE_RANDOM, .stores = true };

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct litmus a = { .left_side = store_x_load_y, .right_side = store_y_load_x };
		struct litmus b = a;

		run(&a, &explore, seed);
		run(&b, &explore, seed);
		CHECK_EQ(a.left, b.left);
		CHECK_EQ(a.right, b.right);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_waits_behind_a_load),
		cmocka_unit_test(a_fence_lets_them_go),
		cmocka_unit_test(stores_keep_their_order),
		cmocka_unit_test(a_thread_sees_its_own_stores),
		cmocka_unit_test(one_seed_is_one_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
