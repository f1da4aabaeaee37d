/*
 * fan-out - one to many: a source sends a message to each of --receivers
 * processes in one step, continues, and does so again, --rounds times. One
 * operation is one message. The Go origin's FanOut has 10 and 100 receivers.
 *
 * Nobody answers, so the source is only held back by the scheduler's order, and
 * by --mailbox-bound: a send that would block is tried again in the next step.
 *
 * Check: every receiver has got every message, in order.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { RECEIVERS, ROUNDS };

static const struct sb_param params[] = {
	[RECEIVERS] = { "receivers", 100, 1, 1 << 20, NULL, "processes that each message goes to" },
	[ROUNDS] = { "rounds", 5000, 1, UINT32_MAX, NULL, "messages to each of them" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A receiver's input and output. */
struct receiver {
	sb_pid pid;
	uint64_t rounds;
	uint64_t got; /* in order */
};

/* ---- receivers ---- */

struct receiver_state {
	struct receiver *receiver;
};

SB_ACTOR_INIT(receiver_init, struct receiver_state)

static int receiver_step(void *state, struct sb_step *step, const struct sb_event *events,
			 uint32_t count)
{
	struct receiver *receiver = ((struct receiver_state *)state)->receiver;

	(void)step;
	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count; i++) {
		if (events[i].data.u64 != receiver->got + 1)
			return -EPROTO;
		receiver->got++;
	}
	return receiver->got == receiver->rounds ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops receiver_ops = {
	.name = "receiver",
	.state_bytes = sizeof(struct receiver_state),
	.init = receiver_init,
	.step = receiver_step,
};

/* ---- the source ---- */

struct source {
	struct receiver *receiver;
	uint64_t receivers;
	uint64_t rounds;
	uint64_t round; /* from 1 */
	uint64_t next;	/* receiver of this round */
};

SB_ACTOR_INIT(source_init, struct source)

static int source_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct source *self = state;

	(void)events;
	if (count)
		return -ECANCELED;
	for (; self->next < self->receivers; self->next++) {
		const int rc = sb_step_send(step, self->receiver[self->next].pid,
					    sb_value_u64(self->round));

		if (rc == -EWOULDBLOCK)
			return SB_CONTINUE;
		/* One that is gone has gone wrong; the check will say so. */
		if (rc && rc != -ESRCH)
			return rc;
	}
	self->next = 0;
	return self->round++ == self->rounds ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops source_ops = {
	.name = "source",
	.state_bytes = sizeof(struct source),
	.init = source_init,
	.step = source_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	run->data = calloc(run->param[RECEIVERS], sizeof(struct receiver));
	return run->data ? 0 : -ENOMEM;
}

/* Of those that have been submitted none would ever get a message. */
static int give_up(struct sb_workload_run *run, uint64_t submitted, int rc)
{
	const struct receiver *receiver = run->data;

	for (uint64_t i = 0; i < submitted; i++)
		(void)sb_scheduler_terminate(run->scheduler, receiver[i].pid);
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct receiver *receiver = run->data;
	struct source source = { .receiver = receiver,
				 .receivers = run->param[RECEIVERS],
				 .rounds = run->param[ROUNDS],
				 .round = 1 };
	uint64_t i = 0;
	int rc = 0;

	for (; i < run->param[RECEIVERS] && !rc; i++) {
		struct receiver_state input = { .receiver = &receiver[i] };

		receiver[i] = (struct receiver){ .rounds = source.rounds };
		rc = sb_scheduler_submit(run->scheduler, &receiver_ops, "main",
					 sb_value_ptr(&input), &receiver[i].pid);
	}
	if (!rc)
		rc = sb_scheduler_submit(run->scheduler, &source_ops, "main", sb_value_ptr(&source),
					 NULL);
	return rc ? give_up(run, i, rc) : 0;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[RECEIVERS] * run->param[ROUNDS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct receiver *receiver = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < run->param[RECEIVERS] && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("receiver", i), "messages in order",
				  receiver[i].got, run->param[ROUNDS]);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_fan_out = {
	.name = "fan-out",
	.operation = "message",
	.doc = "one process sends to many, over and over",
	.source = "wippyai/runtime, benchmark FanOut",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
