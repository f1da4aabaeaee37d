/*
 * The parameters of stealing and waking, in every combination.
 *
 * Property: whatever deque, steal amount, victim order and wake target, a job has
 *   its right answer and the counters obey their laws.
 * Method: a tree of processes that spawn, continue and send, on more workers than
 *   cores.
 * Bound: 5 workers, 121 processes a job.
 */
#include "tests/core/policies.h"

/* Two SMT siblings, one more in their cache, one in their node, one remote. */
static struct sb_place far_apart[] = {
	{ -1, 0, 0, 0, 0, 0 }, { -1, 1, 0, 0, 0, 0 }, { -1, 2, 1, 0, 0, 0 },
	{ -1, 3, 2, 1, 0, 0 }, { -1, 4, 3, 2, 1, 1 },
};

static const struct amount amounts[] = {
	{ SB_STEAL_HALF, 32 },
	{ SB_STEAL_COUNT, 1 },
	{ SB_STEAL_COUNT, 3 },
};

static void run_job(const struct sb_config *policy, int rounds)
{
	struct fixture f;

	fixture_defaults(&f);
	f.config.deque = policy->deque;
	f.config.steal = policy->steal;
	f.config.steal_cap = policy->steal_cap;
	f.config.victim = policy->victim;
	f.config.wake = policy->wake;
	fixture_create_at(&f, SB_ARRAY_SIZE(far_apart), far_apart);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (int i = 0; i < rounds; i++) {
		struct sb_exit exit;

		CHECK_EQ(sb_scheduler_execute(f.s, &nodes, "main", sb_value_u64(0), &exit), 0);
		CHECK_EQ(exit.error, 0);
		CHECK_EQ(exit.result.u64, LEAVES);
	}
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	fixture_check_conservation(&f);
	assert_uint_in_range(sb_hist_max(fixture_hist(&f, SB_HIST_batch_steal)), 0,
			     policy->steal_cap);
	sb_scheduler_destroy(f.s);
}

static void run_wakes(struct sb_config policy)
{
	static const enum sb_wake wakes[] = { SB_WAKE_LOCAL, SB_WAKE_AFFINE, SB_WAKE_GLOBAL };

	for (size_t i = 0; i < SB_ARRAY_SIZE(wakes); i++) {
		policy.wake = wakes[i];
		run_job(&policy, SB_SCALE(16));
	}
}

static void run_victims(struct sb_config policy)
{
	static const enum sb_victim victims[] = { SB_VICTIM_RANDOM, SB_VICTIM_NEAR,
						  SB_VICTIM_LAST };

	for (size_t i = 0; i < SB_ARRAY_SIZE(victims); i++) {
		policy.victim = victims[i];
		run_wakes(policy);
	}
}

static void run_deque(enum sb_deque_kind deque)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(amounts); i++) {
		struct sb_config policy = SB_CONFIG_DEFAULT;

		policy.deque = deque;
		policy.steal = amounts[i].steal;
		policy.steal_cap = amounts[i].cap;
		run_victims(policy);
	}
}

static void every_policy_with_counted(void **state)
{
	(void)state;
	run_deque(SB_DEQUE_COUNTED);
}

static void every_policy_with_chase_lev(void **state)
{
	(void)state;
	run_deque(SB_DEQUE_CHASE_LEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_policy_with_counted),
		cmocka_unit_test(every_policy_with_chase_lev),
	};

	return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
