/*
 * The memory of timers, and the worker that keeps the time for those that sleep.
 *
 * Property: the memory of a peak is given back; no timer waits for ever, whichever
 *   wheel it is in and whoever sleeps.
 * Method: workers held in a step until another has seen to their timers. A timer
 *   that is forgotten shows as a test that hangs.
 */
#include "tests/timers/timers.h"

static uint32_t asleep(struct fixture *f)
{
	return sb_idle_sleeping(sb_load_acq(&f->s->idle.counts));
}

/* All are alive at once, and end when they are cancelled. */
static void a_peak_of_timers_is_given_back(void **state)
{
	const uint32_t many = SB_SCALE(16000);
	static struct crowd c;
	static sb_pid pid[16000];

	(void)state;
	memset(&c, 0, sizeof(c));
	c.operations = 1;
	start_parked(&c.f, 2, SB_PARK_CONDVAR);
	for (int peak = 0; peak < 2; peak++) {
		for (uint32_t i = 0; i < many; i++)
			CHECK_EQ(sb_scheduler_submit(c.f.s, &leaver_ops, "stays", sb_value_ptr(&c),
						     &pid[i]),
				 0);
		await_pending(&c.f, 3 * many);
		for (uint32_t i = 0; i < many; i++)
			CHECK_EQ(sb_scheduler_cancel(c.f.s, pid[i]), 0);
		fixture_wait(&c.f);
		check_nothing_left(&c);
	}
	fixture_end(&c.f);
}

/* Of its timers those of an hour remain; there are few. */
static int sleeps_for_ever(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	const struct sb_extra *extra = step->worker->running->extra;

	(void)events;
	(void)count;
	if (extra && extra->timer_room > script->seen)
		script->seen = extra->timer_room;
	if (script->other-- == 0)
		return SB_DONE;
	if (script->other % 4096 == 0)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS), 0), 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(0), 0), 0);
	return SB_YIELD;
}

static void sleeping_again_needs_no_more_memory(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = sleeps_for_ever, .other = SB_SCALE(16000) };

	(void)state;
	fixture_start(&f, 2);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	assert_uint_in_range(script.seen, 4, 16);
	await_pending(&f, 0);
	fixture_end(&f);
}

enum { RISES = 1000 };

/* Has many timers, stops them, and starts others one by one, stopping each. */
static int starts_and_stops_many(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	const struct sb_extra *extra = step->worker->running->extra;
	const uint64_t seen = script->seen++;

	script->other = extra ? extra->timer_room : 0;
	if (seen == 0) {
		for (uint64_t i = 0; i < RISES; i++)
			CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS),
					       0),
				 0);
		return SB_YIELD;
	}
	if (seen == 1) {
		CHECK_EQ(count, RISES);
		sb_store_rlx(&script->flag, (uint32_t)script->other);
	}
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].error, 0);
		if (seen % 2)
			CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, events[i].data, 0), 0);
	}
	if (seen % 2 == 0)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS), 0), 0);
	return seen < 16 * RISES ? SB_YIELD : SB_DONE;
}

static void memory_for_ids_follows_the_timers(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = starts_and_stops_many };

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = 2 * RISES;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	assert_uint_in_range(sb_load_rlx(&script.flag), RISES, 2 * RISES);
	assert_uint_in_range(script.other, 4, 16);
	CHECK_EQ(pending(&f), 0);
	fixture_end(&f);
}

/* ---- who sees to a timer ---- */

static uint64_t timers_fired(struct script *script)
{
	return fixture_counter(script->f, SB_COUNTER_timers_fired);
}

/* A message to itself, so that it goes on at once, and nearly always on the same
 * worker. Keeps how many timers had fired. */
static int sleep_and_go_on(struct script *script, struct sb_step *step)
{
	struct fixture *f = script->f;

	while (f->config.park != SB_PARK_POLL && asleep(f) != f->s->workers - 1)
		sb_thread_yield();
	script->other = timers_fired(script);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(50000), 0), 0);
	CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(1)), 0);
	return SB_IDLE;
}

/*
 * Starts a timer in its worker's wheel while everybody else sleeps, for ever or
 * for an hour; then holds the worker in a step until the timer has fired.
 */
static int hold_until_fired(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	bool slept = count == 0;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_COMPLETION)
			slept = true;
		else
			while (timers_fired(script) == script->other)
				sb_thread_yield();
	}
	if (!slept)
		return SB_YIELD;
	return script->seen-- ? sleep_and_go_on(script, step) : SB_DONE;
}

static void check_held(enum sb_park_policy park, uint32_t workers, bool keeper)
{
	struct fixture f;
	struct script holder = { .f = &f, .step = hold_until_fired, .seen = SB_SCALE(160) };
	struct sequence far = { .stays = true };

	start_parked(&f, workers, park);
	if (keeper) {
		sequence_add_u64(&far, SB_COMMAND_TIMER_START, HOUR_NS);
		sequence_submit(&f, &far);
		sequence_await(&far);
	}
	fixture_submit(&f, &scripted, &holder);
	while (sb_load_rlx(&f.completed) == 0)
		sb_thread_yield();
	fixture_end(&f);
}

