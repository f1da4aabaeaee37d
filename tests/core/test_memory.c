/*
 * No memory: the start, steps, and calls from outside.
 *
 * Property: an allocation that fails is an error that the caller gets, with nothing
 *   left behind; no process hangs and none is lost.
 * Method: the builds with race windows can refuse allocations (core/memory/arena.h);
 *   this test is built only there. Each of those that creating and starting a
 *   scheduler needs fails once; then all fail while a scheduler runs. The pools'
 *   balance is checked when it is destroyed, leaks by AddressSanitizer.
 * Bound: liburcu's own allocations do not fail.
 */
#include "tests/core/memory.h"

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

/* The same in a step: a create that fails frees what it has made there, too. */
static int create_until_it_succeeds(struct script *script, struct sb_step *step,
				    const struct sb_event *events, uint32_t count)
{
	struct fixture *other = (void *)(uintptr_t)script->other;
	int64_t n = 0;
	int rc;

	(void)step;
	(void)events;
	(void)count;
	do {
		allow(n++);
		rc = create(other);
		allow(-1);
		assert_true(rc == 0 || rc == -ENOMEM);
	} while (rc);
	script->seen = (uint64_t)n;
	return SB_DONE;
}

static void each_allocation_of_a_create_in_a_step_may_fail(void **state)
{
	struct fixture f, other;
	struct script script = { .f = &f,
				 .step = create_until_it_succeeds,
				 .other = (uintptr_t)&other };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	assert_true(script.seen > 5);
	sb_scheduler_destroy(other.s);
	fixture_end(&f);
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

static void *stop_and_wait(void *arg)
{
	struct fixture *f = arg;

	CHECK_EQ(sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS), 0);
	return NULL;
}

/* A stop sends the cancel events for which there was no memory when there is some. */
static void a_stop_cancels_when_there_is_memory(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = idles };
	struct sb_thread thread;

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	await_steps(&script, 1);
	allow(0);
	CHECK_EQ(sb_thread_start(&thread, -1, stop_and_wait, &f), 0);
	while (!sb_load_acq(&f.s->cancel_again))
		sb_thread_yield();
	allow(-1);
	sb_thread_join(&thread);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	sb_scheduler_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_of_the_start_may_fail),
		cmocka_unit_test(each_allocation_of_a_create_in_a_step_may_fail),
		cmocka_unit_test(a_start_may_be_repeated),
		cmocka_unit_test(a_stop_cancels_when_there_is_memory),
		cmocka_unit_test(a_start_without_memory_for_traces_fails),
		cmocka_unit_test(a_process_that_lacked_something_is_told_once),
		cmocka_unit_test(foreign_calls_fail_alone),
		cmocka_unit_test(a_full_deque_loses_nobody),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
