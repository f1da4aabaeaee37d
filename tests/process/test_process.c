/*
 * What a process may rely on: its ways out, refusals, yields, messages.
 *
 * Property: as core/process.h and core/scheduler.h say.
 * Method: small processes that each test one rule, on one or two workers.
 */
#include "core/commands.h"
#include "tests/script.h"

/* ---- the ways out ---- */

static void done_gives_its_result(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_result), 42);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	CHECK_EQ(script.steps, 1);
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
	fixture_end(&f);
}

static int fail_with_eio(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)script;
	(void)events;
	(void)count;
	/* Not dispatched: the process is over. */
	CHECK_EQ(sb_step_yield(step, 9999, sb_value_u64(0), 1), 0);
	return -EIO;
}

static void an_error_completes(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = fail_with_eio };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), -EIO);
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_yields), 0);
	fixture_end(&f);
}

/* With nothing, or nothing but a timer, under way: the next event comes, of
 * whatever kind. */
static int yield_and_wait(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	switch (sb_load_rlx(&script->steps)) {
	case 1:
		sb_store_rel(&script->flag, 1);
		return SB_YIELD;
	case 2:
		CHECK_EQ(count, 1);
		CHECK_EQ(events[0].type, SB_EVENT_MESSAGE);
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(1000000), 5), 0);
		return SB_YIELD;
	case 3:
		CHECK_EQ(events[0].type, SB_EVENT_COMPLETION);
		return count == 1 ? SB_YIELD : SB_DONE; /* it has fired */
	default:
		CHECK_EQ(count, 1);
		CHECK_EQ(events[0].type, SB_EVENT_TIMER);
		CHECK_EQ(events[0].tag, 5);
		return SB_DONE;
	}
}

static void a_yield_of_nothing_waits_for_any_event(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_and_wait };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	pid = fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	assert_uint_in_range(sb_load_rlx(&script.steps), 3, 4);
	fixture_end(&f);
}

/* ---- refusals, with everything rolled back ---- */

static void refusals_leave_nothing(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	sb_pid pid = 77;

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = 1;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), -EALREADY);
	CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "other", sb_value_ptr(&script), &pid),
		 -ENOTSUP);
	CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "positive", sb_value_ptr(&script), &pid),
		 -EINVAL);
	/* Once for each init, the failed ones included. */
	CHECK_EQ(sb_load_rlx(&f.closed), 2);
	sb_store_rlx(&f.refuse, -EPERM);
	CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "main", sb_value_ptr(&script), &pid), -EPERM);
	CHECK_EQ(sb_load_rlx(&f.closed), 3);
	CHECK_EQ(sb_load_rlx(&f.completed), 0);
	CHECK_EQ(pid, 77);
	sb_store_rlx(&f.refuse, 0);
	fixture_wait(&f); /* none of them counts as alive */
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	fixture_end(&f);
}

static void processes_max_holds(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = wait_for_message };
	struct script second = { .f = &f, .step = done_with_42 };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = 1;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid = fixture_submit(&f, &scripted, &script);
	CHECK_EQ(sb_scheduler_submit(f.s, &scripted, "main", sb_value_ptr(&second), NULL), -EAGAIN);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(5)), 0);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 5);
	fixture_submit(&f, &scripted, &second);
	fixture_wait(&f);
	fixture_end(&f);
}

enum { ALL_PLACES = 40 };

/* Spawns some that live, until there is no place; seen is how many. */
static int spawn_all(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	static struct script child;
	int rc = 0;

	(void)events;
	(void)count;
	child = (struct script){ .f = script->f, .step = wait_for_message };
	for (script->seen = 0; !rc && script->seen < ALL_PLACES; script->seen += !rc)
		rc = sb_step_spawn(step, &scripted, "main", sb_value_ptr(&child), NULL);
	CHECK_EQ(rc, -EAGAIN);
	sb_store_rel(&script->flag, 1);
	return SB_DONE;
}

/* What foreign threads have reserved ahead is a place for whom a worker spawns. */
static void a_place_is_for_all(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = spawn_all };

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = ALL_PLACES;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(script.seen, ALL_PLACES - 1);
	fixture_end(&f);
}

/* ---- yields ---- */

#define ECHO	  3
#define ECHO_FAR  70000
#define FAILS	  4
#define NOT_THERE 6

static int echo(void *context, const struct sb_command *command,
		const struct sb_completer *completer)
{
	CHECK_EQ((uintptr_t)context, command->id);
	return sb_complete(completer, command->arg, 0);
}

static int fails(void *context, const struct sb_command *command,
		 const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	(void)completer;
	return -EBUSY;
}

static void register_all(struct fixture *f)
{
	CHECK_EQ(sb_scheduler_register(f->s, ECHO, echo, (void *)ECHO), 0);
	CHECK_EQ(sb_scheduler_register(f->s, ECHO_FAR, echo, (void *)ECHO_FAR), 0);
	CHECK_EQ(sb_scheduler_register(f->s, FAILS, fails, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f->s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f->s, 7, NULL, NULL), -EINVAL);
	CHECK_EQ(sb_scheduler_register(f->s, ECHO, fails, NULL), -EEXIST);
	CHECK_EQ(sb_scheduler_register(f->s, ECHO_FAR, fails, NULL), -EEXIST);
}

/* More than the inline array, and more than the first overflow. */
#define MANY 50

