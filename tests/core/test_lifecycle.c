/*
 * Start and stop, gracefully and by force, and what races with them.
 *
 * Property: every process that was started completes and closes exactly once,
 *   and nothing is left behind, whatever runs at the same time.
 * Method: a thousand cycles with idle, running, blocked and sleeping processes
 *   and with foreign threads that submit and send; the pools' balance is checked
 *   at each destroy.
 */
#include <sched.h>
#include <unistd.h>

#include "core/commands.h"
#include "core/queue/deque.h"
#include "core/state.h"
#include "tests/script.h"

/* ---- stop ---- */

static void stop_ends_the_stubborn_by_force(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = ignore_everything };
	sb_pid pid;

	(void)state;
	fixture_start(&f, 2);
	pid = fixture_submit(&f, &scripted, &script);
	await_flag(&script);
	CHECK_EQ(sb_scheduler_stop(f.s, 20000000), -ETIMEDOUT);
	CHECK_EQ(script.seen, 1); /* the cancel event */
	CHECK_EQ(sb_load_rlx(&f.closed), 1);
	CHECK_EQ(sb_load_rlx(&f.completed), 1);
	CHECK_EQ(sb_load_rlx(&f.last_error), -ECANCELED);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(1)), -ESRCH);
	CHECK_EQ(sb_scheduler_stop(f.s, 0), -EALREADY);
	sb_scheduler_destroy(f.s);
}

static int stop_from_inside(struct script *script, struct sb_step *step,
			    const struct sb_event *events, uint32_t count)
{
	(void)step;
	(void)events;
	(void)count;
	CHECK_EQ(sb_scheduler_stop(script->f->s, 0), -EDEADLK);
	CHECK_EQ(sb_scheduler_wait_idle(script->f->s, 0), -EDEADLK);
	CHECK_EQ(sb_scheduler_settle(script->f->s), -EDEADLK);
	script->seen = 1;
	return SB_DONE;
}

/* Each worker is a thread of this process, and not the caller. */
static void threads_have_numbers(void **state)
{
	struct fixture f;
	int id[2];

	(void)state;
	fixture_start(&f, 2);
	for (uint32_t w = 0; w < 2; w++) {
		char path[64];

		id[w] = sb_scheduler_thread_id(f.s, w);
		snprintf(path, sizeof(path), "/proc/self/task/%d", id[w]);
		CHECK_EQ(access(path, F_OK), 0);
	}
	assert_int_not_equal(id[0], id[1]);
	assert_int_not_equal(id[0], sb_thread_self_id());
	assert_int_not_equal(id[1], sb_thread_self_id());
	fixture_end(&f);
}

static void stop_from_a_step_is_refused(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = stop_from_inside };

	(void)state;
	fixture_start(&f, 1);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(script.seen, 1);
	fixture_end(&f);
}

/* ---- start and stop, again and again ---- */

/* One scheduler with its processes and the foreign threads around it. Several
 * run side by side, because a stop waits for a grace period. */
enum { RINGS = 4, SLEEPERS = 2, EACH = 2, RECENT = 64, ALIVE_MAX = 200 };
#define CYCLES SB_SCALE(1000)

struct ring {
	struct fixture f;
	struct script idle;
	struct script busy;
	struct script blocked[EACH];
	struct script sleeper[SLEEPERS];
	struct script submitted; /* by a foreign thread, at any time */
	struct sb_thread cycler;
	struct sb_thread submitter;
	struct sb_thread sender;
	_Atomic(uint64_t) recent[RECENT]; /* PIDs to send to */
	_Atomic(uint32_t) over;
};

/* Its sleep is longer than the test, or so short that it is over at once. */
static int sleep_until_cancel(struct script *script, struct sb_step *step,
			      const struct sb_event *events, uint32_t count)
{
	bool asleep = sb_load_rlx(&script->steps) > 1;

	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
		asleep = asleep && events[i].type != SB_EVENT_COMPLETION;
	}
	if (!asleep)
		CHECK_EQ(sb_step_yield(step, SB_COMMAND_SLEEP, sb_value_u64(script->seen), 1), 0);
	return SB_YIELD;
}

