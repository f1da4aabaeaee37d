/*
 * No memory: commands, timers, and queues that overflow.
 *
 * Property: an allocation that fails is an error that the caller gets, or something
 *   that comes later; nothing is left behind.
 * Method: as in test_memory.c; all allocations fail while a scheduler runs.
 * Bound: liburcu's own allocations do not fail.
 */
#include "tests/core/memory.h"

struct asks {
	uint32_t command;
	union sb_value arg;
	int error;
};

static int asks_without_memory(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	struct asks *asks = (void *)(uintptr_t)script->other;

	if (!count) {
		/* A node for the completion, and nothing else. */
		CHECK_EQ(sb_step_send(step, sb_step_self(step), sb_value_u64(1)), 0);
		return SB_IDLE;
	}
	if (events[0].type == SB_EVENT_MESSAGE) {
		allow(0);
		CHECK_EQ(sb_step_yield(step, asks->command, asks->arg, 0), 0);
		return SB_YIELD;
	}
	allow(-1);
	CHECK_EQ(events[0].type, SB_EVENT_COMPLETION);
	asks->error = events[0].error;
	sb_store_rel(&script->flag, 1);
	return SB_DONE;
}

static void commands_complete_with_the_error(void **state)
{
	struct fixture f;
	struct script other = { .f = &f, .step = idles };
	const struct sb_spawn_args spawn = { .ops = &large,
					     .method = "main",
					     .input = sb_value_ptr(&other) };
	struct asks asks[] = {
		{ .command = SB_COMMAND_SLEEP, .arg = { .u64 = 1 } },
		{ .command = SB_COMMAND_TICKER, .arg = { .u64 = 1 << 20 } },
		{ .command = SB_COMMAND_MONITOR },
		{ .command = SB_COMMAND_LINK },
		{ .command = SB_COMMAND_SPAWN, .arg = { .ptr = (void *)(uintptr_t)&spawn } },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(asks); i++) {
		struct script script = { .f = &f,
					 .step = asks_without_memory,
					 .other = (sb_pid)(uintptr_t)&asks[i] };
		sb_pid pid;

		fixture_start(&f, 1);
		pid = fixture_submit(&f, &scripted, &other);
		if (asks[i].command == SB_COMMAND_MONITOR || asks[i].command == SB_COMMAND_LINK)
			asks[i].arg = sb_value_u64(pid);
		await_steps(&other, i + 1);
		fixture_submit(&f, &scripted, &script);
		await_flag(&script);
		CHECK_EQ(asks[i].error, -ENOMEM);
		fixture_end(&f);
	}
}

/* ---- timers ---- */

#define HOUR_NS UINT64_C(3600000000000)

static uint32_t pending(const struct sb_worker *w)
{
	return w->timers.wheel.pending;
}

/* With one allocation more each time, until the start succeeds. Before each, a
 * message to itself leaves a node, which the completion needs. */
static int starts_a_timer(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	allow(-1);
	if (count && events[0].type == SB_EVENT_MESSAGE) {
		allow((int64_t)script->seen++);
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS), 0), 0);
		return SB_YIELD;
	}
	if (count) {
		CHECK_EQ(pending(step->worker), events[0].error ? 0 : 1);
		if (!events[0].error)
			return SB_DONE;
		CHECK_EQ(events[0].error, -ENOMEM);
	}
	CHECK_EQ(sb_step_send(step, sb_step_self(step), sb_value_u64(1)), 0);
	return SB_IDLE;
}

static void a_timer_that_fails_leaves_nothing(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = starts_a_timer };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	/* Extra, ids, chunk, table: pools may have had the first two. */
	assert_uint_in_range(script.seen, 3, 5);
	CHECK_EQ(pending(f.s->worker[0]), 0);
	fixture_end(&f);
}

/* Takes all objects of an event's size that are there without an allocation. */
static struct sb_pool_item *take_all_nodes(struct sb_worker *w)
{
	struct sb_pool_item *all = NULL;
	struct sb_pool_item *item;

	allow(0);
	while ((item = sb_pool_alloc(&w->pool, sizeof(struct sb_event_node)))) {
		item->next = all;
		all = item;
	}
	allow(-1);
	return all;
}