static void a_long_step_does_not_hold_up_its_timers(void **state)
{
	(void)state;
	check_held(SB_PARK_CONDVAR, 2, false);
	check_held(SB_PARK_CONDVAR, 2, true);
	check_held(SB_PARK_CONDVAR, 4, true);
	check_held(SB_PARK_FUTEX, 3, true);
	check_held(SB_PARK_POLL, 2, true);
}

static bool another_keeps_the_time(struct fixture *f, uint32_t me)
{
	const uint32_t who = sb_load_acq(&f->s->timekeeper.who);

	return who != me && who < f->s->workers && asleep(f) == f->s->workers - 1;
}

/*
 * Starts a timer while another worker keeps the time, until an hour from now;
 * then its own worker sleeps, too. So the only timer that is due soon is not in
 * the timekeeper's wheel, and was started after it had fallen asleep.
 */
static int sleep_beside_the_keeper(struct script *script, struct sb_step *step,
				   const struct sb_event *events, uint32_t count)
{
	struct script *helper = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	if (script->seen-- == 0)
		return SB_DONE;
	/* It wakes one of them, which then keeps the time if nobody does. */
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(helper), NULL), 0);
	while (!another_keeps_the_time(script->f, step->worker->id))
		sb_thread_yield();
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(50000), 0), 0);
	return SB_YIELD;
}

static void check_beside(enum sb_park_policy park, uint32_t workers)
{
	struct fixture f;
	struct script helper = { .f = &f, .step = done_with_42 };
	struct script script = { .f = &f,
				 .step = sleep_beside_the_keeper,
				 .other = (uintptr_t)&helper,
				 .seen = SB_SCALE(160) };
	const uint64_t all = script.seen + 1;
	struct sequence far = { .stays = true };

	start_parked(&f, workers, park);
	sequence_add_u64(&far, SB_COMMAND_TIMER_START, HOUR_NS);
	sequence_submit(&f, &far);
	sequence_await(&far);
	fixture_submit(&f, &scripted, &script);
	while (sb_load_rlx(&f.completed) < all)
		sb_thread_yield();
	fixture_end(&f);
}

static void an_earlier_timer_reaches_the_keeper(void **state)
{
	(void)state;
	check_beside(SB_PARK_CONDVAR, 2);
	check_beside(SB_PARK_CONDVAR, 4);
	check_beside(SB_PARK_FUTEX, 3);
}

static int sleep_once(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)script;
	(void)events;
	if (count)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(2000000), 0), 0);
	return SB_YIELD;
}

/* Nobody ever searches or sleeps: timers are seen to on a tick. */
static void busy_workers_see_to_their_timers(void **state)
{
	(void)state;
	for (uint32_t workers = 1; workers <= 2; workers++) {
		struct fixture f;
		struct script hog = { .f = &f, .step = endless };
		struct script sleeper = { .f = &f, .step = sleep_once };

		fixture_start(&f, workers);
		for (uint32_t i = 0; i < workers; i++)
			fixture_submit(&f, &scripted, &hog);
		await_steps(&hog, 1000);
		for (int i = 0; i < 8; i++)
			fixture_submit(&f, &scripted, &sleeper);
		while (sb_load_rlx(&f.completed) < 8)
			sb_thread_yield();
		sb_store_rel(&hog.flag, 1);
		fixture_wait(&f);
		fixture_end(&f);
	}
}

static int wait_for_a_timer(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	while (timers_fired(script) == script->other)
		sb_thread_yield();
	return SB_DONE;
}

/*
 * One worker starts a timer and searches, for long; what it finds then is a step
 * that lasts until the timer has fired. It was seen to search when that came, so
 * nobody else was woken; the other, which sleeps, must hear of the timer.
 */
static void a_searcher_tells_of_its_timers(void **state)
{
	struct fixture f;
	struct script sleeper = { .f = &f, .step = sleep_once };
	struct script waiter = { .f = &f, .step = wait_for_a_timer };

	(void)state;
	fixture_defaults(&f);
	f.config.searchers_max = 1;
	f.config.spin_yield = 1000000;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint64_t round = 0; round < SB_SCALE(80); round++) {
		waiter.other = round;
		while (asleep(&f) == 0)
			sb_thread_yield();
		fixture_submit(&f, &scripted, &sleeper);
		while (fixture_counter(&f, SB_COUNTER_timers_started) == round)
			sb_thread_yield();
		fixture_submit(&f, &scripted, &waiter);
		fixture_wait(&f);
	}
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peak_of_timers_is_given_back),
		cmocka_unit_test(sleeping_again_needs_no_more_memory),
		cmocka_unit_test(memory_for_ids_follows_the_timers),
		cmocka_unit_test(a_long_step_does_not_hold_up_its_timers),
		cmocka_unit_test(busy_workers_see_to_their_timers),
		cmocka_unit_test(a_searcher_tells_of_its_timers),
		cmocka_unit_test(an_earlier_timer_reaches_the_keeper),
	};

	return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
