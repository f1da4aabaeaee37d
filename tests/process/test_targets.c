/*
 * The commands on another process: terminate, cancel, monitor, link; and the errors
 * of timers.
 *
 * Property: as core/commands.h says. Monitors, links and timers have more tests of
 *   their own.
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
