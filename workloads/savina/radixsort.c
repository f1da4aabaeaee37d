/*
 * savina-radixsort - Savina benchmark 16, Radix sort: a pipeline.
 *
 * A source sends --values numbers through --bits sorters, one for each bit from
 * the lowest up, to a collector. A sorter passes a number on at once if its bit
 * is 0; if it is 1 it keeps the number until it has seen all of them, and then
 * passes on what it kept, in order. So what leaves a sorter is sorted by all bits
 * up to its own. Each process ends when it has passed all numbers on. One
 * operation is one message: values * (bits + 1).
 *
 * As in Savina there are 60 bits (numbers below 2^60), but Savina's random
 * numbers have 16, so that the later sorters only pass on. Different from
 * Savina: source and sorters send in steps of 256 messages.
 *
 * A sorter keeps numbers in memory of its own, which its close frees.
 *
 * Check: the collector got every number of the source, each as often as it was
 * sent, in order.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"
#include "workloads/lib/values.h"

enum { VALUES, BITS };

static const struct sb_param params[] = {
	[VALUES] = { "values", 100000, 1, 1 << 26, NULL, "numbers to sort" },
	[BITS] = { "bits", 60, 16, 60, NULL, "bits of a number, sorters" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define SEED 2048

/* Messages of one step. */
#define CHUNK 256

struct data {
	struct sb_failure failure;
	uint64_t values;
	uint64_t *sorted; /* [values] the collector's */
	uint64_t collected;
	uint64_t *expected; /* [values] */
};

/* ---- the collector ---- */

struct collector {
	struct data *data;
};

SB_ACTOR_INIT(collector_init, struct collector)

static int collector_advance(void *state, struct sb_step *step, const struct sb_event *events,
			     uint32_t count)
{
	struct data *data = ((struct collector *)state)->data;

	(void)step;
	if (!sb_actor_only_messages(events, count) || count > data->values - data->collected)
		return -EPROTO;
	for (uint32_t i = 0; i < count; i++)
		data->sorted[data->collected++] = events[i].data.u64;
	return data->collected < data->values ? SB_IDLE : SB_DONE;
}

SB_FAILURE_STEP(collector)

static const struct sb_process_ops collector_ops = {
	.name = "collector",
	.state_bytes = sizeof(struct collector),
	.init = collector_init,
	.step = collector_step,
};

/* ---- a sorter ---- */

struct sorter {
	struct data *data;
	sb_pid next;
	uint64_t values; /* in all */
	uint64_t bit;
	uint64_t seen;
	uint64_t *kept;
	uint64_t kept_room;
	uint64_t kept_count;
	uint64_t kept_sent;
};

SB_ACTOR_INIT(sorter_init, struct sorter)

static void sorter_close(void *state)
{
	free(((struct sorter *)state)->kept);
}

static int keep(struct sorter *sorter, uint64_t value)
{
	if (sorter->kept_count == sorter->kept_room) {
		const uint64_t room = sorter->kept_room ? 2 * sorter->kept_room : CHUNK;
		uint64_t *kept = realloc(sorter->kept, room * sizeof(*kept));

		if (!kept)
			return -ENOMEM;
		sorter->kept = kept;
		sorter->kept_room = room;
	}
	sorter->kept[sorter->kept_count++] = value;
	return 0;
}

static int send_kept(struct sorter *sorter, struct sb_step *step)
{
	const uint64_t end = sb_min_u64(sorter->kept_count, sorter->kept_sent + CHUNK);
	int rc = 0;

	for (; sorter->kept_sent < end && !rc; sorter->kept_sent++)
		rc = sb_step_send(step, sorter->next,
				  sb_value_u64(sorter->kept[sorter->kept_sent]));
	if (rc)
		return rc;
	return end < sorter->kept_count ? SB_CONTINUE : SB_DONE;
}

