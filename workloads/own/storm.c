/*
 * storm.c - storm and burst: swarms of processes of one step, spawned by one process
 * or submitted from outside.
 */
#include "workloads/lib/swarm.h"

/*
 * storm - one producer: a process spawns --processes processes of one step in a
 * single step of its own. All of them come into one deque, and every other worker that
 * works has stolen it. It shows the best case of stealing, and its cost for
 * the owner; each process works for --work-ns. One operation is one process;
 * steal_items says how many were stolen. Compare with --workers 1.
 *
 * Check: each process has run exactly once, and no more of them have run on
 * another worker than the producer's than items were stolen.
 */

enum { PROCESSES, WORK_NS };

static const struct sb_param storm_params[] = {
	[PROCESSES] = { "processes", 100000, 1, 1 << 24, NULL, "processes that are spawned" },
	[WORK_NS] = { "work-ns", 0, 0, 1000000000, NULL, "least time of a step, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int storm_setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[PROCESSES], run->param[WORK_NS]);
}

static uint64_t storm_operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

const struct sb_workload sb_workload_storm = {
	.name = "storm",
	.operation = "process",
	.doc = "one process spawns all, everybody else steals",
	.source = "this project",
	.params = storm_params,
	.data_bytes = sizeof(struct sb_swarm),
	.setup = storm_setup,
	.start = sb_swarm_start_producer,
	.operations = storm_operations,
	.check = sb_swarm_check_stolen,
	.teardown = sb_swarm_teardown,
};

/*
 * burst - --size processes of one step are submitted at once by a thread that is
 * no worker, to a scheduler without work; then nothing comes until all have
 * completed. A round is one burst, so rounds is how many there were. One
 * operation is one process: ns_per_op is from the first submission to the last
 * completion, and submit_ns_per_op is the part of it until the last one was
 * accepted. The Go origin's BurstSubmit has sizes of 100, 1000, 10000 and
 * 100000.
 *
 * Check: each process has run exactly once.
 */

enum { SIZE };

static const struct sb_param burst_params[] = {
	[SIZE] = { "size", 1000, 1, 1 << 24, NULL, "processes of a burst" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int burst_setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[SIZE], 0);
}

static uint64_t burst_operations(const struct sb_workload_run *run)
{
	return run->param[SIZE];
}

const struct sb_workload sb_workload_burst = {
	.name = "burst",
	.operation = "process",
	.doc = "a burst of submissions to workers without work",
	.source = "wippyai/runtime, benchmark BurstSubmit",
	.params = burst_params,
	.data_bytes = sizeof(struct sb_swarm),
	.submitters = sb_workload_one_submitter,
	.setup = burst_setup,
	.start = sb_swarm_start_outside,
	.operations = burst_operations,
	.check = sb_swarm_check_outside,
	.teardown = sb_swarm_teardown,
};
