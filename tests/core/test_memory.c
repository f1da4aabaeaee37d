/*
 * What happens when there is no memory.
 *
 * Property: an allocation that fails is an error that the caller gets, with
 *   nothing left behind; no process hangs and none is lost.
 * Method: the builds with race windows can refuse allocations (core/memory/arena.h); this
 *   test is built only there. Each of those that creating and starting a
 *   scheduler needs fails once; then all fail while a scheduler runs, in steps
 *   and from outside. The pools' balance is checked when it is destroyed, leaks
 *   by AddressSanitizer.
 * Bound: liburcu's own allocations do not fail.
 */
#include "core/commands.h"
#include "core/memory/arena.h"
#include "core/queue/runq.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "tests/script.h"

static void allow(int64_t allocations)
{
	sb_store_rlx(&sb_test_allocations, allocations);
}

static int create(struct fixture *f)
{
	struct sb_place place[2] = { { .os_cpu = -1 }, { .os_cpu = -1 } };
	const struct sb_placement placement = { .workers = 2, .place = place };

	fixture_defaults(f);
	return sb_scheduler_create(&f->s, &f->config, &placement);
}

static void each_allocation_of_the_start_may_fail(void **state)
{
	struct fixture f;
	int64_t n = 0;
	int rc;

	(void)state;
	do {
		allow(n++);
		rc = create(&f);
		if (!rc) {
			rc = sb_scheduler_start(f.s, NULL);
			allow(-1);
			if (!rc)
				CHECK_EQ(sb_scheduler_stop(f.s, 0), 0);
			sb_scheduler_destroy(f.s);
		}
		allow(-1);
		assert_true(rc == 0 || rc == -ENOMEM);
	} while (rc);
	/* Tables, map, and for each worker itself, events, deques, victims. */
	assert_true(n > 10);
}

/* A start that failed for want of memory can be repeated. */
static void a_start_may_be_repeated(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	int64_t n = 0;

	(void)state;
	CHECK_EQ(create(&f), 0);
	do {
		allow(n++);
	} while (sb_scheduler_start(f.s, NULL));
	allow(-1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	fixture_end(&f);
}

/* Each worker's trace is an allocation of a later start. */
static void a_start_without_memory_for_traces_fails(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	CHECK_EQ(create(&f), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), 0);
	CHECK_EQ(sb_scheduler_trace(f.s, 1000), 0);
	for (int64_t n = 0; n < 2; n++) {
		allow(n);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), -ENOMEM);
	}
	allow(-1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), 0);
	assert_true(sb_trace_kept(sb_scheduler_read_trace(f.s, 0)) > 0);
	assert_true(sb_trace_kept(sb_scheduler_read_trace(f.s, 1)) > 0);
	sb_scheduler_destroy(f.s);
}

/* ---- what is told of it ---- */

static int fails_as_told(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return -(int)script->other;
}

static void a_process_that_lacked_something_is_told_once(void **state)
{
	static const int error[] = { ENOMEM, EAGAIN, EPROTO };
	static const int told[] = { -ENOMEM, -EAGAIN, 0 };
	struct fixture f;

	(void)state;
	fixture_start(&f, 2);
	for (size_t i = 0; i < SB_ARRAY_SIZE(error); i++) {
		struct script script = { .f = &f,
					 .step = fails_as_told,
					 .other = (sb_pid)error[i] };

		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_take_shortage(f.s), told[i]);
		CHECK_EQ(sb_scheduler_take_shortage(f.s), 0);
	}
	fixture_end(&f);
}

/* ---- from outside ---- */

struct large {
	struct script *script;
	char rest[700]; /* a class of the pools of its own */
};

static const struct sb_process_ops large = {
	.name = "large",
	.state_bytes = sizeof(struct large),
	.init = script_init,
	.step = script_step,
	.close = script_close,
};

static int idles(struct script *script, struct sb_step *step, const struct sb_event *events,
		 uint32_t count)
{
	(void)script;
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	return SB_IDLE;
}

static void foreign_calls_fail_alone(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = idles };
	const union sb_value input = sb_value_ptr(&script);
	uint64_t sent = 0;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = fixture_submit(&f, &scripted, &script);
	await_steps(&script, 1);
	allow(0);
	CHECK_EQ(sb_scheduler_submit(f.s, &large, "main", input, NULL), -ENOMEM);
	CHECK_EQ(sb_scheduler_submit_as(f.s, SB_PID_CHOSEN, &scripted, "main", input), -ENOMEM);
	while (!sb_scheduler_send(f.s, pid, sb_value_u64(sent)))
		sent++;
	allow(-1);
	CHECK_EQ(sb_scheduler_submit_as(f.s, SB_PID_CHOSEN, &scripted, "main", input), 0);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	fixture_end(&f);
}

/* ---- from steps ---- */

/* One after another, until there is no memory for one; all it got must run. */
static int spawns_all_it_can(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	static const struct sb_process_ops *const kinds[] = { &scripted, &large };
	struct script *child = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	/* The first takes a slab, which holds many more. */
	CHECK_EQ(sb_step_spawn(step, kinds[0], "main", sb_value_ptr(child), NULL), 0);
	script->seen++;
	allow(0);
	for (size_t k = 0; k < SB_ARRAY_SIZE(kinds); k++) {
		while (!sb_step_spawn(step, kinds[k], "main", sb_value_ptr(child), NULL))
			script->seen++;
	}
	return SB_DONE;
}

/* The ring cannot grow, so most of them go to the global queue. */
static void a_full_deque_loses_nobody(void **state)
{
	struct fixture f;
	struct script child = { .f = &f, .step = done_at_once };
	struct script parent = { .f = &f,
				 .step = spawns_all_it_can,
				 .other = (sb_pid)(uintptr_t)&child };

	(void)state;
	for (enum sb_deque_kind kind = SB_DEQUE_COUNTED; kind <= SB_DEQUE_CHASE_LEV; kind++) {
		fixture_defaults(&f);
		f.config.deque = kind;
		fixture_create(&f, 1);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		parent.seen = 0;
		sb_store_rlx(&child.steps, 0);
		fixture_submit(&f, &scripted, &parent);
		fixture_wait(&f);
		allow(-1);
		assert_true(parent.seen > 16);
		CHECK_EQ(sb_load_rlx(&child.steps), parent.seen);
		fixture_end(&f);
	}
}

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
	assert_in_range(script.seen, 3, 5);
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
		cmocka_unit_test(each_allocation_of_the_start_may_fail),
		cmocka_unit_test(a_start_may_be_repeated),
		cmocka_unit_test(a_start_without_memory_for_traces_fails),
		cmocka_unit_test(a_process_that_lacked_something_is_told_once),
		cmocka_unit_test(foreign_calls_fail_alone),
		cmocka_unit_test(a_full_deque_loses_nobody),
		cmocka_unit_test(commands_complete_with_the_error),
		cmocka_unit_test(a_timer_that_fails_leaves_nothing),
		cmocka_unit_test(a_timer_without_memory_fires_later),
		cmocka_unit_test(an_overflow_says_so),
		cmocka_unit_test(a_run_queue_needs_none),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
