/*
 * Sleeping, timers and tickers, and the worker that keeps the time for those
 * that sleep.
 *
 * Property: nothing is early; every timer fires once or is stopped in time;
 *   tickers count their periods; no timer waits for ever, whichever wheel it is
 *   in and whoever sleeps; nobody stops what is not theirs, or is over; all
 *   timers of a process end with it, and their memory is given back.
 * Method: many sleepers, tickers and timers with exact counting, under each way
 *   to park; and workers held in a step until another has seen to their timers.
 *   A timer that is forgotten shows as a test that hangs.
 * Bound: 20,000 sleepers; 4 workers.
 */
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/wake/idle.h"
#include "tests/sequence.h"

#define HOUR_NS UINT64_C(3600000000000)

static void start_parked(struct fixture *f, uint32_t workers, enum sb_park_policy park)
{
	fixture_defaults(f);
	f->config.park = park;
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

/* Timers in all wheels, with those whose events have just been sent. */
static uint32_t pending(struct fixture *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->s->workers; i++) {
		struct sb_timers *timers = &f->s->worker[i]->timers;

		sb_lock_acquire(&timers->lock);
		n += timers->wheel.pending;
		sb_lock_release(&timers->lock);
	}
	return n;
}

static void await_pending(struct fixture *f, uint32_t n)
{
	while (pending(f) != n)
		sb_thread_yield();
}

static uint32_t asleep(struct fixture *f)
{
	return sb_idle_sleeping(sb_load_acq(&f->s->idle.counts));
}

/* Uniform in its magnitude: from 0 to below 2^bits. */
static uint64_t any_magnitude(struct sb_rng *rng, uint32_t bits)
{
	const uint32_t n = sb_rng_below(rng, bits + 1);

	return n ? sb_rng_next(rng) >> (64 - n) : 0;
}

/* ---- sleep ---- */

struct crowd {
	struct fixture f;
	_Atomic(uint64_t) early; /* what came before its time */
	_Atomic(uint64_t) wrong;
	_Atomic(uint64_t) woken;
	_Atomic(uint64_t) started, stopped, fired;
	int operations;
};

struct sleeper {
	struct crowd *crowd;
	struct sb_rng rng;
	int left;
	uint64_t start_ns;
	uint64_t delay_ns;
};

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

static void crowd_run(struct crowd *c, const struct sb_process_ops *ops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fixture_submit(&c->f, ops, c);
	fixture_wait(&c->f);
}

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

enum { START_TAG = 1, STOP_TAG };

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

/* ---- stopping ---- */

enum alarm_state { FREE, STARTING, ARMED, STOPPING, STOPPING_TOLD, OWED };

enum { ALARMS = 4 };

/* Starts and stops timers at random, most of which are about to fire. */
struct clerk {
	struct crowd *crowd;
	struct sb_rng rng;
	int left;
	uint64_t uses;
	struct {
		enum alarm_state state;
		uint64_t id;
		uint64_t tag; /* of its start; the stop's is the same */
		uint64_t due_ns;
	} alarm[ALARMS];
};

static int clerk_init(void *state, const char *method, union sb_value input)
{
	struct clerk *c = state;

	(void)method;
	c->crowd = input.ptr;
	c->left = c->crowd->operations;
	sb_rng_seed(&c->rng, sb_test_seed() ^ (uintptr_t)state);
	return 0;
}

static void clerk_fired(struct clerk *c, const struct sb_event *e)
{
	const uint64_t i = e->tag % ALARMS;

	CHECK_EQ(e->tag, c->alarm[i].tag);
	CHECK_EQ(e->data.u64, 1);
	if (sb_clock_stamp_ns() < c->alarm[i].due_ns)
		sb_add_rlx(&c->crowd->early, 1);
	sb_add_rlx(&c->crowd->fired, 1);
	switch (c->alarm[i].state) {
	case ARMED:
	case OWED:
		c->alarm[i].state = FREE;
		break;
	case STOPPING:
		c->alarm[i].state = STOPPING_TOLD;
		break;
	default:
		fail(); /* it had been stopped, or fires twice */
	}
}

