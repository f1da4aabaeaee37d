/*
 * savina-fjthrput - Savina benchmark 3, Fork Join (throughput).
 *
 * A driver sends one message to each of --actors processes, --messages
 * times over. For each message the process computes the square of the sine of
 * 37.2; after the last it ends. One operation is one message.
 *
 * Check: every process got its messages in order, none was missing, and its
 * squares add up to what they add up to here.
 *
 * In Savina the driver is the main thread; here it is a process, which sends all
 * of a round over the processes in one step and then continues. It goes on later
 * when a mailbox is full (--mailbox-bound).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { MESSAGES, ACTORS };
enum { DRIVER, ACTOR };
enum { WORK = SB_SAVINA_START + 1 };

static const struct sb_param params[] = {
	[MESSAGES] = { "messages", 10000, 1, UINT32_MAX, NULL, "messages to each process" },
	[ACTORS] = { "actors", 60, 1, 1 << 20, NULL, "processes that get them" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t messages;
	double sum;
};

struct data {
	struct sb_savina_round round;
	double sum;	       /* what each must have */
	struct result *result; /* [ACTORS] */
};

struct driver {
	struct sb_savina_process self;
	bool sends;
	uint64_t message; /* from 1 */
	uint64_t actor;
};

struct actor {
	struct sb_savina_process self;
	struct result result;
};

static int driver_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct driver *d = state;

	(void)step;
	sb_savina_expect(&d->self, sb_savina_kind(message) == SB_SAVINA_START);
	d->sends = true;
	d->message = 1;
	return SB_IDLE;
}

static int send_round(void *state, struct sb_step *step)
{
	struct driver *d = state;
	const uint64_t *param = d->self.round->param;
	int rc = 0;

	if (!d->sends)
		return SB_IDLE;
	while (d->actor < param[ACTORS] && !rc) {
		rc = sb_savina_send(&d->self, step, ACTOR, d->actor,
				    sb_savina_message(WORK, d->message));
		d->actor += !rc;
	}
	if (rc)
		return rc == -EWOULDBLOCK ? SB_CONTINUE : rc;
	d->actor = 0;
	return d->message++ < param[MESSAGES] ? SB_CONTINUE : SB_DONE;
}

static int actor_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct actor *a = state;
	struct data *data = (struct data *)a->self.round;

	(void)step;
	a->result.messages++;
	a->result.sum += sb_savina_sin2(SB_SAVINA_THETA);
	sb_savina_expect(&a->self, sb_savina_number(message) == a->result.messages);
	if (a->result.messages < a->self.round->param[MESSAGES])
		return SB_IDLE;
	data->result[a->self.id] = a->result;
	return SB_DONE;
}

SB_SAVINA_PROCESS(driver, send_round);
SB_SAVINA_PROCESS(actor, NULL);

static void teardown(struct sb_workload_run *run)
{
	free(((struct data *)run->data)->result);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const struct sb_savina_group group[] = {
		[DRIVER] = { .ops = &driver_ops, .processes = 1 },
		[ACTOR] = { .ops = &actor_ops, .processes = run->param[ACTORS] },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->result = calloc(run->param[ACTORS], sizeof(*data->result));
	if (!data->result) {
		teardown(run);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < run->param[MESSAGES]; i++)
		data->sum += sb_savina_sin2(SB_SAVINA_THETA);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	for (uint64_t i = 0; i < run->param[ACTORS]; i++)
		data->result[i] = (struct result){ 0 };
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[MESSAGES] * run->param[ACTORS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t messages = run->param[MESSAGES];

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[ACTORS]; i++) {
		const struct result *r = &data->result[i];

		/* The same additions in the same order: no rounding differs. */
		if (r->messages == messages && r->sum == data->sum)
			continue;
		snprintf(why, why_bytes,
			 "process %" PRIu64 ": %" PRIu64
			 " messages and the sum %g, expected %" PRIu64 " and %g",
			 i, r->messages, r->sum, messages, data->sum);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_fjthrput = {
	.name = "savina-fjthrput",
	.operation = "message",
	.doc = "one process sends to many, which compute a little (Savina 3, Fork Join throughput)",
	.source = SB_SAVINA("3: Fork Join (throughput)"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