static int yield_many(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		CHECK_EQ(events[i].type, SB_EVENT_COMPLETION);
		CHECK_EQ(events[i].error, 0);
		CHECK_EQ(events[i].tag, script->seen);
		CHECK_EQ(events[i].data.u64, 1000 + script->seen);
		script->seen++;
	}
	if (script->steps > 1)
		return script->seen == MANY ? SB_DONE : SB_YIELD;
	for (uint64_t i = 0; i < MANY; i++)
		CHECK_EQ(sb_step_yield(step, i % 2 ? ECHO : ECHO_FAR, sb_value_u64(1000 + i), i),
			 0);
	return SB_YIELD;
}

static void no_yield_is_lost(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_many };

	(void)state;
	fixture_defaults(&f);
	f.config.event_budget = 7;
	fixture_create(&f, 1);
	register_all(&f);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f.s, 8, echo, NULL), -EROFS);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, MANY);
	CHECK_EQ(sb_load_rlx(&f.last_error), 0);
	/* The budget of 7 events a step: 1 step, then ceil(50 / 7). */
	CHECK_EQ(script.steps, 1 + (MANY + 6) / 7);
	fixture_end(&f);
}

static int yield_into_errors(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	if (!count) {
		CHECK_EQ(sb_step_yield(step, NOT_THERE, sb_value_u64(0), 1), 0);
		CHECK_EQ(sb_step_yield(step, NOT_THERE + 70000, sb_value_u64(0), 2), 0);
		CHECK_EQ(sb_step_yield(step, FAILS, sb_value_u64(0), 3), 0);
		return SB_YIELD;
	}
	CHECK_EQ(count, 3);
	CHECK_EQ(events[0].error, -ENOSYS);
	CHECK_EQ(events[1].error, -ENOSYS);
	CHECK_EQ(events[2].error, -EBUSY);
	CHECK_EQ(events[2].tag, 3);
	script->seen = count;
	return SB_DONE;
}

static void failing_commands_complete(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_into_errors };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	register_all(&f);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 3);
	fixture_end(&f);
}

static int yield_beside_continue(struct script *script, struct sb_step *step,
				 const struct sb_event *events, uint32_t count)
{
	if (!count) {
		CHECK_EQ(script->steps, 1);
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), 1), 0);
		return SB_CONTINUE;
	}
	script->seen = events[0].data.u64;
	return SB_DONE;
}

/* The process is Blocked, not run again, until a foreign thread completes. */
static void a_foreign_thread_completes(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_beside_continue };

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	register_all(&f);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_wait_idle(f.s, 1000000), -ETIMEDOUT);
	CHECK_EQ(script.steps, 1);
	CHECK_EQ(sb_complete(&script.later, sb_value_u64(9), 0), 0);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 9);
	/* A completion for a process that is gone. */
	CHECK_EQ(sb_complete(&script.later, sb_value_u64(9), 0), -ESRCH);
	fixture_end(&f);
}

/* ---- messages ---- */

#define ORDERED SB_SCALE(20000)

static int count_messages(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			continue; /* it may overtake messages */
		CHECK_EQ(events[i].data.u64, script->seen);
		script->seen++;
	}
	return script->seen == ORDERED ? SB_DONE : SB_IDLE;
}

static void messages_keep_their_order(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = count_messages };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = fixture_submit(&f, &scripted, &script);
	for (uint64_t i = 0; i < ORDERED; i++)
		CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(i)), 0);
	fixture_end(&f);
	CHECK_EQ(script.seen, ORDERED);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
}

static int message_to_self(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	script->seen += count;
	if (count)
		CHECK_EQ(events[0].data.u64, script->seen);
	if (script->seen == 3)
		return SB_DONE;
	CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(script->seen + 1)), 0);
	return SB_IDLE;
}

static void a_message_to_self_arrives(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = message_to_self };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 3);
	fixture_end(&f);
}

static int send_to_the_dead(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), -ESRCH);
	CHECK_EQ(sb_step_send(step, UINT64_MAX, sb_value_u64(1)), -ESRCH);
	script->seen = 1;
	return SB_DONE;
}

static void the_dead_get_nothing(void **state)
{
	struct fixture f;
	struct script first = { .f = &f, .step = done_with_42 };
	struct script second = { .f = &f, .step = send_to_the_dead };

	(void)state;
	fixture_start(&f, 1);
	second.other = fixture_submit(&f, &scripted, &first);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_send(f.s, second.other, sb_value_u64(1)), -ESRCH);
	fixture_submit(&f, &scripted, &second);
	fixture_wait(&f);
	CHECK_EQ(second.seen, 1);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_dead_letters), 2);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
	fixture_end(&f);
}

static int send_self_and_end(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	(void)count;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sb_step_send(step, step->self, sb_value_u64(1)), 0);
	return SB_DONE;
}

static void undelivered_messages_are_dropped_aloud(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = send_self_and_end };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), 3);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(done_gives_its_result),
		cmocka_unit_test(an_error_completes),
		cmocka_unit_test(a_yield_of_nothing_waits_for_any_event),
		cmocka_unit_test(refusals_leave_nothing),
		cmocka_unit_test(processes_max_holds),
		cmocka_unit_test(a_place_is_for_all),
		cmocka_unit_test(no_yield_is_lost),
		cmocka_unit_test(failing_commands_complete),
		cmocka_unit_test(a_foreign_thread_completes),
		cmocka_unit_test(messages_keep_their_order),
		cmocka_unit_test(a_message_to_self_arrives),
		cmocka_unit_test(the_dead_get_nothing),
		cmocka_unit_test(undelivered_messages_are_dropped_aloud),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
