/*
 * savina-bndbuffer - Savina benchmark 10, Producer-Consumer with Bounded Buffer.
 *
 * Producers make items and consumers use them; both compute for it, so many
 * hundreds of logarithms. A manager keeps what nobody has used yet. It gives an
 * item to the consumer that has waited longest, and tells the producer to go on,
 * unless the buffer has no more than one place left for each producer: then that
 * one is paused until an item leaves. One operation is one item, and costs four
 * messages.
 *
 * Check: every item was used exactly once; its value is what its producer's
 * computation, repeated here, gives; and the buffer never had more items than
 * places (a manager that would put in one more fails).
 *
 * The buffer is as many places as there are producers and --spare more: 40 and
 * 10, which are Savina's 50. A round is 100 items of each producer instead of
 * Savina's 1000, because it takes two seconds of computing otherwise; --items
 * 1000 is Savina's. Random numbers are xorshift64*.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/lib/savina.h"

enum { PRODUCERS, CONSUMERS, ITEMS, SPARE, PRODUCE_COST, CONSUME_COST };
enum { MANAGER, PRODUCER, CONSUMER };
enum {
	PRODUCE = SB_SAVINA_START + 1,
	ITEM,
	AVAILABLE,
	PRODUCER_EXIT,
	CONSUMER_EXIT,
};

static const struct sb_param params[] = {
	[PRODUCERS] = { "producers", 40, 1, 65536, NULL, "processes that make items" },
	[CONSUMERS] = { "consumers", 40, 1, 65536, NULL, "processes that use them" },
	[ITEMS] = { "items", 100, 1, 1 << 20, NULL, "items of each producer" },
	[SPARE] = { "spare", 10, 1, 1 << 20, NULL,
		    "places of the buffer besides one for each producer" },
	[PRODUCE_COST] = { "produce-cost", 25, 0, 1 << 20, NULL,
			   "hundreds of logarithms to make an item" },
	[CONSUME_COST] = { "consume-cost", 25, 0, 1 << 20, NULL,
			   "hundreds of logarithms to use one" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_savina_round round;
	struct sb_savina_fifo buffer;	 /* of items */
	struct sb_savina_fifo consumers; /* that wait */
	struct sb_savina_fifo producers; /* that are paused */
	/* Item i of producer p is number p * ITEMS + i. */
	double *item;	/* its value */
	uint8_t *uses;	/* how often it was used */
	double *values; /* [ITEMS], what each producer's items must be */
};

static uint64_t all_items(const uint64_t *param)
{
	return param[PRODUCERS] * param[ITEMS];
}

static double compute(double value, uint64_t cost)
{
	struct sb_rng rng;

	sb_rng_seed(&rng, cost);
	for (uint64_t i = cost ? 100 * cost : 1; i; i--) {
		const double drawn = (double)(sb_rng_next(&rng) >> 11) * 0x1p-53;

		value += log(drawn + 0.01);
	}
	return value;
}

/* ---- the manager ---- */

struct manager {
	struct sb_savina_process self;
	uint64_t producers_ended;
};

static int tell(struct manager *m, struct sb_step *step, uint64_t producer)
{
	return sb_savina_send(&m->self, step, PRODUCER, producer, sb_savina_message(PRODUCE, 0));
}

static int give(struct manager *m, struct sb_step *step, uint64_t consumer, uint64_t item)
{
	return sb_savina_send(&m->self, step, CONSUMER, consumer, sb_savina_message(ITEM, item));
}

static int on_item(struct manager *m, struct sb_step *step, uint64_t item)
{
	struct data *data = (struct data *)m->self.round;
	const uint64_t *param = m->self.round->param;
	const uint64_t producer = item / param[ITEMS];
	int rc;

	if (sb_savina_fifo_length(&data->consumers))
		rc = give(m, step, sb_savina_fifo_take(&data->consumers), item);
	else
		rc = sb_savina_fifo_put(&data->buffer, item);
	if (rc)
		return rc;
	if (sb_savina_fifo_length(&data->buffer) >= param[SPARE])
		rc = sb_savina_fifo_put(&data->producers, producer);
	else
		rc = tell(m, step, producer);
	return sb_savina_idle(rc);
}

/* The end: every producer has gone and every consumer waits. */
static int end_if_over(struct manager *m, struct sb_step *step)
{
	struct data *data = (struct data *)m->self.round;
	const uint64_t *param = m->self.round->param;

	if (m->producers_ended < param[PRODUCERS] ||
	    sb_savina_fifo_length(&data->consumers) < param[CONSUMERS])
		return SB_IDLE;
	return sb_savina_done(
		sb_savina_send_all(&m->self, step, CONSUMER, sb_savina_message(CONSUMER_EXIT, 0)));
}

static int on_available(struct manager *m, struct sb_step *step, uint64_t consumer)
{
	struct data *data = (struct data *)m->self.round;
	int rc;

	if (!sb_savina_fifo_length(&data->buffer)) {
		rc = sb_savina_fifo_put(&data->consumers, consumer);
		return rc ? rc : end_if_over(m, step);
	}
	rc = give(m, step, consumer, sb_savina_fifo_take(&data->buffer));
	if (!rc && sb_savina_fifo_length(&data->producers))
		rc = tell(m, step, sb_savina_fifo_take(&data->producers));
	return sb_savina_idle(rc);
}