static void free_all_nodes(struct sb_worker *w, struct sb_pool_item *item)
{
	while (item) {
		struct sb_pool_item *next = item->next;

		sb_pool_free(&w->pool, item, sizeof(struct sb_event_node));
		item = next;
	}
}

/* Sees to its worker's timers, one of which is due, until there would be an event
 * if there were memory for it. */
static void fire_without_memory(struct sb_worker *w)
{
	struct sb_pool_item *nodes = take_all_nodes(w);

	while (sb_load_rlx(&w->timers.next_ns) > sb_clock_ns())
		continue;
	allow(0);
	sb_timers_run(w, w, sb_clock_ns());
	allow(-1);
	free_all_nodes(w, nodes);
	CHECK_EQ(pending(w), 1);
}

enum { WAITS, STOPS, ENDS };

/* Its timer fires without memory; then it waits for the event, stops the timer, or
 * ends. Again if the timer was faster. */
static int has_a_timer(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct sb_worker *w = step->worker;

	if (count && events[0].type == SB_EVENT_COMPLETION) {
		if (count == 1 && pending(w)) {
			fire_without_memory(w);
			script->seen++;
			if (script->other == STOPS)
				CHECK_EQ(sb_timers_stop(w->scheduler, events[0].data.u64,
							sb_step_self(step)),
					 0);
			return script->other == WAITS ? SB_IDLE : SB_DONE;
		}
		if (count == 1)
			return SB_IDLE;
	}
	if (script->seen)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(0), 0), 0);
	return SB_YIELD;
}

static void a_timer_without_memory_fires_later(void **state)
{
	(void)state;
	for (uint64_t then = WAITS; then <= ENDS; then++) {
		struct fixture f;
		struct script script = { .f = &f, .step = has_a_timer, .other = then };

		fixture_start(&f, 1);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		CHECK_EQ(script.seen, 1);
		if (then != WAITS)
			CHECK_EQ(pending(f.s->worker[0]), 0);
		CHECK_EQ(sb_load_rlx(&f.last_error), 0);
		fixture_end(&f);
	}
}

static int yields_too_many(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	int rc = 0;

	(void)events;
	(void)count;
	allow(0);
	while (!rc && script->seen < 1000) {
		rc = sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(0), script->seen);
		script->seen += !rc;
	}
	allow(-1);
	CHECK_EQ(rc, -ENOMEM);
	return rc;
}

static void an_overflow_says_so(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yields_too_many };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ENOMEM);
	CHECK_EQ(script.seen, SB_STEP_YIELDS);
	fixture_end(&f);
}

/* ---- run queues ---- */

enum { MANY = 1000 };

/*
 * Puts processes in, so many with memory for another part and as many without in
 * turn, and takes some out now and then: what went in comes out, in order.
 */
static void runq_through_thick_and_thin(uint32_t turn, uint32_t taken_each)
{
	static struct sb_process processes[MANY];
	struct sb_process *out[16];
	struct sb_runq queue;
	uint32_t taken = 0;

	sb_runq_init(&queue, SB_HEAP);
	for (uint32_t i = 0; i < MANY || taken < MANY; i++) {
		allow(i / turn % 2 ? 0 : -1);
		if (i < MANY)
			sb_runq_push(&queue, &processes[i]);
		if (i % 8)
			continue;
		for (uint32_t k = 0, n = sb_runq_take(&queue, taken_each, 1, out); k < n; k++)
			assert_ptr_equal(out[k], &processes[taken++]);
	}
	allow(-1);
	CHECK_EQ(taken, MANY);
	CHECK_EQ(sb_runq_length(&queue), 0);
	sb_runq_clear(&queue);
}

static void a_run_queue_needs_none(void **state)
{
	(void)state;
	runq_through_thick_and_thin(MANY, 16);
	for (uint32_t turn = 1; turn < MANY / 2; turn = 2 * turn + 1) {
		runq_through_thick_and_thin(turn, 3);
		runq_through_thick_and_thin(turn, 8);
		runq_through_thick_and_thin(turn, 13);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_complete_with_the_error),
		cmocka_unit_test(a_timer_that_fails_leaves_nothing),
		cmocka_unit_test(a_timer_without_memory_fires_later),
		cmocka_unit_test(an_overflow_says_so),
		cmocka_unit_test(a_run_queue_needs_none),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
