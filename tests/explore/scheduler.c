/* scheduler.c - scenarios of workers: work that is shared, and stops. */
#include <errno.h>

#include "core/state.h"
#include "tests/explore/explore.h"

/* ---- work and sleep ---- */

static int tree_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count);

static const struct sb_process_ops tree_ops = {
	.name = "tree", .state_bytes = sizeof(uint64_t), .init = take_input, .step = tree_step
};

static int tree_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	const uint64_t depth = *(uint64_t *)state;

	(void)events;
	(void)count;
	for (int i = 0; depth && i < 2; i++)
		CHECK_EQ(sb_step_spawn(step, &tree_ops, "main", sb_value_u64(depth - 1), NULL), 0);
	return SB_DONE;
}

/* Workers run out of work and block while others publish some. */
static void work(void)
{
	struct fixture f;

	scenario_start(&f, 3);
	for (int round = 0; round < 3; round++) {
		CHECK_EQ(sb_scheduler_submit(f.s, &tree_ops, "main", sb_value_u64(1), NULL), 0);
		CHECK_EQ(sb_scheduler_submit(f.s, &tree_ops, "main", sb_value_u64(2), NULL), 0);
		scenario_wait(&f);
	}
	CHECK_EQ(sb_load_rlx(&f.completed), 3 * (3 + 7));
	scenario_end(&f);
}

/* It stays in its step until another worker has run its child; if nobody comes, for ever. */
struct pair {
	_Atomic(uint32_t) child_ran;
};

static int child_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct pair *pair = (*(union sb_value *)state).ptr;

	(void)step;
	(void)events;
	(void)count;
	sb_store_rel(&pair->child_ran, 1);
	return SB_DONE;
}

static const struct sb_process_ops child_ops = { .name = "child",
						 .state_bytes = sizeof(union sb_value),
						 .init = take_input,
						 .step = child_step };

static int parent_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct pair *pair = (*(union sb_value *)state).ptr;
	const uint64_t end_ns = sb_clock_ns() + PATIENCE_NS;

	(void)events;
	(void)count;
	CHECK_EQ(sb_step_spawn(step, &child_ops, "main", sb_value_ptr(pair), NULL), 0);
	sb_step_flush(step);
	while (!sb_load_acq(&pair->child_ran)) {
		assert_true(sb_clock_ns() < end_ns);
		sb_thread_sleep(1000);
	}
	return SB_DONE;
}

static const struct sb_process_ops parent_ops = { .name = "parent",
						  .state_bytes = sizeof(union sb_value),
						  .init = take_input,
						  .step = parent_step };

static void stolen(void)
{
	struct pair pair[2] = { { 0 }, { 0 } };
	struct fixture f;

	scenario_start(&f, 3);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(
			sb_scheduler_submit(f.s, &parent_ops, "main", sb_value_ptr(&pair[i]), NULL),
			0);
	scenario_wait(&f);
	scenario_end(&f);
}

/* ---- many at once ---- */

#define AT_ONCE 3

/* Each waits in its step until all have begun: each needs a worker of its own. */
struct meeting {
	_Atomic(uint32_t) present;
	bool spawns; /* the first brings the others along */
};

static int meet(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count);

static const struct sb_process_ops meeting_ops = {
	.name = "meeting", .state_bytes = sizeof(union sb_value), .init = take_input, .step = meet
};

static int meet(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct meeting *m = (*(union sb_value *)state).ptr;
	const uint64_t end_ns = sb_clock_ns() + PATIENCE_NS;
	const bool is_first = sb_add_acq_rel(&m->present, 1) == 0;

	(void)events;
	(void)count;
	for (int i = 1; m->spawns && is_first && i < AT_ONCE; i++)
		CHECK_EQ(sb_step_spawn(step, &meeting_ops, "main", sb_value_ptr(m), NULL), 0);
	while (sb_load_acq(&m->present) < AT_ONCE) {
		assert_true(sb_clock_ns() < end_ns);
		sb_thread_sleep(1000);
	}
	return SB_DONE;
}

static void meet_once(struct fixture *f, bool spawns)
{
	struct meeting m = { .spawns = spawns };

	for (int i = 0; i < (spawns ? 1 : AT_ONCE); i++)
		CHECK_EQ(sb_scheduler_submit(f->s, &meeting_ops, "main", sb_value_ptr(&m), NULL),
			 0);
	scenario_wait(f);
}

static void meetings(void)
{
	struct fixture f;

	scenario_start(&f, AT_ONCE);
	meet_once(&f, false);
	meet_once(&f, true);
	meet_once(&f, false);
	scenario_end(&f);
}

/* ---- the end ---- */

static int ends_on_cancel(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	(void)state;
	(void)step;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].type == SB_EVENT_CANCEL)
			return SB_DONE;
	}
	return SB_IDLE;
}

static const struct sb_process_ops patient_ops = {
	.name = "patient", .state_bytes = 8, .init = take_nothing, .step = ends_on_cancel
};

/* Spawns until that is refused. */
static int spawning_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	const int rc = sb_step_spawn(step, &patient_ops, "main", sb_value_u64(0), NULL);

	(void)state;
	(void)events;
	(void)count;
	if (rc)
		CHECK_EQ(rc, -ESHUTDOWN);
	return rc ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops spawning_ops = {
	.name = "spawning", .state_bytes = 8, .init = take_nothing, .step = spawning_step
};

