/*
 * Callers: threads that are inside the scheduler when something else happens to it.
 *
 * Property: a callback that submits does not let the memory go that the scheduler is using;
 *   destroy waits for calls that have not returned; execute returns when its process has
 *   left the count; completions and timers find their yield and their life of a PID, by
 *   identity and not by values that a program chooses.
 * Method: the calls in question, from callbacks and beside destroy, in rounds.
 * Bound: 200 rounds each. AddressSanitizer sees what is used after it was freed.
 */
#include "core/commands.h"
#include "core/state.h"
#include "tests/core/bounds.h"

#define CHOSEN (SB_PID_CHOSEN + 77)

/* ---- a submission in on_drop ---- */

/* Holds a message for `gone`, which ends meanwhile, and then sends to `other`: what is held is
 * dropped then, after the scheduler has looked up the other. */
struct dropping {
	struct fixture f;
	struct script gone;
	struct script other;
	struct script sender;
	sb_pid gone_pid;
	sb_pid other_pid;
	_Atomic(uint32_t) stage; /* 1: the message is held; 2: it is dropped */
	int submitted;		 /* what the submission in on_drop returned */
	bool by_step;
};

static void submit_in_drop(void *hook, const struct sb_event *event)
{
	struct dropping *d = sb_container_of(hook, struct dropping, f);

	fixture_on_drop(hook, event);
	if (sb_load_acq(&d->stage) != 1)
		return;
	sb_store_rel(&d->stage, 2);
	while (sb_load_acq(&d->f.closed) < 2)
		sb_thread_yield();
	d->submitted =
		sb_scheduler_submit_as(d->f.s, CHOSEN, &scripted, "main", sb_value_ptr(&d->gone));
}

static int send_to_both(struct script *script, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct dropping *d = sb_container_of(script, struct dropping, sender);
	int rc;

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, d->gone_pid, sb_value_u64(1)), 0);
	sb_store_rel(&d->stage, 1);
	while (!sb_load_acq(&d->f.closed))
		sb_thread_yield();
	rc = d->by_step ? sb_step_send(step, d->other_pid, sb_value_u64(2))
			: sb_scheduler_send(d->f.s, d->other_pid, sb_value_u64(2));
	assert_true(rc == 0 || rc == -ESRCH);
	return SB_DONE;
}

static void *end_both(void *arg)
{
	struct dropping *d = arg;

	while (sb_load_acq(&d->stage) != 1)
		sb_thread_yield();
	CHECK_EQ(sb_scheduler_terminate(d->f.s, d->gone_pid), 0);
	while (sb_load_acq(&d->stage) != 2)
		sb_thread_yield();
	CHECK_EQ(sb_scheduler_terminate(d->f.s, d->other_pid), 0);
	return NULL;
}

static void drop_once(bool by_step)
{
	struct dropping d = { .by_step = by_step };
	struct sb_thread thread;

	fixture_defaults(&d.f);
	d.f.config.on_drop = submit_in_drop;
	d.f.config.hold_ns = UINT64_MAX;
	d.f.config.tick_ns = 0;
	d.f.config.dead_max_bytes = 1;
	d.f.config.pid_reuse_ns = 0;
	d.gone = (struct script){ .f = &d.f, .step = ignore_everything };
	d.other = (struct script){ .f = &d.f, .step = ignore_everything };
	d.sender = (struct script){ .f = &d.f, .step = send_to_both };
	fixture_create(&d.f, 3);
	CHECK_EQ(sb_scheduler_start(d.f.s, NULL), 0);
	d.gone_pid = fixture_submit(&d.f, &scripted, &d.gone);
	d.other_pid = fixture_submit(&d.f, &scripted, &d.other);
	await_flag(&d.gone);
	await_flag(&d.other);
	CHECK_EQ(sb_thread_start(&thread, -1, end_both, &d), 0);
	fixture_submit(&d.f, &scripted, &d.sender);
	sb_thread_join(&thread);
	while (sb_load_acq(&d.f.closed) < 3)
		sb_thread_yield();
	(void)sb_scheduler_stop(d.f.s, FIXTURE_TIMEOUT_NS);
	/* All processes may have ended before it submits, and the stop may have begun. */
	assert_true(d.submitted == 0 || d.submitted == -ENOMEM || d.submitted == -ESHUTDOWN);
	sb_scheduler_destroy(d.f.s);
}

static void a_drop_may_submit(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		drop_once(false);
		drop_once(true);
	}
}

/* ---- destroy ---- */

enum { ROUNDS = 200 };

struct destroyed {
	struct sb_scheduler *s;
	struct script script;
	void (*call)(struct destroyed *d);
	_Atomic(uint32_t) is_called;
	_Atomic(uint32_t) returns;
	_Atomic(uint32_t) go;
};

