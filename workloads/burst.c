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
#include "core/platform.h"
#include "workloads/swarm.h"

enum { SIZE };

static const struct sb_param params[] = {
	[SIZE] = { "size", 1000, 1, 1 << 24, NULL, "processes of a burst" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[SIZE], 0);
}

static int start(struct sb_workload_run *run)
{
	struct sb_swarm *swarm = run->data;
	const uint64_t start_ns = sb_clock_ns();
	const int rc = sb_swarm_submit(swarm, run->scheduler, 0, swarm->size);

	run->round.submit_ns = sb_clock_ns() - start_ns;
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SIZE];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	return sb_swarm_check(run->data, 0, why, why_bytes);
}

static void teardown(struct sb_workload_run *run)
{
	sb_swarm_fini(run->data);
}

const struct sb_workload sb_workload_burst = {
	.name = "burst",
	.operation = "process",
	.doc = "a burst of submissions to workers without work",
	.source = "wippyai/runtime, benchmark BurstSubmit",
	.params = params,
	.data_bytes = sizeof(struct sb_swarm),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
