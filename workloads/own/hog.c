/*
 * hog - fairness: on every worker sits a process that never stops to continue,
 * and others have to get through. The hogs meet in their first step, which none
 * leaves before there is one on each worker; then --victims processes come from
 * outside. Each continues, then yields a command that is completed at once,
 * then sends itself a message, --laps times, and is done. When the last is,
 * the hogs end. One operation is one victim.
 *
 * A scheduler whose LIFO order is absolute never ends this: a hog is always the
 * newest.
 *
 * Check: every victim has completed all of its laps, in order, and every hog has
 * gone on while they did.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "workloads/lib/meeting.h"
#include "workloads/workload.h"

enum { VICTIMS, LAPS, HOG_NS };

static const struct sb_param params[] = {
	[VICTIMS] = { "victims", 10000, 1, 1 << 24, NULL, "processes that have to get through" },
	[LAPS] = { "laps", 3, 1, 1 << 20, NULL, "times each of them continues, yields and sends" },
	[HOG_NS] = { "hog-ns", 1000, 0, 1000000000, NULL, "least time of a hog's step, ns" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define COMMAND_NOTHING 18

struct data {
	struct sb_meeting hogs;
	uint64_t hog_ns;
	uint64_t laps;
	_Atomic(uint64_t) hog_steps;
	_Atomic(uint64_t) victims_left;
	_Atomic(uint64_t) wrong; /* victims that saw what they should not */
};

/* ---- hogs ---- */

struct hog {
	struct data *data;
	bool met;
};

static int hog_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct hog *)state)->data = input.ptr;
	return 0;
}

static int hog_step(void *state, struct sb_step *step, const struct sb_event *events,
		    uint32_t count)
{
	struct hog *hog = state;
	const uint64_t start = sb_clock_ns();

	(void)step;
	(void)events;
	if (count)
		return -ECANCELED;
	if (!hog->met)
		sb_meeting_join(&hog->data->hogs);
	hog->met = true;
	while (sb_clock_ns() - start < hog->data->hog_ns)
		sb_cpu_pause();
	sb_add_rlx(&hog->data->hog_steps, 1);
	return sb_load_acq(&hog->data->victims_left) ? SB_CONTINUE : SB_DONE;
}

static const struct sb_process_ops hog_ops = {
	.name = "hog",
	.state_bytes = sizeof(struct hog),
	.init = hog_init,
	.step = hog_step,
};

/* ---- victims ---- */

enum stage { CONTINUES, YIELDS, SENDS };

struct victim {
	struct data *data;
	uint64_t laps;
	enum stage stage;
};

static int victim_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct victim *)state)->data = input.ptr;
	return 0;
}

/* The state that the stage before this one must have led to. */
static bool as_expected(const struct victim *victim, const struct sb_event *events, uint32_t count)
{
	switch (victim->stage) {
	case CONTINUES:
		return victim->laps == 0 ? count == 0
					 : count == 1 && events[0].type == SB_EVENT_MESSAGE &&
						   events[0].data.u64 == victim->laps;
	case YIELDS:
		return count == 0;
	case SENDS:
		break;
	}
	return count == 1 && events[0].type == SB_EVENT_COMPLETION && events[0].tag == victim->laps;
}

static int go_on(struct victim *victim, struct sb_step *step)
{
	int rc;

	switch (victim->stage) {
	case CONTINUES:
		if (victim->laps == victim->data->laps)
			return SB_DONE;
		victim->stage = YIELDS;
		return SB_CONTINUE;
	case YIELDS:
		victim->stage = SENDS;
		rc = sb_step_yield(step, COMMAND_NOTHING, sb_value_u64(0), victim->laps);
		return rc ? rc : SB_YIELD;
	case SENDS:
		break;
	}
	victim->stage = CONTINUES;
	victim->laps++;
	rc = sb_step_send(step, sb_step_self(step), sb_value_u64(victim->laps));
	return rc ? rc : SB_IDLE;
}

static int victim_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct victim *victim = state;

	if (!as_expected(victim, events, count)) {
		sb_add_rlx(&victim->data->wrong, 1);
		return -EPROTO;
	}
	return go_on(victim, step);
}

static void victim_close(void *state)
{
	sb_sub_acq_rel(&((struct victim *)state)->data->victims_left, 1);
}

static const struct sb_process_ops victim_ops = {
	.name = "victim",
	.state_bytes = sizeof(struct victim),
	.init = victim_init,
	.step = victim_step,
	.close = victim_close,
};

/* ---- the workload ---- */

static int handle_nothing(void *context, const struct sb_command *command,
			  const struct sb_completer *completer)
{
	(void)context;
	return sb_complete(completer, command->arg, 0);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->hog_ns = run->param[HOG_NS];
	data->laps = run->param[LAPS];
	return sb_scheduler_register(run->scheduler, COMMAND_NOTHING, handle_nothing, NULL);
}

static int submit_many(struct sb_workload_run *run, const struct sb_process_ops *ops, uint64_t n)
{
	int rc = 0;

	while (n-- && !rc)
		rc = sb_scheduler_submit(run->scheduler, ops, "main", sb_value_ptr(run->data),
					 NULL);
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc;

	sb_meeting_call(&data->hogs, sb_scheduler_workers(run->scheduler));
	sb_store_rlx(&data->hog_steps, 0);
	sb_store_rlx(&data->victims_left, run->param[VICTIMS]);
	rc = submit_many(run, &hog_ops, data->hogs.expected);
	if (rc) {
		sb_meeting_call_off(&data->hogs);
		sb_store_rel(&data->victims_left, 0);
		return rc;
	}
	sb_meeting_wait(&data->hogs);
	return submit_many(run, &victim_ops, run->param[VICTIMS]);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[VICTIMS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const uint64_t wrong = sb_load_rlx(&data->wrong);
	const uint64_t left = sb_load_rlx(&data->victims_left);
	const uint64_t steps = sb_load_rlx(&data->hog_steps);

	if (!wrong && !left && steps > data->hogs.expected)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " victims went wrong, %" PRIu64 " did not end, %" PRIu64
		 " steps of %" PRIu64 " hogs",
		 wrong, left, steps, data->hogs.expected);
	return false;
}

const struct sb_workload sb_workload_hog = {
	.name = "hog",
	.operation = "victim",
	.doc = "processes that get past one endless process per worker",
	.source = "this project",
	.params = params,
	.data_bytes = sizeof(struct data),
	.submitters = sb_workload_one_submitter,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
};
