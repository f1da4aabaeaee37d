/*
 * tokio-spawn_many_remote_busy - Tokio's spawn_many_remote_busy1 and _busy2: a
 * thread that is no worker spawns empty tasks on a runtime whose workers have
 * something to do all the time, and waits for all of the empty ones. One
 * operation is one empty task; Tokio reports all of a round as one.
 *
 * --variant 1  twice as many busy tasks as workers; each yields, stalls for
 *              10 us, and so on
 *           2  as many as workers; each stalls for 10 us, spawns its like, and
 *              is done
 *
 * Where it differs: a round has 1000 empty tasks; Tokio's busy1 has 10 000,
 * which here take seconds: a process that continues is in its worker's own
 * deque, from which one look per tick goes to the global queue. A yield is a step that continues, a task is a process. Stalls
 * keep the CPU, where Tokio's give it to other threads. The busy tasks begin
 * with the round and end with it, before and after what is timed; Tokio's live
 * for all rounds. The empty tasks count themselves; Tokio's thread awaits their
 * handles. There are --workers workers, not four.
 *
 * Check: each empty task has run exactly once, and the busy ones have run
 * meanwhile and have all ended.
 */
#include <stdlib.h>

#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/swarm.h"

enum { VARIANT, SPAWNS, STALL_NS };
enum { YIELDS, RESPAWNS };

static const char *const variants[] = { "1", "2", NULL };

static const struct sb_param params[] = {
	[VARIANT] = { "variant", YIELDS, 0, 1, variants,
		      "busy tasks yield (1) or spawn their like (2)" },
	[SPAWNS] = { "spawns", 1000, 1, 1 << 24, NULL, "empty tasks of a round" },
	[STALL_NS] = { "stall-ns", 10000, 0, 1000000000, NULL,
		       "least time that a busy task stalls, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	uint64_t stall_ns;
	uint64_t variant;
	uint64_t size;
	uint64_t busy;	   /* tasks */
	uint64_t ended_ns; /* when the last empty one was through */
	uint64_t *runs;	   /* [size], of the empty ones */
	_Atomic(uint64_t) left;
	_Atomic(bool) over;	      /* the busy ones may go */
	_Atomic(uint64_t) busy_met;   /* have run */
	_Atomic(uint64_t) busy_ended; /* those that have no successor */
};

/* ---- the empty ones ---- */

struct empty {
	struct data *data;
	uint64_t index;
};

SB_ACTOR_INIT(empty_init, struct empty)

static int empty_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	const struct empty *self = state;
	struct data *data = self->data;

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED;
	data->runs[self->index]++;
	if (sb_sub_acq_rel(&data->left, 1) == 1) {
		data->ended_ns = sb_clock_ns();
		sb_store_rel(&data->over, true);
	}
	return SB_DONE;
}

static const struct sb_process_ops empty_ops = {
	.name = "empty",
	.state_bytes = sizeof(struct empty),
	.init = empty_init,
	.step = empty_step,
};

/* ---- the busy ones ---- */

struct busy {
	struct data *data;
	bool begun;
	bool successor; /* of one that has begun */
};

static const struct sb_process_ops busy_ops;

SB_ACTOR_INIT(busy_init, struct busy)

static int go_on(struct busy *self, struct sb_step *step)
{
	struct busy successor = { .data = self->data, .successor = true };
	int rc;

	if (self->data->variant == YIELDS)
		return SB_CONTINUE;
	rc = sb_step_spawn(step, &busy_ops, "main", sb_value_ptr(&successor), NULL);
	return rc ? rc : SB_DONE;
}

static int busy_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct busy *self = state;
	struct data *data = self->data;

	(void)events;
	if (count)
		return -ECANCELED;
	if (!self->begun && !self->successor)
		sb_add_acq_rel(&data->busy_met, 1);
	self->begun = true;
	if (sb_load_acq(&data->over)) {
		sb_add_acq_rel(&data->busy_ended, 1);
		return SB_DONE;
	}
	sb_work_ns(data->stall_ns);
	return go_on(self, step);
}

static const struct sb_process_ops busy_ops = {
	.name = "busy",
	.state_bytes = sizeof(struct busy),
	.init = busy_init,
	.step = busy_step,
};

/* ---- the workload ---- */

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SPAWNS];
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t workers = sb_scheduler_workers(run->scheduler);

	data->variant = run->param[VARIANT];
	data->stall_ns = run->param[STALL_NS];
	data->size = operations(run);
	data->busy = data->variant == YIELDS ? 2 * workers : workers;
	data->runs = calloc(data->size, sizeof(*data->runs));
	return data->runs ? 0 : -ENOMEM;
}

/* Returns when all of them have run. */
static int start_busy(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct busy input = { .data = data };
	int rc = 0;

	for (uint64_t i = 0; i < data->busy && !rc; i++)
		rc = sb_scheduler_submit(run->scheduler, &busy_ops, "main", sb_value_ptr(&input),
					 NULL);
	while (!rc && sb_load_acq(&data->busy_met) < data->busy)
		sb_thread_yield();
	return rc;
}

static int start_empty(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < data->size && !rc; i++) {
		struct empty input = { .data = data, .index = i };

		rc = sb_scheduler_submit(run->scheduler, &empty_ops, "main", sb_value_ptr(&input),
					 NULL);
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	uint64_t start_ns;
	int rc;

	sb_store_rlx(&data->busy_met, 0);
	sb_store_rlx(&data->busy_ended, 0);
	sb_store_rlx(&data->left, data->size);
	sb_store_rlx(&data->over, false);
	memset(data->runs, 0, data->size * sizeof(*data->runs));
	rc = start_busy(run);
	start_ns = sb_clock_ns();
	if (!rc)
		rc = start_empty(run);
	if (rc) {
		sb_store_rel(&data->over, true);
		return rc;
	}
	run->round.submit_ns = sb_clock_ns() - start_ns;
	while (!sb_load_acq(&data->over))
		sb_thread_yield();
	run->round.wall_ns = data->ended_ns - start_ns;
	return 0;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	bool ok = sb_expect(why, why_bytes, "busy tasks have ended", sb_load_rlx(&data->busy_ended),
			    data->busy);

	for (uint64_t i = 0; i < data->size && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("task", i), "runs", data->runs[i], 1);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->runs);
}

const struct sb_workload sb_workload_tokio_spawn_many_remote_busy = {
	.name = "tokio-spawn_many_remote_busy",
	.operation = "process",
	.doc = "empty tasks spawned from outside on workers that are busy",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.data_bytes = sizeof(struct data),
	.submitters = sb_workload_one_submitter,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
