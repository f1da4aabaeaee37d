/*
 * What is recorded, at which level, and the account of each worker's time.
 *
 * Property: with everything timed, each histogram has exactly as many values as
 *   there were occasions; with one in N timed, exactly those that the sampler
 *   chooses; with none, none, and at `off` there is no account, no steal matrix
 *   and no histogram at all. Of two readings of a worker the parts of its time
 *   add up to all of it, to the nanosecond, whatever it does meanwhile, and none
 *   ever shrinks.
 * Method: scripts with a known number of steps, sends, yields, spawns and wakes;
 *   the sampler's choices repeated from its seed. Readings of workers that are
 *   known to be busy, parked, spinning or stealing; and of workers that change
 *   all the time.
 * Bound: up to 4 workers, 2000 readings.
 */
#include "core/commands.h"
#include "core/counters.h"
#include "core/dispatch.h"
#include "core/hist.h"
#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/clock.h"
#include "core/platform/platform.h"
#include "core/process.h"
#include "core/record/sampler.h"
#include "core/scheduler.h"
#include "tests/script.h"

static uint64_t count_of(struct fixture *f, enum sb_hist_id id)
{
	return fixture_hist(f, id)->count;
}

/* ---- one of everything ---- */

enum { STEPS = 1000 };

#define ANSWERS 6

static int answers(void *context, const struct sb_command *command,
		   const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, command->arg, 0);
}

static int refuses(void *context, const struct sb_command *command,
		   const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	(void)completer;
	return -EPERM;
}

#define REFUSES 7
#define UNKNOWN 8

static int continue_so_often(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	return sb_load_rlx(&script->steps) < STEPS ? SB_CONTINUE : SB_DONE;
}

/* Five yields, of which four are done with at once and one by the test; a sleep,
 * which is not timed; a message to itself; a child. */
enum { TIMED_YIELDS = 5, COMPLETIONS = 6 };

static void ask_for_all(struct script *script, struct sb_step *step)
{
	static struct sb_spawn_args spawn;

	spawn = (struct sb_spawn_args){ .ops = &scripted,
					.method = "main",
					.input = sb_value_ptr(script + 1) };
	CHECK_EQ(sb_step_yield(step, ANSWERS, sb_value_u64(1), 1), 0);
	CHECK_EQ(sb_step_yield(step, REFUSES, sb_value_u64(1), 2), 0);
	CHECK_EQ(sb_step_yield(step, UNKNOWN, sb_value_u64(1), 3), 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SPAWN, sb_value_ptr(&spawn), 4), 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(1), 5), 0);
	CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), 6), 0);
	CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(1)), 0);
}

static int yield_all(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	if (!script->seen && !count)
		ask_for_all(script, step);
	script->seen += count;
	return script->seen == COMPLETIONS + 1 ? SB_DONE : SB_YIELD;
}

static void register_commands(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_register(f->s, ANSWERS, answers, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f->s, REFUSES, refuses, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f->s, KEEPS, keeps, NULL), 0);
}

/* Everything that can be timed, but for wakes, on one worker; the workers have
 * left. */
static void run_all(struct fixture *f, bool record, uint32_t sample_every)
{
	static struct script script[3];

	fixture_defaults(f);
	f->config.record = record;
	f->config.sample_every = sample_every;
	fixture_create(f, 1);
	register_commands(f);
	memset(script, 0, sizeof(script));
	script[0] = (struct script){ .f = f, .step = yield_all };
	script[1] = (struct script){ .f = f, .step = done_at_once };
	script[2] = (struct script){ .f = f, .step = continue_so_often };
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	fixture_submit(f, &scripted, &script[0]);
	fixture_submit(f, &scripted, &script[2]);
	await_flag(&script[0]);
	CHECK_EQ(sb_complete(&script[0].later, sb_value_u64(1), 0), 0);
	fixture_wait(f);
	CHECK_EQ(sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS), 0);
	CHECK_EQ(script[0].seen, COMPLETIONS + 1);
}

