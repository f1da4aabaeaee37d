/*
 * fan-in - many to one: each of --senders processes sends a message to the same
 * process, the sink, continues, and does so again, --messages times. All senders
 * meet on one mailbox. One operation is one message.
 *
 * --messages-per-step sends so many before it continues, as a sender does that
 * gives way only when it has to. A send that would block at --mailbox-bound is
 * tried again in the next step.
 *
 * Check: the sink has got every message of every sender, each sender's in order.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { SENDERS, MESSAGES, MESSAGES_PER_STEP };

static const struct sb_param params[] = {
	[SENDERS] = { "senders", 100, 1, 1 << 20, NULL, "processes that send to the same one" },
	[MESSAGES] = { "messages", 5000, 1, UINT32_MAX, NULL, "messages of each of them" },
	[MESSAGES_PER_STEP] = { "messages-per-step", 1, 1, UINT32_MAX, NULL,
				"most of them that it sends in one step" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	sb_pid sink;
	uint64_t senders;
	uint64_t messages;
	uint64_t messages_per_step;
	uint64_t received; /* by the sink */
	uint64_t got[];	   /* from each sender, in order */
};

/* A message: whose, and which one of them. */
#define NUMBER_BITS 32

struct message {
	uint32_t sender;
	uint32_t number;
};

static uint64_t pack(struct message message)
{
	return (uint64_t)message.sender << NUMBER_BITS | message.number;
}

static struct message unpack(uint64_t word)
{
	return (struct message){ .sender = (uint32_t)(word >> NUMBER_BITS),
				 .number = (uint32_t)word };
}

/* ---- the sink ---- */

struct sink {
	struct data *data;
};

SB_ACTOR_INIT(sink_init, struct sink)

static int sink_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct data *data = ((struct sink *)state)->data;

	(void)step;
	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count; i++) {
		const struct message m = unpack(events[i].data.u64);

		if (m.sender >= data->senders || m.number != data->got[m.sender] + 1)
			return -EPROTO;
		data->got[m.sender]++;
	}
	data->received += count;
	return data->received == data->senders * data->messages ? SB_DONE : SB_IDLE;
}

static const struct sb_process_ops sink_ops = {
	.name = "sink",
	.state_bytes = sizeof(struct sink),
	.init = sink_init,
	.step = sink_step,
};

/* ---- senders ---- */

struct sender {
	const struct data *data;
	struct message last;
};

SB_ACTOR_INIT(sender_init, struct sender)

static int send_next(struct sender *self, struct sb_step *step)
{
	const struct message message = { self->last.sender, self->last.number + 1 };
	int rc = sb_step_send(step, self->data->sink, sb_value_u64(pack(message)));

	if (rc)
		return rc;
	self->last = message;
	return rc;
}

static int sender_step(void *state, struct sb_step *step, const struct sb_event *events,
		       uint32_t count)
{
	struct sender *self = state;
	const uint64_t left = self->data->messages - self->last.number;
	const uint64_t now = sb_min_u64(left, self->data->messages_per_step);
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	for (uint64_t i = 0; i < now && !rc; i++)
		rc = send_next(self, step);
	if (rc)
		return rc == -EWOULDBLOCK ? SB_CONTINUE : rc;
	return now == left ? SB_DONE : SB_CONTINUE;
}

static const struct sb_process_ops sender_ops = {
	.name = "sender",
	.state_bytes = sizeof(struct sender),
	.init = sender_init,
	.step = sender_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	const uint64_t senders = run->param[SENDERS];
	struct data *data = calloc(1, sizeof(*data) + senders * sizeof(data->got[0]));

	if (!data)
		return -ENOMEM;
	data->senders = senders;
	data->messages = run->param[MESSAGES];
	data->messages_per_step = run->param[MESSAGES_PER_STEP];
	run->data = data;
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct sink sink = { .data = data };
	int rc;

	data->received = 0;
	data->sink = 0;
	memset(data->got, 0, data->senders * sizeof(data->got[0]));
	rc = sb_scheduler_submit(run->scheduler, &sink_ops, "main", sb_value_ptr(&sink),
				 &data->sink);
	for (uint64_t i = 0; i < data->senders && !rc; i++) {
		struct sender sender = { .data = data, .last = { (uint32_t)i, 0 } };

		rc = sb_scheduler_submit(run->scheduler, &sender_ops, "main", sb_value_ptr(&sender),
					 NULL);
	}
	/* It would wait for the messages of those that are not there. */
	if (rc)
		(void)sb_scheduler_terminate(run->scheduler, data->sink);
	return rc;
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SENDERS] * run->param[MESSAGES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	bool ok = sb_expect(why, why_bytes, "messages have reached the sink", data->received,
			    data->senders * data->messages);

	for (uint64_t i = 0; i < data->senders && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("sender", i), "messages in order",
				  data->got[i], data->messages);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_fan_in = {
	.name = "fan-in",
	.operation = "message",
	.doc = "many processes send to one mailbox",
	.source = "this project; the counterpart of fan-out",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