#define SUBMISSIONS 3

static void *submit_some(void *arg)
{
	struct fixture *f = arg;

	for (int i = 0; i < SUBMISSIONS; i++) {
		const int rc =
			sb_scheduler_submit(f->s, &patient_ops, "main", sb_value_u64(0), NULL);

		if (rc)
			CHECK_EQ(rc, -ESHUTDOWN);
	}
	return NULL;
}

struct lives {
	struct fixture f;
	_Atomic(uint64_t) for_next; /* accepted between two lives; f.started has the others */
	bool yields;		    /* in on_start, so that a stop overtakes the submission */
};

/* A submission under way keeps a stop from its end, so the phase is that in which it was accepted. */
static int note_life(void *hook, sb_pid pid)
{
	struct lives *lives = sb_container_of(hook, struct lives, f);
	int rc = 0;

	if (sb_load_acq(&lives->f.s->phase) == SB_PHASE_STOPPED)
		sb_add_rlx(&lives->for_next, 1);
	else
		rc = fixture_on_start(hook, pid);
	if (lives->yields)
		sb_thread_yield();
	return rc;
}

/* What has been accepted ends, now or in the next life. */
static void stop_against(bool spawns, uint64_t timeout_ns)
{
	struct lives lives = { .for_next = 0 };
	struct fixture *f = &lives.f;
	struct sb_thread thread;
	uint64_t for_this;
	int rc;

	scenario_defaults(f);
	f->config.on_start = note_life;
	fixture_create(f, 2);
	CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	for (int life = 0; life < 2; life++) {
		for_this = sb_load_rlx(&lives.for_next);
		lives.yields = life == 0;
		if (spawns)
			CHECK_EQ(sb_scheduler_submit(f->s, &spawning_ops, "main", sb_value_u64(0),
						     NULL),
				 0);
		CHECK_EQ(sb_thread_start(&thread, -1, submit_some, f), 0);
		rc = sb_scheduler_stop(f->s, timeout_ns);
		if (timeout_ns)
			CHECK_EQ(rc, 0);
		/* A submission under way has been waited for. */
		CHECK_EQ(sb_load_rlx(&f->completed), sb_load_rlx(&f->started) + for_this);
		sb_thread_join(&thread);
		CHECK_EQ(sb_scheduler_start(f->s, NULL), 0);
	}
	(void)sb_scheduler_stop(f->s, PATIENCE_NS);
	CHECK_EQ(sb_load_rlx(&f->completed),
		 sb_load_rlx(&f->started) + sb_load_rlx(&lives.for_next));
	sb_scheduler_destroy(f->s);
}

static void stop_waiting(void)
{
	stop_against(false, PATIENCE_NS);
}

static void stop_spawning(void)
{
	stop_against(true, PATIENCE_NS);
}

static void stop_by_force(void)
{
	stop_against(true, 0);
}

/* ---- who waits for one process ---- */

static int answer_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	(void)state;
	(void)events;
	(void)count;
	sb_step_result(step, sb_value_u64(42));
	return SB_DONE;
}

static const struct sb_process_ops answer_ops = {
	.name = "answer", .state_bytes = 8, .init = take_nothing, .step = answer_step
};

static void *execute_some(void *arg)
{
	struct fixture *f = arg;

	for (int i = 0; i < SUBMISSIONS; i++) {
		struct sb_exit exit = { .error = 1 };
		const int rc =
			sb_scheduler_execute(f->s, &answer_ops, "main", sb_value_u64(0), &exit);

		if (rc)
			CHECK_EQ(rc, -ESHUTDOWN);
		else if (exit.error)
			CHECK_EQ(exit.error, -ECANCELED);
		else
			CHECK_EQ(exit.result.u64, 42);
	}
	return NULL;
}

static void executions(void)
{
	struct fixture f;
	struct sb_thread thread[2];

	scenario_start(&f, 2);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(sb_thread_start(&thread[i], -1, execute_some, &f), 0);
	CHECK_EQ(sb_scheduler_submit(f.s, &answer_ops, "main", sb_value_u64(0), NULL), 0);
	CHECK_EQ(sb_scheduler_stop(f.s, PATIENCE_NS), 0);
	CHECK_EQ(sb_load_rlx(&f.completed), sb_load_rlx(&f.started));
	for (int i = 0; i < 2; i++)
		sb_thread_join(&thread[i]);
	CHECK_EQ(sb_load_rlx(&f.completed), sb_load_rlx(&f.started));
	sb_scheduler_destroy(f.s);
}

const struct scenario scheduler_scenarios[] = {
	{ "work", "workers run out of work and block while others publish some", work },
	{ "stolen", "steps that wait for what they have spawned", stolen },
	{ "meetings", "steps that wait for each other need all workers", meetings },
	{ "executions", "threads that wait for a process, against a stop", executions },
	{ "stop", "submissions against a stop", stop_waiting },
	{ "stop-spawning", "spawns and submissions against a stop", stop_spawning },
	{ "stop-by-force", "the same against a stop that does not wait", stop_by_force },
	{ NULL, NULL, NULL },
};