static void call_submit(struct destroyed *d)
{
	CHECK_EQ(sb_scheduler_submit(d->s, &scripted, "main", sb_value_ptr(&d->script), NULL), 0);
}

static int raise_flag_and_fail(void *state, const char *method, union sb_value input)
{
	script_init(state, method, input);
	sb_store_rel(&((struct script *)input.ptr)->flag, 1);
	return -EPERM;
}

static void call_refused(struct destroyed *d)
{
	struct sb_process_ops ops = scripted;

	ops.init = raise_flag_and_fail;
	CHECK_EQ(sb_scheduler_submit(d->s, &ops, "main", sb_value_ptr(&d->script), NULL), -EPERM);
}

static void call_wait_idle(struct destroyed *d)
{
	CHECK_EQ(sb_scheduler_wait_idle(d->s, UINT64_MAX), 0);
}

static void call_execute(struct destroyed *d)
{
	struct sb_exit exit;

	CHECK_EQ(sb_scheduler_execute(d->s, &scripted, "main", sb_value_ptr(&d->script), &exit), 0);
}

static void *call_in_rounds(void *arg)
{
	struct destroyed *d = arg;

	for (uint32_t i = 1; i <= SB_SCALE(ROUNDS); i++) {
		while (sb_load_acq(&d->go) != i)
			sb_thread_yield();
		d->call(d);
		sb_store_rel(&d->returns, i);
	}
	return NULL;
}

static int raise_flag(struct script *script, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&script->flag, 1);
	return SB_DONE;
}

/* The process ends when the other thread waits for that. */
static void end_for_waiter(struct destroyed *d)
{
	bool waits;

	do {
		sb_thread_yield();
		sb_lock_acquire(&d->s->foreign_lock);
		waits = d->s->waiters;
		sb_lock_release(&d->s->foreign_lock);
	} while (!waits);
	await_flag(&d->script);
	CHECK_EQ(sb_scheduler_terminate(d->s, d->script.other), 0);
}

/* Destroys as soon as the effect of the call can be seen. */
static void destroy_beside(void (*call)(struct destroyed *d))
{
	struct destroyed d = { .call = call };
	struct sb_thread thread;

	CHECK_EQ(sb_thread_start(&thread, -1, call_in_rounds, &d), 0);
	for (uint32_t i = 1; i <= SB_SCALE(ROUNDS); i++) {
		struct fixture f;

		fixture_start(&f, 2);
		d.s = f.s;
		d.script = (struct script){ .f = &f,
					    .step = call == call_wait_idle ? ignore_everything
									   : raise_flag };
		if (call == call_wait_idle)
			d.script.other = fixture_submit(&f, &scripted, &d.script);
		sb_store_rel(&d.go, i);
		if (call == call_wait_idle)
			end_for_waiter(&d);
		await_flag(&d.script);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		sb_scheduler_destroy(f.s);
		while (sb_load_acq(&d.returns) != i)
			sb_thread_yield();
	}
	sb_thread_join(&thread);
}

static void destroy_waits_for_a_submission(void **state)
{
	(void)state;
	destroy_beside(call_submit);
}

static void destroy_waits_for_a_refusal(void **state)
{
	(void)state;
	destroy_beside(call_refused);
}

static void destroy_waits_for_an_execute(void **state)
{
	(void)state;
	destroy_beside(call_execute);
}

static void destroy_waits_for_a_waiter(void **state)
{
	(void)state;
	destroy_beside(call_wait_idle);
}

/* ---- the limit ---- */

static void an_execute_leaves_its_place(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	struct sb_exit exit;

	(void)state;
	fixture_defaults(&f);
	f.config.processes_max = 1;
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	for (int i = 0; i < ROUNDS; i++)
		CHECK_EQ(sb_scheduler_execute(f.s, &scripted, "main", sb_value_ptr(&script), &exit),
			 0);
	fixture_end(&f);
}

/* ---- equal tags ---- */

static int fails(void *context, const struct sb_command *command,
		 const struct sb_completer *completer)
{
	(void)context;
	(void)command;
	(void)completer;
	return -EIO;
}

enum { FAILS = 6, TAG = 3 };

/* Two yields with one tag: the first completes while the second, which fails, is dispatched. */
static int yield_one_tag(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		script->seen += events[i].type == SB_EVENT_COMPLETION && events[i].tag == TAG;
	switch (sb_load_rlx(&script->steps)) {
	case 1:
		CHECK_EQ(sb_step_yield(step, KEEPS, sb_value_ptr(script), TAG), 0);
		return SB_YIELD;
	case 2:
		CHECK_EQ(sb_complete(&script->later, sb_value_u64(7), 0), 0);
		CHECK_EQ(sb_step_yield(step, FAILS, sb_value_u64(0), TAG), 0);
		return SB_YIELD;
	}
	return script->seen == 2 ? SB_DONE : SB_YIELD;
}

