/*
 * yield - a process that yields a command, waits for its completion, and does
 * so again, --yields times. The round trip through the dispatch registry; the
 * Go origin's NYieldProcess. One operation is one yield and its completion.
 *
 * --handler immediate  the handler completes within its call
 *           async      the handler gives the completer to a thread, which
 *                      completes it: the process is Blocked meanwhile
 *
 * Check: every process has got all of its completions, in order, each with the
 * tag it gave and the result that the handler computes from its argument.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "workloads/workload.h"

enum { PROCESSES, YIELDS, HANDLER };
enum { IMMEDIATE, ASYNC };

static const char *const handlers[] = { "immediate", "async", NULL };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 1, 1, 1 << 20, NULL, "processes that yield at the same time" },
	[YIELDS] = { "yields", 1000000, 1, UINT32_MAX, NULL, "yields of each process" },
	[HANDLER] = { "handler", IMMEDIATE, 0, 1, handlers, "when the command is completed" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* Ids on both sides of the registry's array, so that both kinds are used. */
#define COMMAND_IMMEDIATE 17
#define COMMAND_ASYNC	  1017

/* The handlers' function. */
static uint64_t answer_to(uint64_t question)
{
	return question * 3 + 1;
}

/* ---- the asynchronous handler: a thread and what it has to complete ---- */

struct request {
	struct request *next;
	struct sb_completer completer;
	uint64_t question;
};

struct service {
	struct sb_thread thread;
	struct sb_parker parker;
	_Atomic(struct request *) newest;
	_Atomic(bool) stopping;
};

static void complete_all(struct request *request)
{
	while (request) {
		struct request *next = request->next;

		sb_complete(&request->completer, sb_value_u64(answer_to(request->question)), 0);
		free(request);
		request = next;
	}
}

static void *serve(void *arg)
{
	struct service *service = arg;

	sb_thread_name("sb", "handler", -1);
	while (!sb_load_acq(&service->stopping)) {
		sb_park(&service->parker, UINT64_MAX);
		complete_all(sb_xchg_acq(&service->newest, NULL));
	}
	return NULL;
}

static int handle_async(void *context, const struct sb_command *command,
			const struct sb_completer *completer)
{
	struct service *service = context;
	struct request *request = malloc(sizeof(*request));
	struct request *newest = sb_load_rlx(&service->newest);

	if (!request)
		return -ENOMEM;
	request->completer = *completer;
	request->question = command->arg.u64;
	do {
		request->next = newest;
	} while (!sb_cas_weak_acq_rel(&service->newest, &newest, request));
	sb_unpark(&service->parker);
	return 0;
}

static int service_start(struct service *service)
{
	sb_parker_init(&service->parker, SB_PARKING_CONDVAR);
	return sb_thread_start(&service->thread, -1, serve, service);
}

/* After the last request has been completed. */
static void service_stop(struct service *service)
{
	sb_store_rel(&service->stopping, true);
	sb_unpark(&service->parker);
	sb_thread_join(&service->thread);
	sb_parker_fini(&service->parker);
}

static int handle_immediate(void *context, const struct sb_command *command,
			    const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, sb_value_u64(answer_to(command->arg.u64)), 0);
}

/* ---- the process ---- */

/* A process's input and output. */
struct job {
	uint32_t command;
	uint64_t yields;
	uint64_t completed;
};

struct data {
	struct service service;
	uint64_t jobs;
	struct job job[];
};

struct state {
	struct job *job;
};

static int init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct state *)state)->job = input.ptr;
	return 0;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct job *job = ((struct state *)state)->job;
	int rc;

	if (count) {
		if (events[0].type != SB_EVENT_COMPLETION)
			return -ECANCELED;
		if (events[0].error)
			return events[0].error;
		if (events[0].tag != job->completed ||
		    events[0].data.u64 != answer_to(job->completed))
			return -EPROTO;
		job->completed++;
	}
	if (job->completed == job->yields)
		return SB_DONE;
	rc = sb_step_yield(step, job->command, sb_value_u64(job->completed), job->completed);
	return rc ? rc : SB_YIELD;
}

static const struct sb_process_ops yielder = {
	.name = "yielder",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

/* ---- the workload ---- */

static int register_handlers(struct sb_workload_run *run, struct data *data)
{
	const int rc =
		sb_scheduler_register(run->scheduler, COMMAND_IMMEDIATE, handle_immediate, NULL);

	return rc ? rc
		  : sb_scheduler_register(run->scheduler, COMMAND_ASYNC, handle_async,
					  &data->service);
}

static int setup(struct sb_workload_run *run)
{
	const uint64_t jobs = run->param[PROCESSES];
	struct data *data = calloc(1, sizeof(*data) + jobs * sizeof(data->job[0]));
	int rc;

	if (!data)
		return -ENOMEM;
	data->jobs = jobs;
	rc = register_handlers(run, data);
	if (!rc)
		rc = service_start(&data->service);
	if (rc) {
		free(data);
		return rc;
	}
	run->data = data;
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < data->jobs && !rc; i++) {
		data->job[i] = (struct job){
			.command = run->param[HANDLER] == ASYNC ? COMMAND_ASYNC : COMMAND_IMMEDIATE,
			.yields = run->param[YIELDS],
		};
		rc = sb_scheduler_submit(run->scheduler, &yielder, "main",
					 sb_value_ptr(&data->job[i]), NULL);
	}
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES] * run->param[YIELDS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	for (uint64_t i = 0; i < data->jobs; i++) {
		if (data->job[i].completed == data->job[i].yields)
			continue;
		snprintf(why, why_bytes,
			 "process %" PRIu64 ": %" PRIu64 " completions in order, expected %" PRIu64,
			 i, data->job[i].completed, data->job[i].yields);
		return false;
	}
	return true;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	service_stop(&data->service);
	free(data);
}

const struct sb_workload sb_workload_yield = {
	.name = "yield",
	.operation = "yield",
	.doc = "a command yielded and completed, over and over",
	.source = "wippyai/runtime, benchmark OneYield",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
