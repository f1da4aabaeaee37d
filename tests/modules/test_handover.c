/*
 * What runs next without a queue: processes that a step's last message wakes, and
 * those that are to run again at once.
 *
 * Property: such a process runs next, on the same worker, and nobody is woken for
 *   it; it misses nothing that comes to it in between; between two processes the
 *   order of all that is sent is the order in which it was; a step that goes on
 *   for long can show what it has sent, and where steps are long, all of them do;
 *   what was sent to a process that ends meanwhile is dropped aloud.
 * Method: exact logs and counters with one worker; with two, steps that last until
 *   the other worker has done something, which would hang if it could not.
 * Bound: one to two workers, conversations of 1000 messages.
 */
#include "core/commands.h"
#include "core/state.h"
#include "tests/script.h"

#define NEVER_LONG UINT64_MAX

/* ---- conversations ---- */

struct talk {
	struct script side[2];
	uint64_t messages;
};

/* Answers until the other side has got so many; flag: it begins. */
static int talk_on(struct script *script, struct sb_step *step, const struct sb_event *events,
		   uint32_t count)
{
	const uint64_t n = count ? events[0].data.u64 : 0;

	if (!count && !flag_set(script))
		return SB_IDLE;
	CHECK_EQ(count, n ? 1 : 0);
	script->seen = n;
	if (n < 1000)
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(n + 1)), 0);
	return n < 999 ? SB_IDLE : SB_DONE;
}

static void start_talk(struct fixture *f, struct talk *talk)
{
	*talk = (struct talk){ .side = { { .f = f, .step = talk_on },
					 { .f = f, .step = talk_on } } };
	CHECK_EQ(sb_scheduler_submit_as(f->s, SB_PID_CHOSEN + 1, &scripted, "main",
					sb_value_ptr(&talk->side[1])),
		 0);
	talk->side[0].other = SB_PID_CHOSEN + 1;
	talk->side[1].other = SB_PID_CHOSEN;
	sb_store_rlx(&talk->side[0].flag, 1);
	CHECK_EQ(sb_scheduler_submit_as(f->s, SB_PID_CHOSEN, &scripted, "main",
					sb_value_ptr(&talk->side[0])),
		 0);
}

/* Returns how many steps were taken from no queue. */
static uint64_t talk_it_over(bool handover, uint64_t tick_ns, uint64_t hold_ns)
{
	struct fixture f;
	struct talk talk;
	uint64_t direct;

	fixture_defaults(&f);
	f.config.handover = handover;
	f.config.tick_ns = tick_ns;
	f.config.hold_ns = hold_ns;
	fixture_create(&f, 1);
	start_talk(&f, &talk);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	fixture_wait(&f);
	CHECK_EQ(talk.side[0].seen + talk.side[1].seen, 999 + 1000);
	direct = fixture_counter(&f, SB_COUNTER_direct_steps);
	CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
	fixture_check_conservation(&f);
	sb_scheduler_destroy(f.s);
	return direct;
}

/* But for one in each tick of 61 steps, and the first. */
static void a_conversation_needs_no_queue(void **state)
{
	(void)state;
	assert_uint_in_range(talk_it_over(true, 0, NEVER_LONG), 1000 - 1000 / 61 - 4, 1000);
	CHECK_EQ(talk_it_over(false, 0, NEVER_LONG), 0);
	CHECK_EQ(talk_it_over(true, 0, 0), 0);
}

static void nobody_is_woken_for_it(void **state)
{
	struct fixture f;
	struct talk talk;

	(void)state;
	fixture_defaults(&f);
	f.config.tick_ns = 0;
	f.config.tick = 1000000;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	start_talk(&f, &talk);
	fixture_wait(&f);
	/* Some for the two submissions, and for what those who woke find. */
	assert_true(fixture_counter(&f, SB_COUNTER_wakes) < 20);
	fixture_end(&f);
}

/* Every step is long, and soon a tick comes with each. */
static void where_steps_are_long_there_are_queues(void **state)
{
	(void)state;
	assert_true(talk_it_over(true, 1, 1) < 100);
	assert_true(talk_it_over(true, 0, 1) < 100);
}

/* ---- order ---- */

struct ordered {
	struct script sender;
	struct script receiver;
	uint32_t got;
	uint32_t type[8];
	uint64_t data[8];
};

