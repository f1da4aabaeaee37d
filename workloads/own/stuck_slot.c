/*
 * stuck-slot - messages of steps that go on working: a sender stamps a message
 * with the clock, sends it, works on for --after in the same step, and waits for
 * the answer; then the next, --messages times. --every N works on in one step of
 * N, the last of them; the other steps only send. One operation is one message
 * and its answer.
 *
 * A scheduler that puts the receiver into a slot that cannot be stolen from, or
 * holds the message until the step ends, makes the receiver wait for --after
 * beside an idle worker. The receiver measures from the stamp to the beginning of
 * its step: wake_ns_* of all messages, wake_long_step_ns_* of those whose sender
 * worked on. With one worker the latter is at least --after.
 *
 * Check: each receiver has had one step for each message, and each sender one
 * answer, in order: an answer carries the stamp of the message in flight.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/swarm.h"

enum { PAIRS, MESSAGES, AFTER, EVERY };

static const char *const after_initial[] = { "1ms", NULL };

static const struct sb_param params[] = {
	[PAIRS] = { "pairs", 1, 1, 1 << 20, NULL, "senders, each with a receiver" },
	[MESSAGES] = { "messages", 200, 1, 1 << 24, NULL, "messages of each sender" },
	[AFTER] = { "after", 0, 0, SB_PARAM_TEXT, after_initial,
		    "time that a long step works on after its message" },
	[EVERY] = { "every", 1, 1, 1 << 24, NULL, "of so many steps of a sender one is long" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A pair's output. */
struct pair {
	sb_pid sender;	   /* stored by the sender, before its first message */
	uint64_t answers;  /* stored by the sender, at its end */
	uint64_t received; /* stored by the receiver, as is */
	uint64_t *wake_ns; /* [received], of each message */
};

struct data {
	struct sb_failure failure;
	uint64_t messages;
	uint64_t every;
	uint64_t after_ns;
	struct pair *pair;
	uint64_t *wake_ns; /* of all pairs */
};

/* From 1. */
static bool is_long(const struct data *data, uint64_t message)
{
	return message % data->every == 0;
}

/* ---- the receiver ---- */

struct receiver {
	const struct data *data;
	struct pair *pair;
};

SB_ACTOR_INIT(receiver_init, struct receiver)

static int receiver_advance(void *state, struct sb_step *step, const struct sb_event *events,
			    uint32_t count)
{
	const uint64_t now_ns = sb_clock_ns();
	struct receiver *self = state;
	struct pair *pair = self->pair;
	int rc;

	if (count > 1 || !sb_actor_only_messages(events, count))
		return -EPROTO;
	if (!count)
		return SB_IDLE;
	pair->wake_ns[pair->received++] = sb_clock_passed(events[0].data.u64, now_ns);
	rc = sb_step_send(step, pair->sender, events[0].data);
	if (rc)
		return rc;
	return pair->received == self->data->messages ? SB_DONE : SB_IDLE;
}

SB_FAILURE_STEP(receiver)

static const struct sb_process_ops receiver_ops = {
	.name = "receiver",
	.state_bytes = sizeof(struct receiver),
	.init = receiver_init,
	.step = receiver_step,
};

/* ---- the sender: between the stamp and the send it touches nothing that the
 * receiver writes ---- */

struct sender {
	const struct data *data;
	struct pair *pair;
	sb_pid receiver;
	uint64_t stamp_ns; /* of the message in flight */
	uint64_t answers;
};

SB_ACTOR_INIT(sender_init, struct sender)

static int send_and_work_on(struct sender *self, struct sb_step *step)
{
	int rc;

	self->stamp_ns = sb_clock_ns();
	rc = sb_step_send(step, self->receiver, sb_value_u64(self->stamp_ns));
	if (rc)
		return rc;
	if (is_long(self->data, self->answers + 1))
		sb_work_ns(self->data->after_ns);
	return SB_IDLE;
}

static int sender_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct sender *self = state;

	if (!count) {
		self->pair->sender = sb_step_self(step);
		return send_and_work_on(self, step);
	}
	if (count > 1 || !sb_actor_only_messages(events, count) ||
	    events[0].data.u64 != self->stamp_ns)
		return -EPROTO;
	if (++self->answers < self->data->messages)
		return send_and_work_on(self, step);
	self->pair->answers = self->answers;
	return SB_DONE;
}

SB_FAILURE_STEP(sender)

static const struct sb_process_ops sender_ops = {
	.name = "sender",
	.state_bytes = sizeof(struct sender),
	.init = sender_init,
	.step = sender_step,
};

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->wake_ns);
	free(data->pair);
}

static int setup(struct sb_workload_run *run)
{
	const uint64_t pairs = run->param[PAIRS];
	struct data *data = run->data;

	data->messages = run->param[MESSAGES];
	data->every = run->param[EVERY];
	data->after_ns = sb_workload_time_ns(run->text[AFTER]);
	data->pair = calloc(pairs, sizeof(*data->pair));
	data->wake_ns = calloc(pairs * data->messages, sizeof(*data->wake_ns));
	if (data->pair && data->wake_ns)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static int start_pair(struct sb_workload_run *run, uint64_t i)
{
	struct data *data = run->data;
	struct pair *pair = &data->pair[i];
	struct receiver receiver = { .data = data, .pair = pair };
	struct sender sender = { .data = data, .pair = pair };
	int rc;

	*pair = (struct pair){ .wake_ns = &data->wake_ns[i * data->messages] };
	rc = sb_scheduler_submit(run->scheduler, &receiver_ops, "main", sb_value_ptr(&receiver),
				 &sender.receiver);
	if (rc)
		return rc;
	return sb_scheduler_submit(run->scheduler, &sender_ops, "main", sb_value_ptr(&sender),
				   NULL);
}

static int start(struct sb_workload_run *run)
{
	int rc = 0;

	sb_failure_clear(run);
	for (uint64_t i = 0; i < run->param[PAIRS] && !rc; i++)
		rc = start_pair(run, i);
	return sb_failure_started(run, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PAIRS] * run->param[MESSAGES];
}

static void record(struct sb_workload_run *run, const struct pair *pair)
{
	const struct data *data = run->data;

	for (uint64_t i = 0; i < data->messages; i++) {
		sb_run_record_wake(run, pair->wake_ns[i]);
		if (is_long(data, i + 1))
			sb_run_record_wake_of_long_step(run, pair->wake_ns[i]);
	}
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	bool ok = sb_failure_check(run, why, why_bytes);

	for (uint64_t i = 0; i < run->param[PAIRS] && ok; i++) {
		const struct pair *pair = &data->pair[i];

		ok = sb_expect_of(why, why_bytes, SB_OF("pair", i), "messages", pair->received,
				  data->messages) &&
		     sb_expect_of(why, why_bytes, SB_OF("pair", i), "answers", pair->answers,
				  data->messages);
		if (ok)
			record(run, pair);
	}
	return ok;
}

const struct sb_workload sb_workload_stuck_slot = {
	.name = "stuck-slot",
	.operation = "message",
	.doc = "messages of steps that go on working: time to the receiver's step",
	.source = "tokio-rs/tokio, issue 4941: the LIFO slot is not stealable",
	.params = params,
	.objective = "wake_ns_p90",
	.data_bytes = sizeof(struct data),
	.accept = sb_workload_accept_time,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
