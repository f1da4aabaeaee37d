/*
 * savina-logmap - Savina benchmark 14, Logistic map: "ask".
 *
 * --sequences pairs of a series and a rate computer. A master sends each series
 * --terms times "next term", round by round, then "give me your term". A series
 * sends its term x to its computer, which answers r * x * (1 - x); until the
 * answer is there it stashes what else comes. Series number i begins with
 * i * 0.0025 and has the rate 3.46 + i * 0.0025, as in Savina, so the first one
 * stays 0. When the master has all terms it stops everybody. One operation is
 * one message: three for each term, and two at the end of each series; stops are
 * not counted.
 *
 * Different from Savina: a series handles what it has stashed at once, where
 * Savina's sends itself one stashed message after the other; and the master
 * sends in steps of some hundred messages.
 *
 * Check: each series' last term, and the sum of all its terms, are bit by bit
 * those of a sequential computation; as many terms were computed; and the terms
 * that the master got are these.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"
#include "workloads/lib/stash.h"

enum { TERMS, SERIES };

static const struct sb_param params[] = {
	[TERMS] = { "terms", 25000, 1, UINT32_MAX, NULL, "terms that each series computes" },
	/* With more of them a rate would be above 4, and terms below 0. */
	[SERIES] = { "sequences", 10, 1, 216, NULL, "series that are computed" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define START_RATE 3.46
#define INCREMENT  0.0025

/* A message is a term, a number from 0 to 1, or one of these, which as numbers
 * would be negative. */
#define COMMAND	  (UINT64_C(1) << 63)
#define NEXT_TERM (COMMAND | 1)
#define GET_TERM  (COMMAND | 2)
#define STOP	  (COMMAND | 3)

/* A series' output. */
struct result {
	double term;
	double sum;
	uint64_t terms;
};

/* One series, and its computer. */
struct line {
	double rate;
	double start;
	sb_pid series;
	sb_pid computer;
	struct result result;
	struct result expected;
};

struct data {
	struct sb_failure failure;
	uint64_t terms;
	uint64_t lines;
	struct line *line;
	sb_pid master;
	uint64_t answers; /* last terms that the master got, their bits added */
};

static union sb_value from_term(double term)
{
	union sb_value value = { .u64 = 0 };

	memcpy(&value.u64, &term, sizeof(term));
	return value;
}

static double to_term(union sb_value value)
{
	double term;

	memcpy(&term, &value.u64, sizeof(term));
	return term;
}

/* Not inlined: fused with what comes next it might be rounded in another way
 * here than there. */
__attribute__((noinline)) static double next_term(double rate, double x)
{
	return rate * x * (1.0 - x);
}

/* ---- the rate computer ---- */

struct computer {
	struct data *data;
	const struct line *line;
};

SB_ACTOR_INIT(computer_init, struct computer)

static int computer_advance(void *state, struct sb_step *step, const struct sb_event *events,
			    uint32_t count)
{
	const struct line *line = ((struct computer *)state)->line;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count; i++) {
		double term;
		int rc;

		if (events[i].data.u64 == STOP)
			return SB_DONE;
		term = next_term(line->rate, to_term(events[i].data));
		rc = sb_step_send(step, line->series, from_term(term));
		if (rc)
			return rc;
	}
	return SB_IDLE;
}

SB_FAILURE_STEP(computer)

static const struct sb_process_ops computer_ops = {
	.name = "computer",
	.state_bytes = sizeof(struct computer),
	.init = computer_init,
	.step = computer_step,
};

/* ---- the series ---- */

struct series {
	struct data *data;
	struct line *line;
	struct sb_stash stash;
	bool awaiting; /* its computer's answer */
	bool stopped;
};

SB_ACTOR_INIT(series_init, struct series)

static void series_close(void *state)
{
	sb_stash_fini(&((struct series *)state)->stash);
}

static void on_term(struct series *series, double term)
{
	struct result *result = &series->line->result;

	result->term = term;
	result->sum += term;
	result->terms++;
	series->awaiting = false;
}

/* A message that is no answer; none is awaited. */
static int handle(struct series *series, struct sb_step *step, uint64_t message)
{
	struct line *line = series->line;

	switch (message) {
	case NEXT_TERM:
		series->awaiting = true;
		return sb_step_send(step, line->computer, from_term(line->result.term));
	case GET_TERM:
		return sb_step_send(step, series->data->master, from_term(line->result.term));
	case STOP:
		series->stopped = true;
		return 0;
	default:
		return -EPROTO;
	}
}

static int handle_stashed(struct series *series, struct sb_step *step)
{
	int rc = 0;

	while (!rc && !series->awaiting && !sb_stash_is_empty(&series->stash))
		rc = handle(series, step, sb_stash_take(&series->stash).u64);
	return rc;
}

static int series_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct series *series = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (events[i].data.u64 & COMMAND)
			rc = sb_stash_put(&series->stash, events[i].data);
		else if (series->awaiting)
			on_term(series, to_term(events[i].data));
		else
			rc = -EPROTO;
	}
	if (!rc)
		rc = handle_stashed(series, step);
	if (rc)
		return rc;
	return series->stopped ? SB_DONE : SB_IDLE;
}

SB_FAILURE_STEP(series)

