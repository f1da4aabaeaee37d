/*
 * countdown - a process continues until it has counted from --from down to 0. One operation is
 * one step.
 *
 * Run it:  sched-bench run -w ./countdown.c
 */
#include "workloads/plugin.h"

enum { FROM };

/* Name, default, least, largest, words to choose from or NULL, meaning. */
static const struct sb_param params[] = {
	[FROM] = { "from", 100000, 1, UINT32_MAX, NULL, "steps to make" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* The workload's, for all rounds. */
struct data {
	uint64_t steps;
};

/* A process's, and the input that it begins with. */
struct state {
	struct data *data;
	uint64_t left;
};

SB_ACTOR_INIT(init, struct state)

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct state *self = state;

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED; /* the only event that can come */
	self->data->steps++;
	return --self->left ? SB_CONTINUE : SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "countdown",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

/* Begins a round, which ends when no process is alive. */
static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct state input = { data, run->param[FROM] };

	data->steps = 0;
	return sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[FROM];
}

/* Whether the round's answer is right; if not, the row has no numbers. */
static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	return sb_expect(why, why_bytes, "steps", data->steps, run->param[FROM]);
}

static const struct sb_workload workload = {
	.name = "countdown",
	.operation = "step",
	.doc = "a process counts down, a step for each number",
	.source = "sched-bench new workload countdown",
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
SB_PLUGIN(workload);
