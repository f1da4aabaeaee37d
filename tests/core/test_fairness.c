/*
 * Nobody starves, and no Ready process waits while a worker is idle.
 *
 * Property: sections 3 and 5 of the specification: the tick; work conservation;
 *   no lost wake-up.
 * Method: processes that hold their workers for ever, or until others have run.
 *   A rule that is broken shows as a test that hangs.
 */
#include "tests/script.h"

/* ---- fairness: one endless process on each worker ---- */

static int spawn_victims(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)events;
	(void)count;
	for (uint64_t i = 0; i < script->seen; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main",
				       sb_value_ptr((void *)(uintptr_t)script->other), NULL),
			 0);
	return SB_DONE;
}

static int one_step(struct script *script, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_add_rlx(&script->f->dropped, 1); /* counts the victims here */
	return SB_DONE;
}

/* One worker, held by an endless process: what is submitted, what continues as
 * it does, and what comes to the inject queue must all run. */
static void the_global_queue_does_not_starve(void **state)
{
	struct fixture f;
	struct script hog = { .f = &f, .step = endless };
	struct script victim = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &hog);
	await_steps(&hog, 1000);
	fixture_submit(&f, &scripted, &victim);
	await_steps(&victim, 1);
	sb_store_rel(&hog.flag, 1);
	fixture_wait(&f);
	fixture_end(&f);
}

static void those_that_continue_do_not_starve(void **state)
{
	struct fixture f;
	struct script first = { .f = &f, .step = endless };
	struct script second = { .f = &f, .step = endless };
	struct script third = { .f = &f, .step = endless };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &first);
	fixture_submit(&f, &scripted, &second);
	fixture_submit(&f, &scripted, &third);
	await_steps(&first, 2000);
	await_steps(&second, 2000);
	await_steps(&third, 2000);
	sb_store_rel(&first.flag, 1);
	sb_store_rel(&second.flag, 1);
	sb_store_rel(&third.flag, 1);
	fixture_wait(&f);
	fixture_end(&f);
}

static void the_inject_queue_does_not_starve(void **state)
{
	struct fixture f;
	struct script hog = { .f = &f, .step = endless };
	struct script victim = { .f = &f, .step = wait_for_message };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.wake = SB_WAKE_AFFINE;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid = fixture_submit(&f, &scripted, &victim);
	await_flag(&victim);
	fixture_submit(&f, &scripted, &hog);
	await_steps(&hog, 1000);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(7)), 0);
	await_steps(&victim, 2);
	sb_store_rel(&hog.flag, 1);
	fixture_wait(&f);
	CHECK_EQ(victim.seen, 7);
	fixture_end(&f);
}

/* Two that only message each other keep their worker busy; a third runs all
 * the same. A message is the PID to send to from then on, or TALK. */
#define TALK UINT64_MAX

static int chat(struct script *script, struct sb_step *step, const struct sb_event *events,
		uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].data.u64 != TALK)
			script->other = events[i].data.u64;
	}
	if (flag_set(script))
		return SB_DONE;
	if (script->other)
		(void)!sb_step_send(step, script->other, sb_value_u64(TALK));
	return SB_IDLE;
}

enum { TALKERS = 2 };

struct conversation {
	struct script talker[TALKERS];
	struct script opener; /* begins it when it is told */
	struct script below;  /* in the deque, beneath it */
	sb_pid pid[TALKERS];
};

static int open_conversation(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	struct conversation *talk = sb_container_of(script, struct conversation, opener);

	hold_until_told(script, step, events, count);
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&talk->below), NULL), 0);
	for (int i = 0; i < TALKERS; i++)
		CHECK_EQ(sb_step_send(step, talk->pid[i], sb_value_u64(talk->pid[!i])), 0);
	return SB_DONE;
}

