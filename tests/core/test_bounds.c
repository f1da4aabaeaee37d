/*
 * What one long step may hold up.
 *
 * Property: beside a step that goes on for ever another worker gets what it has
 *   sent, and another scheduler stops; a timer waits for the running step, and a
 *   submission for a few steps of a process that always continues; a waiter is told
 *   of a process that is Ready, whatever else runs.
 * Method: steps that last until the test has seen what they must not hold up, so
 *   that a bound that does not hold is a test that hangs; counts of steps.
 * Bound: 2000 rounds with a race.
 */
#include "tests/core/bounds.h"

/* Steps seem short to the scheduler, however long they are. */
#define HELD_FOR_LONG UINT64_C(1000000)

/* ---- what a step has sent ---- */

/* Its first step is short; in the second it sends, and goes on until the receiver
 * has been stepped. */
static int send_and_go_on(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct script *receiver = (void *)(uintptr_t)script->seen;

	(void)events;
	(void)count;
	if (sb_load_rlx(&script->steps) == 1)
		return SB_CONTINUE;
	for (uint64_t i = 1; i <= 3; i++)
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(i)), 0);
	await_flag(receiver);
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(4)), 0);
	return SB_DONE;
}

/* In order, and the last one, sent after the others were taken, comes last. */
static int receive_in_order(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].data.u64, script->seen + 1);
		script->seen++;
	}
	if (script->seen >= 3)
		sb_store_rel(&script->flag, 1);
	return script->seen == 4 ? SB_DONE : SB_IDLE;
}

static void a_step_that_goes_on_has_sent(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < SB_SCALE(20u); round++) {
		struct fixture f;
		struct script receiver = { .f = &f, .step = receive_in_order };
		struct script sender = { .f = &f,
					 .step = send_and_go_on,
					 .seen = (uintptr_t)&receiver };

		fixture_defaults(&f);
		f.config.hold_ns = HELD_FOR_LONG;
		fixture_create(&f, 2);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		sender.other = fixture_submit(&f, &scripted, &receiver);
		fixture_submit(&f, &scripted, &sender);
		fixture_wait(&f);
		CHECK_EQ(receiver.seen, 4);
		CHECK_EQ(sb_load_rlx(&f.dropped), 0);
		fixture_end(&f);
	}
}

/* The receiver ends at its first message; what comes later is dropped, by
 * whoever takes it. */
static int send_to_one_that_ends(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	for (int i = 0; i < 4; i++) {
		const int rc = sb_step_send(step, script->other, sb_value_u64(1));

		CHECK_EQ(rc == 0 || rc == -ESRCH, 1);
	}
	return sb_load_rlx(&script->steps) < 240 ? SB_CONTINUE : SB_DONE;
}

/*
 * Several keep sending to two that end at their first message: what a refused
 * sender gives back is its own, and no more.
 */
static void senders_outlive_their_receivers(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < SB_SCALE(300u); round++) {
		struct fixture f;
		struct script receiver = { .f = &f, .step = end_at_an_event };
		struct script sender[2] = { { .f = &f, .step = send_to_one_that_ends },
					    { .f = &f, .step = send_to_one_that_ends } };

		fixture_start(&f, 3 + round % 2);
		for (int i = 0; i < 2; i++)
			sender[i].other = fixture_submit(&f, &scripted, &receiver);
		for (int i = 0; i < 4; i++)
			fixture_submit(&f, &scripted, &sender[i % 2]);
		fixture_end(&f);
	}
}

/* Two threads, round by round: one posts a chain, the other posts and ends. */
enum { CHAINS = 20000 };

struct poster {
	struct sb_event_node own[2], other;
	_Atomic(uint32_t) ready;
	struct sb_process process;
};

static void meet(struct poster *poster)
{
	sb_add_acq_rel(&poster->ready, 1);
	while (sb_load_acq(&poster->ready) < 2)
		sb_thread_yield();
}

static void *post_and_end(void *arg)
{
	struct poster *posters = arg;

	for (uint32_t i = 0; i < SB_SCALE(CHAINS); i++) {
		struct poster *poster = &posters[i];

		meet(poster);
		(void)sb_word_post(&poster->process, &poster->other);
		(void)sb_word_complete(&poster->process);
	}
	return NULL;
}