static void a_failed_yield_completes_whatever_its_tag(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = yield_one_tag };
	sb_pid pid;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	CHECK_EQ(sb_scheduler_register(f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_scheduler_register(f.s, FAILS, fails, NULL), 0);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	pid = fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), 0);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 2);
	fixture_end(&f);
}

/* ---- lives of a PID ---- */

enum { LIVES = 3000, PIDS = 16 };

struct lives {
	struct fixture f;
	_Atomic(uint64_t) life[PIDS];
	_Atomic(uint64_t) strays; /* events of an earlier life */
};

struct life {
	struct lives *lives;
	uint64_t number;
	uint32_t pid;
	bool has_yielded;
};

static struct lives lives;

static int life_init(void *state, const char *method, union sb_value input)
{
	struct life *life = state;

	(void)method;
	life->pid = (uint32_t)input.u64;
	life->number = sb_add_rlx(&lives.life[life->pid], 1) + 1;
	return 0;
}

/* Some end by themselves, some are terminated while their timers fire. */
static int life_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct life *life = state;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		if (events[i].tag && events[i].tag != life->number)
			sb_add_rlx(&lives.strays, 1);
	}
	if (!life->has_yielded) {
		const uint64_t ns = 1024 + life->number * 7919 % 40000;

		life->has_yielded = true;
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(ns), life->number), 0);
		CHECK_EQ(
			sb_step_yield(step, SB_COMMAND_TIMER_START, sb_value_u64(ns), life->number),
			0);
		return SB_YIELD;
	}
	return life->number % 3 ? SB_YIELD : SB_DONE;
}

static const struct sb_process_ops life_ops = {
	.name = "life",
	.state_bytes = sizeof(struct life),
	.init = life_init,
	.step = life_step,
};

static void timers_belong_to_one_life(void **state)
{
	struct sb_rng rng;

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	fixture_defaults(&lives.f);
	lives.f.config.pid_reuse_ns = 0;
	fixture_create(&lives.f, 4);
	CHECK_EQ(sb_scheduler_start(lives.f.s, NULL), 0);
	for (int i = 0; i < LIVES; i++) {
		const uint32_t pid = sb_rng_below(&rng, PIDS);
		int rc;

		(void)sb_scheduler_terminate(lives.f.s, SB_PID_CHOSEN + pid);
		rc = sb_scheduler_submit_as(lives.f.s, SB_PID_CHOSEN + pid, &life_ops, "main",
					    sb_value_u64(pid));
		assert_true(rc == 0 || rc == -EEXIST);
		sb_thread_yield();
	}
	fixture_end(&lives.f);
	CHECK_EQ(sb_load_rlx(&lives.strays), 0);
}

/* ---- creation in a step ---- */

static int create_another(struct script *script, struct sb_step *step,
			  const struct sb_event *events, uint32_t count)
{
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_place place = { .os_cpu = -1 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	struct sb_scheduler *s;

	(void)step;
	(void)events;
	(void)count;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	script->other = (uintptr_t)s;
	config.dead_max_bytes = 0;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
	return SB_DONE;
}

static void a_step_may_create_a_scheduler(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = create_another };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	sb_scheduler_destroy((struct sb_scheduler *)(uintptr_t)script.other);
	fixture_end(&f);
}

/* ---- sizes ---- */

static void a_state_that_no_memory_holds_is_refused(void **state)
{
	static const size_t too_large[] = { SIZE_MAX,	   SIZE_MAX - 47,  SIZE_MAX - 63,
					    SIZE_MAX - 64, SIZE_MAX - 127, SIZE_MAX - 200,
					    SIZE_MAX / 2 };
	struct fixture f;
	struct script script = { .f = &f };

	(void)state;
	fixture_start(&f, 1);
	for (size_t i = 0; i < SB_ARRAY_SIZE(too_large); i++) {
		struct sb_process_ops ops = scripted;

		ops.state_bytes = too_large[i];
		CHECK_EQ(sb_scheduler_submit(f.s, &ops, "main", sb_value_ptr(&script), NULL),
			 -ENOMEM);
	}
	fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drop_may_submit),
		cmocka_unit_test(destroy_waits_for_a_submission),
		cmocka_unit_test(destroy_waits_for_a_refusal),
		cmocka_unit_test(destroy_waits_for_an_execute),
		cmocka_unit_test(destroy_waits_for_a_waiter),
		cmocka_unit_test(an_execute_leaves_its_place),
		cmocka_unit_test(a_failed_yield_completes_whatever_its_tag),
		cmocka_unit_test(timers_belong_to_one_life),
		cmocka_unit_test(a_step_may_create_a_scheduler),
		cmocka_unit_test(a_state_that_no_memory_holds_is_refused),
	};

	return cmocka_run_group_tests_name("callers", tests, NULL, NULL);
}
