/*
 * Timers that fire, are stopped, or end with their process.
 *
 * Property: every timer fires once or is stopped in time; nobody stops a timer
 *   that is another's or is over; all timers of a process end with it.
 * Method: exact counting, with the owner and other workers that stop.
 * Bound: 4 workers.
 */
#include "tests/timers/timers.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_fires_or_is_stopped),
		cmocka_unit_test(stop_after_fire_is_too_late),
		cmocka_unit_test(a_stale_id_is_refused),
		cmocka_unit_test(anothers_timer_is_refused),
		cmocka_unit_test(another_worker_stops_it),
		cmocka_unit_test(a_stop_forgets_all_timers),
		cmocka_unit_test(timers_end_with_their_process),
	};

	return cmocka_run_group_tests_name("timers", tests, NULL, NULL);
}