static int begin(struct manager *m, struct sb_step *step)
{
	struct data *data = (struct data *)m->self.round;
	int rc = 0;

	for (uint64_t i = 0; i < m->self.round->param[CONSUMERS] && !rc; i++)
		rc = sb_savina_fifo_put(&data->consumers, i);
	return rc ? rc
		  : sb_savina_idle(sb_savina_send_all(&m->self, step, PRODUCER,
						      sb_savina_message(PRODUCE, 0)));
}

static int manager_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct manager *m = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		return begin(m, step);
	case ITEM:
		return on_item(m, step, sb_savina_number(message));
	case AVAILABLE:
		return on_available(m, step, sb_savina_number(message));
	default:
		m->producers_ended++;
		return end_if_over(m, step);
	}
}

/* ---- producers and consumers ---- */

struct producer {
	struct sb_savina_process self;
	uint64_t items;
	double value;
};

static int producer_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct producer *p = state;
	struct data *data = (struct data *)p->self.round;
	const uint64_t *param = p->self.round->param;
	const uint64_t item = p->self.id * param[ITEMS] + p->items;

	sb_savina_expect(&p->self, sb_savina_kind(message) == PRODUCE);
	if (p->items == param[ITEMS])
		return sb_savina_done(sb_savina_send(&p->self, step, MANAGER, 0,
						     sb_savina_message(PRODUCER_EXIT, 0)));
	p->items++;
	p->value = compute(p->value, param[PRODUCE_COST]);
	data->item[item] = p->value;
	return sb_savina_idle(
		sb_savina_send(&p->self, step, MANAGER, 0, sb_savina_message(ITEM, item)));
}

struct consumer {
	struct sb_savina_process self;
	double value;
};

static int consumer_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct consumer *c = state;
	struct data *data = (struct data *)c->self.round;
	const uint64_t *param = c->self.round->param;
	const uint64_t item = sb_savina_number(message);

	if (sb_savina_kind(message) == CONSUMER_EXIT)
		return SB_DONE;
	c->value = compute(c->value + data->item[item], param[CONSUME_COST]);
	data->uses[item]++;
	return sb_savina_idle(sb_savina_send(&c->self, step, MANAGER, 0,
					     sb_savina_message(AVAILABLE, c->self.id)));
}

SB_SAVINA_PROCESS(manager, NULL);
SB_SAVINA_PROCESS(producer, NULL);
SB_SAVINA_PROCESS(consumer, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_savina_fifo_fini(&data->buffer);
	sb_savina_fifo_fini(&data->consumers);
	sb_savina_fifo_fini(&data->producers);
	free(data->item);
	free(data->uses);
	free(data->values);
	sb_savina_tear_down(run);
}

static int allocate(struct data *data, const uint64_t *param)
{
	int rc = sb_savina_fifo_init(&data->buffer, param[PRODUCERS] + param[SPARE]);

	if (!rc)
		rc = sb_savina_fifo_init(&data->consumers, param[CONSUMERS]);
	if (!rc)
		rc = sb_savina_fifo_init(&data->producers, param[PRODUCERS]);
	data->item = calloc(all_items(param), sizeof(*data->item));
	data->uses = calloc(all_items(param), sizeof(*data->uses));
	data->values = calloc(param[ITEMS], sizeof(*data->values));
	return rc || !data->item || !data->uses || !data->values ? -ENOMEM : 0;
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t *param = run->param;
	const struct sb_savina_group group[] = {
		[MANAGER] = { .ops = &manager_ops, .processes = 1 },
		[PRODUCER] = { .ops = &producer_ops, .processes = param[PRODUCERS] },
		[CONSUMER] = { .ops = &consumer_ops, .processes = param[CONSUMERS] },
	};
	int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));
	double value = 0;

	if (rc)
		return rc;
	rc = allocate(data, param);
	if (rc) {
		teardown(run);
		return rc;
	}
	for (uint64_t i = 0; i < param[ITEMS]; i++) {
		value = compute(value, param[PRODUCE_COST]);
		data->values[i] = value;
	}
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_savina_fifo_empty(&data->buffer);
	sb_savina_fifo_empty(&data->consumers);
	sb_savina_fifo_empty(&data->producers);
	memset(data->uses, 0, all_items(run->param));
	for (uint64_t i = 0; i < all_items(run->param); i++)
		data->item[i] = 0;
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return all_items(run->param);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < all_items(run->param); i++) {
		const double value = data->values[i % run->param[ITEMS]];

		/* The same additions in the same order: no rounding differs. */
		if (data->uses[i] == 1 && data->item[i] == value)
			continue;
		snprintf(why, why_bytes,
			 "item %" PRIu64 ": used %u times, value %g, expected once and %g", i,
			 data->uses[i], data->item[i], value);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_bndbuffer = {
	.name = "savina-bndbuffer",
	.operation = "item",
	.doc = "producers and consumers around a bounded buffer (Savina 10, Producer-Consumer)",
	.source = SB_SAVINA("10: Producer-Consumer with Bounded Buffer"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
