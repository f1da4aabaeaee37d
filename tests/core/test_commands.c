/*
 * The built-in commands on processes, and every error that they document.
 *
 * Property: as core/commands.h says. Monitors, links and timers have more tests
 *   of their own.
 * Method: processes that yield one command after another; targets that are held
 *   in the state in question.
 */
#include "core/commands.h"
#include "tests/sequence.h"

#define KEEPS 5

static void start_with_keeps(struct fixture *f, uint32_t workers)
{
	fixture_create(f, workers);
	CHECK_EQ(sb_scheduler_register(f->s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
}

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

/* ---- terminate ---- */

static int spin_until_told(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&script->flag, 1);
	while (sb_load_acq(&script->flag) == 1)
		sb_thread_yield();
	return SB_CONTINUE;
}

/* Two workers: one is held in a step, the other runs the terminator. */
static void terminate_works_in_every_state(void **state)
{
	struct fixture f;
	struct script running = { .f = &f, .step = spin_until_told };
	struct sequence idle = { .stays = true };
	struct sequence blocked = { .length = 0 };
	struct script keeper = { .f = &f };
	struct sequence killer = { .at_once = true };
	sb_pid pid[3];

	(void)state;
	fixture_defaults(&f);
	start_with_keeps(&f, 2);
	pid[0] = sequence_submit(&f, &idle);
	sequence_add(&blocked, KEEPS, sb_value_ptr(&keeper));
	pid[1] = sequence_submit(&f, &blocked);
	await_flag(&keeper);
	sequence_await(&idle);
	pid[2] = fixture_submit(&f, &scripted, &running);
	await_flag(&running);
	for (int i = 0; i < 3; i++)
		sequence_add_u64(&killer, SB_COMMAND_TERMINATE, pid[i]);
	sequence_execute(&f, &killer);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(killer.failure[i], 0);
	sb_store_rel(&running.flag, 2);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	CHECK_EQ(sb_load_rlx(&idle.script.steps), 1);
	CHECK_EQ(sb_load_rlx(&blocked.script.steps), 1);
	CHECK_EQ(sb_load_rlx(&running.steps), 1);
	CHECK_EQ(sb_load_rlx(&f.closed), 4);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(sequence_one(&f, SB_COMMAND_TERMINATE, pid[i]), -ESRCH);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TERMINATE, UINT64_MAX), -ESRCH);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TERMINATE, 0), -ESRCH);
	fixture_end(&f);
}

static int spawn_and_terminate(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	sb_pid pid;

	if (count) {
		CHECK_EQ(events[0].error, 0);
		return SB_DONE;
	}
	CHECK_EQ(sb_step_spawn(step, &scripted, "main",
			       sb_value_ptr((void *)(uintptr_t)script->other), &pid),
		 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TERMINATE, sb_value_u64(pid), 0), 0);
	return SB_YIELD;
}

/* With one worker, its child is still queued. */
static void terminate_ends_what_has_not_begun(void **state)
{
	struct fixture f;
	struct script child = { .f = &f, .step = done_with_42 };
	struct script parent = { .f = &f, .step = spawn_and_terminate, .other = (uintptr_t)&child };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &parent);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&parent.steps), 2);
	CHECK_EQ(sb_load_rlx(&child.steps), 0);
	CHECK_EQ(sb_load_rlx(&f.closed), 2);
	fixture_end(&f);
}

static int terminate_oneself(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	CHECK_EQ(count, 0);
	/* The second is dispatched, too, and finds a process that still is. */
	for (uint64_t tag = 0; tag < 2; tag++)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_TERMINATE, sb_value_u64(step->self), tag),
			 0);
	return SB_YIELD;
}

static void terminate_ends_oneself(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = terminate_oneself };

	(void)state;
	fixture_start(&f, 2);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), 1);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
	fixture_end(&f);
}

/* ---- cancel ---- */

static uint32_t cancel_events(const struct sequence *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->events; i++)
		n += q->event[i].type == SB_EVENT_CANCEL;
	return n;
}

static void cancel_comes_once(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true, .stubborn = true };
	struct sequence other = { .stays = true };
	struct sequence caller = { .length = 0 };
	sb_pid pid, gone;

	(void)state;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, &target);
	gone = sequence_submit(&f, &other);
	for (int i = 0; i < 3; i++)
		sequence_add_u64(&caller, SB_COMMAND_CANCEL, pid);
	sequence_add_u64(&caller, SB_COMMAND_CANCEL, gone);
	sequence_execute(&f, &caller);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(caller.failure[i], 0);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
	sequence_await_events(&target, 1);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
	/* The order of events is kept, so what came before is there. */
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(SEQUENCE_HELLO)), 0);
	sequence_await_events(&target, 2);
	CHECK_EQ(sb_scheduler_stop(f.s, 1), -ETIMEDOUT);
	CHECK_EQ(cancel_events(&target), 1); /* stop has sent none, either */
	CHECK_EQ(target.events, 2);
	CHECK_EQ(target.event[0].data.u64, 0);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), -ESRCH);
	sb_scheduler_destroy(f.s);
}

