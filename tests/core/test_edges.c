/*
 * Calls from where nobody expects them, and what is left behind.
 *
 * Property: calls that could wait for themselves are refused; a supervisor may
 *   start processes from on_complete at any time, and is told when that is over;
 *   processes that end leave nothing that grows; whoever keeps the time hands
 *   that over.
 * Method: one scene each.
 */
#include "core/commands.h"
#include "core/memory/graves.h"
#include "core/state.h"
#include "core/wake/idle.h"
#include "tests/script.h"

/* ---- the time goes on while its keeper works ---- */

#define SLEEPS 5

static int sleeps_on(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	(void)count;
	if (flag_set(script))
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(1000000), 0), 0);
	return SB_YIELD;
}

/* Holds its worker until the other has slept some more. */
static int holds_until_it_slept(struct script *script, struct sb_step *step,
				const struct sb_event *events, uint32_t count)
{
	struct script *sleeper = (void *)(uintptr_t)script->other;
	const uint64_t steps = sb_load_acq(&sleeper->steps);

	(void)step;
	(void)events;
	if (!count)
		return SB_IDLE;
	await_steps(sleeper, steps + SLEEPS);
	return SB_DONE;
}

static void the_keeper_hands_over(void **state)
{
	(void)state;
	for (uint32_t workers = 2; workers <= 4; workers++) {
		struct fixture f;
		struct script sleeper = { .f = &f, .step = sleeps_on };
		struct script holder = {
			.f = &f,
			.step = holds_until_it_slept,
			.other = (sb_pid)(uintptr_t)&sleeper,
		};

		fixture_start(&f, workers);
		fixture_submit(&f, &scripted, &sleeper);
		for (int i = 0; i < 10; i++) {
			sb_pid pid;

			sb_store_rlx(&holder.steps, 0);
			pid = fixture_submit(&f, &scripted, &holder);
			await_steps(&holder, 1);
			CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
			while (sb_load_acq(&f.closed) < (uint64_t)i + 1)
				sb_thread_yield();
		}
		sb_store_rel(&sleeper.flag, 1);
		fixture_wait(&f);
		fixture_end(&f);
	}
}

/* ---- timers that were not needed ---- */

#define HOUR_NS UINT64_C(3600000000000)

static int sets_a_time_out(struct script *script, struct sb_step *step,
			   const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	if (count)
		return SB_DONE;
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS), 0), 0);
	return SB_YIELD;
}

static void time_outs_do_not_pile_up(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = sets_a_time_out };

	(void)state;
	fixture_start(&f, 1);
	for (uint32_t i = 0; i < SB_SCALE(1000u); i++)
		fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	sb_lock_acquire(&f.s->worker[0]->timers.lock);
	CHECK_EQ(f.s->worker[0]->timers.wheel.pending, 0);
	sb_lock_release(&f.s->worker[0]->timers.lock);
	fixture_end(&f);
}

/* ---- what is left behind ---- */

/* Whoever looks after settle finds no process that is yet to be buried. */
static void nothing_is_left_when_it_has_settled(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };

	(void)state;
	fixture_start(&f, 2);
	for (int round = 0; round < SB_SCALE(80); round++) {
		for (int i = 0; i < 20; i++)
			fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_settle(f.s), 0);
		for (uint32_t w = 0; w < 2; w++)
			CHECK_EQ(f.s->worker[w]->grave->count, 0);
	}
	fixture_end(&f);
}

/* ---- callbacks that call ---- */

static int inner_init(void *state, const char *method, union sb_value input)
{
	struct fixture *f = input.ptr;
	struct sb_exit exit;

	(void)state;
	(void)method;
	CHECK_EQ(sb_scheduler_execute(f->s, &scripted, "main", input, &exit), -EDEADLK);
	CHECK_EQ(sb_scheduler_wait_idle(f->s, UINT64_MAX), -EDEADLK);
	CHECK_EQ(sb_scheduler_stop(f->s, UINT64_MAX), -EDEADLK);
	return -EPERM;
}

static void nobody_waits_in_init(void **state)
{
	static const struct sb_process_ops ops = { .name = "inner",
						   .state_bytes = 8,
						   .init = inner_init };
	struct fixture f;
	struct sb_exit exit;

	(void)state;
	fixture_start(&f, 1);
	CHECK_EQ(sb_scheduler_submit(f.s, &ops, "main", sb_value_ptr(&f), NULL), -EPERM);
	CHECK_EQ(sb_scheduler_execute(f.s, &ops, "main", sb_value_ptr(&f), &exit), -EPERM);
	fixture_end(&f);
}

struct supervisor {
	struct fixture f;
	struct script child;
	uint64_t refused;
};

static void restarts(void *hook, const struct sb_exit *exit)
{
	struct supervisor *v = hook;
	const int rc =
		sb_scheduler_submit(v->f.s, &scripted, "main", sb_value_ptr(&v->child), NULL);

	(void)exit;
	if (rc) {
		CHECK_EQ(rc, -ESHUTDOWN);
		v->refused++;
	}
}

