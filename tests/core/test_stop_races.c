/*
 * Submissions, spawns and wakes that race with a stop.
 *
 * Property: each is refused, or its process closes exactly once; a forced stop ends
 *   whatever runs.
 * Method: foreign threads that submit until they are refused; the pools' balance is
 *   checked at each destroy.
 */
#include "tests/core/lifecycle.h"

/* Or until the stop is over, for it may not have seen that. */
static void *submit_until_refused(void *arg)
{
	struct submitter *submitter = arg;
	int rc;

	do {
		rc = sb_scheduler_submit(submitter->script.f->s, &scripted, "main",
					 sb_value_ptr(&submitter->script), NULL);
	} while (!rc && !sb_load_acq(&submitter->over));
	if (rc)
		CHECK_EQ(rc, -ESHUTDOWN);
	return NULL;
}

static void start_submitter(struct submitter *submitter, struct fixture *f)
{
	sb_store_rlx(&submitter->over, 0);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	CHECK_EQ(sb_thread_start(&submitter->thread, -1, submit_until_refused, submitter), 0);
}

/* Everything that has started has ended. What came after the stop, which is
 * seldom, needs another round. */
static void end_submitter(struct submitter *submitter, struct fixture *f)
{
	sb_store_rel(&submitter->over, 1);
	sb_thread_join(&submitter->thread);
	if (sb_load_rlx(&f->completed) != sb_load_rlx(&f->started)) {
		CHECK_EQ(sb_scheduler_wait_idle(f->s, 0), -ETIMEDOUT);
		CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
		(void)sb_scheduler_stop(f->s, 0);
	}
	CHECK_EQ(sb_load_rlx(&f->completed), sb_load_rlx(&f->started));
	CHECK_EQ(sb_load_rlx(&f->closed), sb_load_rlx(&f->started));
}

/* A process is refused, or it gets its cancel event; none is stranded. */
static void submit_against_stop(void **state)
{
	struct fixture f;
	struct submitter submitter = { .script = { .f = &f, .step = end_on_cancel } };

	(void)state;
	fixture_defaults(&f);
	/* Most of a submission's time passes between its look at the phase and
	 * the moment its process can be seen. */
	f.yields_in_start = 20;
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(200); cycle++) {
		start_submitter(&submitter, &f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		end_submitter(&submitter, &f);
	}
	sb_scheduler_destroy(f.s);
}

/* Makes another one with each step until that is refused, asked to end or not. */
static int spawn_until_refused(struct script *script, struct sb_step *step,
			       const struct sb_event *events, uint32_t count)
{
	struct script *child = (void *)(uintptr_t)script->other;
	const int rc = sb_step_spawn(step, &scripted, "main", sb_value_ptr(child), NULL);

	(void)events;
	(void)count;
	sb_store_rel(&script->flag, 1);
	if (!rc)
		return SB_CONTINUE;
	CHECK_EQ(rc, -ESHUTDOWN);
	return SB_DONE;
}

static void spawn_against_stop(void **state)
{
	struct fixture f;
	struct script child = { .f = &f, .step = end_on_cancel };
	struct script parent = { .f = &f,
				 .step = spawn_until_refused,
				 .other = (sb_pid)(uintptr_t)&child };

	(void)state;
	fixture_defaults(&f);
	f.yields_in_start = 20;
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(100); cycle++) {
		sb_store_rlx(&parent.flag, 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &parent);
		await_flag(&parent);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.closed), sb_load_rlx(&f.started));
	}
	sb_scheduler_destroy(f.s);
}

/* Ignores the cancel event, and its close sends to others: they become Ready
 * while force is ending them all, in an order that is not theirs. */
#define STUBBORN_SENDS 4

struct stubborn {
	struct fixture *f;
	sb_pid to[STUBBORN_SENDS];
};

static int stubborn_init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(struct stubborn **)state = input.ptr;
	return 0;
}

static int stubborn_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	(void)state;
	(void)step;
	(void)events;
	(void)count;
	return SB_IDLE;
}

static void stubborn_close(void *state)
{
	struct stubborn *stubborn = *(struct stubborn **)state;

	sb_add_rlx(&stubborn->f->closed, 1);
	for (int i = 0; i < STUBBORN_SENDS; i++)
		(void)!sb_scheduler_send(stubborn->f->s, stubborn->to[i], sb_value_u64(1));
}

static const struct sb_process_ops stubborn_ops = {
	.name = "stubborn",
	.state_bytes = sizeof(struct stubborn *),
	.init = stubborn_init,
	.step = stubborn_step,
	.close = stubborn_close,
};

static void force_ends_those_that_wake_each_other(void **state)
{
	enum { N = 100 };
	struct fixture f;
	struct sb_rng rng;
	struct stubborn stubborn[N];
	struct script script = { .f = &f, .step = done_with_42 };
	sb_pid pid[N];

	(void)state;
	sb_rng_seed(&rng, sb_test_seed());
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (uint64_t cycle = 1; cycle <= 10; cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		for (int i = 0; i < N; i++) {
			stubborn[i] = (struct stubborn){ .f = &f };
			pid[i] = fixture_submit(&f, &stubborn_ops, &stubborn[i]);
		}
		for (int i = 0; i < N * STUBBORN_SENDS; i++)
			stubborn[i % N].to[i / N] = pid[sb_rng_below(&rng, N)];
		CHECK_EQ(sb_scheduler_stop(f.s, 5000000), -ETIMEDOUT);
		CHECK_EQ(sb_load_rlx(&f.closed), (N + 1) * (cycle - 1) + N);
		/* No queue has kept any of them. */
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		fixture_submit(&f, &scripted, &script);
		fixture_wait(&f);
		CHECK_EQ(sb_scheduler_stop(f.s, FIXTURE_TIMEOUT_NS), 0);
		CHECK_EQ(sb_load_rlx(&f.completed), (N + 1) * cycle);
	}
	sb_scheduler_destroy(f.s);
}