static void cancel_of_nobody(void **state)
{
	struct fixture f;
	struct sequence q = { .length = 0 };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = sequence_submit(&f, &q);
	fixture_wait(&f);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_CANCEL, pid), -ESRCH);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_CANCEL, UINT64_MAX), -ESRCH);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_CANCEL, 0), -ESRCH);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), -ESRCH);
	fixture_end(&f);
}

enum { CANCELLERS = 3, CANCELLED = 64 };

struct cancellers {
	struct fixture *f;
	sb_pid pid[CANCELLED];
	_Atomic(uint32_t) go;
};

static void *cancel_them(void *arg)
{
	struct cancellers *c = arg;

	while (!sb_load_acq(&c->go))
		sb_cpu_pause();
	for (int i = 0; i < CANCELLED; i++)
		CHECK_EQ(sb_scheduler_cancel(c->f->s, c->pid[i]), 0);
	return NULL;
}

/* Several at once, and stop after them: one event each. */
static void cancel_comes_once_from_many(void **state)
{
	struct fixture f;
	static struct sequence target[CANCELLED];
	struct cancellers c = { .f = &f };
	struct sb_thread thread[CANCELLERS];

	(void)state;
	for (int round = 0; round < SB_SCALE(40); round++) {
		fixture_start(&f, 2);
		sb_store_rlx(&c.go, 0);
		for (int i = 0; i < CANCELLERS; i++)
			CHECK_EQ(sb_thread_start(&thread[i], -1, cancel_them, &c), 0);
		for (int i = 0; i < CANCELLED; i++) {
			target[i] = (struct sequence){ .stays = true, .stubborn = true };
			c.pid[i] = sequence_submit(&f, &target[i]);
		}
		sb_store_rel(&c.go, 1);
		for (int i = 0; i < CANCELLERS; i++)
			sb_thread_join(&thread[i]);
		for (int i = 0; i < CANCELLED; i++)
			CHECK_EQ(sb_scheduler_send(f.s, c.pid[i], sb_value_u64(0)), 0);
		fixture_wait(&f);
		for (int i = 0; i < CANCELLED; i++)
			CHECK_EQ(cancel_events(&target[i]), 1);
		fixture_end(&f);
	}
}

/* ---- monitors and links: the errors ---- */

/* add, remove: a kind of relation. */
static void check_relation(uint32_t add, uint32_t remove)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence q = { .length = 0 };
	struct sequence self = { .after_cancel = true };
	const uint32_t command[] = { remove, add, add, remove, remove, add, remove, remove };
	const int expected[] = { -ENOENT, 0, -EEXIST, 0, -ENOENT, 0, 0, -ENOENT };
	sb_pid pid;

	fixture_start(&f, 2);
	pid = sequence_submit(&f, &target);
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(command); i++)
		sequence_add_u64(&q, command[i], pid);
	sequence_execute(&f, &q);
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(command); i++)
		CHECK_EQ(q.failure[i], expected[i]);
	CHECK_EQ(q.events, 0);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	fixture_wait(&f);
	CHECK_EQ(sequence_one(&f, add, pid), -ESRCH);
	CHECK_EQ(sequence_one(&f, remove, pid), -ENOENT);
	CHECK_EQ(sequence_one(&f, add, UINT64_MAX), -ESRCH);
	CHECK_EQ(sequence_one(&f, add, 0), -ESRCH);
	CHECK_EQ(sequence_one(&f, remove, 0), -ENOENT);
	/* The first PID of a scheduler is 1; this one learns its own. */
	pid = sequence_submit(&f, &self);
	self.command[0] = (struct sb_command){ add, sb_value_u64(pid) };
	self.command[1] = (struct sb_command){ remove, sb_value_u64(pid) };
	self.length = 2;
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
	fixture_wait(&f);
	CHECK_EQ(self.failure[0], -EINVAL);
	CHECK_EQ(self.failure[1], -ENOENT);
	fixture_end(&f);
}

