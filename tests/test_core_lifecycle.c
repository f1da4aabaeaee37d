/*
 * Start and stop, gracefully and by force, and what races with them.
 *
 * Property: every process that was started completes and closes exactly once,
 *   and nothing is left behind, whatever runs at the same time.
 * Method: many cycles with idle, running and blocked processes and with foreign
 *   threads that submit; the pools' balance is checked at each destroy.
 */
#include "core/deque.h"
#include "tests/script.h"

#define KEEPS 5

/* ---- stop ---- */

static int ignore_everything(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	script->seen += count;
	sb_store_rel(&script->flag, 1);
	return SB_IDLE;
}

static void stop_ends_the_stubborn_by_force(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = ignore_everything };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_stop(f.s, 20000000), -ETIMEDOUT);
	CHECK_EQ(script.seen, 1); /* the cancel event */
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
	CHECK_EQ(sb_load_rlx(&f.completed), 1);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), -ESRCH);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), -EALREADY);
	sb_scheduler_destroy(f.s);
}

static int stop_from_inside(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	CHECK_EQ(sb_scheduler_stop(script->f->s, 0), -EDEADLK);
	CHECK_EQ(sb_scheduler_wait_idle(script->f->s, 0), -EDEADLK);
	script->seen = 1;
	return SB_DONE;
}

static void stop_from_a_step_is_refused(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = stop_from_inside };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 1);
	fixture_end(&f);
}

static int end_on_cancel(struct script *script, struct sb_step *step,
			 const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	return SB_IDLE;
}

static int continue_until_cancel(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	const int status = end_on_cancel(script, step, events, count);

	return status == SB_DONE ? SB_DONE : SB_CONTINUE;
}

static int block_until_cancel(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	if (!count)
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), 1),
			 0);
	return end_on_cancel(script, step, events, count) == SB_DONE ? SB_DONE
								     : SB_YIELD;
}

/* With idle, running and blocked processes, time after time. */
static void start_and_stop_many_times(void **state)
{
	struct fixture f;
	struct script idle = { .f = &f, .step = end_on_cancel };
	struct script busy = { .f = &f, .step = continue_until_cancel };
	struct script blocked[4];

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 3);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, keeps, NULL), 0);
	for (int cycle = 0; cycle < SB_SCALE(200); cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		for (int i = 0; i < 4; i++) {
			blocked[i] =
				(struct script){ .f = &f,
						 .step = block_until_cancel };
			fixture_submit(&f, &scripted, &idle);
			fixture_submit(&f, &scripted, &busy);
			fixture_submit(&f, &scripted, &blocked[i]);
		}
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.completed), 12 * (cycle + 1));
		CHECK_EQ(sb_load_rlx(&f.closed), 12 * (cycle + 1));
	}
	sb_scheduler_destroy(f.s);
}

static void *submit_until_refused(void *arg)
{
	struct script *script = arg;
	int rc;

	do {
		rc = sb_scheduler_submit(script->f->s, &scripted, "main",
					 sb_value_ptr(script), NULL);
	} while (!rc);
	CHECK_EQ(rc, -ESHUTDOWN);
	return NULL;
}

/* A process is refused, or it gets its cancel event; none is stranded. */
static void submit_against_stop(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = end_on_cancel };
	struct sb_thread thread;

	(void)state;
	fixture_defaults(&f);
	/* Most of a submission's time passes between its look at the phase and
	 * the moment its process can be seen. */
	f.yields_in_start = 20;
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(200); cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		CHECK_EQ(sb_thread_start(&thread, -1, submit_until_refused,
					 &script),
			 0);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		sb_thread_join(&thread);
		CHECK_EQ(sb_load_rlx(&f.completed), sb_load_rlx(&f.started));
	}
	sb_scheduler_destroy(f.s);
}

/* Ignores the cancel event, and its close sends to others: they become Ready
 * while force is ending them all, in an order that is not theirs. */
#define STUBBORN_SENDS 4

struct stubborn {
	struct fixture *f;
	sb_pid to[STUBBORN_SENDS];
};

static int stubborn_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct stubborn **)state = input.ptr;
	return 0;
}

static int stubborn_step(void *state, struct sb_step *step,
			 const struct sb_event *events, uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	(void)count;
	return SB_IDLE;
}

static void stubborn_close(void *state)
{
	struct stubborn *stubborn = *(struct stubborn **)state;

	sb_add_rlx(&stubborn->f->closed, 1);
	for (int i = 0; i < STUBBORN_SENDS; i++)
		(void)!sb_scheduler_send(stubborn->f->s, stubborn->to[i],
					 sb_value_u64(1));
}