/* Held by the opener, which has not begun yet. */
static void start_conversation(struct conversation *talk, struct fixture *f)
{
	*talk = (struct conversation){
		.opener = { .f = f, .step = open_conversation },
		.below = { .f = f, .step = endless },
	};
	fixture_start(f, 1);
	for (int i = 0; i < TALKERS; i++) {
		talk->talker[i] = (struct script){ .f = f, .step = chat };
		talk->pid[i] = fixture_submit(f, &scripted, &talk->talker[i]);
	}
	fixture_submit(f, &scripted, &talk->opener);
	await_flag(&talk->opener);
}

static void end_conversation(struct conversation *talk, struct fixture *f)
{
	for (int i = 0; i < TALKERS; i++) {
		sb_store_rel(&talk->talker[i].flag, 1);
		(void)!sb_scheduler_send(f->s, talk->pid[i], sb_value_u64(TALK));
	}
	fixture_wait(f);
	fixture_end(f);
}

static void a_conversation_does_not_starve_a_third(void **state)
{
	struct fixture f;
	struct conversation talk;
	struct script third = { .f = &f, .step = done_with_42 };

	(void)state;
	start_conversation(&talk, &f);
	sb_store_rel(&talk.below.flag, 1);
	sb_store_rel(&talk.opener.flag, 2);
	await_steps(&talk.talker[1], 1000);
	fixture_submit(&f, &scripted, &third);
	await_steps(&third, 1);
	end_conversation(&talk, &f);
}

/* It is older than they are, and its first step is its last. */
static void a_conversation_does_not_starve_those_below(void **state)
{
	struct fixture f;
	struct conversation talk;

	(void)state;
	start_conversation(&talk, &f);
	sb_store_rel(&talk.below.flag, 1);
	sb_store_rel(&talk.opener.flag, 2);
	await_steps(&talk.below, 1);
	end_conversation(&talk, &f);
}

static void a_conversation_does_not_starve_those_that_continue(void **state)
{
	struct fixture f;
	struct conversation talk;

	(void)state;
	start_conversation(&talk, &f);
	sb_store_rel(&talk.opener.flag, 2);
	await_steps(&talk.below, 100);
	sb_store_rel(&talk.below.flag, 1);
	end_conversation(&talk, &f);
}

/* Two workers, each with an endless process: victims from outside and from
 * inside all complete. */
static void endless_processes_starve_nobody(void **state)
{
	enum { WORKERS = 2, VICTIMS = 300 };
	struct fixture f;
	struct script victim = { .f = &f, .step = one_step };
	struct script spawner = {
		.f = &f, .step = spawn_victims, .other = (uintptr_t)&victim, .seen = VICTIMS
	};
	struct script hog = { .f = &f, .step = endless };

	(void)state;
	fixture_start(&f, WORKERS);
	fixture_submit(&f, &scripted, &spawner);
	for (int i = 0; i < WORKERS; i++)
		fixture_submit(&f, &scripted, &hog);
	for (int i = 0; i < VICTIMS; i++)
		fixture_submit(&f, &scripted, &victim);
	while (sb_load_rlx(&f.dropped) < 2 * VICTIMS)
		sb_thread_yield();
	sb_store_rel(&hog.flag, 1);
	fixture_wait(&f);
	fixture_end(&f);
}

/* ---- work conservation ---- */

enum { BARRIER = 4 };
static _Atomic(uint32_t) at_barrier;
static _Atomic(uint32_t) barrier_width = BARRIER;

static int barrier_step(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	(void)count;
	sb_add_acq_rel(&at_barrier, 1);
	/* Blocks its worker, on purpose. */
	while (sb_load_acq(&at_barrier) < sb_load_rlx(&barrier_width))
		sb_thread_yield();
	return SB_DONE;
}

static int spawn_barrier(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	for (int i = 1; i < BARRIER; i++)
		CHECK_EQ(sb_step_spawn(step, &scripted, "main",
				       sb_value_ptr((void *)(uintptr_t)script->other), NULL),
			 0);
	return barrier_step(script, step, events, count);
}

