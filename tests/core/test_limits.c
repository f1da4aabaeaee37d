/*
 * Limits: memory, places, processes.
 *
 * Property: the memory of the dead and of a peak is used again or given back; the
 *   process limit refuses if and only if so many are alive.
 * Method: counts beside a long step; several threads that spawn at the limit.
 * Bound: 200 000 spawns at a limit of 100.
 */
#include "tests/core/bounds.h"

/* ---- memory of the dead ---- */

enum { DEAD_MAX = 1 << 20, DEAD_AT_A_TIME = 64, DEAD_ROUNDS = 3000 };

/* Spawns, lets them end, and so on: many times what the bound allows at a time. */
static int spawn_on(struct script *script, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct script *hog = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	for (int i = 0; i < DEAD_AT_A_TIME; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main",
				       sb_value_ptr((void *)(uintptr_t)script->seen), NULL),
			 0);
	if (sb_load_rlx(&script->steps) < DEAD_ROUNDS)
		return SB_CONTINUE;
	sb_store_rel(&hog->flag, 2);
	return SB_DONE;
}

static void the_dead_are_bounded_beside_a_long_step(void **state)
{
	struct fixture f;
	struct script hog = { .f = &f, .step = hold_until_told };
	struct script child = { .f = &f, .step = done_at_once };
	struct script spawner = {
		.f = &f, .step = spawn_on, .other = (uintptr_t)&hog, .seen = (uintptr_t)&child
	};
	struct sb_memory memory;

	(void)state;
	fixture_defaults(&f);
	f.config.dead_max_bytes = DEAD_MAX;
	/* Else the spawner has every other turn where steps are slow, and the
	 * living pile up. */
	f.config.tick = 512;
	f.config.tick_ns = 0;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &hog);
	await_flag(&hog);
	fixture_submit(&f, &scripted, &spawner);
	fixture_wait(&f);
	sb_scheduler_read_memory(f.s, &memory);
	/* At most a block of PIDs more than the bound, and what lives. */
	assert_uint_in_range(memory.held_bytes, 1, 4 * DEAD_MAX);
	CHECK_EQ(sb_load_rlx(&child.steps), DEAD_AT_A_TIME * DEAD_ROUNDS);
	CHECK_EQ(sb_scheduler_settle(f.s), 0);
	CHECK_EQ(sb_dead_bytes(f.s), 0);
	fixture_end(&f);
}

/* Many more objects than one look at the pool of foreign threads puts back. */
enum { PEAK = 150000 };

static uint64_t held_bytes(struct fixture *f)
{
	struct sb_memory memory;

	sb_scheduler_read_memory(f->s, &memory);
	return memory.held_bytes;
}

/* One worker's processes, all alive at a time, end; their memory goes back by itself. */
static void check_giving_back(const struct sb_process_ops *ops, sb_pid *pid, uint32_t processes)
{
	struct fixture f;
	struct script script = { .f = &f, .step = end_at_an_event };
	const uint64_t end = sb_clock_ns() + FIXTURE_TIMEOUT_NS;
	uint64_t peak;

	fixture_start(&f, 1);
	for (uint32_t i = 0; i < processes; i++)
		pid[i] = fixture_submit(&f, ops, &script);
	peak = held_bytes(&f);
	for (uint32_t i = 0; i < processes; i++)
		CHECK_EQ(sb_scheduler_cancel(f.s, pid[i]), 0);
	fixture_wait(&f);
	while (held_bytes(&f) > peak / 4 && sb_clock_ns() < end)
		sb_thread_sleep(10000000);
	assert_uint_in_range(held_bytes(&f), 0, peak / 4);
	fixture_end(&f);
}

static void a_peak_of_submissions_is_given_back(void **state)
{
	static sb_pid pid[PEAK];

	(void)state;
	check_giving_back(&scripted, pid, PEAK);
}

/* So few that all have ended before the grace period of the first one has. */
enum { BULKS = 64, BULK_BYTES = 32768 };

static const struct sb_process_ops bulky = {
	.name = "bulky",
	.state_bytes = BULK_BYTES,
	.init = script_init,
	.step = script_step,
	.close = script_close,
};

