/*
 * How much a thief takes.
 *
 * Property: a steal takes what its amount and its cap say; streams are gathered only
 *   where they should be.
 * Method: one worker is held, one thief empties its deque.
 */
#include "tests/core/policies.h"

/* ---- how much one steal takes ---- */

enum { HOARD = 100 };

struct hoard {
	struct fixture f;
	_Atomic(uint32_t) held; /* 1: the thief is held, 2: it may go */
	_Atomic(uint32_t) done; /* children that have run */
};

static int hoard_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct hoard **)state = input.ptr;
	return 0;
}

static int child_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_add_acq_rel(&(*(struct hoard **)state)->done, 1);
	return SB_DONE;
}

static const struct sb_process_ops children = {
	.name = "child",
	.state_bytes = sizeof(struct hoard *),
	.init = hoard_init,
	.step = child_step,
};

/* Fills its worker's deque, and stays until others have emptied it. */
static int hoard_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct hoard *hoard = *(struct hoard **)state;

	(void)events;
	(void)count;
	for (int i = 0; i < HOARD; i++)
		CHECK_EQ(sb_step_spawn(step, &children, "main", sb_value_ptr(hoard), NULL), 0);
	sb_store_rel(&hoard->held, 2);
	while (sb_load_acq(&hoard->done) < HOARD)
		sb_thread_yield();
	return SB_DONE;
}

static const struct sb_process_ops hoarder = {
	.name = "hoarder",
	.state_bytes = sizeof(struct hoard *),
	.init = hoard_init,
	.step = hoard_step,
};

static int hold_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct hoard *hoard = *(struct hoard **)state;

	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&hoard->held, 1);
	while (sb_load_acq(&hoard->held) < 2)
		sb_thread_yield();
	return SB_DONE;
}

static const struct sb_process_ops holder = {
	.name = "holder",
	.state_bytes = sizeof(struct hoard *),
	.init = hoard_init,
	.step = hold_step,
};

/* The sizes of the thief's steals, by the rule; SB_STEAL_MAX + 1 counts. */
static void model_steals(const struct amount *amount, uint64_t *sizes)
{
	for (uint32_t left = HOARD; left;) {
		const uint32_t wanted = amount->steal == SB_STEAL_HALF ? (left + 1) / 2 : left;
		const uint32_t n = wanted < amount->cap ? wanted : amount->cap;

		sizes[n]++;
		left -= n;
	}
}

static void check_amount(enum sb_deque_kind deque, const struct amount *amount)
{
	static struct hoard hoard;
	const struct sb_hist_counts *seen;
	uint64_t sizes[SB_STEAL_MAX + 1] = { 0 };

	sb_store_rlx(&hoard.held, 0);
	sb_store_rlx(&hoard.done, 0);
	fixture_defaults(&hoard.f);
	hoard.f.config.deque = deque;
	hoard.f.config.steal = amount->steal;
	hoard.f.config.steal_cap = amount->cap;
	fixture_create(&hoard.f, 2);
	CHECK_EQ(sb_scheduler_start(hoard.f.s, NULL), 0);
	fixture_submit(&hoard.f, &holder, &hoard);
	while (!sb_load_acq(&hoard.held))
		sb_thread_yield();
	fixture_submit(&hoard.f, &hoarder, &hoard);
	fixture_wait(&hoard.f);
	CHECK_EQ(sb_scheduler_stop(hoard.f.s, FIXTURE_TIMEOUT_NS), 0);
	model_steals(amount, sizes);
	seen = fixture_hist(&hoard.f, SB_HIST_batch_steal);
	for (uint32_t n = 1; n <= SB_STEAL_MAX; n++)
		CHECK_EQ(seen->bucket[sb_hist_index(n)], sizes[n]);
	CHECK_EQ(seen->sum, HOARD);
	fixture_check_conservation(&hoard.f);
	sb_scheduler_destroy(hoard.f.s);
}

static void a_steal_takes_its_amount(void **state)
{
	static const struct amount all[] = {
		{ SB_STEAL_HALF, 32 },
		{ SB_STEAL_HALF, 8 },
		{ SB_STEAL_HALF, SB_STEAL_MAX },
		{ SB_STEAL_HALF, 1 },
		{ SB_STEAL_COUNT, 1 },
		{ SB_STEAL_COUNT, 3 },
		{ SB_STEAL_COUNT, SB_STEAL_MAX },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(all); i++) {
		check_amount(SB_DEQUE_COUNTED, &all[i]);
		check_amount(SB_DEQUE_CHASE_LEV, &all[i]);
	}
}

/* A worker without work tries, once in so many searches, whether waiting finds
 * several processes; by default it counts them. */
static void gathering_can_be_switched_off(void **state)
{
	(void)state;
	for (int gather = 0; gather < 2; gather++) {
		struct fixture f;
		struct sb_exit exit;

		fixture_defaults(&f);
		f.config.gather = gather;
		fixture_create(&f, 1);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		CHECK_EQ(sb_scheduler_execute(f.s, &nodes, "main", sb_value_u64(0), &exit), 0);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(f.s->worker[0]->search.moments > 0, gather);
		sb_scheduler_destroy(f.s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steal_takes_its_amount),
		cmocka_unit_test(gathering_can_be_switched_off),
	};

	return cmocka_run_group_tests_name("policies", tests, NULL, NULL);
}