static void monitor_and_its_errors(void **state)
{
	(void)state;
	check_relation(SB_COMMAND_MONITOR, SB_COMMAND_UNMONITOR);
}

static void link_and_its_errors(void **state)
{
	(void)state;
	check_relation(SB_COMMAND_LINK, SB_COMMAND_UNLINK);
}

/* They do not mix, in one process and with one target. */
static void monitors_and_links_are_apart(void **state)
{
	struct fixture f;
	struct sequence target = { .stays = true };
	struct sequence q = { .length = 0 };
	const uint32_t command[] = { SB_COMMAND_MONITOR,   SB_COMMAND_UNLINK,  SB_COMMAND_LINK,
				     SB_COMMAND_UNMONITOR, SB_COMMAND_MONITOR, SB_COMMAND_UNLINK };
	const int expected[] = { 0, -ENOENT, 0, 0, 0, 0 };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	pid = sequence_submit(&f, &target);
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(command); i++)
		sequence_add_u64(&q, command[i], pid);
	sequence_execute(&f, &q);
	for (uint32_t i = 0; i < SB_ARRAY_SIZE(command); i++)
		CHECK_EQ(q.failure[i], expected[i]);
	fixture_end(&f);
}

/* A link has two equal sides; a monitor has not. */
static void a_link_is_of_both(void **state)
{
	struct fixture f;
	struct sequence a = { .stays = true };
	struct sequence b = { .length = 0 };
	struct sequence c = { .length = 0 };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	/* b and c are told by a message when to go on. */
	b.after_cancel = true;
	b.stays = true;
	pid = sequence_submit(&f, &b);
	sequence_add_u64(&a, SB_COMMAND_LINK, pid);
	sequence_add_u64(&a, SB_COMMAND_MONITOR, pid);
	pid = sequence_submit(&f, &a);
	sequence_await(&a);
	CHECK_EQ(a.failure[0], 0);
	CHECK_EQ(a.failure[1], 0);
	sequence_await(&b);
	sequence_add_u64(&b, SB_COMMAND_LINK, pid);
	sequence_add_u64(&b, SB_COMMAND_UNMONITOR, pid);
	sequence_add_u64(&b, SB_COMMAND_UNLINK, pid);
	sequence_add_u64(&b, SB_COMMAND_UNLINK, pid);
	CHECK_EQ(sb_scheduler_cancel(f.s, a.command[0].arg.u64), 0);
	sequence_await_events(&a, 1); /* b has ended */
	CHECK_EQ(b.failure[0], -EEXIST);
	CHECK_EQ(b.failure[1], -ENOENT);
	CHECK_EQ(b.failure[2], 0);
	CHECK_EQ(b.failure[3], -ENOENT);
	/* A third process has no part in it. */
	sequence_add_u64(&c, SB_COMMAND_UNLINK, pid);
	sequence_execute(&f, &c);
	CHECK_EQ(c.failure[0], -ENOENT);
	fixture_end(&f);
}

/* ---- the clock: the errors ---- */

static void tickers_have_a_shortest_period(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, 2);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TICKER, 0), -EINVAL);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TICKER, 1023), -EINVAL);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TICKER, 1024), 0);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TICKER, UINT64_MAX), 0);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_START, UINT64_MAX), 0);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_SLEEP, 0), 0);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_SLEEP, 1), 0);
	fixture_end(&f);
}

/* Ids that nobody has got: of no worker, of no timer, and so on. */
static void stop_of_no_timer(void **state)
{
	struct fixture f;
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	fixture_start(&f, 2);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP, 0), -ENOENT);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP, 1), -ENOENT);
	CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP, UINT64_MAX), -ENOENT);
	for (uint32_t shift = 0; shift < 64; shift++)
		CHECK_EQ(sequence_one(&f, SB_COMMAND_TIMER_STOP, sb_rng_next(&rng) >> shift),
			 -ENOENT);
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
		cmocka_unit_test(terminate_works_in_every_state),
		cmocka_unit_test(terminate_ends_what_has_not_begun),
		cmocka_unit_test(terminate_ends_oneself),
		cmocka_unit_test(cancel_comes_once),
		cmocka_unit_test(cancel_of_nobody),
		cmocka_unit_test(cancel_comes_once_from_many),
		cmocka_unit_test(monitor_and_its_errors),
		cmocka_unit_test(link_and_its_errors),
		cmocka_unit_test(monitors_and_links_are_apart),
		cmocka_unit_test(a_link_is_of_both),
		cmocka_unit_test(tickers_have_a_shortest_period),
		cmocka_unit_test(stop_of_no_timer),
	};

	return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
