/*
 * When a submitted process comes to be.
 *
 * Property: what is submitted while the workers do not run waits for the next
 *   start, or ends by force at destroy.
 * Method: a scheduler that is not started yet, or not any more.
 */
#include "core/state.h"
#include "tests/script.h"

enum { MANY = 100 };

/* ---- before the start and after the stop ---- */

static void submit_many(struct fixture *f, struct script *script)
{
	for (int i = 0; i < MANY; i++)
		fixture_submit(f, &scripted, script);
}

static void what_is_submitted_before_the_start_waits(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	struct script receiver = { .f = &f, .step = wait_for_message };
	struct script doomed = { .f = &f, .step = done_with_42 };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 3);
	submit_many(&f, &script);
	pid = fixture_submit(&f, &scripted, &receiver);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(7)), 0);
	CHECK_EQ(sb_scheduler_terminate(f.s, fixture_submit(&f, &scripted, &doomed)), 0);
	CHECK_EQ(sb_scheduler_wait_idle(f.s, 0), -ETIMEDOUT);
	CHECK_EQ(sb_load_rlx(&f.completed), 0);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), -EALREADY);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), MANY);
	CHECK_EQ(receiver.seen, 7);
	CHECK_EQ(sb_load_rlx(&doomed.steps), 0);
	CHECK_EQ(sb_load_rlx(&f.closed), MANY + 2);
	fixture_end(&f);
}

static void what_is_submitted_after_the_stop_waits(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 3);
	for (uint64_t cycle = 0; cycle < 10; cycle++) {
		submit_many(&f, &script);
		CHECK_EQ(sb_load_rlx(&f.completed), cycle * MANY);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.completed), (cycle + 1) * MANY);
	}
	sb_scheduler_destroy(f.s);
}

/* Before the first start, or after a stop; some with messages. */
static void check_destroy(bool has_run)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	const uint64_t before = has_run ? MANY : 0;

	fixture_defaults(&f);
	fixture_create(&f, 2);
	if (has_run) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		submit_many(&f, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	}
	for (uint64_t i = 0; i < MANY; i++) {
		const sb_pid pid = SB_PID_CHOSEN + i;

		CHECK_EQ(sb_scheduler_submit_as(f.s, pid, &scripted, "main", sb_value_ptr(&script)),
			 0);
		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	}
	CHECK_EQ(sb_load_rlx(&f.completed), before);
	sb_scheduler_destroy(f.s);
	CHECK_EQ(sb_load_rlx(&script.steps), before);
	CHECK_EQ(sb_load_rlx(&f.completed), before + MANY);
	CHECK_EQ(sb_load_rlx(&f.closed), before + MANY);
	CHECK_EQ(sb_load_rlx(&f.dropped), MANY);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
}

static void destroy_ends_those_that_never_ran(void **state)
{
	(void)state;
	check_destroy(false);
	check_destroy(true);
}

struct executor {
	struct script script;
	struct sb_thread thread;
	struct sb_exit exit;
};

static void *execute_it(void *arg)
{
	struct executor *executor = arg;

	CHECK_EQ(sb_scheduler_execute(executor->script.f->s, &scripted, "main",
				      sb_value_ptr(&executor->script), &executor->exit),
		 0);
	return NULL;
}

static void count_visit(void *arg, const struct sb_process_info *info)
{
	CHECK_EQ(info->state, SB_STATE_READY);
	++*(int *)arg;
}

/* Executes and has come so far that it is listed. */
static void start_executor(struct executor *executor, struct fixture *f)
{
	int listed = 0;

	*executor = (struct executor){ .script = { .f = f, .step = done_with_42 } };
	CHECK_EQ(sb_thread_start(&executor->thread, -1, execute_it, executor), 0);
	while (!listed) {
		sb_thread_yield();
		sb_scheduler_list(f->s, count_visit, &listed);
	}
	CHECK_EQ(listed, 1);
}

static void an_execute_waits_for_the_start(void **state)
{
	struct fixture f;
	struct executor executor;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	start_executor(&executor, &f);
	CHECK_EQ(sb_load_rlx(&f.completed), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sb_thread_join(&executor.thread);
	CHECK_EQ(executor.exit.error, 0);
	CHECK_EQ(executor.exit.result.u64, 42);
	fixture_end(&f);
}

static void destroy_ends_an_execute(void **state)
{
	struct fixture f;
	struct executor executor;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	start_executor(&executor, &f);
	sb_scheduler_destroy(f.s);
	sb_thread_join(&executor.thread);
	CHECK_EQ(executor.exit.error, -ECANCELED);
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_submitted_before_the_start_waits),
		cmocka_unit_test(what_is_submitted_after_the_stop_waits),
		cmocka_unit_test(destroy_ends_those_that_never_ran),
		cmocka_unit_test(an_execute_waits_for_the_start),
		cmocka_unit_test(destroy_ends_an_execute),
	};

	return cmocka_run_group_tests_name("submit", tests, NULL, NULL);
}
