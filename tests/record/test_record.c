/*
 * What is recorded, at which level.
 *
 * Property: with everything timed, each histogram has exactly as many values as
 *   there were occasions; with one in N timed, exactly those that the sampler
 *   chooses; with none, none, and at `off` there is no account, no steal matrix
 *   and no histogram at all.
 * Method: scripts with a known number of steps, sends, yields, spawns and wakes;
 *   the sampler's choices repeated from its seed.
 * Bound: up to 4 workers.
 */
#include "tests/record/record.h"

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
	SB_HIST_depth_global,	  SB_HIST_gap_inject,	   SB_HIST_gap_global,
	SB_HIST_gap_steal,	  SB_HIST_gap_timer,	   SB_HIST_gap_refused,
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
	assert_uint_in_range(later, (STEPS - 1) / (2 * every - 1), STEPS - 1);
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

/* A worker that sleeps for the i-th time is woken for one process, and sleeps again. */
static void wake_once(struct fixture *f, struct script *script, uint64_t i)
{
	fixture_submit(f, &scripted, script);
	fixture_wait(f);
	await_block(f, i + 1);
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
		wake_once(&f, &script, i);
		CHECK_EQ(count_of(&f, SB_HIST_wake_to_running), i + 1);
	}
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_spurious_wakes), 0);
	fixture_end(&f);
}

/* ---- gaps ---- */

static uint64_t gaps(struct fixture *f)
{
	return count_of(f, SB_HIST_gap_inject) + count_of(f, SB_HIST_gap_global) +
	       count_of(f, SB_HIST_gap_steal) + count_of(f, SB_HIST_gap_timer) +
	       count_of(f, SB_HIST_gap_refused);
}

/* Of a worker that slept it goes to the wake, which others time, so it and the wake's latency are no
 * longer than all the time without work. */
static void each_gap_is_recorded_once(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };

	(void)state;
	fixture_defaults(&f);
	f.config.sample_every = 64; /* gaps and wakes are all timed in any case */
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint64_t i = 0; i < WAKES; i++) {
		await_block(&f, i);
		CHECK_EQ(gaps(&f), i);
		wake_once(&f, &script, i);
		CHECK_EQ(gaps(&f), i + 1);
		CHECK_EQ(count_of(&f, SB_HIST_wake_to_running), i + 1);
	}
	CHECK_EQ(count_of(&f, SB_HIST_gap_global), WAKES);
	assert_true(fixture_hist(&f, SB_HIST_gap_global)->sum > 0);
	fixture_end(&f);
}

static int sleep_shortly(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)script;
	(void)events;
	if (count)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(1000), 1), 0);
	return SB_YIELD;
}

/* A gap that is spun through after one that was not has nothing of that one's wake. There is none if
 * the timer is due at once, which it never is in virtual time. */
static void a_wake_ends_one_gap(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = sleep_shortly };

	(void)state;
	fixture_defaults(&f);
	f.config.sample_every = 1;
	f.config.spin_tight = 20000; /* longer than the sleep */
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	await_block(&f, 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	await_block(&f, 1);
	CHECK_EQ(count_of(&f, SB_HIST_gap_global), 1);
	assert_true(!count_of(&f, SB_HIST_gap_timer) ||
		    fixture_hist(&f, SB_HIST_gap_timer)->sum > 0);
	CHECK_EQ(count_of(&f, SB_HIST_wake_to_running), 1);
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
	struct sb_glance glance;
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
	sb_scheduler_glance(f.s, &glance);
	CHECK_EQ(glance.depth_own, 0);
	CHECK_EQ(glance.depth_inject, 2);
	CHECK_EQ(glance.depth_global, 3);
	sb_store_rel(&script[1].flag, 2);
	while (sb_load_acq(&script[3].steps) < 3)
		sb_thread_yield();
	fixture_submit(&f, &scripted, &script[2]);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_glance(f.s, &glance);
	for (uint32_t c = 0; c < SB_COUNTERS; c++) {
		if (c != SB_COUNTER_yields)
			CHECK_EQ(glance.counter[c], fixture_counter(&f, (enum sb_counter_id)c));
	}
	check_depth_count(&f, SB_HIST_depth_own);
	check_depth_count(&f, SB_HIST_depth_inject);
	check_depth_count(&f, SB_HIST_depth_global);
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_inject)), 2);
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_global)), 3);
	/* The children, and the parent that continues. */
	CHECK_EQ(sb_hist_max(fixture_hist(&f, SB_HIST_depth_own)), CHILDREN + 1);
	sb_scheduler_destroy(f.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_full_everything_is_timed),
		cmocka_unit_test(at_counters_nothing_is_timed),
		cmocka_unit_test(at_off_only_counters_count),
		cmocka_unit_test(one_in_n_is_what_the_sampler_chooses),
		cmocka_unit_test(each_wake_is_timed),
		cmocka_unit_test(each_gap_is_recorded_once),
		cmocka_unit_test(a_wake_ends_one_gap),
		cmocka_unit_test(depths_are_seen_at_ticks),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
