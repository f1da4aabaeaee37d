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
#include "workloads/lib/swarm.h"

enum { PROCESSES, WORK_NS };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100000, 1, 1 << 24, NULL,
			"processes that are spawned" },
	[WORK_NS] = { "work-ns", 0, 0, 1000000000, NULL,
		      "least time of a step, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[PROCESSES],
			     run->param[WORK_NS]);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

const struct sb_workload sb_workload_storm = {
	.name = "storm",
	.operation = "process",
	.doc = "one process spawns all, everybody else steals",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct sb_swarm),
	.setup = setup,
	.start = sb_swarm_start_producer,
	.operations = operations,
	.check = sb_swarm_check_stolen,
	.teardown = sb_swarm_teardown,
};
