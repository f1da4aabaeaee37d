/*
 * What a start sets up anew, and the threads of workers.
 *
 * Property: routes and time stamps of an earlier round do not survive; a worker that
 *   cannot be pinned is an error; bad parameters are refused.
 * Method: schedulers that are started again, or stopped at once.
 */
#include "tests/core/lifecycle.h"

/* Each worker is a thread of this process, and not the caller. */
static void threads_have_numbers(void **state)
{
	struct fixture f;
	int id[2];

	(void)state;
	fixture_start(&f, 2);
	for (uint32_t w = 0; w < 2; w++) {
		char path[64];

		id[w] = sb_scheduler_thread_id(f.s, w);
		snprintf(path, sizeof(path), "/proc/self/task/%d", id[w]);
		CHECK_EQ(access(path, F_OK), 0);
	}
	assert_int_not_equal(id[0], id[1]);
	assert_int_not_equal(id[0], sb_thread_self_id());
	assert_int_not_equal(id[1], sb_thread_self_id());
	fixture_end(&f);
}

static int send_once(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	(void)count;
	script->seen = (uint64_t)-sb_step_send(step, script->other, sb_value_u64(1));
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
		sender.other = talker.other = fixture_submit(&f, &scripted, &receiver);
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
		assert_uint_in_range(end, start, sb_clock_ns());
	}
	fixture_end(&f);
}

/* Not of the wait, which comes a millisecond after the last process has ended; in one
 * round at least: a worker may lose its processor before it has no work. */
static void the_idle_stamp_is_not_of_the_wait(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	int of_the_end = 0;

	(void)state;
	fixture_start(&f, 1);
	for (uint64_t round = 1; round <= 50; round++) {
		uint64_t wait_ns;

		fixture_submit(&f, &scripted, &script);
		while (sb_load_acq(&f.completed) < round)
			sb_thread_yield();
		wait_ns = sb_clock_ns() + 1000000;
		while (sb_clock_ns() < wait_ns)
			sb_thread_yield();
		fixture_wait(&f);
		of_the_end += sb_scheduler_idle_since_ns(f.s) < wait_ns;
	}
	assert_true(of_the_end > 0);
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
		CHECK_EQ(sb_thread_start(&thread[i], -1, submit_in_bursts, &script[i]), 0);
	}
	for (int i = 0; i < STORM; i++)
		sb_thread_join(&thread[i]);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.completed), STORM * SB_SCALE(3000));
	fixture_end(&f);
}

static void a_worker_that_cannot_be_pinned(void **state)
{
	struct sb_place place[2] = { { -1, 0, 0, 0, 0, 0 }, { 1 << 14, 1, 1, 0, 0, 0 } };
	const struct sb_placement placement = { .workers = 2, .place = place };
	const struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;
	uint32_t failed = 99;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, &failed), -EINVAL);
	CHECK_EQ(failed, 1);
	sb_scheduler_destroy(s);
}

/* In place of somebody with taskset, or of a cpuset that changes. */
static int let_loose(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	const cpu_set_t *everywhere = (void *)(uintptr_t)script->other;

	(void)step;
	(void)events;
	(void)count;
	CHECK_EQ(sched_setaffinity(0, sizeof(*everywhere), everywhere), 0);
	return SB_DONE;
}

static void who_is_pinned_can_be_seen(void **state)
{
	struct sb_place place = { 0, 0, 0, 0, 0, 0 };
	struct fixture f;
	cpu_set_t everywhere;
	struct script script = { .f = &f,
				 .step = let_loose,
				 .other = (sb_pid)(uintptr_t)&everywhere };

	(void)state;
	CHECK_EQ(sched_getaffinity(0, sizeof(everywhere), &everywhere), 0);
	while (!CPU_ISSET(place.os_cpu, &everywhere))
		place.os_cpu++;
	fixture_defaults(&f);
	fixture_create_at(&f, 1, &place);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	/* Nobody can be let loose where there is one CPU. */
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), CPU_COUNT(&everywhere) == 1);
	fixture_end(&f);
	fixture_start(&f, 1);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_end(&f);
}

static void bad_parameters_are_refused(void **state)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	const struct sb_placement nobody = { .workers = 0 };
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
		cmocka_unit_test(a_route_does_not_survive_a_restart),
		cmocka_unit_test(the_idle_stamp_is_of_this_round),
		cmocka_unit_test(the_idle_stamp_is_not_of_the_wait),
		cmocka_unit_test(stop_right_after_start),
		cmocka_unit_test(sleepers_and_wakers_agree),
		cmocka_unit_test(a_worker_that_cannot_be_pinned),
		cmocka_unit_test(who_is_pinned_can_be_seen),
		cmocka_unit_test(threads_have_numbers),
		cmocka_unit_test(bad_parameters_are_refused),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