static void at_full_everything_is_timed(void **state)
{
	struct fixture f;
	uint64_t steps;

	(void)state;
	run_all(&f, true, 1);
	steps = fixture_counter(&f, SB_COUNTER_steps);
	assert_true(steps > STEPS);
	CHECK_EQ(count_of(&f, SB_HIST_ready_to_running), steps);
	CHECK_EQ(count_of(&f, SB_HIST_step_time), steps);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_timed_steps), steps);
	CHECK_EQ(fixture_hist(&f, SB_HIST_step_time)->sum,
		 fixture_counter(&f, SB_COUNTER_timed_step_ns));
	CHECK_EQ(count_of(&f, SB_HIST_submit_to_step), 3);
	CHECK_EQ(count_of(&f, SB_HIST_lifetime), 3);
	CHECK_EQ(count_of(&f, SB_HIST_send_to_step), 1);
	CHECK_EQ(count_of(&f, SB_HIST_yield_to_resumed), TIMED_YIELDS);
	/* A look at each step's begin and end at the least. */
	assert_true(fixture_counter(&f, SB_COUNTER_clock_looks) >= 2 * steps);
	/* A process is under way for longer than any of its steps. */
	assert_true(fixture_hist(&f, SB_HIST_lifetime)->sum >=
		    fixture_hist(&f, SB_HIST_step_time)->sum);
	sb_scheduler_destroy(f.s);
}

static const enum sb_hist_id sampled[] = {
	SB_HIST_ready_to_running, SB_HIST_send_to_step,	   SB_HIST_submit_to_step,
	SB_HIST_yield_to_resumed, SB_HIST_wake_to_running, SB_HIST_step_time,
	SB_HIST_lifetime,	  SB_HIST_depth_own,	   SB_HIST_depth_inject,
	SB_HIST_depth_global,
};

static void at_counters_nothing_is_timed(void **state)
{
	struct fixture f;

	(void)state;
	run_all(&f, true, 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(sampled); i++)
		CHECK_EQ(count_of(&f, sampled[i]), 0);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_clock_looks), 0);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_timed_steps), 0);
	assert_true(count_of(&f, SB_HIST_batch_global) > 0);
	assert_true(fixture_counter(&f, SB_COUNTER_busy_ns) > 0);
	sb_scheduler_destroy(f.s);
}

static const enum sb_counter_id account[] = {
	SB_COUNTER_busy_ns, SB_COUNTER_steal_ns,   SB_COUNTER_steal_failed_ns,
	SB_COUNTER_spin_ns, SB_COUNTER_blocked_ns,
};

static void at_off_only_counters_count(void **state)
{
	struct sb_worker_reading reading = { .recorded = true };
	struct sb_steal_counts steals;
	struct fixture f;

	(void)state;
	/* A sampler that is asked for has no say. */
	run_all(&f, false, 1);
	for (int id = 0; id < SB_HISTS; id++)
		CHECK_EQ(count_of(&f, id), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(account); i++)
		CHECK_EQ(fixture_counter(&f, account[i]), 0);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_clock_looks), 0);
	assert_true(fixture_counter(&f, SB_COUNTER_steps) > STEPS);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_completions), 3);
	reading.steals = &steals;
	sb_scheduler_read(f.s, 0, &reading);
	assert_false(reading.recorded);
	sb_scheduler_destroy(f.s);
}

/* ---- one in N ---- */

/* How often a worker's sampler, and then the foreign one, choose. */
static uint64_t choices(const struct fixture *f, uint32_t every, uint64_t of)
{
	struct sb_sampler sampler;
	uint64_t chosen = 0;

	sb_sampler_init(&sampler, every, f->config.seed);
	for (uint64_t i = 0; i < of; i++)
		chosen += sb_sampler_chooses(&sampler);
	return chosen;
}

/* What was submitted before the start wakes nobody, so the foreign sampler is
 * asked once, and the worker's each time that the process goes on. */
static void check_sampled(uint32_t every)
{
	struct fixture f;
	struct script script = { .f = &f, .step = continue_so_often };
	uint64_t first;
	uint64_t later;

	fixture_defaults(&f);
	f.config.sample_every = every;
	fixture_create(&f, 1);
	fixture_submit(&f, &scripted, &script);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	first = choices(&f, every, 1);
	later = choices(&f, every, STEPS - 1);
	CHECK_EQ(count_of(&f, SB_HIST_step_time), first + later);
	CHECK_EQ(count_of(&f, SB_HIST_ready_to_running), first + later);
	CHECK_EQ(count_of(&f, SB_HIST_submit_to_step), first);
	CHECK_EQ(count_of(&f, SB_HIST_lifetime), first);
	/* Distances are 1 to 2 x every - 1. */
	assert_in_range(later, (STEPS - 1) / (2 * every - 1), STEPS - 1);
	sb_scheduler_destroy(f.s);
}

