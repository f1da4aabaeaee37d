/*
 * The account of each worker's time.
 *
 * Property: of two readings of a worker the parts of its time add up to all of it,
 *   to the nanosecond, whatever it does meanwhile, and none ever shrinks.
 * Method: readings of workers that are known to be busy, parked, spinning or
 *   stealing; and of workers that change all the time.
 * Bound: up to 4 workers, 2000 readings.
 */
#include "tests/record/record.h"

/* ---- the account ---- */

static struct sb_worker_reading read_worker(struct fixture *f, uint32_t id)
{
	static struct sb_steal_counts steals[FIXTURE_WORKERS_MAX];
	struct sb_worker_reading reading = { .steals = steals };
	const uint64_t before = sb_clock_ns();

	sb_scheduler_read(f->s, id, &reading);
	assert_true(reading.recorded);
	assert_true(before <= reading.read_ns);
	assert_true(reading.read_ns <= sb_clock_ns());
	assert_true(reading.account_ns <= reading.read_ns);
	return reading;
}

static uint64_t part(const struct sb_worker_reading *a, const struct sb_worker_reading *b,
		     enum sb_counter_id id)
{
	return b->counter[id] - a->counter[id];
}

/* The invariant, to the nanosecond; and that no part shrinks. */
static void check_account(const struct sb_worker_reading *a, const struct sb_worker_reading *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(account); i++) {
		assert_true(b->counter[account[i]] >= a->counter[account[i]]);
		sum += part(a, b, account[i]);
	}
	assert_true(b->account_ns >= a->account_ns);
	CHECK_EQ(sum, b->account_ns - a->account_ns);
}

/* Does one thing alone, in whose middle it can be read. */
static void check_steady(struct fixture *f, uint32_t id, enum sb_counter_id what)
{
	struct sb_worker_reading a = read_worker(f, id);

	CHECK_EQ(a.account_ns, a.read_ns);
	for (int i = 0; i < 100; i++) {
		const struct sb_worker_reading b = read_worker(f, id);

		check_account(&a, &b);
		CHECK_EQ(b.account_ns, b.read_ns);
		CHECK_EQ(part(&a, &b, what), b.read_ns - a.read_ns);
		a = b;
	}
}

static void a_busy_worker_adds_up(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = endless };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	await_steps(&script, 1);
	check_steady(&f, 0, SB_COUNTER_busy_ns);
	sb_store_rel(&script.flag, 1);
	fixture_end(&f);
}

/* Also in a step that does not end. */
static void a_long_step_adds_up(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = hold_until_told };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	check_steady(&f, 0, SB_COUNTER_busy_ns);
	sb_store_rel(&script.flag, 2);
	fixture_end(&f);
}

static void a_parked_worker_adds_up(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, 1);
	await_block(&f, 0);
	check_steady(&f, 0, SB_COUNTER_blocked_ns);
	fixture_end(&f);
}

static void start_polling(struct fixture *f, uint32_t workers)
{
	fixture_defaults(f);
	f->config.park = SB_PARK_POLL;
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

/* Reads until the account has come to a time after the start of this. */
static struct sb_worker_reading read_later(struct fixture *f, uint32_t id)
{
	const uint64_t start = sb_clock_ns();
	struct sb_worker_reading reading = read_worker(f, id);

	while (reading.account_ns <= start) {
		sb_thread_yield();
		reading = read_worker(f, id);
	}
	return reading;
}

/* It never stops searching, and still its account goes on. */
static void a_spinning_worker_adds_up(void **state)
{
	struct sb_worker_reading a;
	struct fixture f;

	(void)state;
	start_polling(&f, 1);
	while (!fixture_counter(&f, SB_COUNTER_idle_episodes))
		sb_thread_yield();
	a = read_later(&f, 0);
	for (int i = 0; i < 20; i++) {
		const struct sb_worker_reading b = read_later(&f, 0);

		check_account(&a, &b);
		/* There is nobody to steal from. */
		CHECK_EQ(part(&a, &b, SB_COUNTER_spin_ns), b.account_ns - a.account_ns);
		a = b;
	}
	fixture_end(&f);
}

static uint32_t whose_step(struct fixture *f)
{
	struct sb_worker_reading a[2];

	for (uint32_t id = 0; id < 2; id++)
		a[id] = read_worker(f, id);
	return a[0].counter[SB_COUNTER_steps] ? 0 : 1;
}

/* One worker is held, the other looks at it in vain. */
static void stealing_in_vain_adds_up(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = hold_until_told };
	struct sb_worker_reading a;
	struct sb_worker_reading b;
	uint32_t thief;

	(void)state;
	start_polling(&f, 2);
	fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	thief = 1 - whose_step(&f);
	check_steady(&f, 1 - thief, SB_COUNTER_busy_ns);
	do {
		a = read_later(&f, thief);
	} while (!a.counter[SB_COUNTER_idle_episodes]);
	do {
		b = read_later(&f, thief);
		check_account(&a, &b);
	} while (!part(&a, &b, SB_COUNTER_steal_failed_ns) || !part(&a, &b, SB_COUNTER_spin_ns));
	CHECK_EQ(part(&a, &b, SB_COUNTER_steal_ns), 0);
	CHECK_EQ(part(&a, &b, SB_COUNTER_busy_ns), 0);
	CHECK_EQ(part(&a, &b, SB_COUNTER_blocked_ns), 0);
	sb_store_rel(&script.flag, 2);
	fixture_end(&f);
}

