/*
 * Events by kind: no kind of event keeps a process from those of another.
 *
 * Property: of the events that wait, cancel and exit events come first, and messages share
 *   a step with completions and timers; within a kind order is kept, and nothing is lost.
 *   A ticker that is faster than its process has one tick queued, which counts all periods.
 * Method: more messages than a step takes are sent before the start; steps with a budget of
 *   one event and of four; a ticker of the shortest period beside long steps.
 * Bound: 1000 messages.
 */
#include "core/commands.h"
#include "tests/script.h"

enum { MESSAGES = 1000, BUDGET = 4 };

struct seen {
	struct script script; /* first, so that a step finds it */
	uint64_t messages;
	uint64_t completions;
	uint64_t cancel_step; /* in which step it came, from 1 on; 0: not yet */
	uint64_t exit_step;
	uint64_t ticks;
	uint64_t periods;
	sb_pid watched;
};

static void see(struct seen *seen, const struct sb_event *event)
{
	const uint64_t step = sb_load_rlx(&seen->script.steps);

	switch (event->type) {
	case SB_EVENT_MESSAGE:
		CHECK_EQ(event->data.u64, seen->messages);
		seen->messages++;
		break;
	case SB_EVENT_COMPLETION:
		CHECK_EQ(event->tag, seen->completions);
		seen->completions++;
		break;
	case SB_EVENT_TIMER:
		seen->ticks++;
		seen->periods += event->data.u64;
		break;
	case SB_EVENT_CANCEL:
		CHECK_EQ(seen->cancel_step, 0);
		seen->cancel_step = step;
		break;
	case SB_EVENT_EXIT:
		CHECK_EQ(event->tag, seen->watched);
		seen->exit_step = step;
		break;
	}
}

static void see_all(struct script *script, const struct sb_event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		see((struct seen *)script, &events[i]);
}

static void start_flooded(struct fixture *f, uint32_t budget, struct seen *seen)
{
	sb_pid pid;

	fixture_defaults(f);
	f->config.event_budget = budget;
	f->config.event_ns = 0;
	fixture_create(f, 1);
	CHECK_EQ(sb_scheduler_register(f->s, KEEPS, keeps, NULL), 0);
	pid = fixture_submit(f, &scripted, &seen->script);
	for (uint64_t i = 0; i < MESSAGES; i++)
		CHECK_EQ(sb_scheduler_send(f->s, pid, sb_value_u64(i)), 0);
	CHECK_EQ(sb_scheduler_cancel(f->s, pid), 0);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

/* ---- urgent events ---- */

static int until_all_messages(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	(void)step;
	see_all(script, events, count);
	return ((struct seen *)script)->messages == MESSAGES ? SB_DONE : SB_IDLE;
}

static void a_cancel_overtakes_messages(void **state)
{
	struct fixture f;
	struct seen seen = { .script = { .f = &f, .step = until_all_messages } };

	(void)state;
	start_flooded(&f, BUDGET, &seen);
	fixture_wait(&f);
	CHECK_EQ(seen.cancel_step, 1);
	CHECK_EQ(seen.messages, MESSAGES);
	CHECK_EQ(sb_load_rlx(&seen.script.steps), (MESSAGES + 1 + BUDGET - 1) / BUDGET);
	fixture_end(&f);
}

/* The watched process ends before the second step of this one. */
static int watch_one(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct seen *seen = (struct seen *)script;

	if (sb_load_rlx(&script->steps) == 1)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_MONITOR, sb_value_u64(seen->watched), 0),
			 0);
	if (sb_load_rlx(&script->steps) == 2)
		CHECK_EQ(sb_scheduler_terminate(script->f->s, seen->watched), 0);
	return until_all_messages(script, step, events, count);
}

static void an_exit_overtakes_messages(void **state)
{
	struct fixture f;
	struct script idle = { .f = &f, .step = ignore_everything };
	struct seen seen = { .script = { .f = &f, .step = watch_one } };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = BUDGET;
	fixture_create(&f, 1);
	seen.watched = fixture_submit(&f, &scripted, &idle);
	pid = fixture_submit(&f, &scripted, &seen.script);
	for (uint64_t i = 0; i < MESSAGES; i++)
		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(i)), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	/* Terminated in step 2, the other ends before it is step 4's turn. */
	assert_uint_in_range(seen.exit_step, 3, 4);
	CHECK_EQ(seen.messages, MESSAGES);
	fixture_end(&f);
}

