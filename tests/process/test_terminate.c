/*
 * terminate and execute.
 *
 * Property: terminate ends a process wherever it is, without waiting for it,
 *   and no step of it follows; execute returns what the process ended with, and
 *   always returns.
 * Method: one process in each state; then a thread that terminates at random
 *   while processes come, run and end.
 */
#include "tests/script.h"

static int spin_until_told(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&script->flag, 1);
	while (sb_load_acq(&script->flag) == 1)
		sb_thread_yield();
	return SB_CONTINUE;
}

/* ---- terminate ---- */

/* One worker, so that what is behind a running step stays queued. */
static void terminate_ends_a_process_anywhere(void **state)
{
	struct fixture f;
	struct script idle = { .f = &f, .step = ignore_everything };
	struct script blocked = { .f = &f, .step = block_until_cancel };
	struct script running = { .f = &f, .step = spin_until_told };
	struct script queued = { .f = &f, .step = done_with_42 };
	sb_pid pid[4];

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid[0] = fixture_submit(&f, &scripted, &idle);
	pid[1] = fixture_submit(&f, &scripted, &blocked);
	await_flag(&idle);
	await_flag(&blocked);
	pid[2] = fixture_submit(&f, &scripted, &running);
	await_flag(&running);
	pid[3] = fixture_submit(&f, &scripted, &queued);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sb_scheduler_terminate(f.s, pid[i]), 0);
	CHECK_EQ(sb_load_rlx(&f.completed), 0); /* it does not wait */
	sb_store_rel(&running.flag, 2);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	CHECK_EQ(sb_load_rlx(&f.closed), 4);
	CHECK_EQ(sb_load_rlx(&idle.steps), 1);
	CHECK_EQ(sb_load_rlx(&blocked.steps), 1);
	CHECK_EQ(sb_load_rlx(&running.steps), 1);
	CHECK_EQ(sb_load_rlx(&queued.steps), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(sb_scheduler_terminate(f.s, pid[i]), -ESRCH);
	/* A completion that comes too late. */
	CHECK_EQ(sb_complete(&blocked.later, sb_value_u64(0), 0), -ESRCH);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
	fixture_end(&f);
}

static int terminate_self(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_scheduler_terminate(script->f->s, step->self), 0);
	return SB_IDLE;
}

static int end_at_once(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	(void)script;
	(void)step;
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ(events[i].type, SB_EVENT_CANCEL);
	return SB_DONE;
}

static void *terminate_all(void *arg)
{
	struct script *script = arg;

	for (sb_pid pid = 1; !flag_set(script); pid = pid % 5000 + 1)
		(void)sb_scheduler_terminate(script->f->s, pid);
	return NULL;
}

/* Somebody terminates at random while processes come, run and end. */
static void terminate_races_with_everything(void **state)
{
	struct fixture f;
	struct script self = { .f = &f, .step = terminate_self };
	struct script busy = { .f = &f, .step = continue_until_cancel };
	struct script quick = { .f = &f, .step = end_at_once };
	struct script idle = { .f = &f, .step = end_on_cancel };
	struct script killer = { .f = &f };
	struct sb_thread thread;

	(void)state;
	fixture_start(&f, 3);
	CHECK_EQ(sb_thread_start(&thread, -1, terminate_all, &killer), 0);
	for (int i = 0; i < SB_SCALE(1600); i++) {
		fixture_submit(&f, &scripted, &self);
		fixture_submit(&f, &scripted, &quick);
		fixture_submit(&f, &scripted, &idle);
		if (i % 16 == 0)
			fixture_submit(&f, &scripted, &busy);
	}
	sb_store_rel(&killer.flag, 1);
	sb_thread_join(&thread);
	fixture_end(&f);
	CHECK_EQ(sb_load_rlx(&f.closed), sb_load_rlx(&f.started));
}

/* ---- execute ---- */

static int execute_inside(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct sb_exit exit;

	(void)step;
	(void)events;
	(void)count;
	script->seen = (uint64_t)-sb_scheduler_execute(script->f->s, &scripted, "main",
						       sb_value_ptr(script), &exit);
	return -EIO;
}

static void execute_waits_for_the_result(void **state)
{
	struct fixture f;
	struct script good = { .f = &f, .step = done_with_42 };
	struct script bad = { .f = &f, .step = execute_inside };
	struct sb_exit exit = { .error = 77 };

	(void)state;
	fixture_start(&f, 2);
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "other", sb_value_ptr(&good), &exit),
		 -ENOTSUP);
	CHECK_EQ(exit.error, 77);
	for (int i = 0; i < SB_SCALE(2000); i++) {
		CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main", sb_value_ptr(&good), &exit),
			 0);
		CHECK_EQ(exit.error, 0);
		CHECK_EQ(exit.result.u64, 42);
	}
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main", sb_value_ptr(&bad), &exit), 0);
	CHECK_EQ(exit.error, -EIO);
	CHECK_EQ(bad.seen, EDEADLK);
	fixture_end(&f);
}

static void *execute_stubborn(void *arg)
{
	struct script *script = arg;
	struct sb_exit exit;

	CHECK_EQ(sb_scheduler_execute(script->f->s, &scripted, "main", sb_value_ptr(script), &exit),
		 0);
	CHECK_EQ(exit.error, -ECANCELED);
	return NULL;
}

static void stop_by_force_ends_an_execute(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = ignore_everything };
	struct sb_thread thread;

	(void)state;
	fixture_start(&f, 1);
	CHECK_EQ(sb_thread_start(&thread, -1, execute_stubborn, &script), 0);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_stop(f.s, 1000000), -ETIMEDOUT);
	sb_thread_join(&thread);
	sb_scheduler_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminate_ends_a_process_anywhere),
		cmocka_unit_test(terminate_races_with_everything),
		cmocka_unit_test(execute_waits_for_the_result),
		cmocka_unit_test(stop_by_force_ends_an_execute),
	};

	return cmocka_run_group_tests_name("terminate", tests, NULL, NULL);
}
