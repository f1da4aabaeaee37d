/*
 * tokio-yield_many - Tokio's yield_many: --tasks tasks, spawned from outside,
 * yield to the runtime --yields times each. One operation is one yield; Tokio
 * reports all 200 000 as one.
 *
 * --yield continue  a yield is a step that returns "continue": the process goes
 *                   behind those that are Ready, as Tokio's yield_now does
 *         command   a yield is a command that its handler completes at once, so
 *                   the process goes by the dispatch registry
 *
 * Where it differs: Tokio's tasks report on a channel whose other end counts
 * them; here the scheduler knows when none is alive. There are --workers
 * workers, not four.
 *
 * Check: each task has run one step for each of its yields, and one more.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { TASKS, YIELDS, YIELD };
enum { BY_CONTINUE, BY_COMMAND };

static const char *const ways[] = { "continue", "command", NULL };

static const struct sb_param params[] = {
	[TASKS] = { "tasks", 200, 1, 1 << 20, NULL, "tasks" },
	[YIELDS] = { "yields", 1000, 1, UINT32_MAX, NULL, "yields of each of them" },
	[YIELD] = { "yield", BY_CONTINUE, 0, 1, ways, "what a yield is" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define COMMAND_NOTHING 22

/* A task's input and output. */
struct task {
	uint64_t yields;
	bool by_command;
	uint64_t steps;
};

struct state {
	struct task *task;
};

SB_ACTOR_INIT(init, struct state)

/* Whether nothing but the completion of the yield before has come. */
static bool as_expected(const struct task *task, const struct sb_event *events, uint32_t count)
{
	if (!task->by_command || !task->steps)
		return !count;
	return count == 1 && events[0].type == SB_EVENT_COMPLETION && !events[0].error &&
	       events[0].tag == task->steps;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct task *task = ((struct state *)state)->task;
	int rc;

	if (!as_expected(task, events, count))
		return -EPROTO;
	if (task->steps++ == task->yields)
		return SB_DONE;
	if (!task->by_command)
		return SB_CONTINUE;
	rc = sb_step_yield(step, COMMAND_NOTHING, sb_value_u64(0), task->steps);
	return rc ? rc : SB_YIELD;
}

static const struct sb_process_ops ops = {
	.name = "task",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int handle_nothing(void *context, const struct sb_command *command,
			  const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, command->arg, 0);
}

static int setup(struct sb_workload_run *run)
{
	const int rc = sb_scheduler_register(run->scheduler, COMMAND_NOTHING, handle_nothing, NULL);

	if (rc)
		return rc;
	run->data = calloc(run->param[TASKS], sizeof(struct task));
	return run->data ? 0 : -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct task *task = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < run->param[TASKS] && !rc; i++) {
		struct state input = { .task = &task[i] };

		task[i] = (struct task){
			.yields = run->param[YIELDS],
			.by_command = run->param[YIELD] == BY_COMMAND,
		};
		rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input), NULL);
	}
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[TASKS] * run->param[YIELDS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct task *task = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < run->param[TASKS] && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("task", i), "steps", task[i].steps,
				  run->param[YIELDS] + 1);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_tokio_yield_many = {
	.name = "tokio-yield_many",
	.operation = "yield",
	.doc = "tasks that yield to each other over and over",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
