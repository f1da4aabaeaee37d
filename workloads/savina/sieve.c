/*
 * savina-sieve - Savina benchmark 18, Sieve of Eratosthenes: a growing pipeline.
 *
 * A producer sends the odd numbers from 3 to below --below to a first filter,
 * then an end. A filter knows up to --primes-per-filter primes, the first one
 * those from 2 on. It drops a number that one of its primes divides; otherwise
 * the number is new to it: it passes it on, or, if it is the last filter, keeps
 * it as a prime, or, if it has no room, spawns the next filter, which begins with
 * that prime. At the end a filter adds what it has to the result, passes the end
 * on, and is done. One operation is one number that the producer sends.
 *
 * Different from Savina: the producer sends in steps of 256 numbers.
 *
 * A filter keeps primes in memory of its own, which its close frees.
 *
 * Check: number and sum of all primes are those that a table of composites
 * gives, and there are as many filters as they need.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"

enum { BELOW, PRIMES_PER_FILTER };

static const struct sb_param params[] = {
	[BELOW] = { "below", 100000, 4, 1 << 28, NULL, "bound of the numbers that are looked at" },
	[PRIMES_PER_FILTER] = { "primes-per-filter", 1000, 1, 1 << 20, NULL,
				"most primes that one process knows" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* A message is a number, or: */
#define END UINT64_C(0)

/* Messages of one step. */
#define CHUNK 256

struct result {
	uint64_t primes;
	uint64_t sum;
	uint64_t filters;
};

struct data {
	struct sb_failure failure;
	uint32_t below;
	uint32_t room; /* of a filter */
	_Atomic(uint64_t) primes;
	_Atomic(uint64_t) sum;
	_Atomic(uint64_t) filters;
	struct result expected;
};

/* ---- a filter ---- */

/* As init's input, with prime[] not yet there: first is in it. */
struct filter {
	struct data *data;
	uint32_t first;
	uint32_t primes;
	uint32_t *prime; /* [data->room] */
	sb_pid next;	 /* 0: it is the last one */
};

static const struct sb_process_ops filter_ops;

static int filter_init(void *state, const char *method, union sb_value input)
{
	struct filter *filter = state;

	if (strcmp(method, "main"))
		return -ENOTSUP;
	*filter = *(const struct filter *)input.ptr;
	filter->prime = malloc(filter->data->room * sizeof(*filter->prime));
	if (!filter->prime)
		return -ENOMEM;
	filter->prime[filter->primes++] = filter->first;
	return 0;
}

static void filter_close(void *state)
{
	free(((struct filter *)state)->prime);
}

static bool is_divisible(const struct filter *filter, uint32_t number)
{
	for (uint32_t i = 0; i < filter->primes; i++) {
		if (number % filter->prime[i] == 0)
			return true;
	}
	return false;
}

static int on_number(struct filter *filter, struct sb_step *step, uint32_t number)
{
	struct filter next = { .data = filter->data, .first = number };

	if (is_divisible(filter, number))
		return 0;
	if (filter->next)
		return sb_step_send(step, filter->next, sb_value_u64(number));
	if (filter->primes == filter->data->room)
		return sb_step_spawn(step, &filter_ops, "main", sb_value_ptr(&next), &filter->next);
	filter->prime[filter->primes++] = number;
	return 0;
}

static int on_end(const struct filter *filter, struct sb_step *step)
{
	struct data *data = filter->data;
	uint64_t sum = 0;
	int rc = 0;

	for (uint32_t i = 0; i < filter->primes; i++)
		sum += filter->prime[i];
	sb_add_rlx(&data->primes, filter->primes);
	sb_add_rlx(&data->sum, sum);
	sb_add_rlx(&data->filters, 1);
	if (filter->next)
		rc = sb_step_send(step, filter->next, sb_value_u64(END));
	return rc ? rc : SB_DONE;
}

