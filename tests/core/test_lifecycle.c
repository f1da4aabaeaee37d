/*
 * Start and stop, gracefully and by force, and what races with them.
 *
 * Property: every process that was started completes and closes exactly once,
 *   and nothing is left behind, whatever runs at the same time.
 * Method: a thousand cycles with idle, running, blocked and sleeping processes
 *   and with foreign threads that submit and send; the pools' balance is checked
 *   at each destroy.
 */
#include "tests/core/lifecycle.h"

/* ---- stop ---- */

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
	CHECK_EQ(sb_scheduler_settle(script->f->s), -EDEADLK);
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

/* ---- start and stop, again and again ---- */

/* One scheduler with its processes and the foreign threads around it. Several
 * run side by side, because a stop waits for a grace period. */
enum { RINGS = 4, SLEEPERS = 2, EACH = 2, RECENT = 64, ALIVE_MAX = 200 };

struct ring {
	struct fixture f;
	struct script idle;
	struct script busy;
	struct script blocked[EACH];
	struct script sleeper[SLEEPERS];
	struct script submitted; /* by a foreign thread, at any time */
	struct sb_thread cycler;
	struct sb_thread submitter;
	struct sb_thread sender;
	_Atomic(uint64_t) recent[RECENT]; /* PIDs to send to */
	_Atomic(uint32_t) over;
};

/* Its sleep is longer than the test, or so short that it is over at once. */
static int sleep_until_cancel(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	bool asleep = sb_load_rlx(&script->steps) > 1;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		asleep = asleep && events[i].type != SB_EVENT_COMPLETION;
	}
	if (!asleep)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(script->seen), 1), 0);
	return SB_YIELD;
}

/* Every third process that comes from outside waits for its cancel event. */
static int stay_or_leave(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	if (step->self % 3)
		return SB_DONE;
	return end_on_cancel(script, step, events, count);
}

static void *submit_all_the_time(void *arg)
{
	struct ring *ring = arg;
	sb_pid pid = 0;

	for (uint32_t i = 0; !sb_load_acq(&ring->over); i++) {
		const uint64_t alive =
			sb_load_rlx(&ring->f.started) - sb_load_rlx(&ring->f.completed);
		int rc;

		sb_thread_yield();
		if (alive > ALIVE_MAX)
			continue;
		rc = sb_scheduler_submit(ring->f.s, &scripted, "main",
					 sb_value_ptr(&ring->submitted), &pid);
		if (rc)
			CHECK_EQ(rc, -ESHUTDOWN);
		else
			sb_store_rlx(&ring->recent[i % RECENT], pid);
	}
	return NULL;
}

static void *send_all_the_time(void *arg)
{
	struct ring *ring = arg;

	for (uint32_t i = 0; !sb_load_acq(&ring->over); i++) {
		const int rc = sb_scheduler_send(ring->f.s, sb_load_rlx(&ring->recent[i % RECENT]),
						 sb_value_u64(i));

		assert_true(rc == 0 || rc == -ESRCH);
		sb_thread_yield();
	}
	return NULL;
}

static void submit_some_of_each(struct ring *ring)
{
	for (int i = 0; i < EACH; i++) {
		struct script *sleeper = &ring->sleeper[i];

		ring->blocked[i] = (struct script){ .f = &ring->f, .step = block_until_cancel };
		*sleeper = (struct script){ .f = &ring->f, .step = sleep_until_cancel };
		sleeper->seen = i ? 20000 : UINT64_C(3600000000000);
		fixture_submit(&ring->f, &scripted, &ring->idle);
		fixture_submit(&ring->f, &scripted, &ring->busy);
		fixture_submit(&ring->f, &scripted, &ring->blocked[i]);
		fixture_submit(&ring->f, &scripted, sleeper);
	}
}

/* Every eighth stop is by force, if anybody is left then. */
static void *cycle_many_times(void *arg)
{
	struct ring *ring = arg;

	for (int i = 0; i < CYCLES / RINGS; i++) {
		CHECK_EQ(sb_scheduler_start(ring->f.s, NULL), 0);
		submit_some_of_each(ring);
		if (i % 8)
			CHECK_EQ(sb_scheduler_stop(ring->f.s, FIXTURE_TIMEOUT_NS), 0);
		else
			(void)sb_scheduler_stop(ring->f.s, 0);
	}
	return NULL;
}

static void start_ring(struct ring *ring)
{
	*ring = (struct ring){
		.idle = { .f = &ring->f, .step = end_on_cancel },
		.busy = { .f = &ring->f, .step = continue_until_cancel },
		.submitted = { .f = &ring->f, .step = stay_or_leave },
	};
	fixture_defaults(&ring->f);
	fixture_create(&ring->f, 2);
	CHECK_EQ(sb_scheduler_register(ring->f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_thread_start(&ring->submitter, -1, submit_all_the_time, ring), 0);
	CHECK_EQ(sb_thread_start(&ring->sender, -1, send_all_the_time, ring), 0);
	CHECK_EQ(sb_thread_start(&ring->cycler, -1, cycle_many_times, ring), 0);
}

/* What came after the last stop runs, too. */
static void end_ring(struct ring *ring)
{
	sb_thread_join(&ring->cycler);
	sb_store_rel(&ring->over, 1);
	sb_thread_join(&ring->submitter);
	sb_thread_join(&ring->sender);
	CHECK_EQ(sb_scheduler_start(ring->f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_stop(ring->f.s, FIXTURE_TIMEOUT_NS), 0);
	assert_true(sb_load_rlx(&ring->f.started) >= 4 * EACH * CYCLES / RINGS);
	CHECK_EQ(sb_load_rlx(&ring->f.completed), sb_load_rlx(&ring->f.started));
	CHECK_EQ(sb_load_rlx(&ring->f.closed), sb_load_rlx(&ring->f.started));
	sb_scheduler_destroy(ring->f.s);
}

static void a_thousand_starts_and_stops(void **state)
{
	static struct ring rings[RINGS];

	(void)state;
	for (int i = 0; i < RINGS; i++)
		start_ring(&rings[i]);
	for (int i = 0; i < RINGS; i++)
		end_ring(&rings[i]);
}

/* ---- somebody waits while others submit ---- */

static void *wait_for_none(void *arg)
{
	fixture_wait(arg);
	return NULL;
}

static bool somebody_waits(struct sb_scheduler *s)
{
	bool waits;

	sb_lock_acquire(&s->foreign_lock);
	waits = s->waiters;
	sb_lock_release(&s->foreign_lock);
	return waits;
}

/* A submission reserves nothing ahead then, which would be taken for the living. */
static void who_waits_is_told_whoever_submits(void **state)
{
	struct fixture f;
	struct script first = { .f = &f, .step = wait_for_message };
	struct script second = { .f = &f, .step = done_at_once };
	struct sb_thread waiter;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	pid = fixture_submit(&f, &scripted, &first);
	CHECK_EQ(sb_thread_start(&waiter, -1, wait_for_none, &f), 0);
	while (!somebody_waits(f.s))
		sb_thread_yield();
	fixture_submit(&f, &scripted, &second);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	sb_thread_join(&waiter);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_is_told_whoever_submits),
		cmocka_unit_test(stop_ends_the_stubborn_by_force),
		cmocka_unit_test(stop_from_a_step_is_refused),
		cmocka_unit_test(a_thousand_starts_and_stops),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