static const struct sb_process_ops series_ops = {
	.name = "series",
	.state_bytes = sizeof(struct series),
	.init = series_init,
	.step = series_step,
	.close = series_close,
};

/* ---- the master ---- */

struct master {
	struct data *data;
	bool spawned;
	uint64_t sent;	   /* messages, over all series in turn */
	uint64_t answered; /* series */
};

/* Messages of one step. */
#define CHUNK 256

SB_ACTOR_INIT(master_init, struct master)

static int spawn_line(struct data *data, struct sb_step *step, struct line *line)
{
	struct computer computer = { .data = data, .line = line };
	struct series series = { .data = data, .line = line };
	const int rc = sb_step_spawn(step, &computer_ops, "main", sb_value_ptr(&computer),
				     &line->computer);

	return rc ? rc
		  : sb_step_spawn(step, &series_ops, "main", sb_value_ptr(&series), &line->series);
}

static int spawn_all(struct master *master, struct sb_step *step)
{
	struct data *data = master->data;
	int rc = 0;

	data->master = sb_step_self(step);
	for (uint64_t i = 0; i < data->lines && !rc; i++)
		rc = spawn_line(data, step, &data->line[i]);
	master->spawned = true;
	return rc;
}

/* The last round of messages asks for the terms. */
static int send_some(struct master *master, struct sb_step *step)
{
	const struct data *data = master->data;
	const uint64_t terms = data->terms * data->lines;
	const uint64_t all = terms + data->lines;
	const uint64_t end = sb_min_u64(all, master->sent + CHUNK);
	int rc = 0;

	for (; master->sent < end && !rc; master->sent++)
		rc = sb_step_send(step, data->line[master->sent % data->lines].series,
				  sb_value_u64(master->sent < terms ? NEXT_TERM : GET_TERM));
	if (rc)
		return rc;
	return end < all ? SB_CONTINUE : SB_IDLE;
}

static int stop_all(const struct data *data, struct sb_step *step)
{
	int rc = 0;

	for (uint64_t i = 0; i < data->lines && !rc; i++) {
		rc = sb_step_send(step, data->line[i].computer, sb_value_u64(STOP));
		if (!rc)
			rc = sb_step_send(step, data->line[i].series, sb_value_u64(STOP));
	}
	return rc ? rc : SB_DONE;
}

static int master_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct master *master = state;
	struct data *data = master->data;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count; i++)
		data->answers += events[i].data.u64;
	master->answered += count;
	if (!master->spawned)
		rc = spawn_all(master, step);
	if (rc)
		return rc;
	if (master->answered == data->lines)
		return stop_all(data, step);
	return send_some(master, step);
}

SB_FAILURE_STEP(master)

static const struct sb_process_ops master_ops = {
	.name = "master",
	.state_bytes = sizeof(struct master),
	.init = master_init,
	.step = master_step,
};

/* ---- the workload ---- */

static void compute_expected(struct line *line, uint64_t terms)
{
	struct result *expected = &line->expected;

	expected->term = line->start;
	for (uint64_t i = 0; i < terms; i++) {
		expected->term = next_term(line->rate, expected->term);
		expected->sum += expected->term;
		expected->terms++;
	}
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->terms = run->param[TERMS];
	data->lines = run->param[SERIES];
	data->line = calloc(data->lines, sizeof(*data->line));
	if (!data->line)
		return -ENOMEM;
	for (uint64_t i = 0; i < data->lines; i++) {
		struct line *line = &data->line[i];

		line->rate = START_RATE + (double)i * INCREMENT;
		line->start = (double)i * INCREMENT;
		compute_expected(line, data->terms);
	}
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct master master = { .data = data };

	sb_failure_clear(run);
	data->answers = 0;
	for (uint64_t i = 0; i < data->lines; i++)
		data->line[i].result = (struct result){ .term = data->line[i].start };
	return sb_scheduler_submit(run->scheduler, &master_ops, "main", sb_value_ptr(&master),
				   NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[SERIES] * (3 * run->param[TERMS] + 2);
}

/* Bit by bit, so no == of numbers. */
static bool is_same(double a, double b)
{
	return from_term(a).u64 == from_term(b).u64;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	uint64_t answers = 0;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < data->lines; i++) {
		const struct result *is = &data->line[i].result;
		const struct result *expected = &data->line[i].expected;

		answers += from_term(expected->term).u64;
		if (is->terms == expected->terms && is_same(is->term, expected->term) &&
		    is_same(is->sum, expected->sum))
			continue;
		snprintf(why, why_bytes,
			 "series %" PRIu64 ": %" PRIu64 " terms to %a, sum %a; expected %" PRIu64
			 " to %a, sum %a",
			 i, is->terms, is->term, is->sum, expected->terms, expected->term,
			 expected->sum);
		return false;
	}
	if (data->answers == answers)
		return true;
	snprintf(why, why_bytes,
		 "the bits of the last terms that the master got add up to %" PRIx64
		 ", expected %" PRIx64,
		 data->answers, answers);
	return false;
}

static void teardown(struct sb_workload_run *run)
{
	free(((struct data *)run->data)->line);
}

const struct sb_workload sb_workload_savina_logmap = {
	.name = "savina-logmap",
	.operation = "message",
	.doc = "series of numbers whose next term another process computes",
	.source = SB_SAVINA("14: Logistic Map Series"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