static void one_in_n_is_what_the_sampler_chooses(void **state)
{
	(void)state;
	for (uint32_t every = 1; every < 2 * STEPS; every = 2 * every + 1)
		check_sampled(every);
}

/* ---- wakes ---- */

enum { WAKES = 20 };

static void await_block(struct fixture *f, uint64_t blocks)
{
	while (fixture_counter(f, SB_COUNTER_blocks) <= blocks)
		sb_thread_yield();
}

static void each_wake_is_timed(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };

	(void)state;
	fixture_defaults(&f);
	f.config.sample_every = 1;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint64_t i = 0; i < WAKES; i++) {
		await_block(&f, i);
		CHECK_EQ(count_of(&f, SB_HIST_wake_to_running), i);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		await_block(&f, i + 1);
		CHECK_EQ(count_of(&f, SB_HIST_wake_to_running), i + 1);
	}
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_spurious_wakes), 0);
	fixture_end(&f);
}

/* ---- depths ---- */

enum { CHILDREN = 5 };

static int spawn_many(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)events;
	(void)count;
	if (sb_load_rlx(&script->steps) > 1)
		return SB_DONE;
	for (int i = 0; i < CHILDREN; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(script + 1), NULL), 0);
	return SB_CONTINUE;
}

/* A tick before each process that is not found by searching. */
static void check_depth_count(struct fixture *f, enum sb_hist_id id)
{
	const uint64_t found = count_of(f, SB_HIST_spins_inject) +
			       count_of(f, SB_HIST_spins_global) +
			       count_of(f, SB_HIST_spins_steal) + count_of(f, SB_HIST_spins_timer);

	CHECK_EQ(count_of(f, id) + found, fixture_counter(f, SB_COUNTER_steps) +
						  fixture_counter(f, SB_COUNTER_idle_episodes));
}

static void start_with_ticks(struct fixture *f)
{
	fixture_defaults(f);
	f->config.tick = 1;
	f->config.wake = SB_WAKE_AFFINE;
	f->config.sample_every = 1000000;
	fixture_create(f, 1);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

static void depths_are_seen_at_ticks(void **state)
{
	static struct script script[5];
	struct fixture f;
	sb_pid sleeper[2];

	(void)state;
	start_with_ticks(&f);
	memset(script, 0, sizeof(script));
	script[0] = (struct script){ .f = &f, .step = wait_for_message };
	script[1] = (struct script){ .f = &f, .step = hold_until_told };
	script[2] = (struct script){ .f = &f, .step = spawn_many };
	script[3] = (struct script){ .f = &f, .step = done_at_once };
	for (int i = 0; i < 2; i++) {
		sleeper[i] = fixture_submit(&f, &scripted, &script[0]);
		await_steps(&script[0], (uint64_t)i + 1);
	}
	fixture_submit(&f, &scripted, &script[1]);
	await_flag(&script[1]);
	/* The worker is held: these stay where they are queued. */
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sb_scheduler_send(f.s, sleeper[i], sb_value_u64(1)), 0);
	for (int i = 0; i < 3; i++)
		fixture_submit(&f, &scripted, &script[3]);
	sb_store_rel(&script[1].flag, 2);
	while (sb_load_acq(&script[3].steps) < 3)
		sb_thread_yield();
	fixture_submit(&f, &scripted, &script[2]);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	check_depth_count(&f, SB_HIST_depth_own);
	check_depth_count(&f, SB_HIST_depth_inject);
	check_depth_count(&f, SB_HIST_depth_global);
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_inject)), 2);
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_global)), 3);
	/* The children, and the parent that continues. */
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_own)), CHILDREN + 1);
	sb_scheduler_destroy(f.s);
}

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
		cmocka_unit_test(at_full_everything_is_timed),
		cmocka_unit_test(at_counters_nothing_is_timed),
		cmocka_unit_test(at_off_only_counters_count),
		cmocka_unit_test(one_in_n_is_what_the_sampler_chooses),
		cmocka_unit_test(each_wake_is_timed),
		cmocka_unit_test(depths_are_seen_at_ticks),
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