/* The worker sleeps before their memory may be used again, and has nothing to do afterwards. */
static void the_dead_of_a_sleeping_worker_are_given_back(void **state)
{
	sb_pid pid[BULKS];

	(void)state;
	check_giving_back(&bulky, pid, BULKS);
}

/* ---- the process limit ---- */

enum { LIMIT = 40, CROWD = 100 };

static int fill_up(struct script *script, struct sb_step *step, const struct sb_event *events,
		   uint32_t count)
{
	struct script *idle = (void *)(uintptr_t)script->other;

	(void)events;
	if (count)
		return SB_DONE;
	for (int i = 0; i < LIMIT - 1; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(idle), NULL), 0);
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(idle), NULL), -EAGAIN);
	sb_store_rel(&script->flag, 1);
	return SB_IDLE;
}

/* One process is alive, and its worker, in a step, has reserved the rest ahead. */
static void a_busy_worker_keeps_no_place(void **state)
{
	struct fixture f;
	struct script hog = { .f = &f, .step = hold_until_told };
	struct script idle = { .f = &f, .step = end_at_an_event };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = LIMIT;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &hog);
	await_flag(&hog);
	for (int i = 0; i < LIMIT - 1; i++)
		fixture_submit(&f, &scripted, &idle);
	CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "main", sb_value_ptr(&idle), &pid), -EAGAIN);
	sb_store_rel(&hog.flag, 2);
	fixture_end(&f);
}

static void a_step_fills_the_scheduler_up(void **state)
{
	struct fixture f;
	struct script idle = { .f = &f, .step = end_at_an_event };
	struct script filler = { .f = &f, .step = fill_up, .other = (uintptr_t)&idle };

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = LIMIT;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &filler);
	/* The other worker may run every child before the last spawn. */
	await_flag(&filler);
	await_steps(&idle, LIMIT - 1);
	fixture_end(&f);
}

/* Processes between their init and their close. */
struct crowd {
	_Atomic(int64_t) living;
	_Atomic(uint64_t) refused;
	_Atomic(uint64_t) spawned;
};

static _Atomic(int64_t) crowd_living_most;

static int child_init(void *state, const char *method, union sb_value input)
{
	struct crowd *crowd = input.ptr;
	const int64_t n = sb_add_acq_rel(&crowd->living, 1) + 1;
	int64_t most = sb_load_rlx(&crowd_living_most);

	(void)method;
	*(struct crowd **)state = crowd;
	while (n > most && !sb_cas_weak_acq_rel(&crowd_living_most, &most, n))
		;
	return 0;
}

static int child_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	(void)count;
	return SB_DONE;
}

static void child_close(void *state)
{
	sb_sub_acq_rel(&(*(struct crowd **)state)->living, 1);
}

static const struct sb_process_ops child_ops = {
	.name = "child",
	.state_bytes = sizeof(struct crowd *),
	.init = child_init,
	.step = child_step,
	.close = child_close,
};

/* Never above the limit: each spawner at full speed, whatever is refused. */
static int spawn_greedily(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct crowd *crowd = (void *)(uintptr_t)script->other;

	(void)events;
	(void)count;
	for (int i = 0; i < CROWD / 2; i++) {
		const int rc = sb_step_spawn(step, &child_ops, "main", sb_value_ptr(crowd), NULL);

		CHECK_EQ(rc == 0 || rc == -EAGAIN, 1);
		sb_add_rlx(rc ? &crowd->refused : &crowd->spawned, 1);
	}
	return sb_load_rlx(&crowd->spawned) < SB_SCALE(200000u) ? SB_CONTINUE : SB_DONE;
}

static void the_limit_is_never_passed(void **state)
{
	struct fixture f;
	struct crowd crowd = { .living = 0 };
	struct script spawner = { .f = &f, .step = spawn_greedily, .other = (uintptr_t)&crowd };

	(void)state;
	sb_store_rlx(&crowd_living_most, 0);
	fixture_defaults(&f);
	f.config.processes_max = CROWD;
	f.config.on_complete = NULL;
	f.config.on_start = NULL;
	fixture_create(&f, 4);
	/* Before the workers start: the first spawner would leave no room for the others. */
	for (int i = 0; i < 4; i++)
		fixture_submit(&f, &scripted, &spawner);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	sb_scheduler_destroy(f.s);
	/* The spawners are alive, too. */
	assert_uint_in_range(sb_load_rlx(&crowd_living_most), 1, CROWD - 1);
	CHECK_EQ(sb_load_rlx(&crowd.refused) > 0, 1);
}