/* The nodes that a refused post gives back end with its oldest. */
static void a_refused_chain_is_given_back_as_it_was(void **state)
{
	struct poster *posters = sb_mem_zalloc(SB_HEAP, CHAINS * sizeof(*posters), SB_LINE);
	struct sb_thread thread;
	uint32_t refused = 0;

	(void)state;
	assert_non_null(posters);
	for (uint32_t i = 0; i < CHAINS; i++)
		sb_store_rlx(&posters[i].process.word, (uint64_t)SB_STATE_RUNNING);
	CHECK_EQ(sb_thread_start(&thread, -1, post_and_end, posters), 0);
	for (uint32_t i = 0; i < SB_SCALE(CHAINS); i++) {
		struct poster *poster = &posters[i];

		poster->own[1].next = &poster->own[0];
		meet(poster);
		if (sb_word_post_chain(&poster->process, &poster->own[1], &poster->own[0]) !=
		    SB_POST_GONE)
			continue;
		refused++;
		CHECK_EQ(poster->own[1].next == &poster->own[0], 1);
		CHECK_EQ(poster->own[0].next == NULL, 1);
	}
	sb_thread_join(&thread);
	CHECK_EQ(refused > 0, 1);
	sb_mem_free(posters);
}

/* ---- ticks ---- */

#define LONG_NS UINT64_C(20000000)

static void spin_for(uint64_t ns)
{
	const uint64_t end = sb_clock_ns() + ns;

	while (sb_clock_ns() < end)
		sb_cpu_pause();
}

/* Continues with long steps until somebody raises its flag. */
static int trudge(struct script *script, struct sb_step *step, const struct sb_event *events,
		  uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	spin_for(LONG_NS);
	return flag_set(script) || sb_load_rlx(&script->steps) > 60 ? SB_DONE : SB_CONTINUE;
}

static int nap_beside(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct script *other = (void *)(uintptr_t)script->other;

	(void)events;
	if (!count) {
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(1000000), 1), 0);
		return SB_YIELD;
	}
	script->seen = sb_load_rlx(&other->steps);
	sb_store_rel(&other->flag, 1);
	return SB_DONE;
}

/* From the first step on: the tick that is due after 61 steps comes after one. On a
 * busy machine the watcher is late, for some of them. */
static void a_timer_waits_for_the_running_step(void **state)
{
	struct fixture f;
	struct script hog = { .f = &f, .step = trudge };
	struct script sleeper = { .f = &f, .step = nap_beside, .other = (uintptr_t)&hog };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &sleeper);
	fixture_submit(&f, &scripted, &hog);
	fixture_wait(&f);
	assert_uint_in_range(sleeper.seen, 0, 30);
	fixture_end(&f);
}

enum { SUBMISSIONS = 2000 };

static int go_on_until_all_have_come(struct script *script, struct sb_step *step,
				     const struct sb_event *events, uint32_t count)
{
	struct script *others = (void *)(uintptr_t)script->other;

	(void)step;
	(void)events;
	(void)count;
	if (sb_load_acq(&others->steps))
		script->seen++; /* since the first of them */
	return sb_load_acq(&others->steps) == SUBMISSIONS ? SB_DONE : SB_CONTINUE;
}

static void a_submission_waits_for_few_steps(void **state)
{
	struct fixture f;
	struct script others = { .f = &f, .step = done_at_once };
	struct script hog = { .f = &f,
			      .step = go_on_until_all_have_come,
			      .other = (uintptr_t)&others };

	(void)state;
	fixture_start(&f, 1);
	for (int i = 0; i < SUBMISSIONS; i++)
		fixture_submit(&f, &scripted, &others);
	fixture_submit(&f, &scripted, &hog);
	fixture_wait(&f);
	assert_uint_in_range(hog.seen, 0, 10 * SUBMISSIONS);
	fixture_end(&f);
}