static void clerk_completion(struct clerk *c, const struct sb_event *e)
{
	const uint64_t i = e->tag % ALARMS;

	CHECK_EQ(e->tag, c->alarm[i].tag);
	switch (c->alarm[i].state) {
	case STARTING:
		CHECK_EQ(e->error, 0);
		c->alarm[i].id = e->data.u64;
		c->alarm[i].state = ARMED;
		break;
	case STOPPING:
		if (e->error)
			CHECK_EQ(e->error, -ENOENT);
		else
			sb_add_rlx(&c->crowd->stopped, 1);
		c->alarm[i].state = e->error ? OWED : FREE;
		break;
	case STOPPING_TOLD:
		CHECK_EQ(e->error, -ENOENT);
		c->alarm[i].state = FREE;
		break;
	default:
		fail();
	}
}

static void clerk_act(struct clerk *c, struct sb_step *step, uint32_t i)
{
	const uint64_t delay = any_magnitude(&c->rng, 15); /* 32 us */

	if (c->alarm[i].state == FREE) {
		c->alarm[i].state = STARTING;
		c->alarm[i].tag = ++c->uses * ALARMS + i;
		c->alarm[i].due_ns = sb_clock_ns() + delay;
		sb_add_rlx(&c->crowd->started, 1);
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(delay),
				       c->alarm[i].tag),
			 0);
	} else if (c->alarm[i].state == ARMED) {
		c->alarm[i].state = STOPPING;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, sb_value_u64(c->alarm[i].id),
				       c->alarm[i].tag),
			 0);
	}
}

static int clerk_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct clerk *c = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_TIMER)
			clerk_fired(c, &events[i]);
		else
			clerk_completion(c, &events[i]);
	}
	if (c->left > 0) {
		c->left--;
		clerk_act(c, step, sb_rng_below(&c->rng, ALARMS));
		return SB_CONTINUE;
	}
	for (uint32_t i = 0; i < ALARMS; i++) {
		if (c->alarm[i].state != FREE)
			return SB_IDLE;
	}
	return SB_DONE;
}

static const struct sb_process_ops clerk_ops = {
	.name = "clerk",
	.state_bytes = sizeof(struct clerk),
	.init = clerk_init,
	.step = clerk_step,
};

static void a_timer_fires_or_is_stopped(void **state)
{
	static struct crowd c;

	(void)state;
	memset(&c, 0, sizeof(c));
	c.operations = SB_SCALE(4000);
	start_parked(&c.f, 4, SB_PARK_CONDVAR);
	crowd_run(&c, &clerk_ops, 32);
	CHECK_EQ(sb_load_rlx(&c.started), sb_load_rlx(&c.stopped) + sb_load_rlx(&c.fired));
	CHECK_EQ(sb_load_rlx(&c.early), 0);
	await_pending(&c.f, 0);
	fixture_end(&c.f);
}

static int stop_what_has_fired(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_TIMER) {
			CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP,
					       sb_value_u64(script->other), STOP_TAG),
				 0);
			return SB_YIELD;
		}
		if (events[i].tag == START_TAG) {
			script->other = events[i].data.u64;
			continue;
		}
		script->seen = (uint64_t)-events[i].error;
		return SB_DONE;
	}
	if (count)
		return SB_IDLE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(0), START_TAG), 0);
	return SB_YIELD;
}

static void stop_after_fire_is_too_late(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = stop_what_has_fired };

	(void)state;
	fixture_start(&f, 2);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, ENOENT);
	fixture_end(&f);
}

