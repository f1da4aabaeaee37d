/*
 * savina-quicksort - Savina benchmark 24, Quicksort: divide and conquer.
 *
 * A process gets a segment of the numbers. Below --threshold numbers it sorts
 * them by itself. Else it parts them into those smaller than the middle one, the
 * same, and greater, spawns a child for the smaller and one for the greater
 * ones, and waits for both; then it tells its parent how many are sorted. One
 * operation is one number that is sorted.
 *
 * Different from Savina: the numbers are parted in place, where Savina copies
 * lists; what a child answers is a count. (Savina's random numbers have 16 bits,
 * so that of the default million each comes some 15 times.) A part that is
 * empty gets a child, too, as in Savina.
 *
 * The numbers belong to the round. A process owns its segment, alone, from its
 * spawn until it has parted it, and again when both children have answered.
 *
 * Check: the numbers are those of the input, sorted (by counting), and the first
 * process has heard of as many.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/actor.h"
#include "workloads/lib/failure.h"
#include "workloads/lib/savina.h"
#include "workloads/lib/values.h"

enum { VALUES, THRESHOLD };

static const struct sb_param params[] = {
	[VALUES] = { "values", 1000000, 1, 1 << 28, NULL, "numbers to sort" },
	[THRESHOLD] = { "threshold", 2048, 1, 1 << 28, NULL,
			"numbers from which on a process has children" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

#define SEED 1024

struct data {
	struct sb_failure failure;
	uint64_t values;
	uint64_t *value; /* [values] */
	uint64_t *input;
	uint64_t *expected;
	uint64_t sorted; /* what the first process has heard */
};

/* Also the input of init, which copies it; the first has no parent. */
struct sorter {
	struct data *data;
	sb_pid parent;
	uint64_t *value;
	uint64_t n;
	uint64_t threshold;
	uint64_t sorted;
	uint32_t missing; /* children that have not answered */
	bool parted;
};

static const struct sb_process_ops sorter_ops;

SB_ACTOR_INIT(init, struct sorter)

/* ---- sorting ---- */

struct parts {
	uint64_t smaller;
	uint64_t greater; /* at the end */
};

static void swap(uint64_t *a, uint64_t *b)
{
	const uint64_t kept = *a;

	*a = *b;
	*b = kept;
}

/* Around the one in the middle: smaller ones first, then the same, then greater
 * ones. n > 0. */
static struct parts part(uint64_t *value, uint64_t n)
{
	const uint64_t pivot = value[n / 2];
	uint64_t smaller = 0;
	uint64_t same_end = 0;
	uint64_t greater = n; /* where these begin */

	while (same_end < greater) {
		if (value[same_end] < pivot)
			swap(&value[smaller++], &value[same_end++]);
		else if (value[same_end] > pivot)
			swap(&value[same_end], &value[--greater]);
		else
			same_end++;
	}
	return (struct parts){ smaller, n - greater };
}

struct segment {
	uint64_t *value;
	uint64_t n;
};

/* The greater part waits and the smaller one is next, so that no more than 64
 * wait. */
static void sort(struct segment now)
{
	struct segment waiting[64];
	uint32_t waits = 0;

	for (;;) {
		while (now.n > 1) {
			const struct parts parts = part(now.value, now.n);
			struct segment small = { now.value, parts.smaller };
			struct segment large = { now.value + now.n - parts.greater, parts.greater };
			const bool is_swapped = small.n > large.n;

			waiting[waits++] = is_swapped ? small : large;
			now = is_swapped ? large : small;
		}
		if (!waits)
			return;
		now = waiting[--waits];
	}
}

/* ---- the process ---- */

static int answer(const struct sorter *sorter, struct sb_step *step)
{
	int rc;

	if (!sorter->parent) {
		sorter->data->sorted = sorter->sorted;
		return SB_DONE;
	}
	rc = sb_step_send(step, sorter->parent, sb_value_u64(sorter->sorted));
	return rc ? rc : SB_DONE;
}

static int spawn_child(const struct sorter *sorter, struct sb_step *step, uint64_t *value,
		       uint64_t n)
{
	struct sorter child = { .data = sorter->data,
				.parent = sb_step_self(step),
				.value = value,
				.n = n,
				.threshold = sorter->threshold };

	return sb_step_spawn(step, &sorter_ops, "main", sb_value_ptr(&child), NULL);
}

static int part_and_spawn(struct sorter *sorter, struct sb_step *step)
{
	const struct parts parts = part(sorter->value, sorter->n);
	int rc = spawn_child(sorter, step, sorter->value, parts.smaller);

	if (!rc)
		rc = spawn_child(sorter, step, sorter->value + sorter->n - parts.greater,
				 parts.greater);
	sorter->sorted = sorter->n - parts.smaller - parts.greater;
	sorter->parted = true;
	sorter->missing = 2;
	return rc ? rc : SB_IDLE;
}

static int sorter_advance(void *state, struct sb_step *step, const struct sb_event *events,
			  uint32_t count)
{
	struct sorter *sorter = state;

	if (!sb_actor_only_messages(events, count))
		return -ECANCELED;
	if (sorter->n < sorter->threshold || sorter->n == 0) {
		sort((struct segment){ sorter->value, sorter->n });
		sorter->sorted = sorter->n;
		return answer(sorter, step);
	}
	if (!sorter->parted)
		return part_and_spawn(sorter, step);
	for (uint32_t i = 0; i < count; i++)
		sorter->sorted += events[i].data.u64;
	sorter->missing -= count;
	return sorter->missing ? SB_IDLE : answer(sorter, step);
}

SB_FAILURE_STEP(sorter)

static const struct sb_process_ops sorter_ops = {
	.name = "sorter",
	.state_bytes = sizeof(struct sorter),
	.init = init,
	.step = sorter_step,
};

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->value);
	free(data->input);
	free(data->expected);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t bytes = run->param[VALUES] * sizeof(*data->value);

	data->values = run->param[VALUES];
	data->value = malloc(bytes);
	data->input = malloc(bytes);
	data->expected = malloc(bytes);
	if (!data->value || !data->input || !data->expected) {
		teardown(run);
		return -ENOMEM;
	}
	sb_savina_values_draw(data->input, data->values, SEED);
	memcpy(data->expected, data->input, bytes);
	if (sb_savina_values_sort(data->expected, data->values)) {
		teardown(run);
		return -ENOMEM;
	}
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;
	struct sorter first = { .data = data,
				.value = data->value,
				.n = data->values,
				.threshold = run->param[THRESHOLD] };

	sb_failure_clear(run);
	data->sorted = 0;
	memcpy(data->value, data->input, data->values * sizeof(*data->value));
	return sb_scheduler_submit(run->scheduler, &sorter_ops, "main", sb_value_ptr(&first), NULL);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[VALUES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_failure_check(run, why, why_bytes))
		return false;
	if (data->sorted == data->values)
		return sb_savina_values_check(data->value, data->expected, data->values, why,
					      why_bytes);
	snprintf(why, why_bytes,
		 "the first process has heard of %" PRIu64 " numbers, expected %" PRIu64,
		 data->sorted, data->values);
	return false;
}

const struct sb_workload sb_workload_savina_quicksort = {
	.name = "savina-quicksort",
	.operation = "number",
	.doc = "quicksort with processes for the parts, down to a threshold",
	.source = SB_SAVINA("24: Quicksort"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