/* Two that message each other, on one worker, and a crowd. */
static int bounce(struct script *script, struct sb_step *step, const struct sb_event *events,
		  uint32_t count)
{
	struct script *others = (void *)(uintptr_t)script->seen;

	(void)events;
	if (sb_load_acq(&others->steps) == SUBMISSIONS) {
		const int rc = sb_step_send(step, script->other, sb_value_u64(0));

		CHECK_EQ(rc == 0 || rc == -ESRCH, 1);
		return SB_DONE;
	}
	if (count)
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(0)), 0);
	return SB_IDLE;
}

static void a_pair_keeps_nobody_from_running(void **state)
{
	struct fixture f;
	struct script others = { .f = &f, .step = done_at_once };
	struct script pair[2] = { { .f = &f, .step = bounce, .seen = (uintptr_t)&others },
				  { .f = &f, .step = bounce, .seen = (uintptr_t)&others } };

	(void)state;
	fixture_start(&f, 1);
	pair[1].other = fixture_submit(&f, &scripted, &pair[0]);
	pair[0].other = fixture_submit(&f, &scripted, &pair[1]);
	CHECK_EQ(sb_scheduler_send(f.s, pair[0].other, sb_value_u64(0)), 0);
	await_steps(&pair[0], 100);
	for (int i = 0; i < SUBMISSIONS; i++)
		fixture_submit(&f, &scripted, &others);
	fixture_wait(&f);
	fixture_end(&f);
}

/* ---- what nobody has been told of ---- */

/* X sends to N and continues; N's step goes on until X has run again. */
static int send_and_continue(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	if (sb_load_rlx(&script->steps) > 1) {
		sb_store_rel(&script->flag, 1);
		return SB_DONE;
	}
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(0)), 0);
	return SB_CONTINUE;
}

static int go_on_until_x_has_run(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	if (!count)
		return SB_IDLE;
	await_flag((void *)(uintptr_t)script->other);
	return SB_DONE;
}

static void a_ready_process_is_told_of(void **state)
{
	struct fixture f;

	(void)state;
	fixture_defaults(&f);
	f.config.tick = 1;
	f.config.hold_ns = UINT64_MAX;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (uint32_t round = 0; round < SB_SCALE(2000u); round++) {
		struct script x = { .f = &f, .step = send_and_continue };
		struct script n = { .f = &f,
				    .step = go_on_until_x_has_run,
				    .other = (uintptr_t)&x };

		x.other = fixture_submit(&f, &scripted, &n);
		fixture_submit(&f, &scripted, &x);
		fixture_wait(&f);
	}
	fixture_end(&f);
}

/* ---- schedulers do not wait for each other ---- */

static int never_end(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)script;
	(void)step;
	(void)events;
	(void)count;
	return SB_IDLE;
}

static void a_stop_does_not_wait_for_another_scheduler(void **state)
{
	struct fixture a;
	struct fixture b;
	struct script hog = { .f = &a, .step = hold_until_told };
	struct script lost = { .f = &b, .step = never_end };

	(void)state;
	fixture_start(&a, 1);
	fixture_submit(&a, &scripted, &hog);
	await_flag(&hog);
	/* An orderly stop, one by force, and a destruction. */
	for (int round = 0; round < 3; round++) {
		fixture_start(&b, 1);
		if (round)
			fixture_submit(&b, &scripted, &lost);
		if (round == 1)
			await_steps(&lost, 1);
		CHECK_EQ(sb_scheduler_stop(b.s, round ? 0 : FIXTURE_TIMEOUT_NS),
			 round ? -ETIMEDOUT : 0);
		sb_scheduler_destroy(b.s);
	}
	sb_store_rel(&hog.flag, 2);
	fixture_end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_that_goes_on_has_sent),
		cmocka_unit_test(senders_outlive_their_receivers),
		cmocka_unit_test(a_refused_chain_is_given_back_as_it_was),
		cmocka_unit_test(a_timer_waits_for_the_running_step),
		cmocka_unit_test(a_submission_waits_for_few_steps),
		cmocka_unit_test(a_pair_keeps_nobody_from_running),
		cmocka_unit_test(a_ready_process_is_told_of),
		cmocka_unit_test(a_stop_does_not_wait_for_another_scheduler),
	};

	return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