static const struct sb_process_ops stubborn_ops = {
	.name = "stubborn",
	.state_bytes = sizeof(struct stubborn *),
	.init = stubborn_init,
	.step = stubborn_step,
	.close = stubborn_close,
};

static void force_ends_those_that_wake_each_other(void **state)
{
	enum { N = 100 };
	struct fixture f;
	struct sb_rng rng;
	struct stubborn stubborn[N];
	struct script script = { .f = &f, .step = done_with_42 };
	sb_pid pid[N];

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (uint64_t cycle = 1; cycle <= 10; cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		for (int i = 0; i < N; i++) {
			stubborn[i] = (struct stubborn){ .f = &f };
			pid[i] =
				fixture_submit(&f, &stubborn_ops, &stubborn[i]);
		}
		for (int i = 0; i < N * STUBBORN_SENDS; i++)
			stubborn[i % N].to[i / N] = pid[sb_rng_below(&rng, N)];
		CHECK_EQ(sb_scheduler_stop(f.s, 5000000), -ETIMEDOUT);
		CHECK_EQ(sb_load_rlx(&f.closed), (N + 1) * (cycle - 1) + N);
		/* No queue has kept any of them. */
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.completed), (N + 1) * cycle);
	}
	sb_scheduler_destroy(f.s);
}

/* As submit_against_stop, but with force and processes that need it. */
static void submit_against_a_forced_stop(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = ignore_everything };
	struct sb_thread thread;

	(void)state;
	fixture_defaults(&f);
	/* Longer than a stop takes that need not wait for it. */
	f.yields_in_start = 3000;
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(80); cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		CHECK_EQ(sb_thread_start(&thread, -1, submit_until_refused,
					 &script),
			 0);
		for (int n = cycle; n; n--)
			sb_thread_yield();
		(void)sb_scheduler_stop(f.s, 0);
		sb_thread_join(&thread);
		CHECK_EQ(sb_load_rlx(&f.completed), sb_load_rlx(&f.started));
		CHECK_EQ(sb_load_rlx(&f.closed), sb_load_rlx(&f.started));
	}
	sb_scheduler_destroy(f.s);
}

static int send_once(struct script *script, struct sb_step *step,
		     const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	script->seen =
		(uint64_t)-sb_step_send(step, script->other, sb_value_u64(1));
	return SB_DONE;
}

static int send_and_continue(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), 0);
	sb_store_rel(&script->flag, 1);
	return SB_CONTINUE;
}

/* A worker remembers whom it has looked up; not beyond a stop. The talker holds
 * it until it is stopped by force, so it never has a quiescent state between
 * its last look-up and the next start. */
static void a_route_does_not_survive_a_restart(void **state)
{
	struct fixture f;
	struct script receiver = { .f = &f, .step = ignore_everything };
	struct script talker = { .f = &f, .step = send_and_continue };
	struct script sender = { .f = &f, .step = send_once };

	(void)state;
	fixture_defaults(&f);
	f.config.tick = 1000000000;
	fixture_create(&f, 1);
	for (int cycle = 0; cycle < SB_SCALE(40); cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		if (cycle) {
			fixture_submit(&f, &scripted, &sender);
			fixture_wait(&f);
			CHECK_EQ(sender.seen, ESRCH);
		}
		sb_store_rlx(&receiver.flag, 0);
		sb_store_rlx(&talker.flag, 0);
		sender.other = talker.other =
			fixture_submit(&f, &scripted, &receiver);
		await_flag(&receiver);
		fixture_submit(&f, &scripted, &talker);
		await_flag(&talker);
		CHECK_EQ(sb_scheduler_stop(f.s, 0), -ETIMEDOUT);
	}
	sb_scheduler_destroy(f.s);
}

/* Whoever sees that nobody lives also sees since when. */
static void the_idle_stamp_is_of_this_round(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 2);
	for (int round = 0; round < SB_SCALE(20000); round++) {
		const uint64_t start = sb_clock_ns();
		uint64_t end;

		fixture_submit(&f, &scripted, &script);
		while (sb_scheduler_wait_idle(f.s, 0))
			sb_cpu_pause();
		end = sb_scheduler_idle_since_ns(f.s);
		assert_in_range(end, start, sb_clock_ns());
	}
	fixture_end(&f);
}

static void *stop_once(void *arg)
{
	struct fixture *f = arg;

	while (sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS) == -EALREADY)
		sb_thread_yield();
	return NULL;
}