/*
 * As many processes as workers, each of which blocks its worker until all have
 * started: a lost or misdirected wake-up hangs. Submitted from outside, and
 * spawned by one of them onto its own deque.
 */
static void check_barrier(enum sb_park_policy park, int rounds)
{
	struct fixture f;
	struct script waiter = { .f = &f, .step = barrier_step };
	struct script parent = { .f = &f, .step = spawn_barrier, .other = (uintptr_t)&waiter };

	fixture_defaults(&f);
	f.config.park = park;
	fixture_create(&f, BARRIER);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (int round = 0; round < rounds; round++) {
		sb_store_rlx(&at_barrier, 0);
		if (round % 2) {
			fixture_submit(&f, &scripted, &parent);
		} else {
			for (int i = 0; i < BARRIER; i++)
				fixture_submit(&f, &scripted, &waiter);
		}
		fixture_wait(&f);
	}
	fixture_end(&f);
}

static void every_worker_is_woken(void **state)
{
	(void)state;
	check_barrier(SB_PARK_CONDVAR, SB_SCALE(2000));
}

static void every_worker_is_woken_by_futex(void **state)
{
	(void)state;
	check_barrier(SB_PARK_FUTEX, SB_SCALE(2000));
}

/* Few rounds: these workers share cores and never give them away. */
static void every_polling_worker_finds_work(void **state)
{
	(void)state;
	check_barrier(SB_PARK_POLL, SB_SCALE(16));
}

/* The same by way of the queue of those that continue: all of them come to be
 * on one worker, and each other one steals a single one. */
struct crowd {
	struct script member[BARRIER]; /* the first one spawns the others */
	struct script gate[BARRIER];
};

static int continue_to_barrier(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	if (sb_load_rlx(&script->steps) == 1)
		return SB_CONTINUE;
	return barrier_step(script, step, events, count);
}

static int spawn_crowd(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct crowd *crowd = sb_container_of(script, struct crowd, member[0]);

	if (sb_load_rlx(&script->steps) == 1) {
		for (uint32_t i = 1; i < sb_load_rlx(&barrier_width); i++)
			CHECK_EQ(sb_step_spawn(step, &scripted, "main",
					       sb_value_ptr(&crowd->member[i]), NULL),
				 0);
	}
	return continue_to_barrier(script, step, events, count);
}

static void start_crowd(struct fixture *f, enum sb_deque_kind deque, uint32_t width)
{
	fixture_defaults(f);
	f->config.deque = deque;
	f->config.steal = SB_STEAL_COUNT;
	f->config.steal_cap = 1;
	f->config.spin_tight = 0;
	f->config.spin_yield = 0;
	fixture_create(f, width);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	sb_store_rlx(&barrier_width, width);
}

static void check_continuing_crowd(enum sb_deque_kind deque, uint32_t width, int rounds)
{
	struct fixture f;

	start_crowd(&f, deque, width);
	for (int round = 0; round < rounds; round++) {
		struct crowd crowd;

		for (int i = 0; i < BARRIER; i++)
			crowd.member[i] = (struct script){
				.f = &f,
				.step = i ? continue_to_barrier : spawn_crowd,
			};
		sb_store_rlx(&at_barrier, 0);
		fixture_submit(&f, &scripted, &crowd.member[0]);
		fixture_wait(&f);
	}
	fixture_end(&f);
	sb_store_rlx(&barrier_width, BARRIER);
}

static void every_worker_is_woken_for_those_that_continue(void **state)
{
	(void)state;
	check_continuing_crowd(SB_DEQUE_COUNTED, 2, SB_SCALE(4000));
	check_continuing_crowd(SB_DEQUE_COUNTED, 4, SB_SCALE(2000));
	check_continuing_crowd(SB_DEQUE_CHASE_LEV, 2, SB_SCALE(4000));
	check_continuing_crowd(SB_DEQUE_CHASE_LEV, 4, SB_SCALE(2000));
}

