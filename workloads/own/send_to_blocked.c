/*
 * send-to-blocked - messages from outside wake Blocked processes: --processes
 * processes have each yielded a command that is not completed, and so wait
 * Blocked. A thread that is no worker sends them --messages messages each, in
 * turn, and none before the process has taken the one before: so each message
 * makes its process Ready for one more step, after which it waits on. At last
 * their commands are completed, and each process is done. One operation is one
 * message. ns_per_op is from the first send to the last completion,
 * submit_ns_per_op to the return of the last send. The Go origin's SendToBlocked.
 *
 * A message that comes when its process has taken the last one, but has not
 * returned from that step, finds it Running; the fewer --processes the more
 * often.
 *
 * Check: each process has got every one of its messages, in order and each in a
 * step of its own, and then, and not before, the completion of its command.
 */
#include <stdlib.h>

#include "core/platform/platform.h"
#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/meeting.h"
#include "workloads/lib/pause.h"

enum { PROCESSES, MESSAGES };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100, 1, 1 << 20, NULL, "processes that wait" },
	[MESSAGES] = { "messages", 1000, 1, UINT32_MAX, NULL, "messages to each of them" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define COMMAND_WAIT 21

/* A process's output. */
struct place {
	sb_pid pid;
	struct sb_completer completer; /* of the command that it waits for */
	_Atomic(uint64_t) got;	       /* messages, in order */
	uint64_t completed_after;      /* as many messages */
};

struct data {
	struct sb_meeting blocked; /* all have yielded */
	struct place *place;	   /* [PROCESSES] */
};

struct state {
	struct place *place;
};

SB_ACTOR_INIT(init, struct state)

static int take(struct place *place, const struct sb_event *event)
{
	const uint64_t got = sb_load_rlx(&place->got);

	if (event->type == SB_EVENT_COMPLETION && !event->error) {
		place->completed_after = got;
		return SB_DONE;
	}
	if (event->type != SB_EVENT_MESSAGE || event->data.u64 != got + 1)
		return -EPROTO;
	sb_store_rel(&place->got, got + 1);
	return SB_YIELD;
}

static int step(void *state, struct sb_step *step, const struct sb_event *events, uint32_t count)
{
	struct place *place = ((struct state *)state)->place;
	int status = SB_YIELD;

	if (!count)
		status = sb_step_yield(step, COMMAND_WAIT, sb_value_ptr(place), 0);
	if (!count && !status)
		return SB_YIELD;
	if (count > 1 && events[1].type == SB_EVENT_MESSAGE)
		return -EPROTO;
	for (uint32_t i = 0; i < count && status == SB_YIELD; i++)
		status = take(place, &events[i]);
	return status;
}

static const struct sb_process_ops ops = {
	.name = "waiting",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = step,
};

static int handle_wait(void *context, const struct sb_command *command,
		       const struct sb_completer *completer)
{
	struct data *data = context;

	((struct place *)command->arg.ptr)->completer = *completer;
	sb_add_acq_rel(&data->blocked.come, 1);
	return 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const int rc = sb_scheduler_register(run->scheduler, COMMAND_WAIT, handle_wait, data);

	if (rc)
		return rc;
	data->place = calloc(run->param[PROCESSES], sizeof(*data->place));
	return data->place ? 0 : -ENOMEM;
}

static int submit_all(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < run->param[PROCESSES]; i++)
		data->place[i] = (struct place){ .completed_after = UINT64_MAX };
	sb_meeting_call(&data->blocked, run->param[PROCESSES]);
	for (uint64_t i = 0; i < run->param[PROCESSES] && !rc; i++) {
		struct place *place = &data->place[i];
		struct state input = { .place = place };

		rc = sb_scheduler_submit(run->scheduler, &ops, "main", sb_value_ptr(&input),
					 &place->pid);
	}
	return rc;
}

/* When the message before has been taken; a process that is gone takes none. */
static int send(struct sb_scheduler *scheduler, struct place *place, uint64_t number)
{
	const uint64_t deadline_ns = sb_clock_ns() + SB_ANSWER_NS;

	while (sb_load_acq(&place->got) + 1 < number) {
		if (sb_clock_ns() > deadline_ns)
			return -ETIMEDOUT;
		sb_thread_yield();
	}
	return sb_scheduler_send(scheduler, place->pid, sb_value_u64(number));
}

static int send_all(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	for (uint64_t n = 1; n <= run->param[MESSAGES] && !rc; n++) {
		for (uint64_t i = 0; i < run->param[PROCESSES] && !rc; i++)
			rc = send(run->scheduler, &data->place[i], n);
	}
	return rc;
}

/* Of those that have been submitted none would ever be completed. */
static int give_up(struct sb_workload_run *run, int rc)
{
	const struct data *data = run->data;

	for (uint64_t i = 0; i < run->param[PROCESSES]; i++)
		(void)sb_scheduler_terminate(run->scheduler, data->place[i].pid);
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = submit_all(run);

	if (rc)
		return give_up(run, rc);
	sb_meeting_wait(&data->blocked);
	run->round.start_ns = sb_clock_ns();
	rc = send_all(run);
	run->round.submit_ns = sb_clock_ns() - run->round.start_ns;
	for (uint64_t i = 0; i < run->param[PROCESSES] && !rc; i++)
		rc = sb_complete(&data->place[i].completer, sb_value_u64(0), 0);
	return rc ? give_up(run, rc) : 0;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES] * run->param[MESSAGES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < run->param[PROCESSES] && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("process", i), "messages in order",
				  sb_load_rlx(&data->place[i].got), run->param[MESSAGES]) &&
		     sb_expect_of(why, why_bytes, SB_OF("process", i),
				  "messages before its command's completion",
				  data->place[i].completed_after, run->param[MESSAGES]);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->place);
}

const struct sb_workload sb_workload_send_to_blocked = {
	.name = "send-to-blocked",
	.operation = "message",
	.doc = "messages from outside wake processes that are Blocked",
	.source = "wippyai/runtime, benchmark SendToBlocked",
	.params = params,
	.data_bytes = sizeof(struct data),
	.submitters = sb_workload_one_submitter,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
