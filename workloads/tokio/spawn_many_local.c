/*
 * tokio-spawn_many_local - Tokio's spawn_many_local: one task spawns --spawns
 * tasks that do next to nothing, and the round ends with the last of them. One
 * operation is one task; Tokio reports all 10 000 as one.
 *
 * Where it differs: Tokio's spawning future is the one that block_on runs, on
 * the thread that measures; here it is a process, so that its spawns go to a
 * worker's own deque. Tokio's tasks count down one common counter and the last
 * one sends on a channel; here each marks its own place, and the scheduler knows
 * when none is alive.
 *
 * Check: each process has run exactly once, and no more of them have run on
 * another worker than the one that spawned them than items were stolen.
 */
#include "workloads/lib/swarm.h"

enum { SPAWNS };

static const struct sb_param params[] = {
	[SPAWNS] = { "spawns", 10000, 1, 1 << 24, NULL, "tasks of a round" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static int setup(struct sb_workload_run *run)
{
	return sb_swarm_init(run->data, run->param[SPAWNS], 0);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SPAWNS];
}

const struct sb_workload sb_workload_tokio_spawn_many_local = {
	.name = "tokio-spawn_many_local",
	.operation = "process",
	.doc = "tasks that one task spawns",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.data_bytes = sizeof(struct sb_swarm),
	.setup = setup,
	.start = sb_swarm_start_producer,
	.operations = operations,
	.check = sb_swarm_check_stolen,
	.teardown = sb_swarm_teardown,
};