/*
 * The same by way of a batch from the global queue. All workers are held until
 * it is filled, so nobody is asleep and nobody is told; then the first to come
 * moves some to its own deque while the others find nothing and go to sleep.
 */
static void check_batch(uint32_t width, int rounds)
{
	struct fixture f;

	start_crowd(&f, SB_DEQUE_COUNTED, width);
	for (int round = 0; round < rounds; round++) {
		struct crowd crowd;

		sb_store_rlx(&at_barrier, 0);
		for (uint32_t i = 0; i < width; i++) {
			crowd.member[i] = (struct script){ .f = &f, .step = barrier_step };
			crowd.gate[i] = (struct script){ .f = &f, .step = hold_until_told };
			fixture_submit(&f, &scripted, &crowd.gate[i]);
		}
		for (uint32_t i = 0; i < width; i++)
			await_flag(&crowd.gate[i]);
		for (uint32_t i = 0; i < width; i++)
			fixture_submit(&f, &scripted, &crowd.member[i]);
		for (uint32_t i = 0; i < width; i++)
			sb_store_rel(&crowd.gate[i].flag, 2);
		fixture_wait(&f);
	}
	fixture_end(&f);
	sb_store_rlx(&barrier_width, BARRIER);
}

static void every_worker_is_woken_for_a_batch(void **state)
{
	(void)state;
	check_batch(2, SB_SCALE(4000));
	check_batch(4, SB_SCALE(2000));
}

/* A process with affinity to a worker that is in a long step is taken by
 * another one: inject queues are everybody's. */
static int long_step_after_wake(struct script *script, struct sb_step *step,
				const struct sb_event *events, uint32_t count)
{
	struct script *other = (void *)(uintptr_t)script->other;

	(void)step;
	(void)events;
	if (!count) {
		sb_store_rel(&script->flag, 1);
		return SB_IDLE;
	}
	/* Until the other process, Ready behind this one, has run. */
	while (!flag_set(other))
		sb_thread_yield();
	return SB_DONE;
}

static void nobody_waits_behind_a_long_step(void **state)
{
	struct fixture f;
	struct script first = { .f = &f, .step = long_step_after_wake };
	struct script second = { .f = &f, .step = wait_for_message };
	sb_pid pid[2];

	(void)state;
	first.other = (uintptr_t)&second;
	fixture_defaults(&f);
	f.config.wake = SB_WAKE_AFFINE;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (int round = 0; round < SB_SCALE(400); round++) {
		sb_store_rlx(&first.flag, 0);
		sb_store_rlx(&second.flag, 0);
		pid[0] = fixture_submit(&f, &scripted, &first);
		pid[1] = fixture_submit(&f, &scripted, &second);
		await_flag(&first);
		await_flag(&second);
		sb_store_rlx(&second.flag, 0);
		CHECK_EQ(sb_scheduler_send(f.s, pid[0], sb_value_u64(1)), 0);
		CHECK_EQ(sb_scheduler_send(f.s, pid[1], sb_value_u64(1)), 0);
		fixture_wait(&f);
	}
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_global_queue_does_not_starve),
		cmocka_unit_test(those_that_continue_do_not_starve),
		cmocka_unit_test(the_inject_queue_does_not_starve),
		cmocka_unit_test(a_conversation_does_not_starve_a_third),
		cmocka_unit_test(a_conversation_does_not_starve_those_below),
		cmocka_unit_test(a_conversation_does_not_starve_those_that_continue),
		cmocka_unit_test(endless_processes_starve_nobody),
		cmocka_unit_test(every_worker_is_woken),
		cmocka_unit_test(every_worker_is_woken_by_futex),
		cmocka_unit_test(every_polling_worker_finds_work),
		cmocka_unit_test(every_worker_is_woken_for_those_that_continue),
		cmocka_unit_test(every_worker_is_woken_for_a_batch),
		cmocka_unit_test(nobody_waits_behind_a_long_step),
	};

	return cmocka_run_group_tests_name("fairness", tests, NULL, NULL);
}
