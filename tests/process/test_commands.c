/*
 * The built-in commands on processes, and every error that they document: what a
 * command is, send and spawn.
 *
 * Property: as core/commands.h says.
 * Method: processes that yield one command after another.
 */

#include "core/commands.h"
#include "tests/sequence.h"

/* ---- the registry ---- */

static int handles_nothing(void *context, const struct sb_command *command,
			   const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	(void)completer;
	return 0;
}

static void their_ids_are_taken(void **state)
{
	struct fixture f;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 1);
	for (uint32_t id = SB_COMMAND_SEND; id < SB_COMMAND_BUILTIN_END; id++)
		CHECK_EQ(sb_scheduler_register(f.s, id, handles_nothing, NULL), -EEXIST);
	CHECK_EQ(sb_scheduler_register(f.s, SB_COMMAND_SEND - 1, handles_nothing, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f.s, SB_COMMAND_BUILTIN_END, handles_nothing, NULL), 0);
	sb_scheduler_destroy(f.s);
}

/* ---- yields by command ---- */

/* Unknown ones count as well: the end of the array, and ids beyond it. */
static const struct {
	uint32_t command;
	uint64_t times;
	uint32_t index;
} yielded[] = {
	{ SB_COMMAND_SLEEP, 4, SB_COMMAND_SLEEP },
	{ SB_COMMAND_CANCEL, 3, SB_COMMAND_CANCEL },
	{ 0, 2, 0 },
	{ SB_COMMAND_ARRAY - 1, 1, SB_COMMAND_ARRAY - 1 },
	{ SB_COMMAND_ARRAY, 2, SB_COMMAND_ARRAY },
	{ UINT32_MAX, 2, SB_COMMAND_ARRAY },
};

/* Of a process that yields all of these, one after another or in one step. */
static struct sb_worker_reading read_yields(bool record, bool at_once)
{
	static struct sb_steal_counts steals;
	struct sb_worker_reading reading = { .steals = &steals };
	struct sequence q = { .at_once = at_once };
	struct fixture f;

	for (size_t i = 0; i < SB_ARRAY_SIZE(yielded); i++) {
		for (uint64_t n = 0; n < yielded[i].times; n++)
			sequence_add_u64(&q, yielded[i].command, 1);
	}
	fixture_defaults(&f);
	f.config.record = record;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sequence_execute(&f, &q);
	fixture_wait(&f);
	sb_scheduler_read(f.s, 0, &reading);
	fixture_end(&f);
	return reading;
}

static void yields_are_counted_by_command(void **state)
{
	(void)state;
	for (int way = 0; way < 4; way++) {
		struct sb_worker_reading reading = read_yields(way & 1, way & 2);
		uint64_t sum = 0;

		for (size_t i = 0; i < SB_ARRAY_SIZE(yielded); i++) {
			reading.yields[yielded[i].index] -= yielded[i].times;
			sum += yielded[i].times;
		}
		for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++)
			CHECK_EQ(reading.yields[i], 0);
		CHECK_EQ(reading.counter[SB_COUNTER_yields], sum);
	}
}

static void built_in_commands_have_names(void **state)
{
	(void)state;
	assert_string_equal(sb_command_name(SB_COMMAND_SEND), "send");
	assert_string_equal(sb_command_name(SB_COMMAND_TIMER_STOP), "timer_stop");
	for (uint32_t id = 0; id < SB_COMMAND_ARRAY; id++)
		CHECK_EQ(sb_command_name(id) != NULL,
			 id >= SB_COMMAND_SEND && id < SB_COMMAND_BUILTIN_END);
	assert_null(sb_command_name(SB_COMMAND_ARRAY));
}

/* ---- send ---- */

