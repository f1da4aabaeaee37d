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
#include "workloads/lib/swarm.h"

enum { SIZE };

static const struct sb_param params[] = {
	[SIZE] = { "size", 1000, 1, 1 << 24, NULL, "processes of a burst" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[SIZE], 0);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SIZE];
}

const struct sb_workload sb_workload_burst = {
	.name = "burst",
	.operation = "process",
	.doc = "a burst of submissions to workers without work",
	.source = "wippyai/runtime, benchmark BurstSubmit",
	.params = params,
	.data_bytes = sizeof(struct sb_swarm),
	.setup = setup,
	.start = sb_swarm_start_outside,
	.operations = operations,
	.check = sb_swarm_check_outside,
	.teardown = sb_swarm_teardown,
};
