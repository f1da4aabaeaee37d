/*
 * savina-count - Savina benchmark 2, Counting.
 *
 * A producer sends so many increments to a counter, all in one step, and then
 * asks it for the count. The cost of sending into one mailbox that is also
 * being emptied. One operation is one message: the increments, the question and
 * its answer.
 *
 * Check: the answer is the number of increments, and the counter got them in the
 * order in which they were sent.
 *
 * Unlike Savina's, the producer goes on later when the mailbox is full
 * (--mailbox-bound).
 */
#include <inttypes.h>
#include <stdio.h>

#include "workloads/lib/savina.h"

enum { INCREMENTS };
enum { PRODUCER, COUNTER };
enum { INCREMENT = SB_SAVINA_START + 1, RETRIEVE, COUNT };

static const struct sb_param params[] = {
	[INCREMENTS] = { "increments", 1000000, 1, UINT32_MAX, NULL, "messages to the counter" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_savina_round round;
	uint64_t answer;
};

struct producer {
	struct sb_savina_process self;
	bool sends;
	uint64_t sent;
};

struct counter {
	struct sb_savina_process self;
	uint64_t count;
};

static int send_next(struct producer *p, struct sb_step *step)
{
	const bool is_last = p->sent == p->self.round->param[INCREMENTS];
	const union sb_value message = is_last ? sb_savina_message(RETRIEVE, 0)
					       : sb_savina_message(INCREMENT, p->sent + 1);
	const int rc = sb_savina_send(&p->self, step, COUNTER, 0, message);

	if (rc)
		return rc;
	p->sent++;
	p->sends = !is_last;
	return 0;
}

static int send_all(void *state, struct sb_step *step)
{
	struct producer *p = state;
	int rc = 0;

	while (p->sends && !rc)
		rc = send_next(p, step);
	return rc == -EWOULDBLOCK ? SB_CONTINUE : sb_savina_idle(rc);
}

static int producer_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct producer *p = state;
	struct data *data = (struct data *)p->self.round;

	(void)step;
	if (sb_savina_kind(message) == SB_SAVINA_START) {
		p->sends = true;
		return SB_IDLE;
	}
	data->answer = sb_savina_number(message);
	return SB_DONE;
}

static int counter_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct counter *c = state;

	if (sb_savina_kind(message) == INCREMENT) {
		c->count++;
		sb_savina_expect(&c->self, sb_savina_number(message) == c->count);
		return SB_IDLE;
	}
	return sb_savina_done(
		sb_savina_send(&c->self, step, PRODUCER, 0, sb_savina_message(COUNT, c->count)));
}

SB_SAVINA_PROCESS(producer, send_all);
SB_SAVINA_PROCESS(counter, NULL);

static int setup(struct sb_workload_run *run)
{
	const struct sb_savina_group group[] = {
		[PRODUCER] = { .ops = &producer_ops, .processes = 1 },
		[COUNTER] = { .ops = &counter_ops, .processes = 1 },
	};

	return sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));
}

static int start(struct sb_workload_run *run)
{
	((struct data *)run->data)->answer = 0;
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[INCREMENTS] + 2;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	if (data->answer == run->param[INCREMENTS])
		return true;
	snprintf(why, why_bytes, "the count is %" PRIu64 ", expected %" PRIu64, data->answer,
		 run->param[INCREMENTS]);
	return false;
}

const struct sb_workload sb_workload_savina_count = {
	.name = "savina-count",
	.operation = "message",
	.doc = "one process counts the messages of another (Savina 2, Counting)",
	.source = SB_SAVINA("2: Counting"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = sb_savina_tear_down,
};