/* Every third process that comes from outside waits for its cancel event. */
static int stay_or_leave(struct script *script, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	if (step->self % 3)
		return SB_DONE;
	return end_on_cancel(script, step, events, count);
}

static void *submit_all_the_time(void *arg)
{
	struct ring *ring = arg;
	sb_pid pid = 0;

	for (uint32_t i = 0; !sb_load_acq(&ring->over); i++) {
		const uint64_t alive =
			sb_load_rlx(&ring->f.started) - sb_load_rlx(&ring->f.completed);
		int rc;

		sb_thread_yield();
		if (alive > ALIVE_MAX)
			continue;
		rc = sb_scheduler_submit(ring->f.s, &scripted, "main",
					 sb_value_ptr(&ring->submitted), &pid);
		if (rc)
			CHECK_EQ(rc, -ESHUTDOWN);
		else
			sb_store_rlx(&ring->recent[i % RECENT], pid);
	}
	return NULL;
}

static void *send_all_the_time(void *arg)
{
	struct ring *ring = arg;

	for (uint32_t i = 0; !sb_load_acq(&ring->over); i++) {
		const int rc = sb_scheduler_send(ring->f.s, sb_load_rlx(&ring->recent[i % RECENT]),
						 sb_value_u64(i));

		assert_true(rc == 0 || rc == -ESRCH);
		sb_thread_yield();
	}
	return NULL;
}

static void submit_some_of_each(struct ring *ring)
{
	for (int i = 0; i < EACH; i++) {
		struct script *sleeper = &ring->sleeper[i];

		ring->blocked[i] = (struct script){ .f = &ring->f, .step = block_until_cancel };
		*sleeper = (struct script){ .f = &ring->f, .step = sleep_until_cancel };
		sleeper->seen = i ? 20000 : UINT64_C(3600000000000);
		fixture_submit(&ring->f, &scripted, &ring->idle);
		fixture_submit(&ring->f, &scripted, &ring->busy);
		fixture_submit(&ring->f, &scripted, &ring->blocked[i]);
		fixture_submit(&ring->f, &scripted, sleeper);
	}
}

/* Every eighth stop is by force, if anybody is left then. */
static void *cycle_many_times(void *arg)
{
	struct ring *ring = arg;

	for (int i = 0; i < CYCLES / RINGS; i++) {
		CHECK_EQ(sb_scheduler_start(ring->f.s, NULL), 0);
		submit_some_of_each(ring);
		if (i % 8)
			CHECK_EQ(sb_scheduler_stop(ring->f.s, FIXTURE_TIMEOUT_NS), 0);
		else
			(void)sb_scheduler_stop(ring->f.s, 0);
	}
	return NULL;
}

static void start_ring(struct ring *ring)
{
	*ring = (struct ring){
		.idle = { .f = &ring->f, .step = end_on_cancel },
		.busy = { .f = &ring->f, .step = continue_until_cancel },
		.submitted = { .f = &ring->f, .step = stay_or_leave },
	};
	fixture_defaults(&ring->f);
	fixture_create(&ring->f, 2);
	CHECK_EQ(sb_scheduler_register(ring->f.s, KEEPS, keeps, NULL), 0);
	CHECK_EQ(sb_thread_start(&ring->submitter, -1, submit_all_the_time, ring), 0);
	CHECK_EQ(sb_thread_start(&ring->sender, -1, send_all_the_time, ring), 0);
	CHECK_EQ(sb_thread_start(&ring->cycler, -1, cycle_many_times, ring), 0);
}

