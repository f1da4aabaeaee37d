/*
 * savina-pingpong - Savina benchmark 1, PingPong, as Savina has it.
 *
 * Two processes, one message in flight. Ping sends to Pong, Pong answers; before
 * each further round trip Ping sends itself a message. After --round-trips round
 * trips Ping tells Pong to stop. One operation is one message: three for each
 * round trip but the last, which has two; the stop is not counted. The workload
 * `pingpong` is the same with pairs and without the message to oneself.
 *
 * Check: Ping has got each answer in order (it carries the number of the
 * question), as many messages from itself as it had to, and Pong every question.
 */
#include <inttypes.h>
#include <stdio.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { ROUND_TRIPS };

static const struct sb_param params[] = {
	[ROUND_TRIPS] = { "round-trips", 40000, 1, UINT32_MAX, NULL, "round trips" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_failure failure;
	uint64_t round_trips;
	sb_pid ping;
	sb_pid pong;
	uint64_t answers; /* in order, that Ping got */
	uint64_t questions;
	uint64_t to_myself;
};

/* A message is the number of its round trip, from 1; or one of these. */
#define STOP   UINT64_C(0)
#define MYSELF UINT64_MAX

struct player {
	struct data *data;
};

SB_ACTOR_INIT(init, struct player)

static int ask(struct data *data, struct sb_step *step)
{
	const int rc = sb_step_send(step, data->pong, sb_value_u64(data->answers + 1));

	return rc ? rc : SB_IDLE;
}

static int on_answer(struct data *data, struct sb_step *step, uint64_t number)
{
	int rc;

	if (number != data->answers + 1)
		return -EPROTO;
	data->answers = number;
	if (number == data->round_trips) {
		rc = sb_step_send(step, data->pong, sb_value_u64(STOP));
		return rc ? rc : SB_DONE;
	}
	rc = sb_step_send(step, sb_step_self(step), sb_value_u64(MYSELF));
	return rc ? rc : SB_IDLE;
}

static int ping_advance(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct data *data = ((struct player *)state)->data;

	if (count > 1 || !sb_actor_only_messages(events, count))
		return -EPROTO;
	if (!count) {
		data->ping = sb_step_self(step);
		return ask(data, step);
	}
	if (events[0].data.u64 != MYSELF)
		return on_answer(data, step, events[0].data.u64);
	data->to_myself++;
	return ask(data, step);
}

static int pong_advance(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	struct data *data = ((struct player *)state)->data;
	int rc;

	if (count > 1 || !sb_actor_only_messages(events, count))
		return -EPROTO;
	if (!count)
		return SB_IDLE;
	if (events[0].data.u64 == STOP)
		return SB_DONE;
	data->questions++;
	rc = sb_step_send(step, data->ping, events[0].data);
	return rc ? rc : SB_IDLE;
}

SB_FAILURE_STEP(ping)

static const struct sb_process_ops ping_ops = {
	.name = "ping",
	.state_bytes = sizeof(struct player),
	.init = init,
	.step = ping_step,
};

SB_FAILURE_STEP(pong)

static const struct sb_process_ops pong_ops = {
	.name = "pong",
	.state_bytes = sizeof(struct player),
	.init = init,
	.step = pong_step,
};

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct player player = { .data = data };
	int rc;

	*data = (struct data){ .round_trips = run->param[ROUND_TRIPS] };
	sb_failure_clear(run);
	rc = sb_scheduler_submit(run->scheduler, &pong_ops, "main", sb_value_ptr(&player),
				 &data->pong);
	if (!rc)
		rc = sb_scheduler_submit(run->scheduler, &ping_ops, "main", sb_value_ptr(&player),
					 NULL);
	return sb_failure_started(run, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return 3 * run->param[ROUND_TRIPS] - 1;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t expected = run->param[ROUND_TRIPS];

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->answers == expected && data->questions == expected &&
	    data->to_myself == expected - 1)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " questions, %" PRIu64 " answers, %" PRIu64
		 " messages to oneself, of %" PRIu64 " round trips",
		 data->questions, data->answers, data->to_myself, expected);
	return false;
}

const struct sb_workload sb_workload_savina_pingpong = {
	.name = "savina-pingpong",
	.operation = "message",
	.doc = "two processes play ping-pong; Ping also messages itself",
	.source = SB_SAVINA("1: Ping Pong"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.start = start,
	.operations = operations,
	.check = check,
};
