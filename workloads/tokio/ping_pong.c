/*
 * tokio-ping_pong - Tokio's ping_pong: one task spawns --pings tasks; each of
 * these spawns a partner, sends it a ping, and waits for its answer. One
 * operation is one such pair and its two messages; Tokio reports all 1000 as
 * one.
 *
 * Where it differs: Tokio's messages are two oneshot channels for each pair,
 * which carry nothing; here they are messages to a process, which carry the
 * pair's number. The last of Tokio's tasks tells the thread that waits; here the
 * scheduler knows when none is alive.
 *
 * Check: each partner has got one ping, and each of the others one answer, with
 * the number of their own pair.
 */
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/check.h"

enum { PINGS };

static const struct sb_param params[] = {
	[PINGS] = { "pings", 1000, 1, 1 << 24, NULL, "pairs of tasks that exchange two messages" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A pair's output. */
struct pair {
	uint64_t pings;
	uint64_t answers;
};

struct data {
	uint64_t pairs;
	struct pair pair[];
};

/* ---- a partner ---- */

struct partner {
	struct pair *pair;
	uint64_t number;
	sb_pid asker;
};

SB_ACTOR_INIT(partner_init, struct partner)

static bool is_message(const struct sb_event *events, uint32_t count, uint64_t number)
{
	return count == 1 && events[0].type == SB_EVENT_MESSAGE && events[0].data.u64 == number;
}

static int partner_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct partner *self = state;
	int rc;

	if (!count)
		return SB_IDLE;
	if (!is_message(events, count, self->number))
		return -EPROTO;
	self->pair->pings++;
	rc = sb_step_send(step, self->asker, sb_value_u64(self->number));
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops partner_ops = {
	.name = "partner",
	.state_bytes = sizeof(struct partner),
	.init = partner_init,
	.step = partner_step,
};

/* ---- who asks it ---- */

struct asker {
	struct pair *pair;
	uint64_t number;
};

SB_ACTOR_INIT(asker_init, struct asker)

static int ask(struct asker *self, struct sb_step *step)
{
	struct partner partner = { .pair = self->pair,
				   .number = self->number,
				   .asker = step->self };
	sb_pid pid;
	int rc = sb_step_spawn(step, &partner_ops, "main", sb_value_ptr(&partner), &pid);

	if (!rc)
		rc = sb_step_send(step, pid, sb_value_u64(self->number));
	return rc ? rc : SB_IDLE;
}

static int asker_step(void *state, struct sb_step *step, const struct sb_event *events,
		      uint32_t count)
{
	struct asker *self = state;

	if (!count)
		return ask(self, step);
	if (!is_message(events, count, self->number))
		return -EPROTO;
	self->pair->answers++;
	return SB_DONE;
}

static const struct sb_process_ops asker_ops = {
	.name = "asker",
	.state_bytes = sizeof(struct asker),
	.init = asker_init,
	.step = asker_step,
};

/* ---- the one that spawns them ---- */

struct root {
	struct data *data;
};

SB_ACTOR_INIT(root_init, struct root)

static int root_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct data *data = ((struct root *)state)->data;
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	for (uint64_t i = 0; i < data->pairs && !rc; i++) {
		struct asker asker = { .pair = &data->pair[i], .number = i };

		rc = sb_step_spawn(step, &asker_ops, "main", sb_value_ptr(&asker), NULL);
	}
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops root_ops = {
	.name = "root",
	.state_bytes = sizeof(struct root),
	.init = root_init,
	.step = root_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	const uint64_t pairs = run->param[PINGS];
	struct data *data = calloc(1, sizeof(*data) + pairs * sizeof(data->pair[0]));

	if (!data)
		return -ENOMEM;
	data->pairs = pairs;
	run->data = data;
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct root root = { .data = data };

	memset(data->pair, 0, data->pairs * sizeof(data->pair[0]));
	return sb_scheduler_submit(run->scheduler, &root_ops, "main", sb_value_ptr(&root), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PINGS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	bool ok = true;

	for (uint64_t i = 0; i < data->pairs && ok; i++)
		ok = sb_expect_of(why, why_bytes, SB_OF("pair", i), "pings", data->pair[i].pings,
				  1) &&
		     sb_expect_of(why, why_bytes, SB_OF("pair", i), "answers",
				  data->pair[i].answers, 1);
	return ok;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_tokio_ping_pong = {
	.name = "tokio-ping_pong",
	.operation = "pair",
	.doc = "tasks that each spawn a partner and exchange two messages",
	.source = "tokio-rs/tokio, benches/rt_multi_threaded.rs",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