/* What came after the last stop runs, too. */
static void end_ring(struct ring *ring)
{
	sb_thread_join(&ring->cycler);
	sb_store_rel(&ring->over, 1);
	sb_thread_join(&ring->submitter);
	sb_thread_join(&ring->sender);
	CHECK_EQ(sb_scheduler_start(ring->f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_stop(ring->f.s, FIXTURE_TIMEOUT_NS), 0);
	assert_true(sb_load_rlx(&ring->f.started) >= 4 * EACH * CYCLES / RINGS);
	CHECK_EQ(sb_load_rlx(&ring->f.completed), sb_load_rlx(&ring->f.started));
	CHECK_EQ(sb_load_rlx(&ring->f.closed), sb_load_rlx(&ring->f.started));
	sb_scheduler_destroy(ring->f.s);
}

static void a_thousand_starts_and_stops(void **state)
{
	static struct ring rings[RINGS];

	(void)state;
	for (int i = 0; i < RINGS; i++)
		start_ring(&rings[i]);
	for (int i = 0; i < RINGS; i++)
		end_ring(&rings[i]);
}

/* ---- submissions against a stop ---- */

struct submitter {
	struct script script;
	struct sb_thread thread;
	_Atomic(uint32_t) over; /* the stop */
};

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

static int send_once(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	(void)events;
	(void)count;
	script->seen = (uint64_t)-sb_step_send(step, script->other, sb_value_u64(1));
	return SB_DONE;
}

static int send_and_continue(struct script *script, struct sb_step *step,
			     const struct sb_event *events, uint32_t count)
{
	(void)events;
	(void)count;
	CHECK_EQ(sb_step_send(step, script->other, sb_value_u64(1)), 0);
	sb_store_rel(&script->flag, 1);
	return SB_CONTINUE;
}

/* A worker remembers whom it has looked up; not beyond a stop. The talker holds
 * it until it is stopped by force, so it never has a quiescent state between
 * its last look-up and the next start. */
static void a_route_does_not_survive_a_restart(void **state)
{
	struct fixture f;
	struct script receiver = { .f = &f, .step = ignore_everything };
	struct script talker = { .f = &f, .step = send_and_continue };
	struct script sender = { .f = &f, .step = send_once };

	(void)state;
	fixture_defaults(&f);
	f.config.tick = 1000000000;
	fixture_create(&f, 1);
	for (int cycle = 0; cycle < SB_SCALE(40); cycle++) {
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		if (cycle) {
			fixture_submit(&f, &scripted, &sender);
			fixture_wait(&f);
			CHECK_EQ(sender.seen, ESRCH);
		}
		sb_store_rlx(&receiver.flag, 0);
		sb_store_rlx(&talker.flag, 0);
		sender.other = talker.other = fixture_submit(&f, &scripted, &receiver);
		await_flag(&receiver);
		fixture_submit(&f, &scripted, &talker);
		await_flag(&talker);
		CHECK_EQ(sb_scheduler_stop(f.s, 0), -ETIMEDOUT);
	}
	sb_scheduler_destroy(f.s);
}

/* Whoever sees that nobody lives also sees since when. */
static void the_idle_stamp_is_of_this_round(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };

	(void)state;
	fixture_start(&f, 2);
	for (int round = 0; round < SB_SCALE(20000); round++) {
		const uint64_t start = sb_clock_ns();
		uint64_t end;

		fixture_submit(&f, &scripted, &script);
		while (sb_scheduler_wait_idle(f.s, 0))
			sb_cpu_pause();
		end = sb_scheduler_idle_since_ns(f.s);
		assert_in_range(end, start, sb_clock_ns());
	}
	fixture_end(&f);
}

/* Not of the wait, which comes a millisecond after the last process has ended; in one
 * round at least: a worker may lose its processor before it has no work. */
