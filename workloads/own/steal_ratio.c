/*
 * steal-ratio - a sweep of how much work has to be stolen. On every worker sits
 * a producer; they meet, so that no two share one, and then each spawns its part
 * of --processes processes in one step. --share percent of all are the first
 * producer's in excess, the rest is dealt evenly: with 0 no worker has to steal
 * to be as busy as the others, with 100 all begin on one worker. Each process
 * works for --work-ns. One operation is one process.
 *
 * steal_items says what was stolen. To be even, of W workers the W - 1 others
 * need share / W percent of all each. The idea of a swept share of stolen work is that of
 * "BWoS: Formally Verified Block-based Work Stealing for Parallel Processing",
 * J. Wang et al., OSDI 2023.
 *
 * Check: each process has run exactly once, and no more of them have run on
 * another worker than the one that spawned them than items were stolen: with one
 * worker, none.
 */
#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/meeting.h"
#include "workloads/lib/swarm.h"

enum { PROCESSES, SHARE, WORK_NS };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 50000, 1, 1 << 24, NULL, "processes that are spawned" },
	[SHARE] = { "share", 50, 0, 100, NULL,
		    "percent that one producer spawns; the rest is dealt evenly" },
	[WORK_NS] = { "work-ns", 500, 0, 1000000000, NULL, "least time of a step, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_swarm swarm;
	struct sb_meeting producers;
};

struct producer {
	struct data *data;
	uint64_t first;
	uint64_t count;
};

SB_ACTOR_INIT(init, struct producer)

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct producer *self = state;
	int rc;

	(void)events;
	if (count)
		return -ECANCELED;
	sb_meeting_join(&self->data->producers);
	rc = sb_swarm_spawn(&self->data->swarm, step, self->first, self->count);
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops producer_ops = {
	.name = "producer",
	.state_bytes = sizeof(struct producer),
	.init = init,
	.step = step,
};

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	return sb_swarm_init(&data->swarm, run->param[PROCESSES], run->param[WORK_NS]);
}

/* Of the members [0, size) the first `excess` are the first producer's. */
static struct producer deal(struct data *data, uint64_t i, uint64_t excess)
{
	const uint64_t n = data->producers.expected;
	const uint64_t rest = data->swarm.size - excess;
	const uint64_t first = i ? excess + rest * i / n : 0;

	return (struct producer){
		.data = data,
		.first = first,
		.count = excess + rest * (i + 1) / n - first,
	};
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t excess = data->swarm.size * run->param[SHARE] / 100;
	const uint64_t workers = sb_scheduler_workers(run->scheduler);
	int rc = 0;

	sb_swarm_begin(run);
	sb_meeting_call(&data->producers, workers);
	run->round.start_ns = sb_clock_ns();
	for (uint64_t i = 0; i < workers && !rc; i++) {
		struct producer input = deal(data, i, excess);

		rc = sb_scheduler_submit(run->scheduler, &producer_ops, "main",
					 sb_value_ptr(&input), NULL);
	}
	if (rc)
		sb_meeting_call_off(&data->producers);
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

const struct sb_workload sb_workload_steal_ratio = {
	.name = "steal-ratio",
	.operation = "process",
	.doc = "the share of the work that has to be stolen is a parameter",
	.source = "this project; after BWoS, OSDI 2023",
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = sb_swarm_check_stolen,
	.teardown = sb_swarm_teardown,
};
