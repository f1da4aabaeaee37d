/*
 * many-yields - a process that yields --yields-per-step commands in one step,
 * waits until all are completed, and does so again, --batches times. The
 * handler completes each within its call. More than eight go through the step
 * output's overflow area. One operation is one yield and its completion; the
 * workload `yield` has one of them per step. The Go origin's
 * ManyYieldsPerExecute.
 *
 * Check: of every batch each tag has come back once, with the result that the
 * handler computes from its argument, before the next batch began.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { PROCESSES, YIELDS_PER_STEP, BATCHES };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 1, 1, 1 << 20, NULL, "processes that yield at the same time" },
	[YIELDS_PER_STEP] = { "yields-per-step", 16, 1, 64, NULL, "yields of one step" },
	[BATCHES] = { "batches", 100000, 1, UINT32_MAX, NULL, "batches of yields of each process" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define COMMAND_SQUARE 20

static uint64_t answer_to(uint64_t question)
{
	return question * question;
}

/* A process's input and output. */
struct job {
	uint64_t yields_per_step;
	uint64_t batches;
	uint64_t completed;
};

struct state {
	struct job *job;
	uint64_t missing; /* a bit for each tag of the batch */
	uint64_t batches;
};

SB_ACTOR_INIT(init, struct state)

static bool take(struct state *self, const struct sb_event *event)
{
	const uint64_t bit = UINT64_C(1) << (event->tag & 63);

	if (event->type != SB_EVENT_COMPLETION || event->error || event->tag > 63 ||
	    !(self->missing & bit) || event->data.u64 != answer_to(self->batches + event->tag))
		return false;
	self->missing &= ~bit;
	self->job->completed++;
	return true;
}

static int yield_batch(struct state *self, struct sb_step *step)
{
	self->batches++;
	for (uint64_t tag = 0; tag < self->job->yields_per_step; tag++) {
		const int rc =
			sb_step_yield(step, COMMAND_SQUARE, sb_value_u64(self->batches + tag), tag);

		if (rc)
			return rc;
		self->missing |= UINT64_C(1) << tag;
	}
	return SB_YIELD;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct state *self = state;

	for (uint32_t i = 0; i < count; i++) {
		if (!take(self, &events[i]))
			return -EPROTO;
	}
	if (self->missing)
		return SB_YIELD;
	return self->batches == self->job->batches ? SB_DONE : yield_batch(self, step);
}

static const struct sb_process_ops ops = {
	.name = "many-yields",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int handle_square(void *context, const struct sb_command *command,
			 const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, sb_value_u64(answer_to(command->arg.u64)), 0);
}

static int setup(struct sb_workload_run *run)
{
	const int rc = sb_scheduler_register(run->scheduler, COMMAND_SQUARE, handle_square, NULL);

	if (rc)
		return rc;
	run->data = calloc(run->param[PROCESSES], sizeof(struct job));
	return run->data ? 0 : -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct job *job = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < run->param[PROCESSES] && !rc; i++) {
		struct state input = { .job = &job[i] };

		job[i] = (struct job){
			.yields_per_step = run->param[YIELDS_PER_STEP],
			.batches = run->param[BATCHES],
		};
		rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), NULL);
	}
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES] * run->param[YIELDS_PER_STEP] * run->param[BATCHES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct job *job = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < run->param[PROCESSES] && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("process", i), "completions",
				  job[i].completed, job[i].yields_per_step * job[i].batches);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_many_yields = {
	.name = "many-yields",
	.operation = "yield",
	.doc = "several commands yielded by one step, all waited for",
	.source = "wippyai/runtime, benchmark ManyYieldsPerExecute",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