static void the_idle_stamp_is_not_of_the_wait(void **state)
{
	struct fixture f;
	struct script script = { .f = &f, .step = done_with_42 };
	int of_the_end = 0;

	(void)state;
	fixture_start(&f, 1);
	for (uint64_t round = 1; round <= 50; round++) {
		uint64_t wait_ns;

		fixture_submit(&f, &scripted, &script);
		while (sb_load_acq(&f.completed) < round)
			sb_thread_yield();
		wait_ns = sb_clock_ns() + 1000000;
		while (sb_clock_ns() < wait_ns)
			sb_thread_yield();
		fixture_wait(&f);
		of_the_end += sb_scheduler_idle_since_ns(f.s) < wait_ns;
	}
	assert_true(of_the_end > 0);
	fixture_end(&f);
}

static void *stop_once(void *arg)
{
	struct fixture *f = arg;

	while (sb_scheduler_stop(f->s, FIXTURE_TIMEOUT_NS) == -EALREADY)
		sb_thread_yield();
	return NULL;
}

static void stop_right_after_start(void **state)
{
	struct fixture f;
	struct sb_thread thread;

	(void)state;
	fixture_defaults(&f);
	fixture_create(&f, 2);
	for (int cycle = 0; cycle < SB_SCALE(100); cycle++) {
		CHECK_EQ(sb_thread_start(&thread, -1, stop_once, &f), 0);
		CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
		sb_thread_join(&thread);
	}
	sb_scheduler_destroy(f.s);
}

enum { STORM = 3 };

static void *submit_in_bursts(void *arg)
{
	struct script *script = arg;
	struct sb_rng rng;

	sb_rng_seed(&rng, sb_test_seed() + (uintptr_t)script);
	for (int i = 0; i < SB_SCALE(3000); i++) {
		fixture_submit(script->f, &scripted, script);
		/* Long enough, now and then, for workers to go to sleep. */
		for (uint32_t n = sb_rng_below(&rng, 30); n; n--)
			sb_thread_yield();
	}
	return NULL;
}

/* Foreign threads keep claiming sleepers while workers announce, retract and
 * sleep; then everybody must be counted right, and leave. */
static void sleepers_and_wakers_agree(void **state)
{
	struct fixture f;
	struct script script[STORM];
	struct sb_thread thread[STORM];

	(void)state;
	fixture_start(&f, 3);
	for (int i = 0; i < STORM; i++) {
		script[i] = (struct script){ .f = &f, .step = done_with_42 };
		CHECK_EQ(sb_thread_start(&thread[i], -1, submit_in_bursts, &script[i]), 0);
	}
	for (int i = 0; i < STORM; i++)
		sb_thread_join(&thread[i]);
	fixture_wait(&f);
	CHECK_EQ(sb_load_rlx(&f.completed), STORM * SB_SCALE(3000));
	fixture_end(&f);
}

static void a_worker_that_cannot_be_pinned(void **state)
{
	struct sb_place place[2] = { { -1, 0, 0, 0, 0, 0 }, { 1 << 14, 1, 1, 0, 0, 0 } };
	const struct sb_placement placement = { .workers = 2, .place = place };
	const struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;
	uint32_t failed = 99;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), 0);
	CHECK_EQ(sb_scheduler_start(s, &failed), -EINVAL);
	CHECK_EQ(failed, 1);
	sb_scheduler_destroy(s);
}

/* In place of somebody with taskset, or of a cpuset that changes. */
static int let_loose(struct script *script, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	const cpu_set_t *everywhere = (void *)(uintptr_t)script->other;

	(void)step;
	(void)events;
	(void)count;
	CHECK_EQ(sched_setaffinity(0, sizeof(*everywhere), everywhere), 0);
	return SB_DONE;
}