static void send_reaches_others_and_oneself(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence sender = { .length = 0 };
	struct sb_send_args to_target = { .message = { .u64 = SEQUENCE_HELLO } };
	struct sb_send_args to_self = { .message = { .u64 = SEQUENCE_HELLO + 1 } };
	struct sb_send_args to_nobody = { .to = UINT64_MAX };
	struct sb_send_args to_zero = { .to = 0 };
	struct sb_send_args end = { .message = { .u64 = 0 } };

	(void)state;
	fixture_start(&f, 2);
	end.to = to_target.to = sequence_submit(&f, &target);
	sequence_add(&sender, SB_COMMAND_SEND, sb_value_ptr(&to_target));
	sequence_add(&sender, SB_COMMAND_SEND, sb_value_ptr(&to_nobody));
	sequence_add(&sender, SB_COMMAND_SEND, sb_value_ptr(&to_zero));
	sequence_add(&sender, SB_COMMAND_SEND, sb_value_ptr(&end));
	sequence_execute(&f, &sender);
	fixture_wait(&f); /* the target has got the last one */
	CHECK_EQ(sender.failure[0], 0);
	CHECK_EQ(sender.failure[1], -ESRCH);
	CHECK_EQ(sender.failure[2], -ESRCH);
	CHECK_EQ(sender.failure[3], 0);
	CHECK_EQ(target.events, 2);
	CHECK_EQ(target.event[0].type, SB_EVENT_MESSAGE);
	CHECK_EQ(target.event[0].data.u64, SEQUENCE_HELLO);
	/* It is gone. */
	CHECK_EQ(sequence_one(&f, SB_COMMAND_SEND, (uintptr_t)&to_target), -ESRCH);
	/* To oneself: the PID is known once it waits. */
	sender = (struct sequence){ .after_cancel = true };
	sequence_add(&sender, SB_COMMAND_SEND, sb_value_ptr(&to_self));
	to_self.to = sequence_submit(&f, &sender);
	CHECK_EQ(sb_scheduler_cancel(f.s, to_self.to), 0);
	fixture_wait(&f);
	CHECK_EQ(sender.failure[0], 0);
	CHECK_EQ(sender.events, 2);
	CHECK_EQ(sender.event[1].data.u64, SEQUENCE_HELLO + 1);
	fixture_end(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
}

/* Two to oneself in one step: the first is unread when the second comes. */
static void send_meets_the_bound(void **state)
{
	struct fixture f;
	struct sequence q = { .after_cancel = true, .at_once = true };
	struct sb_send_args args = { .message = { .u64 = SEQUENCE_HELLO } };

	(void)state;
	fixture_defaults(&f);
	f.config.mailbox_bound = 1;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	sequence_add(&q, SB_COMMAND_SEND, sb_value_ptr(&args));
	sequence_add(&q, SB_COMMAND_SEND, sb_value_ptr(&args));
	args.to = sequence_submit(&f, &q);
	CHECK_EQ(sb_scheduler_cancel(f.s, args.to), 0);
	fixture_wait(&f);
	CHECK_EQ(q.failure[0], 0);
	CHECK_EQ(q.failure[1], -EWOULDBLOCK);
	CHECK_EQ(q.events, 2); /* the cancel event, and one message */
	fixture_end(&f);
}

struct router {
	struct sb_receiver receiver;
	struct sb_scheduler *s;
	_Atomic(uint64_t) passed;
};

static int route(struct sb_receiver *receiver, const struct sb_package *package)
{
	struct router *r = sb_container_of(receiver, struct router, receiver);

	if (package->to == SEQUENCE_HELLO)
		return -EHOSTUNREACH;
	sb_add_rlx(&r->passed, 1);
	receiver = sb_scheduler_receiver(r->s);
	return receiver->send(receiver, package);
}

static void send_goes_by_the_router(void **state)
{
	struct fixture f;
	struct router router = { .receiver.send = route };
	struct sequence target = { .stays = true };
	struct sb_send_args to_target = { .message = { .u64 = 0 } };
	struct sb_send_args to_far = { .to = SEQUENCE_HELLO };

	(void)state;
	fixture_defaults(&f);
	f.config.router = &router.receiver;
	fixture_create(&f, 2);
	router.s = f.s;
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	to_target.to = sequence_submit(&f, &target);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_SEND, (uintptr_t)&to_far), -EHOSTUNREACH);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_SEND, (uintptr_t)&to_target), 0);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&router.passed), 1);
	fixture_end(&f);
}

/* ---- spawn ---- */