/* The same memory is a second timer: the first one's id is not its own. */
static void a_stale_id_is_refused(void **state)
{
	struct fixture f;
	struct sequence q = { .stays = true };
	uint64_t first;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	sequence_add_u64(&q, SB_COMMAND_TIMER_START, HOUR_NS);
	pid = sequence_submit(&f, &q);
	sequence_await(&q);
	first = q.result[0];
	/* The process is Idle, so that the script is ours until the message. */
	sb_store_rlx(&q.script.flag, 0);
	sequence_add_u64(&q, SB_COMMAND_TIMER_STOP, first);
	sequence_add_u64(&q, SB_COMMAND_TICKER, HOUR_NS);
	sequence_add_u64(&q, SB_COMMAND_TIMER_STOP, first);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(SEQUENCE_HELLO)), 0);
	sequence_await(&q);
	CHECK_EQ(q.failure[1], 0);
	CHECK_EQ(q.failure[3], -ENOENT);
	CHECK_EQ(q.result[2] >> 26, first >> 26); /* worker and index */
	assert_int_not_equal(q.result[2], first);
	CHECK_EQ(pending(&f), 1);
	sequence_add_u64(&q, SB_COMMAND_TIMER_STOP, q.result[2]);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	fixture_wait(&f);
	CHECK_EQ(q.failure[4], 0);
	CHECK_EQ(pending(&f), 0);
	fixture_end(&f);
}

static void anothers_timer_is_refused(void **state)
{
	struct fixture f;
	struct sequence owner = { .stays = true };
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	fixture_start(&f, 2);
	sequence_add_u64(&owner, SB_COMMAND_TIMER_START, HOUR_NS);
	sequence_add_u64(&owner, SB_COMMAND_TICKER, HOUR_NS);
	sequence_submit(&f, &owner);
	sequence_await(&owner);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP, owner.result[i]), -ENOENT);
		/* Nor does an id that is nearly right. */
		CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP,
				      owner.result[i] ^ UINT64_C(1) << 52),
			 -ENOENT);
	}
	CHECK_EQ(pending(&f), 2);
	fixture_end(&f);
}

static int spin_until_told(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	script->seen = step->worker->id;
	sb_store_rel(&script->flag, 1);
	while (sb_load_acq(&script->flag) == 1)
		sb_thread_yield();
	return SB_DONE;
}

/* The worker that has started the timer is held; so the process goes on, and
 * stops it, on the other. */
static void another_worker_stops_it(void **state)
{
	struct fixture f;
	struct sequence q = { .stays = true };
	struct script holder = { .f = &f, .step = spin_until_told };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.wake = SB_WAKE_GLOBAL;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sequence_add_u64(&q, SB_COMMAND_TIMER_START, HOUR_NS);
	pid = sequence_submit(&f, &q);
	sequence_await(&q);
	for (;;) {
		sb_store_rlx(&holder.flag, 0);
		fixture_submit(&f, &scripted, &holder);
		await_flag(&holder);
		if (holder.seen == q.result[0] >> 52)
			break;
		sb_store_rel(&holder.flag, 2);
		while (sb_load_rlx(&f.completed) < sb_load_rlx(&f.started) - 1)
			sb_thread_yield();
	}
	sequence_add_u64(&q, SB_COMMAND_TIMER_STOP, q.result[0]);
	sequence_add_u64(&q, SB_COMMAND_TIMER_STOP, q.result[0]);
	sb_store_rlx(&q.script.flag, 0);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(SEQUENCE_HELLO)), 0);
	sequence_await(&q);
	CHECK_EQ(q.failure[1], 0);
	CHECK_EQ(q.failure[2], -ENOENT);
	CHECK_EQ(pending(&f), 0);
	sb_store_rel(&holder.flag, 2);
	fixture_end(&f);
}