static int filter_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct filter *filter = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (events[i].data.u64 == END)
			return on_end(filter, step);
		rc = on_number(filter, step, (uint32_t)events[i].data.u64);
	}
	return rc ? rc : SB_IDLE;
}

SB_FAILURE_STEP(filter)

static const struct sb_process_ops filter_ops = {
	.name = "filter",
	.state_bytes = sizeof(struct filter),
	.init = filter_init,
	.step = filter_step,
	.close = filter_close,
};

/* ---- the producer ---- */

struct producer {
	struct data *data;
	sb_pid first;
	uint32_t below;
	uint32_t number;
};

SB_ACTOR_INIT(producer_init, struct producer)

static int producer_advance(void *state, struct sb_step *step, const struct sb_event *events,
			    uint32_t count)
{
	struct producer *producer = state;
	const uint64_t end = sb_min_u64(producer->below, producer->number + 2 * CHUNK);
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	for (; producer->number < end && !rc; producer->number += 2)
		rc = sb_step_send(step, producer->first, sb_value_u64(producer->number));
	if (!rc && end < producer->below)
		return SB_CONTINUE;
	if (!rc)
		rc = sb_step_send(step, producer->first, sb_value_u64(END));
	return rc ? rc : SB_DONE;
}

SB_FAILURE_STEP(producer)

static const struct sb_process_ops producer_ops = {
	.name = "producer",
	.state_bytes = sizeof(struct producer),
	.init = producer_init,
	.step = producer_step,
};

/* ---- the workload ---- */

static void cross_out(bool *composite, uint64_t below, uint64_t prime)
{
	for (uint64_t i = prime * prime; i < below; i += prime)
		composite[i] = true;
}

static int compute_expected(struct data *data)
{
	struct result *expected = &data->expected;
	bool *composite = calloc(data->below, sizeof(*composite));

	if (!composite)
		return -ENOMEM;
	for (uint64_t i = 2; i < data->below; i++) {
		if (composite[i])
			continue;
		expected->primes++;
		expected->sum += i;
		cross_out(composite, data->below, i);
	}
	free(composite);
	expected->filters = (expected->primes + data->room - 1) / data->room;
	return 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->below = (uint32_t)run->param[BELOW];
	data->room = (uint32_t)run->param[PRIMES_PER_FILTER];
	return compute_expected(data);
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct filter first = { .data = data, .first = 2 };
	struct producer producer = { .data = data, .below = data->below, .number = 3 };
	int rc;

	sb_failure_clear(run);
	sb_store_rlx(&data->primes, 0);
	sb_store_rlx(&data->sum, 0);
	sb_store_rlx(&data->filters, 0);
	rc = sb_scheduler_submit(run->scheduler, &filter_ops, "main", sb_value_ptr(&first),
				 &producer.first);
	if (!rc)
		rc = sb_scheduler_submit(run->scheduler, &producer_ops, "main",
					 sb_value_ptr(&producer), NULL);
	return sb_failure_started(run, rc);
}

/* The odd ones from 3 on. */
static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[BELOW] / 2 - 1;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	struct data *data = run->data;
	const struct result is = { .primes = sb_load_rlx(&data->primes),
				   .sum = sb_load_rlx(&data->sum),
				   .filters = sb_load_rlx(&data->filters) };
	const struct result *expected = &data->expected;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (is.primes == expected->primes && is.sum == expected->sum &&
	    is.filters == expected->filters)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " primes, sum %" PRIu64 ", %" PRIu64 " filters; expected %" PRIu64
		 ", %" PRIu64 ", %" PRIu64,
		 is.primes, is.sum, is.filters, expected->primes, expected->sum, expected->filters);
	return false;
}

const struct sb_workload sb_workload_savina_sieve = {
	.name = "savina-sieve",
	.operation = "number",
	.doc = "primes by a growing chain of processes that filter numbers",
	.source = SB_SAVINA("18: Sieve of Eratosthenes"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
};