static void destroy_refuses_restarts(void **state)
{
	struct supervisor v = { .child = { .step = wait_for_message } };

	(void)state;
	fixture_defaults(&v.f);
	v.child.f = &v.f;
	v.f.config.hook = &v;
	v.f.config.on_start = NULL;
	v.f.config.on_complete = restarts;
	v.f.config.on_drop = NULL;
	fixture_create(&v.f, 1);
	for (int i = 0; i < 3; i++)
		fixture_submit(&v.f, &scripted, &v.child);
	sb_scheduler_destroy(v.f.s);
	CHECK_EQ(v.refused, 3);
	CHECK_EQ(sb_load_rlx(&v.f.closed), 3);
}

static void nobody_executes_after_a_stop(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	struct sb_exit exit;

	(void)state;
	fixture_start(&f, 1);
	CHECK_EQ(sb_scheduler_stop(f.s, UINT64_MAX), 0);
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main", sb_value_ptr(&script), &exit),
		 -ESHUTDOWN);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main", sb_value_ptr(&script), &exit), 0);
	fixture_end(&f);
}

/* ---- the dead ---- */

/* Its first message fills the mailbox of the other, which it ends unread. */
static int fills_and_ends(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct sb_scheduler *s = script->f->s;

	(void)events;
	(void)count;
	switch (sb_load_rlx(&script->steps)) {
	case 1:
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), 0);
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(2)), -EWOULDBLOCK);
		CHECK_EQ(sb_scheduler_terminate(s, script->other), 0);
		CHECK_EQ(sb_scheduler_terminate(s, script->other), 0);
		return SB_CONTINUE; /* behind the one that ends */
	default:
		CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(3)), -ESRCH);
		CHECK_EQ(sb_scheduler_terminate(s, script->other), -ESRCH);
		return SB_DONE;
	}
}

static void the_dead_do_not_block(void **state)
{
	struct fixture f;
	struct script target = { .f = &f, .step = wait_for_message };
	struct script script = { .f = &f, .step = fills_and_ends };

	(void)state;
	fixture_defaults(&f);
	f.config.mailbox_bound = 1;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	script.other = fixture_submit(&f, &scripted, &target);
	await_flag(&target); /* Idle, or about to be */
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), 1);
	fixture_end(&f);
}

/* A timer's id is nobody's to free. */
static int ends_with_a_timer(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)script;
	(void)events;
	CHECK_EQ(count, 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(HOUR_NS), 0), 0);
	CHECK_EQ(sb_step_yield(step, SB_COMMAND_TERMINATE, sb_value_u64(sb_step_self(step)), 1), 0);
	return SB_YIELD;
}

static struct sb_process *look_up(struct fixture *f, sb_pid pid)
{
	const uint32_t side = sb_reclaim_enter(f->s->reclaim);
	struct sb_process *p = sb_pidmap_lookup(f->s->pidmap, pid);

	sb_reclaim_exit(f->s->reclaim, side);
	return p;
}

/* The memory of what has ended is freed, although all threads sleep afterwards. */
static void the_last_one_frees_its_dead(void **state)
{
	const uint64_t deadline_ns = sb_clock_ns() + FIXTURE_TIMEOUT_NS;
	struct fixture f;
	struct script script = { .f = &f, .step = end_on_cancel };

	(void)state;
	fixture_start(&f, 2);
	for (int i = 0; i < 10; i++) {
		const sb_pid pid = fixture_submit(&f, &scripted, &script);

		CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
		fixture_wait(&f);
		sb_thread_sleep(5000000); /* the helper of the reclamation sleeps, too */
		while (sb_dead_bytes(f.s) && sb_clock_ns() < deadline_ns)
			sb_thread_sleep(1000000);
		CHECK_EQ(sb_dead_bytes(f.s), 0);
	}
	fixture_end(&f);
}

static void count_listed(void *count, const struct sb_process_info *info)
{
	(void)info;
	(*(uint64_t *)count)++;
}

/* Ended, and in the map until their worker buries them, for which it has no time:
 * it is held until there is one to end and another to be held by. */
static void the_dead_are_gone_before_they_are_buried(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = end_on_cancel };
	struct script holder = { .f = &f, .step = hold_until_told };
	struct script next = { .f = &f, .step = hold_until_told };
	uint64_t listed = 0;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	pid = fixture_submit(&f, &scripted, &script);
	await_steps(&script, 1);
	fixture_submit(&f, &scripted, &holder);
	await_flag(&holder);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), 0);
	fixture_submit(&f, &scripted, &next);
	sb_store_rel(&holder.flag, 2);
	await_flag(&next);
	CHECK_EQ(sb_load_acq(&f.completed), 2);
	assert_non_null(look_up(&f, pid));
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), -ESRCH);
	CHECK_EQ(sb_scheduler_cancel(f.s, pid), -ESRCH);
	CHECK_EQ(sb_scheduler_terminate(f.s, pid), -ESRCH);
	sb_scheduler_list(f.s, count_listed, &listed);
	CHECK_EQ(listed, 1); /* the one that holds it now */
	sb_store_rel(&next.flag, 2);
	fixture_wait(&f);
	assert_null(look_up(&f, pid));
	fixture_end(&f);
}

