/*
 * tokio-spawn_many_remote_idle - Tokio's spawn_many_remote_idle: a thread that
 * is no worker spawns --spawns empty tasks on a runtime that has nothing else
 * to do, and waits for all. One operation is one task; Tokio reports all 10 000
 * as one.
 *
 * Where it differs: a task is a process of one step; Tokio's thread awaits the
 * tasks' handles one after the other, here it is woken once, when no process is
 * alive. Tokio's runtime has four workers, here --workers has its own default.
 *
 * Check: each process has run exactly once.
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

const struct sb_workload sb_workload_tokio_spawn_many_remote_idle = {
	.name = "tokio-spawn_many_remote_idle",
	.operation = "process",
	.doc = "empty tasks spawned from outside on idle workers",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.data_bytes = sizeof(struct sb_swarm),
	.submitters = sb_workload_one_submitter,
	.setup = setup,
	.start = sb_swarm_start_outside,
	.operations = operations,
	.check = sb_swarm_check_outside,
	.teardown = sb_swarm_teardown,
};