/* With processes that end in order, and by force. */
static void a_stop_forgets_all_timers(void **state)
{
	struct fixture f;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(40); cycle++) {
		struct sequence q[4];
		const int force = cycle % 2;

		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		CHECK_EQ(pending(&f), 0);
		for (int i = 0; i < 4; i++) {
			q[i] = (struct sequence){ .stays = true, .stubborn = force };
			sequence_add_u64(&q[i], SB_COMMAND_SLEEP, i * 1000);
			sequence_add_u64(&q[i], SB_COMMAND_TIMER_START, HOUR_NS);
			sequence_add_u64(&q[i], SB_COMMAND_TICKER, HOUR_NS);
			sequence_submit(&f, &q[i]);
		}
		for (int i = 0; i < 4; i++)
			sequence_await(&q[i]);
		await_pending(&f, 8);
		CHECK_EQ(sb_scheduler_stop(f.s, force ? 0 : FIXTURE_TIMEOUT_NS),
			 force ? -ETIMEDOUT : 0);
		CHECK_EQ(pending(&f), 0);
	}
	sb_scheduler_destroy(f.s);
}

/* ---- timers that their processes leave ---- */

/* Starts two timers and a ticker in each of so many steps; then it ends, or stays
 * until it is cancelled. */
struct leaver {
	struct crowd *crowd;
	int left;
	bool stays;
};

static int leaver_init(void *state, const char *method, union sb_value input)
{
	struct leaver *p = state;

	p->crowd = input.ptr;
	p->left = p->crowd->operations;
	p->stays = strcmp(method, "stays") == 0;
	return 0;
}

static int leaver_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	const uint64_t delay[] = { HOUR_NS, 2 * HOUR_NS, HOUR_NS };
	struct leaver *p = state;

	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].error, 0);
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	if (p->left-- <= 0)
		return p->stays ? SB_IDLE : SB_DONE;
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(delay); i++) {
		CHECK_EQ(sb_step_yield(step, i == 1 ? SB_COMMAND_TICKER : SB_COMMAND_TIMER_START,
				       sb_value_u64(delay[i]), i),
			 0);
		sb_add_rlx(&p->crowd->started, 1);
	}
	return SB_CONTINUE;
}

static const struct sb_process_ops leaver_ops = {
	.name = "leaver",
	.state_bytes = sizeof(struct leaver),
	.init = leaver_init,
	.step = leaver_step,
};

/* No timer is left, and of each wheel's memory one chunk at most. */
static void check_nothing_left(struct crowd *c)
{
	CHECK_EQ(pending(&c->f), 0);
	for (uint32_t i = 0; i < c->f.s->workers; i++)
		assert_in_range(c->f.s->worker[i]->timers.wheel.chunks, 0, 1);
}

/* Each process leaves some timers, in several wheels if it has been stolen. */
static void timers_end_with_their_process(void **state)
{
	static struct crowd c;

	(void)state;
	for (int operations = 1; operations <= 64; operations *= 8) {
		memset(&c, 0, sizeof(c));
		c.operations = operations;
		start_parked(&c.f, 4, SB_PARK_CONDVAR);
		for (int wave = 0; wave < SB_SCALE(40); wave++)
			crowd_run(&c, &leaver_ops, 1000 / operations);
		CHECK_EQ(fixture_counter(&c.f, SB_COUNTER_timers_started), sb_load_rlx(&c.started));
		check_nothing_left(&c);
		fixture_end(&c.f);
	}
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
	assert_in_range(script.seen, 4, 16);
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
	assert_in_range(sb_load_rlx(&script.flag), RISES, 2 * RISES);
	assert_in_range(script.other, 4, 16);
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
		cmocka_unit_test(many_sleepers_wake),
		cmocka_unit_test(many_sleepers_wake_by_futex),
		cmocka_unit_test(many_sleepers_wake_polled),
		cmocka_unit_test(a_lone_sleeper_wakes),
		cmocka_unit_test(tickers_count_their_periods),
		cmocka_unit_test(an_old_clock_does_not_miscount),
		cmocka_unit_test(a_timer_fires_or_is_stopped),
		cmocka_unit_test(stop_after_fire_is_too_late),
		cmocka_unit_test(a_stale_id_is_refused),
		cmocka_unit_test(anothers_timer_is_refused),
		cmocka_unit_test(another_worker_stops_it),
		cmocka_unit_test(a_stop_forgets_all_timers),
		cmocka_unit_test(timers_end_with_their_process),
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