/* Spawns one, and stays until somebody else has run it; again and again. */
static int raise_flag(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_add_acq_rel(&script->flag, 1);
	return SB_DONE;
}

static int be_robbed(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct script *child = script + 1;
	const uint32_t before = sb_load_acq(&child->flag);

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(child), NULL), 0);
	while (sb_load_acq(&child->flag) == before)
		sb_thread_yield();
	return flag_set(script) ? SB_DONE : SB_CONTINUE;
}

static void a_thief_adds_up(void **state)
{
	static struct script script[2];
	struct sb_worker_reading a[2];
	struct sb_worker_reading b[2];
	struct fixture f;

	(void)state;
	script[0] = (struct script){ .f = &f, .step = be_robbed };
	script[1] = (struct script){ .f = &f, .step = raise_flag };
	fixture_start(&f, 2);
	for (uint32_t id = 0; id < 2; id++)
		a[id] = read_worker(&f, id);
	fixture_submit(&f, &scripted, &script[0]);
	do {
		for (uint32_t id = 0; id < 2; id++) {
			b[id] = read_worker(&f, id);
			check_account(&a[id], &b[id]);
		}
	} while (!part(&a[0], &b[0], SB_COUNTER_steal_ns) &&
		 !part(&a[1], &b[1], SB_COUNTER_steal_ns));
	assert_true(fixture_steals(&f).successes > 0);
	sb_store_rel(&script[0].flag, 1);
	fixture_wait(&f); /* a stop would refuse what it spawns */
	fixture_end(&f);
}

/* ---- while everything changes ---- */

enum { PAIRS = 3, READINGS = 2000, SLEEP_NS = 20000 };

/* Sleeps and continues by turns, so that its worker parks and wakes. */
static int sleep_and_go_on(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)events;
	if (flag_set(script))
		return SB_DONE;
	if (!count)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(SLEEP_NS), 1), 0);
	return count ? SB_CONTINUE : SB_YIELD;
}

static void check_all(struct fixture *f, struct sb_worker_reading *last)
{
	for (uint32_t id = 0; id < sb_scheduler_workers(f->s); id++) {
		const struct sb_worker_reading now = read_worker(f, id);

		check_account(&last[id], &now);
		last[id] = now;
	}
}

static void read_while_it_changes(enum sb_park_policy park)
{
	struct sb_worker_reading last[4];
	struct fixture f;
	struct script script = { .f = &f, .step = sleep_and_go_on };

	fixture_defaults(&f);
	f.config.park = park;
	fixture_create(&f, SB_ARRAY_SIZE(last));
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint32_t id = 0; id < SB_ARRAY_SIZE(last); id++)
		last[id] = read_worker(&f, id);
	for (int i = 0; i < PAIRS; i++)
		fixture_submit(&f, &scripted, &script);
	for (int i = 0; i < SB_SCALE(READINGS); i++)
		check_all(&f, last);
	sb_store_rel(&script.flag, 1);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	check_all(&f, last);
	sb_scheduler_destroy(f.s);
}

static void changing_workers_add_up(void **state)
{
	(void)state;
	read_while_it_changes(SB_PARK_CONDVAR);
	read_while_it_changes(SB_PARK_POLL);
}

/* A worker that is not started spends no time. */
static void nothing_adds_up_at_rest(void **state)
{
	struct sb_worker_reading a;
	struct sb_worker_reading b;
	struct fixture f;

	(void)state;
	fixture_start(&f, 1);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	a = read_worker(&f, 0);
	b = read_worker(&f, 0);
	check_account(&a, &b);
	CHECK_EQ(a.account_ns, b.account_ns);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	await_block(&f, b.counter[SB_COUNTER_blocks]);
	check_steady(&f, 0, SB_COUNTER_blocked_ns);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_worker_adds_up),
		cmocka_unit_test(a_long_step_adds_up),
		cmocka_unit_test(a_parked_worker_adds_up),
		cmocka_unit_test(a_spinning_worker_adds_up),
		cmocka_unit_test(stealing_in_vain_adds_up),
		cmocka_unit_test(a_thief_adds_up),
		cmocka_unit_test(changing_workers_add_up),
		cmocka_unit_test(nothing_adds_up_at_rest),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