static int sorter_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct sorter *sorter = state;
	int rc = 0;

	if (!sb_actor_only_messages(events, count) || count > sorter->values - sorter->seen)
		return -EPROTO;
	for (uint32_t i = 0; i < count && !rc; i++) {
		const union sb_value value = events[i].data;

		rc = value.u64 & sorter->bit ? keep(sorter, value.u64)
					     : sb_step_send(step, sorter->next, value);
	}
	sorter->seen += count;
	if (rc)
		return rc;
	return sorter->seen < sorter->values ? SB_IDLE : send_kept(sorter, step);
}

SB_FAILURE_STEP(sorter)

static const struct sb_process_ops sorter_ops = {
	.name = "sorter",
	.state_bytes = sizeof(struct sorter),
	.init = sorter_init,
	.step = sorter_step,
	.close = sorter_close,
};

/* ---- the source ---- */

struct source {
	struct data *data;
	sb_pid next;
	uint64_t values;
	uint64_t sent;
	struct sb_savina_random random;
};

SB_ACTOR_INIT(source_init, struct source)

static int source_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct source *source = state;
	const uint64_t end = sb_min_u64(source->values, source->sent + CHUNK);
	int rc = 0;

	(void)events;
	if (count)
		return -ECANCELED;
	for (; source->sent < end && !rc; source->sent++)
		rc = sb_step_send(step, source->next,
				  sb_value_u64(sb_savina_random_next(&source->random)));
	if (rc)
		return rc;
	return end < source->values ? SB_CONTINUE : SB_DONE;
}

SB_FAILURE_STEP(source)

static const struct sb_process_ops source_ops = {
	.name = "source",
	.state_bytes = sizeof(struct source),
	.init = source_init,
	.step = source_step,
};

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->sorted);
	free(data->expected);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->values = run->param[VALUES];
	data->sorted = calloc(data->values, sizeof(*data->sorted));
	data->expected = calloc(data->values, sizeof(*data->expected));
	if (!data->sorted || !data->expected) {
		teardown(run);
		return -ENOMEM;
	}
	sb_savina_values_draw(data->expected, data->values, SEED);
	if (sb_savina_values_sort(data->expected, data->values)) {
		teardown(run);
		return -ENOMEM;
	}
	return 0;
}

/* The last sorter first: each knows the next. */
static int start_sorters(struct sb_workload_run *run, sb_pid *next)
{
	int rc = 0;

	for (uint64_t bit = run->param[BITS]; bit-- && !rc;) {
		struct sorter sorter = { .data = run->data,
					 .next = *next,
					 .values = run->param[VALUES],
					 .bit = UINT64_C(1) << bit };

		rc = sb_scheduler_submit(run->scheduler, &sorter_ops, "main", sb_value_ptr(&sorter),
					 next);
	}
	return rc;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct collector collector = { .data = data };
	struct source source = { .data = data, .values = data->values };
	int rc;

	sb_failure_clear(run);
	data->collected = 0;
	sb_savina_random_seed(&source.random, SEED);
	rc = sb_scheduler_submit(run->scheduler, &collector_ops, "main", sb_value_ptr(&collector),
				 &source.next);
	if (!rc)
		rc = start_sorters(run, &source.next);
	if (!rc)
		rc = sb_scheduler_submit(run->scheduler, &source_ops, "main", sb_value_ptr(&source),
					 NULL);
	return sb_failure_started(run, rc);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[VALUES] * (run->param[BITS] + 1);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->collected == data->values)
		return sb_savina_values_check(data->sorted, data->expected, data->values, why,
					      why_bytes);
	snprintf(why, why_bytes, "%" PRIu64 " numbers collected, expected %" PRIu64,
		 data->collected, data->values);
	return false;
}

const struct sb_workload sb_workload_savina_radixsort = {
	.name = "savina-radixsort",
	.operation = "message",
	.doc = "a pipeline of processes that sorts numbers, each by one bit",
	.source = SB_SAVINA("16: Radix Sort"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