static void spawn_gives_the_pid(void **state)
{
	struct fixture f;
	struct sequence child = { .stays = true };
	struct sequence parent = { .length = 0 };
	const struct sb_spawn_args args = { &scripted, "main", sb_value_ptr(&child.script) };

	(void)state;
	fixture_start(&f, 2);
	child.script.f = &f;
	child.script.step = sequence_step;
	sequence_add(&parent, SB_COMMAND_SPAWN, sb_value_ptr((void *)(uintptr_t)&args));
	sequence_execute(&f, &parent);
	CHECK_EQ(parent.failure[0], 0);
	sequence_await(&child);
	CHECK_EQ(sb_scheduler_send(f.s, parent.result[0], sb_value_u64(SEQUENCE_HELLO)), 0);
	CHECK_EQ(sb_scheduler_send(f.s, parent.result[0], sb_value_u64(0)), 0);
	fixture_wait(&f);
	CHECK_EQ(child.event[0].data.u64, SEQUENCE_HELLO);
	CHECK_EQ(fixture_counter(&f, SB_COUNTER_spawns), 1);
	fixture_end(&f);
}

static void spawn_says_why_not(void **state)
{
	struct fixture f;
	struct sequence child = { .length = 0 };
	struct sequence parent = { .length = 0 };
	struct sb_spawn_args args[3] = {
		{ &scripted, "other", sb_value_ptr(&child.script) },
		{ &scripted, "positive", sb_value_ptr(&child.script) },
		{ &scripted, "main", sb_value_ptr(&child.script) },
	};
	struct sequence late = { .after_cancel = true };

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = 1;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	child.script.f = &f;
	for (int i = 0; i < 3; i++)
		sequence_add(&parent, SB_COMMAND_SPAWN, sb_value_ptr(&args[i]));
	sequence_execute(&f, &parent);
	/* There is room for one process; so an init comes too late to be asked. */
	for (int i = 0; i < 3; i++)
		CHECK_EQ(parent.failure[i], -EAGAIN);
	fixture_end(&f);

	fixture_start(&f, 1);
	parent = (struct sequence){ .length = 0 };
	for (int i = 0; i < 2; i++)
		sequence_add(&parent, SB_COMMAND_SPAWN, sb_value_ptr(&args[i]));
	sequence_execute(&f, &parent);
	CHECK_EQ(parent.failure[0], -ENOTSUP);
	CHECK_EQ(parent.failure[1], -EINVAL);
	CHECK_EQ(sb_load_rlx(&f.closed), 3); /* each of the three */
	sequence_add(&late, SB_COMMAND_SPAWN, sb_value_ptr(&args[2]));
	sequence_submit(&f, &late);
	sequence_await(&late);
	fixture_end(&f); /* sends the cancel event */
	CHECK_EQ(late.failure[0], -ESHUTDOWN);
	CHECK_EQ(sb_load_rlx(&child.script.steps), 0);
}

/* on_start does not want it. */
static void spawn_may_be_refused(void **state)
{
	struct fixture f;
	struct sequence child = { .length = 0 };
	struct sequence parent = { .after_cancel = true };
	struct sb_spawn_args args = { &scripted, "main", sb_value_ptr(&child.script) };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	child.script.f = &f;
	sequence_add(&parent, SB_COMMAND_SPAWN, sb_value_ptr(&args));
	pid = sequence_submit(&f, &parent);
	sb_store_rlx(&f.refuse, -EPERM);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
	fixture_wait(&f);
	CHECK_EQ(parent.failure[0], -EPERM);
	CHECK_EQ(sb_load_rlx(&child.script.steps), 0);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(their_ids_are_taken),
		cmocka_unit_test(yields_are_counted_by_command),
		cmocka_unit_test(built_in_commands_have_names),
		cmocka_unit_test(send_reaches_others_and_oneself),
		cmocka_unit_test(send_meets_the_bound),
		cmocka_unit_test(send_goes_by_the_router),
		cmocka_unit_test(spawn_gives_the_pid),
		cmocka_unit_test(spawn_says_why_not),
		cmocka_unit_test(spawn_may_be_refused),
	};

	return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