static int write_down(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct ordered *o = sb_container_of(script, struct ordered, receiver);

	(void)step;
	for (uint32_t i = 0; i < count; i++, o->got++) {
		CHECK_EQ(o->got < SB_ARRAY_SIZE(o->type), 1);
		o->type[o->got] = events[i].type;
		o->data[o->got] = events[i].data.u64;
	}
	return o->got == 6 ? SB_DONE : SB_IDLE;
}

/* Messages, a cancel between them, one through a command, and to another. */
static int send_all_kinds(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct ordered *o = sb_container_of(script, struct ordered, sender);
	static struct sb_send_args send;

	(void)events;
	if (count)
		return SB_DONE;
	send = (struct sb_send_args){ script->other, sb_value_u64(5) };
	for (uint64_t i = 1; i <= 2; i++)
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(i)), 0);
	CHECK_EQ(sb_scheduler_cancel(script->f->s, script->other), 0);
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(3)), 0);
	CHECK_EQ(sb_step_send(step, sb_step_self(step), sb_value_u64(0)), 0);
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(4)), 0);
	CHECK_EQ(sb_load_rlx(&o->receiver.steps), 1);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SEND, sb_value_ptr(&send), 1), 0);
	return SB_YIELD;
}

static void one_order_for_all_that_is_sent(void **state)
{
	static const uint32_t type[6] = { SB_EVENT_MESSAGE, SB_EVENT_MESSAGE, SB_EVENT_CANCEL,
					  SB_EVENT_MESSAGE, SB_EVENT_MESSAGE, SB_EVENT_MESSAGE };
	static const uint64_t data[6] = { 1, 2, 0, 3, 4, 5 };
	struct fixture f;
	struct ordered o = {
		.sender = { .f = &f, .step = send_all_kinds },
		.receiver = { .f = &f, .step = write_down },
	};

	(void)state;
	fixture_start(&f, 1);
	o.sender.other = fixture_submit(&f, &scripted, &o.receiver);
	await_steps(&o.receiver, 1);
	fixture_submit(&f, &scripted, &o.sender);
	fixture_wait(&f);
	CHECK_EQ(o.got, 6);
	for (int i = 0; i < 6; i++) {
		CHECK_EQ(o.type[i], type[i]);
		CHECK_EQ(o.data[i], data[i]);
	}
	fixture_end(&f);
}

/* ---- long steps ---- */

/* The receiver ends in the middle of this step, on the other worker. */
static int send_and_wait(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct script *receiver = (void *)(uintptr_t)script->seen;

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(7)), 0);
	sb_step_flush(step);
	await_steps(receiver, 2);
	return SB_DONE;
}

/* The sender's step lasts until the receiver has got its message. */
static void check_long_step(int (*step)(struct script *script, struct sb_step *step,
					const struct sb_event *events, uint32_t count),
			    uint64_t hold_ns)
{
	struct fixture f;
	struct script receiver = { .f = &f, .step = wait_for_message };
	struct script sender = { .f = &f, .step = step };

	fixture_defaults(&f);
	f.config.hold_ns = hold_ns;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender.other = fixture_submit(&f, &scripted, &receiver);
	sender.seen = (uintptr_t)&receiver;
	await_flag(&receiver);
	fixture_submit(&f, &scripted, &sender);
	fixture_wait(&f);
	CHECK_EQ(receiver.seen, 7);
	fixture_end(&f);
}

static void a_long_step_shows_what_it_has_sent(void **state)
{
	(void)state;
	check_long_step(send_and_wait, NEVER_LONG);
}

/* Once the worker it is on, which may have stolen it, has seen that they are. */
static int send_where_steps_are_long(struct script *script, struct sb_step *step,
				     const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	if (step->worker->handover.holds)
		return SB_CONTINUE;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(7)), 0);
	await_steps((void *)(uintptr_t)script->seen, 2);
	return SB_DONE;
}

static void where_steps_are_long_nothing_is_held(void **state)
{
	(void)state;
	check_long_step(send_where_steps_are_long, 1);
}

/* Sends 1 to a process, and spawns another that sends 2 to it. */
struct causal {
	struct script parent;
	struct script child;
	struct script receiver;
};

static int keep_first(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)step;
	if (count && !script->seen)
		script->seen = events[0].data.u64;
	script->other += count;
	if (count)
		sb_store_rel(&script->flag, 1);
	return script->other == 2 ? SB_DONE : SB_IDLE;
}

static int send_two(struct script *script, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(2)), 0);
	return SB_DONE;
}

