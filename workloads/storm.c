/*
 * storm - one producer: a process spawns --processes processes of one step in a
 * single step of its own. All of them come into one deque, and whoever else
 * works has stolen it. What stealing can do in the best case, and what it costs
 * the owner; each process works for --work-ns. One operation is one process;
 * steal_items says how many were stolen. Compare with --workers 1.
 *
 * Check: each process has run exactly once, and no more of them have run on
 * another worker than the producer's than items were stolen.
 */
#include "core/platform.h"
#include "workloads/actor.h"
#include "workloads/swarm.h"

enum { PROCESSES, WORK_NS };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100000, 1, 1 << 24, NULL,
			"processes that are spawned" },
	[WORK_NS] = { "work-ns", 0, 0, 1000000000, NULL,
		      "least time of a step, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_swarm swarm;
	uint64_t stolen_before;
};

struct state {
	struct sb_swarm *swarm;
};

SB_ACTOR_INIT(init, struct state)

static int step(void *state, struct sb_step *step,
		const struct sb_event *events, uint32_t count)
{
	struct sb_swarm *swarm = ((struct state *)state)->swarm;
	int rc;

	(void)events;
	if (count)
		return -ECANCELED;
	rc = sb_swarm_spawn(swarm, step, 0, swarm->size);
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops producer = {
	.name = "producer",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	return sb_swarm_init(&data->swarm, run->param[PROCESSES],
			     run->param[WORK_NS]);
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct state input = { .swarm = &data->swarm };

	data->stolen_before = sb_read_totals(run->scheduler).stolen;
	run->round.start_ns = sb_clock_ns();
	return sb_scheduler_submit(run->scheduler, &producer, "main",
				   sb_value_ptr(&input), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;

	return sb_swarm_check(&data->swarm,
			      sb_read_totals(run->scheduler).stolen -
				      data->stolen_before,
			      why, why_bytes);
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_swarm_fini(&data->swarm);
}

const struct sb_workload sb_workload_storm = {
	.name = "storm",
	.operation = "process",
	.doc = "one process spawns all, everybody else steals",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
