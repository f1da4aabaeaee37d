/*
 * tokio-chained_spawn - Tokio's chained_spawn: a task spawns a task that spawns a
 * task, --depth times; each is done when it has spawned the next. One operation
 * is one spawn; Tokio reports all 1000 as one.
 *
 * Where it differs: the last of Tokio's tasks sends on a channel to the thread
 * that waits; here it leaves its number, and the scheduler knows when none is
 * alive.
 *
 * Check: the tasks have run one after the other, each once, down to the last.
 */
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { DEPTH };

static const struct sb_param params[] = {
	[DEPTH] = { "depth", 1000, 1, UINT32_MAX, NULL, "spawns in one chain" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	uint64_t depth;
	uint64_t run; /* tasks, in order */
};

struct link {
	struct data *data;
	uint64_t number;
};

static const struct sb_process_ops ops;

SB_ACTOR_INIT(init, struct link)

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct link *self = state;
	struct link next = { .data = self->data, .number = self->number + 1 };
	int rc;

	(void)events;
	if (count)
		return -ECANCELED;
	if (self->number != self->data->run)
		return -EPROTO;
	self->data->run++;
	if (self->number == self->data->depth)
		return SB_DONE;
	rc = sb_step_spawn(step, &ops, "main", sb_value_ptr(&next), NULL);
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "link",
	.state_bytes = sizeof(struct link),
	.init = init,
	.step = step,
};

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct link first = { .data = data };

	*data = (struct data){ .depth = run->param[DEPTH] };
	return sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&first), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[DEPTH];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	return sb_expect(why, why_bytes, "tasks have run in order", data->run, data->depth + 1);
}

const struct sb_workload sb_workload_tokio_chained_spawn = {
	.name = "tokio-chained_spawn",
	.operation = "spawn",
	.doc = "a task spawns a task that spawns a task, and so on",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
