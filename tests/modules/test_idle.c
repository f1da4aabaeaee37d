/*
 * The idle set: who searches, who sleeps, and who asks.
 *
 * Property: as core/wake/idle.h says.
 * Method: one thread goes through the cases; all threads at once are tests/models/idle.pml's and
 *   tests/core/test_stress.c's.
 */
#include "core/wake/idle.h"
#include "tests/test.h"

static void idle_wakes_one_at_a_time(void **state)
{
	enum { N = 130 };
	struct sb_idle idle;
	bool woken[N] = { false };

	(void)state;
	CHECK_EQ(sb_idle_init(&idle, N, 0), 0);
	CHECK_EQ(sb_idle_claim(&idle, 0), SB_IDLE_NONE);
	for (uint32_t i = 0; i < N; i++)
		sb_idle_announce(&idle, i, false);
	assert_true(sb_idle_wake_wanted(&idle));
	/* The near one first; then nobody, while that one searches. */
	CHECK_EQ(sb_idle_claim(&idle, 77), 77);
	woken[77] = true;
	assert_false(sb_idle_wake_wanted(&idle));
	CHECK_EQ(sb_idle_claim(&idle, 5), SB_IDLE_NONE);
	for (uint32_t i = 1; i < N; i++) {
		uint32_t id;

		assert_true(sb_idle_search_end(&idle));
		id = sb_idle_claim(&idle, 77);
		assert_uint_in_range(id, 0, N - 1);
		assert_false(woken[id]);
		woken[id] = true;
	}
	assert_true(sb_idle_search_end(&idle));
	CHECK_EQ(sb_idle_claim(&idle, 0), SB_IDLE_NONE);
	CHECK_EQ(sb_load_rlx(&idle.counts), 0);
	sb_idle_fini(&idle);
}

static void idle_bounds_the_searchers(void **state)
{
	struct sb_idle idle;

	(void)state;
	CHECK_EQ(sb_idle_init(&idle, 4, 0), 0);
	assert_true(sb_idle_search_begin(&idle));
	assert_true(sb_idle_search_begin(&idle));
	assert_false(sb_idle_search_begin(&idle)); /* 2 of 4 */
	sb_idle_announce(&idle, 0, true);
	CHECK_EQ(sb_idle_searching(sb_load_rlx(&idle.counts)), 1);
	assert_true(sb_idle_search_begin(&idle)); /* 1 of 3 awake: 2 x 1 < 3 */
	assert_false(sb_idle_search_begin(&idle));
	assert_false(sb_idle_search_end(&idle));
	assert_true(sb_idle_search_end(&idle));
	sb_idle_fini(&idle);
	CHECK_EQ(sb_idle_init(&idle, 4, 1), 0);
	assert_true(sb_idle_search_begin(&idle));
	assert_false(sb_idle_search_begin(&idle));
	sb_idle_fini(&idle);
}

/* Publishers look at the counts from when nobody searches and somebody sleeps, until one of them
 * has looked in vain. */
static void idle_asks_publishers(void **state)
{
	struct sb_idle idle;

	(void)state;
	CHECK_EQ(sb_idle_init(&idle, 3, 0), 0);
	assert_true(sb_idle_search_begin(&idle));
	sb_idle_announce(&idle, 0, false);
	assert_false(sb_load_rlx(&idle.ask) & 1); /* one searches */
	assert_true(sb_idle_search_end(&idle));
	assert_true(sb_idle_wake_wanted(&idle));
	assert_true(sb_idle_wake_wanted(&idle));
	CHECK_EQ(sb_idle_claim(&idle, 0), 0);
	assert_true(sb_load_rlx(&idle.ask) & 1);
	assert_false(sb_idle_wake_wanted(&idle));
	assert_false(sb_load_rlx(&idle.ask) & 1);
	sb_idle_announce(&idle, 0, true);
	assert_true(sb_idle_wake_wanted(&idle));
	sb_idle_fini(&idle);
}

static void idle_retracts(void **state)
{
	struct sb_idle idle;

	(void)state;
	CHECK_EQ(sb_idle_init(&idle, 3, 0), 0);
	/* Nobody claimed it. */
	sb_idle_announce(&idle, 1, false);
	CHECK_EQ(sb_idle_retract(&idle, 1), 1);
	CHECK_EQ(sb_idle_searching(sb_load_rlx(&idle.counts)), 1);
	assert_true(sb_idle_search_end(&idle));
	/* It was claimed, and nobody else sleeps. */
	sb_idle_announce(&idle, 1, false);
	CHECK_EQ(sb_idle_claim(&idle, 1), 1);
	CHECK_EQ(sb_idle_retract(&idle, 1), SB_IDLE_NONE);
	assert_true(sb_idle_search_end(&idle));
	/* It was claimed, and another sleeps: that one is woken in its stead. */
	sb_idle_announce(&idle, 1, false);
	sb_idle_announce(&idle, 2, false);
	CHECK_EQ(sb_idle_claim(&idle, 1), 1);
	CHECK_EQ(sb_idle_retract(&idle, 1), 2);
	CHECK_EQ(sb_idle_searching(sb_load_rlx(&idle.counts)), 2);
	CHECK_EQ(sb_idle_sleeping(sb_load_rlx(&idle.counts)), 0);
	sb_idle_fini(&idle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_wakes_one_at_a_time),
		cmocka_unit_test(idle_bounds_the_searchers),
		cmocka_unit_test(idle_asks_publishers),
		cmocka_unit_test(idle_retracts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
