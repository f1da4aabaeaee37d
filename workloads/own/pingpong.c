/*
 * pingpong - Savina benchmark 1, PingPong (Imam and Sarkar, AGERE 2014).
 *
 * Two processes, one message in flight. Ping sends to Pong, Pong answers, so
 * many times; then Ping tells Pong to stop. Savina's Ping also sends itself a
 * message between two round trips; --self-message yes does that, too, and then
 * a round trip is three messages. One operation is one message.
 *
 * Pairs begin as they are made, while others are still to come. With --begin
 * together all of them are there before the first message, and before the time
 * begins: a process is submitted then that tells every Ping to begin.
 *
 * Check: every Ping has counted each of its round trips, in order (an answer
 * carries the number of the question), and every Pong as many questions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "workloads/workload.h"

enum { PAIRS, ROUND_TRIPS, SELF_MESSAGE, BEGIN };
enum { AT_ONCE, TOGETHER };

static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const begins[] = { "at-once", "together", NULL };

static const struct sb_param params[] = {
	[PAIRS] = { "pairs", 1, 1, 1 << 20, NULL, "pairs of processes that talk at the same time" },
	[ROUND_TRIPS] = { "round-trips", 500000, 1, UINT32_MAX, NULL, "round trips of each pair" },
	[SELF_MESSAGE] = { "self-message", 0, 0, 1, no_yes,
			   "Ping sends itself a message between round trips" },
	[BEGIN] = { "begin", AT_ONCE, 0, 1, begins,
		    "each pair as it is made, or all when the last one is" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A pair's input and output. */
struct pair {
	uint64_t round_trips;
	bool self_message;
	bool waits; /* Ping, to be told to begin */
	sb_pid ping;
	sb_pid pong;
	sb_pid waiting;	  /* Ping, to who starts it */
	uint64_t answers; /* in order, that Ping got */
	uint64_t questions;
};

struct data {
	uint64_t pairs;
	struct pair pair[];
};

/* A message is the number of its round trip, from 1; or one of these. */
#define STOP   UINT64_C(0)
#define MYSELF UINT64_MAX
#define START  (UINT64_MAX - 1)

struct state {
	struct pair *pair;
};

static int init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct state *)state)->pair = input.ptr;
	return 0;
}

static int ask(struct pair *pair, struct sb_step *step)
{
	const int rc = sb_step_send(step, pair->pong, sb_value_u64(pair->answers + 1));

	return rc ? rc : SB_IDLE;
}

static int begin(struct pair *pair, struct sb_step *step)
{
	pair->ping = step->self;
	return ask(pair, step);
}

static int on_answer(struct pair *pair, struct sb_step *step, uint64_t number)
{
	int rc;

	if (number != pair->answers + 1)
		return -EPROTO;
	pair->answers = number;
	if (number == pair->round_trips) {
		rc = sb_step_send(step, pair->pong, sb_value_u64(STOP));
		return rc ? rc : SB_DONE;
	}
	if (!pair->self_message)
		return ask(pair, step);
	rc = sb_step_send(step, step->self, sb_value_u64(MYSELF));
	return rc ? rc : SB_IDLE;
}

static int ping_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct pair *pair = ((struct state *)state)->pair;

	if (!count)
		return pair->waits ? SB_IDLE : begin(pair, step);
	if (events[0].type != SB_EVENT_MESSAGE)
		return -ECANCELED;
	if (events[0].data.u64 == MYSELF)
		return ask(pair, step);
	if (events[0].data.u64 == START)
		return begin(pair, step);
	return on_answer(pair, step, events[0].data.u64);
}

static int pong_step(void *state, struct sb_step *step, const struct sb_event *events,
		     uint32_t count)
{
	struct pair *pair = ((struct state *)state)->pair;
	int rc;

	if (!count)
		return SB_IDLE;
	if (events[0].type != SB_EVENT_MESSAGE)
		return -ECANCELED;
	if (events[0].data.u64 == STOP)
		return SB_DONE;
	pair->questions++;
	rc = sb_step_send(step, pair->ping, events[0].data);
	return rc ? rc : SB_IDLE;
}

static const struct sb_process_ops ping = {
	.name = "ping",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = ping_step,
};

static const struct sb_process_ops pong = {
	.name = "pong",
	.state_bytes = sizeof(struct state),
	.init = init,
	.step = pong_step,
};

/* ---- who tells all to begin ---- */

struct starter {
	const struct data *data;
};

static int starter_init(void *state, const char *method, union sb_value input)
{
	if (strcmp(method, "main"))
		return -ENOTSUP;
	((struct starter *)state)->data = input.ptr;
	return 0;
}

static int starter_step(void *state, struct sb_step *step, const struct sb_event *events,
			uint32_t count)
{
	const struct data *data = ((struct starter *)state)->data;
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	for (uint64_t i = 0; i < data->pairs && !rc; i++)
		rc = sb_step_send(step, data->pair[i].waiting, sb_value_u64(START));
	return rc ? rc : SB_DONE;
}

static const struct sb_process_ops starter = {
	.name = "starter",
	.state_bytes = sizeof(struct starter),
	.init = starter_init,
	.step = starter_step,
};

/* ---- the workload ---- */

static int setup(struct sb_workload_run *run)
{
	const uint64_t pairs = run->param[PAIRS];
	struct data *data = calloc(1, sizeof(*data) + pairs * sizeof(data->pair[0]));

	if (!data)
		return -ENOMEM;
	data->pairs = pairs;
	run->data = data;
	return 0;
}

static int start_pair(struct sb_workload_run *run, struct pair *pair)
{
	int rc;

	*pair = (struct pair){ .round_trips = run->param[ROUND_TRIPS],
			       .self_message = run->param[SELF_MESSAGE],
			       .waits = run->param[BEGIN] == TOGETHER };
	rc = sb_scheduler_submit(run->scheduler, &pong, "main", sb_value_ptr(pair), &pair->pong);
	if (rc)
		return rc;
	return sb_scheduler_submit(run->scheduler, &ping, "main", sb_value_ptr(pair),
				   &pair->waiting);
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	int rc = 0;

	for (uint64_t i = 0; i < data->pairs && !rc; i++)
		rc = start_pair(run, &data->pair[i]);
	if (rc || run->param[BEGIN] == AT_ONCE)
		return rc;
	run->round.start_ns = sb_clock_ns();
	return sb_scheduler_submit(run->scheduler, &starter, "main", sb_value_ptr(data), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PAIRS] * run->param[ROUND_TRIPS] * (run->param[SELF_MESSAGE] ? 3 : 2);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t expected = run->param[ROUND_TRIPS];

	for (uint64_t i = 0; i < data->pairs; i++) {
		const struct pair *pair = &data->pair[i];

		if (pair->answers == expected && pair->questions == expected)
			continue;
		snprintf(why, why_bytes,
			 "pair %" PRIu64 ": %" PRIu64 " questions and %" PRIu64
			 " answers, expected %" PRIu64 " of each",
			 i, pair->questions, pair->answers, expected);
		return false;
	}
	return true;
}

static void teardown(struct sb_workload_run *run)
{
	free(run->data);
}

const struct sb_workload sb_workload_pingpong = {
	.name = "pingpong",
	.operation = "message",
	.doc = "two processes, one message in flight (Savina 1, PingPong)",
	.source = "Savina benchmarks, 1 (PingPong), without its message to itself",
	.params = params,
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