enum { SPAWNERS = 8, EACH = 4 };

static int spawn_ones_share(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)count;
	(void)events;
	for (int i = 0; i < EACH; i++) {
		const int rc = sb_step_spawn(step, &scripted, "main",
					     sb_value_ptr((void *)(uintptr_t)script->other), NULL);

		CHECK_EQ(rc, 0);
	}
	return SB_DONE;
}

/*
 * Waves: spawners that each spawn so many that the limit is just reached, from
 * workers that still keep places of the wave before.
 */
static void nobody_is_refused_below_the_limit(void **state)
{
	struct fixture f;

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = SPAWNERS * (1 + EACH);
	fixture_create(&f, 4);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint32_t wave = 0; wave < SB_SCALE(20000u); wave++) {
		struct script child = { .f = &f, .step = done_at_once };
		struct script spawner = { .f = &f,
					  .step = spawn_ones_share,
					  .other = (uintptr_t)&child };

		for (int i = 0; i < SPAWNERS; i++)
			fixture_submit(&f, &scripted, &spawner);
		fixture_wait(&f);
		CHECK_EQ(sb_load_rlx(&child.steps), SPAWNERS * EACH);
	}
	fixture_end(&f);
}

/* ---- operations that go when a process has ended ---- */

static const struct sb_process_ops *map_ops(void)
{
	struct sb_process_ops *ops =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(ops != MAP_FAILED);
	*ops = scripted;
	return ops;
}

static void look_at(void *arg, const struct sb_process_info *info)
{
	(void)arg;
	CHECK_EQ(info->name != NULL, 1);
}

static void *list_all_the_time(void *arg)
{
	struct script *script = arg;

	while (!flag_set(script))
		sb_scheduler_list(script->f->s, look_at, NULL);
	return NULL;
}

static void operations_may_go_when_execute_returns(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };
	struct script lister = { .f = &f };
	struct sb_thread thread;

	(void)state;
	fixture_start(&f, 2);
	CHECK_EQ(sb_thread_start(&thread, -1, list_all_the_time, &lister), 0);
	for (uint32_t i = 0; i < SB_SCALE(2000u); i++) {
		const struct sb_process_ops *ops = map_ops();
		struct sb_exit exit;

		CHECK_EQ(sb_scheduler_execute(f.s, ops, "main", sb_value_ptr(&script), &exit), 0);
		munmap((void *)(uintptr_t)ops, 4096);
	}
	sb_store_rel(&lister.flag, 1);
	sb_thread_join(&thread);
	fixture_end(&f);
}

/* ---- two outcomes of one yield ---- */

static int complete_and_fail(void *context, const struct sb_command *command,
			     const struct sb_completer *completer)
{
	(void)context;
	CHECK_EQ(sb_complete(completer, command->arg, 0), 0);
	return -EIO;
}

static int yield_twice(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	if (sb_load_rlx(&script->steps) == 1) {
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_u64(1), 1), 0);
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_u64(2), 2), 0);
		return SB_YIELD;
	}
	CHECK_EQ(count, 2);
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].error, 0);
		CHECK_EQ(events[i].tag, i + 1);
		CHECK_EQ(events[i].data.u64, i + 1);
	}
	return SB_DONE;
}

static void the_first_outcome_counts(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_twice };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, complete_and_fail, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), 2);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_second_outcomes), 2);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_dead_are_bounded_beside_a_long_step),
		cmocka_unit_test(a_peak_of_submissions_is_given_back),
		cmocka_unit_test(the_dead_of_a_sleeping_worker_are_given_back),
		cmocka_unit_test(a_busy_worker_keeps_no_place),
		cmocka_unit_test(a_step_fills_the_scheduler_up),
		cmocka_unit_test(the_limit_is_never_passed),
		cmocka_unit_test(nobody_is_refused_below_the_limit),
		cmocka_unit_test(operations_may_go_when_execute_returns),
		cmocka_unit_test(the_first_outcome_counts),
	};

	return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