/* ---- routes ---- */

/* Sends what it is told to, and keeps what came of it. */
static int sends_on(struct script *script, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		script->seen = (uint64_t)-sb_step_send(step, script->other, events[i].data);
		sb_add_acq_rel(&script->flag, 1);
	}
	return SB_IDLE;
}

static void tell_to_send(struct fixture *f, sb_pid sender, struct script *script)
{
	const uint32_t sent = sb_load_acq(&script->flag);

	CHECK_EQ(sb_scheduler_send(f->s, sender, sb_value_u64(1)), 0);
	while (sb_load_acq(&script->flag) == sent)
		sb_thread_yield();
}

/* A worker remembers whom it has looked up, and not for longer than that one is
 * there: when its memory is another's, the other gets no message. */
static void a_route_does_not_lead_to_another(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = sends_on };
	struct script first = { .f = &f, .step = end_on_cancel };
	struct script others = { .f = &f, .step = ignore_everything };
	const struct sb_process *memory;
	sb_pid sender;

	(void)state;
	fixture_start(&f, 1);
	sender = fixture_submit(&f, &scripted, &script);
	script.other = fixture_submit(&f, &scripted, &first);
	memory = look_up(&f, script.other);
	tell_to_send(&f, sender, &script);
	CHECK_EQ(script.seen, 0);
	CHECK_EQ(sb_scheduler_cancel(f.s, script.other), 0);
	while (!sb_load_acq(&f.completed))
		sb_thread_yield();
	/* Buried by its worker, which has nothing to do; and used again. */
	while (look_up(&f, fixture_submit(&f, &scripted, &others)) != memory)
		sb_thread_yield();
	tell_to_send(&f, sender, &script);
	CHECK_EQ(script.seen, ESRCH);
	(void)sb_scheduler_stop(f.s, 0);
	sb_scheduler_destroy(f.s);
}

/* ---- who sleeps ---- */

static bool all_sleep(struct fixture *f)
{
	return sb_idle_sleeping(sb_load_acq(&f->s->idle.counts)) == f->s->workers;
}

/* Somebody searches, and does not come: its thread has no processor, say. */
static void a_backlog_wakes_whoever_sleeps(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };

	(void)state;
	fixture_defaults(&f);
	f.config.searchers_max = 4;
	f.config.spin_ns = 0;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	while (!all_sleep(&f))
		sb_thread_yield();
	assert_true(sb_idle_search_begin(&f.s->idle));
	for (int i = 0; i < 63; i++)
		fixture_submit(&f, &scripted, &script);
	assert_true(all_sleep(&f));
	CHECK_EQ(sb_load_rlx(&script.steps), 0);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&script.steps), 64);
	(void)sb_idle_search_end(&f.s->idle);
	fixture_end(&f);
}

static uint64_t blocks_of(struct fixture *f)
{
	return sb_counter_read(&f->s->worker[0]->counters.blocks);
}

/* Wakes a worker that sleeps, so many times; returns how often it slept. */
static uint64_t wake_again_and_again(uint64_t spin_ns, int wakes)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_at_once };
	uint64_t blocks;

	fixture_defaults(&f);
	f.config.spin_ns = spin_ns;
	fixture_create(&f, 1);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	while (!all_sleep(&f))
		sb_thread_yield();
	for (int i = 0; i < wakes; i++) {
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		while (!spin_ns && !all_sleep(&f))
			sb_thread_yield();
	}
	blocks = blocks_of(&f);
	fixture_end(&f);
	return blocks;
}

/* The first sleep was short, so there is no second one. */
static void who_has_napped_spins(void **state)
{
	(void)state;
	/* Now and then one that is about to sleep sees the work itself. */
	assert_true(wake_again_and_again(0, 20) > 10);
	assert_true(wake_again_and_again(FIXTURE_TIMEOUT_NS, 20) <= 1);
}

static void nobody_owns_what_built_ins_complete(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = ends_with_a_timer };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.dropped), 0);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_keeper_hands_over),
		cmocka_unit_test(time_outs_do_not_pile_up),
		cmocka_unit_test(nothing_is_left_when_it_has_settled),
		cmocka_unit_test(nobody_waits_in_init),
		cmocka_unit_test(destroy_refuses_restarts),
		cmocka_unit_test(nobody_executes_after_a_stop),
		cmocka_unit_test(the_dead_do_not_block),
		cmocka_unit_test(nobody_owns_what_built_ins_complete),
		cmocka_unit_test(the_last_one_frees_its_dead),
		cmocka_unit_test(the_dead_are_gone_before_they_are_buried),
		cmocka_unit_test(a_route_does_not_lead_to_another),
		cmocka_unit_test(a_backlog_wakes_whoever_sleeps),
		cmocka_unit_test(who_has_napped_spins),
	};

	return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