static void stop_right_after_start(void **state)
{
	struct fixture f;
	struct sb_thread thread;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(100); cycle++) {
		CHECK_EQ(sb_thread_start(&thread, -1, stop_once, &f), 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		sb_thread_join(&thread);
	}
	sb_scheduler_destroy(f.s);
}

enum { STORM = 3 };

static void *submit_in_bursts(void *arg)
{
	struct script *script = arg;
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed() + (uintptr_t)script);
	for (int i = 0; i < SB_SCALE(3000); i++) {
		fixture_submit(script->f, &scripted, script);
		/* Long enough, now and then, for workers to go to sleep. */
		for (uint32_t n = sb_rng_below(&rng, 30); n; n--)
			sb_thread_yield();
	}
	return NULL;
}

/* Foreign threads keep claiming sleepers while workers announce, retract and
 * sleep; then everybody must be counted right, and leave. */
static void sleepers_and_wakers_agree(void **state)
{
	struct fixture f;
	struct script script[STORM];
	struct sb_thread thread[STORM];

	(void)state;
	fixture_start(&f, 3);
	for (int i = 0; i < STORM; i++) {
		script[i] = (struct script){ .f = &f, .step = done_with_42 };
		CHECK_EQ(sb_thread_start(&thread[i], -1, submit_in_bursts,
					 &script[i]),
			 0);
	}
	for (int i = 0; i < STORM; i++)
		sb_thread_join(&thread[i]);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.completed), STORM * SB_SCALE(3000));
	fixture_end(&f);
}

/* ---- terminate and execute ---- */

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

static int end_at_once(struct script *script, struct sb_step *step,
		       const struct sb_event *events, uint32_t count)
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

static int execute_inside(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct sb_exit exit;

	(void)step;
	(void)events;
	(void)count;
	script->seen = (uint64_t)-sb_scheduler_execute(
		script->f->s, &scripted, "main", sb_value_ptr(script), &exit);
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
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "other",
				      sb_value_ptr(&good), &exit),
		 -ENOTSUP);
	CHECK_EQ(exit.error, 77);
	for (int i = 0; i < SB_SCALE(2000); i++) {
		CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main",
					      sb_value_ptr(&good), &exit),
			 0);
		CHECK_EQ(exit.error, 0);
		CHECK_EQ(exit.result.u64, 42);
	}
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main",
				      sb_value_ptr(&bad), &exit),
		 0);
	CHECK_EQ(exit.error, -EIO);
	CHECK_EQ(bad.seen, EDEADLK);
	fixture_end(&f);
}

static void *execute_stubborn(void *arg)
{
	struct script *script = arg;
	struct sb_exit exit;

	CHECK_EQ(sb_scheduler_execute(script->f->s, &scripted, "main",
				      sb_value_ptr(script), &exit),
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

static void a_worker_that_cannot_be_pinned(void **state)
{
	struct sb_place place[2] = { { -1, 0, 0, 0, 0, 0 },
				     { 1 << 14, 1, 1, 0, 0, 0 } };
	const struct sb_placement placement = { 2, place };
	const struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;
	uint32_t failed = 99;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, &failed), -EINVAL);
	CHECK_EQ(failed, 1);
	sb_scheduler_destroy(s);
}

static void bad_parameters_are_refused(void **state)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	const struct sb_placement placement = { 1, &place };
	const struct sb_placement nobody = { 0, NULL };
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &nobody), -EINVAL);
	config.tick = 0;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
	config = (struct sb_config)SB_CONFIG_DEFAULT;
	config.steal_cap = SB_STEAL_MAX + 1;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
	config = (struct sb_config)SB_CONFIG_DEFAULT;
	config.event_budget = 0;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stop_ends_the_stubborn_by_force),
		cmocka_unit_test(stop_from_a_step_is_refused),
		cmocka_unit_test(start_and_stop_many_times),
		cmocka_unit_test(submit_against_stop),
		cmocka_unit_test(force_ends_those_that_wake_each_other),
		cmocka_unit_test(submit_against_a_forced_stop),
		cmocka_unit_test(a_route_does_not_survive_a_restart),
		cmocka_unit_test(the_idle_stamp_is_of_this_round),
		cmocka_unit_test(stop_right_after_start),
		cmocka_unit_test(sleepers_and_wakers_agree),
		cmocka_unit_test(terminate_ends_a_process_anywhere),
		cmocka_unit_test(terminate_races_with_everything),
		cmocka_unit_test(execute_waits_for_the_result),
		cmocka_unit_test(stop_by_force_ends_an_execute),
		cmocka_unit_test(a_worker_that_cannot_be_pinned),
		cmocka_unit_test(bad_parameters_are_refused),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