static void who_is_pinned_can_be_seen(void **state)
{
	struct sb_place place = { 0, 0, 0, 0, 0, 0 };
	struct fixture f;
	cpu_set_t everywhere;
	struct script script = { .f = &f,
				 .step = let_loose,
				 .other = (sb_pid)(uintptr_t)&everywhere };

	(void)state;
	CHECK_EQ(sched_getaffinity(0, sizeof(everywhere), &everywhere), 0);
	while (!CPU_ISSET(place.os_cpu, &everywhere))
		place.os_cpu++;
	fixture_defaults(&f);
	fixture_create_at(&f, 1, &place);
	CHECK_EQ(sb_scheduler_start(f.s, NULL), 0);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	/* Nobody can be let loose where there is one CPU. */
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), CPU_COUNT(&everywhere) == 1);
	fixture_end(&f);
	fixture_start(&f, 1);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_submit(&f, &scripted, &script);
	fixture_wait(&f);
	CHECK_EQ(sb_scheduler_is_pinned(f.s, 0), true);
	fixture_end(&f);
}

/* ---- somebody waits while others submit ---- */

static void *wait_for_none(void *arg)
{
	fixture_wait(arg);
	return NULL;
}

static bool somebody_waits(struct sb_scheduler *s)
{
	bool waits;

	sb_lock_acquire(&s->foreign_lock);
	waits = s->waiters;
	sb_lock_release(&s->foreign_lock);
	return waits;
}

/* A submission reserves nothing ahead then, which would be taken for the living. */
static void who_waits_is_told_whoever_submits(void **state)
{
	struct fixture f;
	struct script first = { .f = &f, .step = wait_for_message };
	struct script second = { .f = &f, .step = done_at_once };
	struct sb_thread waiter;
	sb_pid pid;

	(void)state;
	fixture_start(&f, 1);
	pid = fixture_submit(&f, &scripted, &first);
	CHECK_EQ(sb_thread_start(&waiter, -1, wait_for_none, &f), 0);
	while (!somebody_waits(f.s))
		sb_thread_yield();
	fixture_submit(&f, &scripted, &second);
	CHECK_EQ(sb_scheduler_send(f.s, pid, sb_value_u64(0)), 0);
	sb_thread_join(&waiter);
	fixture_end(&f);
}

static void bad_parameters_are_refused(void **state)
{
	struct sb_place place = { -1, 0, 0, 0, 0, 0 };
	const struct sb_placement placement = { .workers = 1, .place = &place };
	const struct sb_placement nobody = { .workers = 0 };
	struct sb_config config = SB_CONFIG_DEFAULT;
	struct sb_scheduler *s;

	(void)state;
	CHECK_EQ(sb_scheduler_create(&s, &config, &nobody), -EINVAL);
	config.tick = 0;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
	config = (struct sb_config)SB_CONFIG_DEFAULT;
	config.steal_cap = SB_STEAL_MAX + 1;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
	config = (struct sb_config)SB_CONFIG_DEFAULT;
	config.event_budget = 0;
	CHECK_EQ(sb_scheduler_create(&s, &config, &placement), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_is_told_whoever_submits),
		cmocka_unit_test(stop_ends_the_stubborn_by_force),
		cmocka_unit_test(stop_from_a_step_is_refused),
		cmocka_unit_test(a_thousand_starts_and_stops),
		cmocka_unit_test(submit_against_stop),
		cmocka_unit_test(spawn_against_stop),
		cmocka_unit_test(force_ends_those_that_wake_each_other),
		cmocka_unit_test(submit_against_a_forced_stop),
		cmocka_unit_test(a_submission_under_way_is_refused),
		cmocka_unit_test(force_waits_for_a_submission_under_way),
		cmocka_unit_test(a_route_does_not_survive_a_restart),
		cmocka_unit_test(the_idle_stamp_is_of_this_round),
		cmocka_unit_test(the_idle_stamp_is_not_of_the_wait),
		cmocka_unit_test(stop_right_after_start),
		cmocka_unit_test(sleepers_and_wakers_agree),
		cmocka_unit_test(a_worker_that_cannot_be_pinned),
		cmocka_unit_test(who_is_pinned_can_be_seen),
		cmocka_unit_test(threads_have_numbers),
		cmocka_unit_test(bad_parameters_are_refused),
	};

	return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
