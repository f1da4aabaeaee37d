/*
 * single-step - a process of one step, from outside and back: one thread that is
 * no worker submits a process, waits until it has completed, and takes its
 * result; then the next, --processes times. Never more than one is alive, so
 * this is latency: submission, waking a worker, one step, completion, waking
 * the thread that waits. One operation is one process.
 *
 * The Go origin's benchmarks SingleStep and ExecuteSync, in one: its SingleStep
 * runs the step on the thread that measures, without a queue.
 *
 * Check: each process has completed without an error, and its result is what
 * its step computes from its input.
 */
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { PROCESSES };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 2000, 1, UINT32_MAX, NULL, "processes, one after the other" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	uint64_t answered; /* that completed with the right result */
};

/* Also the input. */
struct state {
	uint64_t question;
};

SB_ACTOR_INIT(init, struct state)

static uint64_t answer_to(uint64_t question)
{
	return question * 3 + 1;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	const struct state *self = state;

	(void)events;
	if (count)
		return -ECANCELED;
	sb_step_result(step, sb_value_u64(answer_to(self->question)));
	return SB_DONE;
}

static const struct sb_process_ops ops = {
	.name = "single",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	data->answered = 0;
	for (uint64_t i = 0; i < run->param[PROCESSES] && !rc; i++) {
		struct state input = { .question = i };
		struct sb_exit exit;

		rc = sb_scheduler_execute(run->scheduler, &ops, "main", sb_value_ptr(&input),
					  &exit);
		data->answered += !rc && !exit.error && exit.result.u64 == answer_to(i);
	}
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	return sb_expect(why, why_bytes, "right results", data->answered, run->param[PROCESSES]);
}

const struct sb_workload sb_workload_single_step = {
	.name = "single-step",
	.operation = "process",
	.doc = "one process of one step at a time, submitted and waited for",
	.source = "wippyai/runtime, benchmarks SingleStep and ExecuteSync",
	.params = params,
	.data_bytes = sizeof(struct data),
	.submitters = sb_workload_one_submitter,
	.start = start,
	.operations = operations,
	.check = check,
};
