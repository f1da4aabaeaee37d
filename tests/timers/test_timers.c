/*
 * Sleeping and tickers.
 *
 * Property: nothing is early; every sleeper wakes; tickers count their periods.
 * Method: many sleepers and tickers with exact counting, under each way to park.
 *   A timer that is forgotten shows as a test that hangs.
 * Bound: 20,000 sleepers; 4 workers.
 */
#include "tests/timers/timers.h"

static int sleeper_init(void *state, const char *method, union sb_value input)
{
	struct sleeper *p = state;

	(void)method;
	p->crowd = input.ptr;
	p->left = p->crowd->operations;
	sb_rng_seed(&p->rng, sb_test_seed() ^ (uintptr_t)state);
	return 0;
}

static void sleeper_wakes(struct sleeper *p, const struct sb_event *e)
{
	const uint64_t now = sb_clock_ns();

	sb_add_rlx(&p->crowd->woken, 1);
	if (now - p->start_ns < p->delay_ns)
		sb_add_rlx(&p->crowd->early, 1);
	if (e->type != SB_EVENT_COMPLETION || e->error || e->data.u64 || e->tag != p->delay_ns)
		sb_add_rlx(&p->crowd->wrong, 1);
}

static int sleeper_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct sleeper *p = state;

	for (uint32_t i = 0; i < count; i++)
		sleeper_wakes(p, &events[i]);
	if (!p->left--)
		return SB_DONE;
	p->delay_ns = any_magnitude(&p->rng, 21); /* 2 ms */
	p->start_ns = sb_clock_ns();
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(p->delay_ns), p->delay_ns), 0);
	return SB_YIELD;
}

static const struct sb_process_ops sleeper_ops = {
	.name = "sleeper",
	.state_bytes = sizeof(struct sleeper),
	.init = sleeper_init,
	.step = sleeper_step,
};

static void check_sleepers(enum sb_park_policy park, uint32_t workers, uint32_t sleepers)
{
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	c.operations = 2;
	start_parked(&c.f, workers, park);
	crowd_run(&c, &sleeper_ops, sleepers);
	CHECK_EQ(sb_load_rlx(&c.early), 0);
	CHECK_EQ(sb_load_rlx(&c.wrong), 0);
	CHECK_EQ(sb_load_rlx(&c.woken), 2 * sleepers);
	CHECK_EQ(fixture_counter(&c.f, SB_COUNTER_timers_started), 2 * sleepers);
	CHECK_EQ(fixture_counter(&c.f, SB_COUNTER_timers_fired), 2 * sleepers);
	await_pending(&c.f, 0);
	fixture_end(&c.f);
}

static void many_sleepers_wake(void **state)
{
	(void)state;
	check_sleepers(SB_PARK_CONDVAR, 1, SB_SCALE(4000));
	check_sleepers(SB_PARK_CONDVAR, 4, SB_SCALE(20000));
}

static void many_sleepers_wake_by_futex(void **state)
{
	(void)state;
	check_sleepers(SB_PARK_FUTEX, 3, SB_SCALE(8000));
}

static void many_sleepers_wake_polled(void **state)
{
	(void)state;
	check_sleepers(SB_PARK_POLL, 2, SB_SCALE(2000));
}

/* One at a time, so that everybody sleeps in between, with a deadline. */
static void check_lone_sleeper(enum sb_park_policy park)
{
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	c.operations = SB_SCALE(800);
	start_parked(&c.f, 2, park);
	crowd_run(&c, &sleeper_ops, 1);
	CHECK_EQ(sb_load_rlx(&c.early), 0);
	CHECK_EQ(sb_load_rlx(&c.woken), c.operations);
	fixture_end(&c.f);
}

static void a_lone_sleeper_wakes(void **state)
{
	(void)state;
	check_lone_sleeper(SB_PARK_CONDVAR);
	check_lone_sleeper(SB_PARK_FUTEX);
	check_lone_sleeper(SB_PARK_POLL);
}

/* ---- tickers ---- */

enum { TICKS = 12 };

/* Ends, with or without stopping its ticker, after so many events. */
struct ticker {
	struct crowd *crowd;
	uint64_t period_ns;
	uint64_t start_ns;
	uint64_t stopped_ns; /* when the stop had completed; 0: not yet */
	uint64_t id;
	uint64_t periods;
	uint32_t events;
	bool stops;
	bool stopping;
};

static int ticker_init(void *state, const char *method, union sb_value input)
{
	struct ticker *t = state;
	struct sb_rng rng;

	(void)method;
	t->crowd = input.ptr;
	sb_rng_seed(&rng, sb_test_seed() ^ (uintptr_t)state);
	t->period_ns = 1024 + any_magnitude(&rng, 18); /* 0.26 ms */
	t->stops = sb_rng_below(&rng, 2);
	return 0;
}