/* ---- messages and completions ---- */

static int yield_at_once(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct seen *seen = (struct seen *)script;

	see_all(script, events, count);
	if (seen->messages == MESSAGES)
		return SB_DONE;
	/* Each is completed before the next step: of one kind more than a step takes. */
	for (uint32_t i = 0; i < 2; i++)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, sb_value_u64(UINT64_MAX),
				       seen->script.seen++),
			 0);
	return SB_YIELD;
}

static void kinds_share_a_step(uint32_t budget)
{
	struct fixture f;
	struct seen seen = { .script = { .f = &f, .step = yield_at_once } };

	start_flooded(&f, budget, &seen);
	fixture_wait(&f);
	CHECK_EQ(seen.messages, MESSAGES);
	/* Half of each step, give or take the cancel event. */
	assert_uint_in_range(seen.completions, MESSAGES - 2 * budget - 2,
			     MESSAGES + 2 * budget + 2);
	fixture_end(&f);
}

static void kinds_share_steps_of_one_event(void **state)
{
	(void)state;
	kinds_share_a_step(1);
}

static void kinds_share_steps_of_two_events(void **state)
{
	(void)state;
	kinds_share_a_step(2);
}

enum { BURST = 3 * BUDGET };

/* The first step yields more than the second receives; the second yields one more. */
static int yield_a_burst(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct seen *seen = (struct seen *)script;
	const uint64_t steps = sb_load_rlx(&script->steps);
	const uint32_t yields = steps == 1 ? BURST : steps == 2 ? 1 : 0;

	see_all(script, events, count);
	for (uint32_t i = 0; i < yields; i++)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_STOP, sb_value_u64(UINT64_MAX),
				       seen->script.seen++),
			 0);
	return seen->completions == BURST + 1 ? SB_DONE : SB_YIELD;
}

static void later_completions_stay_behind(void **state)
{
	struct fixture f;
	struct seen seen = { .script = { .f = &f, .step = yield_a_burst } };

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = BUDGET;
	fixture_create(&f, 1);
	fixture_submit(&f, &scripted, &seen.script);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(seen.completions, BURST + 1);
	fixture_end(&f);
}

/* ---- ticks ---- */

enum { SLOW_STEPS = 50, STEP_NS = 200000, PERIOD_NS = 1024 };

static int tick_slowly(struct script *script, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct seen *seen = (struct seen *)script;

	see_all(script, events, count);
	if (sb_load_rlx(&script->steps) == 1) {
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TICKER, sb_value_u64(PERIOD_NS), 0), 0);
		return SB_YIELD;
	}
	sb_thread_sleep(STEP_NS);
	return seen->messages == SLOW_STEPS ? SB_DONE : SB_IDLE;
}

static void ticks_do_not_pile_up(void **state)
{
	struct fixture f;
	struct seen seen = { .script = { .f = &f, .step = tick_slowly } };
	uint64_t start;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	start = sb_clock_ns();
	pid = fixture_submit(&f, &scripted, &seen.script);
	/* One at a time: each is answered by a step, whatever the ticker does. */
	for (uint64_t i = 0; i < SLOW_STEPS; i++) {
		const uint64_t steps = sb_load_acq(&seen.script.steps);

		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(i)), 0);
		await_steps(&seen.script, steps + 1);
	}
	fixture_wait(&f);
	CHECK_EQ(seen.messages, SLOW_STEPS);
	/* At most one in a step; together they count what has passed. */
	assert_true(seen.ticks <= sb_load_rlx(&seen.script.steps));
	assert_true(seen.periods > seen.ticks);
	assert_true(seen.periods <= (sb_clock_ns() - start) / PERIOD_NS);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cancel_overtakes_messages),
		cmocka_unit_test(an_exit_overtakes_messages),
		cmocka_unit_test(kinds_share_steps_of_one_event),
		cmocka_unit_test(kinds_share_steps_of_two_events),
		cmocka_unit_test(later_completions_stay_behind),
		cmocka_unit_test(ticks_do_not_pile_up),
	};

	return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