static int send_one_and_spawn(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	struct causal *c = sb_container_of(script, struct causal, parent);

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), 0);
	CHECK_EQ(sb_step_spawn(step, &scripted, "main", sb_value_ptr(&c->child), NULL), 0);
	await_flag(&c->receiver);
	return SB_DONE;
}

static void what_is_sent_before_a_spawn_comes_before_it(void **state)
{
	struct fixture f;
	struct causal c = { .parent = { .f = &f, .step = send_one_and_spawn },
			    .child = { .f = &f, .step = send_two },
			    .receiver = { .f = &f, .step = keep_first } };

	(void)state;
	fixture_start(&f, 2);
	c.parent.other = fixture_submit(&f, &scripted, &c.receiver);
	c.child.other = c.parent.other;
	await_steps(&c.receiver, 1);
	fixture_submit(&f, &scripted, &c.parent);
	fixture_wait(&f);
	CHECK_EQ(c.receiver.seen, 1);
	fixture_end(&f);
}

/* Sends, and holds what it has sent until the receiver has ended. */
static int send_too_late(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)events;
	(void)count;
	for (uint64_t i = 0; i < 3; i++)
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(i)), 0);
	sb_store_rel(&script->flag, 1);
	while (sb_load_acq(&script->f->completed) < 1)
		sb_thread_yield();
	return SB_DONE;
}

static void what_comes_too_late_is_dropped_aloud(void **state)
{
	struct fixture f;
	struct script receiver = { .f = &f, .step = wait_for_message };
	struct script sender = { .f = &f, .step = send_too_late };

	(void)state;
	fixture_defaults(&f);
	f.config.hold_ns = UINT64_MAX; /* only the wait for memory makes the watcher take them */
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sender.other = fixture_submit(&f, &scripted, &receiver);
	await_flag(&receiver);
	fixture_submit(&f, &scripted, &sender);
	await_flag(&sender);
	CHECK_EQ(sb_scheduler_send(f.s, sender.other, sb_value_u64(9)), 0);
	fixture_wait(&f);
	CHECK_EQ(receiver.seen, 9);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_dead_letters), 3);
	fixture_end(&f); /* until then the watcher may be dropping them */
	CHECK_EQ(sb_load_rlx(&f.dropped), 3);
}

/* ---- those that are kept ---- */

#define AT_ONCE 7

static int complete_at_once(void *context, const struct sb_command *command,
			    const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, command->arg, 0);
}

/* Yields for ever, until a message comes. */
static int yield_until_told(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	sb_store_rel(&script->flag, 1);
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_MESSAGE)
			return SB_DONE;
	}
	CHECK_EQ(sb_step_yield(step, AT_ONCE, sb_value_u64(1), 1), 0);
	return SB_YIELD;
}

static void whoever_is_kept_misses_nothing(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_until_told };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	f.config.tick = 1u << 30; /* no tick helps */
	f.config.tick_ns = 0;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_register(f.s, AT_ONCE, complete_at_once, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid = fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	fixture_wait(&f);
	assert_true(fixture_counter(&f, SB_COUNTER_direct_steps) > 0);
	fixture_end(&f);
}

/* A stop that does not wait finds it, wherever it is. */
static void whoever_is_kept_can_be_ended_by_force(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = endless };

	(void)state;
	for (int i = 0; i < 20; i++) {
		sb_store_rlx(&script.flag, 0);
		fixture_start(&f, 1);
		fixture_submit(&f, &scripted, &script);
		await_steps(&script, 100);
		CHECK_EQ(sb_scheduler_stop(f.s, 0), -ETIMEDOUT);
		CHECK_EQ(sb_load_rlx(&f.completed), 1);
		sb_scheduler_destroy(f.s);
		sb_store_rlx(&script.steps, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_conversation_needs_no_queue),
		cmocka_unit_test(nobody_is_woken_for_it),
		cmocka_unit_test(where_steps_are_long_there_are_queues),
		cmocka_unit_test(one_order_for_all_that_is_sent),
		cmocka_unit_test(a_long_step_shows_what_it_has_sent),
		cmocka_unit_test(where_steps_are_long_nothing_is_held),
		cmocka_unit_test(what_is_sent_before_a_spawn_comes_before_it),
		cmocka_unit_test(what_comes_too_late_is_dropped_aloud),
		cmocka_unit_test(whoever_is_kept_misses_nothing),
		cmocka_unit_test(whoever_is_kept_can_be_ended_by_force),
	};

	return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
