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
#include "core/platform.h"
#include "workloads/actor.h"
#include "workloads/swarm.h"

enum { SPAWNS };

static const struct sb_param params[] = {
	[SPAWNS] = { "spawns", 10000, 1, 1 << 24, NULL, "tasks of a round" },
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

	return sb_swarm_init(&data->swarm, run->param[SPAWNS], 0);
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
	return run->param[SPAWNS];
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

const struct sb_workload sb_workload_tokio_spawn_many_local = {
	.name = "tokio-spawn_many_local",
	.operation = "process",
	.doc = "tasks that one task spawns",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