/* Periods that have been told of have passed; before the stop, if there was
 * one: what comes later was on its way. */
static void ticker_ticks(struct ticker *t, const struct sb_event *e)
{
	const uint64_t end = t->stopped_ns ? t->stopped_ns : sb_clock_ns();

	t->events++;
	t->periods += e->data.u64;
	if (t->periods > (end - t->start_ns) / t->period_ns)
		sb_add_rlx(&t->crowd->early, 1);
	if (e->tag != START_TAG || e->error || !e->data.u64)
		sb_add_rlx(&t->crowd->wrong, 1);
}

static int ticker_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct ticker *t = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_TIMER) {
			ticker_ticks(t, &events[i]);
			continue;
		}
		CHECK_EQ(events[i].error, 0);
		if (events[i].tag == START_TAG)
			t->id = events[i].data.u64;
		else
			t->stopped_ns = sb_clock_ns();
	}
	if (!t->start_ns) {
		t->start_ns = sb_clock_ns();
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TICKER, sb_value_u64(t->period_ns),
				       START_TAG),
			 0);
		return SB_YIELD;
	}
	if (t->stopped_ns || (t->events >= TICKS && !t->stops))
		return SB_DONE;
	if (t->events < TICKS || t->stopping)
		return SB_IDLE;
	t->stopping = true;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, sb_value_u64(t->id), STOP_TAG), 0);
	return SB_YIELD;
}

static const struct sb_process_ops ticker_ops = {
	.name = "ticker",
	.state_bytes = sizeof(struct ticker),
	.init = ticker_init,
	.step = ticker_step,
};

/* So many that they are due in crowds, and the wheels are fought for. */
static void check_tickers(enum sb_park_policy park, uint32_t workers, uint32_t tickers)
{
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	start_parked(&c.f, workers, park);
	crowd_run(&c, &ticker_ops, tickers);
	CHECK_EQ(sb_load_rlx(&c.wrong), 0);
	CHECK_EQ(sb_load_rlx(&c.early), 0);
	/* Those of the processes that have ended find out, and end, too. */
	await_pending(&c.f, 0);
	fixture_end(&c.f);
}

static void tickers_count_their_periods(void **state)
{
	(void)state;
	check_tickers(SB_PARK_CONDVAR, 1, SB_SCALE(400));
	check_tickers(SB_PARK_CONDVAR, 4, SB_SCALE(4000));
	check_tickers(SB_PARK_FUTEX, 3, SB_SCALE(800));
	check_tickers(SB_PARK_POLL, 2, SB_SCALE(800));
}

/* More than are taken from a wheel at once. */
enum { CROWD = 250 };

static const uint64_t CROWD_PERIOD_NS = 100000;

/*
 * What two workers do to one wheel when the second had read the clock before the
 * first: it finds timers that are not due by its own time.
 */
static void run_with_an_old_clock(struct sb_worker *w, uint64_t start)
{
	const struct sb_wheel_link *due = &w->timers.wheel.due;
	uint64_t now = start;

	/* Until some that are due are left; that is the rule. */
	for (int i = 0; i < 100 && due->next == due; i++) {
		const uint64_t last = now;

		while (now < last + 2 * CROWD_PERIOD_NS)
			now = sb_clock_ns();
		sb_timers_run(w, w, now);
	}
	sb_timers_run(w, w, start);
}

static int tick_in_a_crowd(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	const uint64_t now = sb_clock_ns();

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type != SB_EVENT_TIMER)
			continue;
		script->seen++;
		/* The sum of one would do; each is bounded by the whole. */
		if (events[i].data.u64 > (now - script->other) / CROWD_PERIOD_NS)
			sb_add_rlx(&script->f->dropped, 1);
	}
	if (script->seen)
		return script->seen < CROWD ? SB_IDLE : SB_DONE;
	if (count) {
		run_with_an_old_clock(step->worker, script->other);
		return SB_IDLE;
	}
	script->other = now;
	for (uint64_t i = 0; i < CROWD; i++)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TICKER, sb_value_u64(CROWD_PERIOD_NS), i),
			 0);
	return SB_YIELD;
}

static void an_old_clock_does_not_miscount(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = tick_in_a_crowd };

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = 2 * CROWD;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0); /* those that were wrong */
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_sleepers_wake),
		cmocka_unit_test(many_sleepers_wake_by_futex),
		cmocka_unit_test(many_sleepers_wake_polled),
		cmocka_unit_test(a_lone_sleeper_wakes),
		cmocka_unit_test(tickers_count_their_periods),
		cmocka_unit_test(an_old_clock_does_not_miscount),
	};

	return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