/* As submit_against_stop, but with force and processes that need it. */
static void submit_against_a_forced_stop(void **state)
{
	struct fixture f;
	struct submitter submitter = { .script = { .f = &f, .step = ignore_everything } };

	(void)state;
	fixture_defaults(&f);
	/* Longer than a stop takes that need not wait for it. */
	f.yields_in_start = 3000;
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(80); cycle++) {
		start_submitter(&submitter, &f);
		for (int n = cycle; n; n--)
			sb_thread_yield();
		(void)sb_scheduler_stop(f.s, 0);
		end_submitter(&submitter, &f);
	}
	sb_scheduler_destroy(f.s);
}

/* ---- one submission that takes its time ---- */

struct slow {
	struct fixture f;
	struct sb_thread submitter, stopper;
	struct script script;
	_Atomic(uint32_t) in_init;
	_Atomic(uint32_t) may_go;
	_Atomic(uint32_t) stopped;
	int submitted; /* what submit returned */
	int rc;	       /* what stop returned */
	uint64_t timeout_ns;
};

static int slow_start(void *hook, sb_pid pid)
{
	struct slow *slow = hook;

	(void)pid;
	sb_store_rel(&slow->in_init, 1);
	while (!sb_load_acq(&slow->may_go))
		sb_thread_yield();
	sb_add_rlx(&slow->f.started, 1);
	return 0;
}

static void slow_complete(void *hook, const struct sb_exit *exit)
{
	struct slow *slow = hook;

	sb_store_rlx(&slow->f.last_error, exit->error);
	sb_add_rlx(&slow->f.completed, 1);
}

static void *submit_slowly(void *arg)
{
	struct slow *slow = arg;

	slow->submitted = sb_scheduler_submit(slow->f.s, &scripted, "main",
					      sb_value_ptr(&slow->script), NULL);
	return NULL;
}

static void *stop_meanwhile(void *arg)
{
	struct slow *slow = arg;

	slow->rc = sb_scheduler_stop(slow->f.s, slow->timeout_ns);
	sb_store_rel(&slow->stopped, 1);
	return NULL;
}

/* Its process would never end by itself. */
static void stop_during_a_submission(uint64_t timeout_ns, uint64_t wait_ns)
{
	struct slow slow = { .timeout_ns = timeout_ns };
	uint64_t end_ns;

	slow.script = (struct script){ .f = &slow.f, .step = wait_for_message };
	fixture_defaults(&slow.f);
	slow.f.config.hook = &slow;
	slow.f.config.on_start = slow_start;
	slow.f.config.on_complete = slow_complete;
	slow.f.config.on_drop = NULL;
	fixture_create(&slow.f, 1);
	CHECK_EQ(sb_scheduler_start(slow.f.s, NULL), 0);
	CHECK_EQ(sb_thread_start(&slow.submitter, -1, submit_slowly, &slow), 0);
	while (!sb_load_acq(&slow.in_init))
		sb_thread_yield();
	CHECK_EQ(sb_thread_start(&slow.stopper, -1, stop_meanwhile, &slow), 0);
	while (sb_load_acq(&slow.f.s->phase) != SB_PHASE_STOPPING)
		sb_thread_yield();
	/* Another one is refused before it has reserved anything. */
	CHECK_EQ(sb_scheduler_submit(slow.f.s, &scripted, "main", sb_value_ptr(&slow.script), NULL),
		 -ESHUTDOWN);
	/* Longer than the time-out: it has something to wait for. */
	for (end_ns = sb_clock_ns() + wait_ns; sb_clock_ns() < end_ns;)
		CHECK_EQ(sb_load_acq(&slow.stopped), 0);
	sb_store_rel(&slow.may_go, 1);
	sb_thread_join(&slow.submitter);
	sb_thread_join(&slow.stopper);
	CHECK_EQ(slow.submitted, -ESHUTDOWN);
	CHECK_EQ(slow.rc, 0);
	CHECK_EQ(sb_load_rlx(&slow.f.completed), 1);
	CHECK_EQ(sb_load_rlx(&slow.f.last_error), -ESHUTDOWN);
	CHECK_EQ(sb_load_rlx(&slow.f.closed), 1);
	CHECK_EQ(sb_load_rlx(&slow.script.steps), 0);
	sb_scheduler_destroy(slow.f.s);
}

static void a_submission_under_way_is_refused(void **state)
{
	(void)state;
	stop_during_a_submission(FIXTURE_TIMEOUT_NS, 0);
}

static void force_waits_for_a_submission_under_way(void **state)
{
	(void)state;
	stop_during_a_submission(1000000, 30000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submit_against_stop),
		cmocka_unit_test(spawn_against_stop),
		cmocka_unit_test(force_ends_those_that_wake_each_other),
		cmocka_unit_test(submit_against_a_forced_stop),
		cmocka_unit_test(a_submission_under_way_is_refused),
		cmocka_unit_test(force_waits_for_a_submission_under_way),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
