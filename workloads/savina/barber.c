/*
 * savina-barber - Savina benchmark 12, Sleeping Barber.
 *
 * A factory makes customers, waiting a random time after each, and sends them to
 * a waiting room with so many seats. Who finds no seat goes back to the factory,
 * which sends it again. The room wakes the barber when he sleeps; he takes a
 * random time for each customer and asks the room for the next. A customer that
 * has been served tells the factory and ends; after the last, all end. The times
 * are draws of a random number: 10 to --make-time (--cut-time) + 9 of them. One
 * operation is one haircut.
 *
 * Check: every customer was served exactly once, first to the chair and then
 * done; the barber has cut as often; the room never had more customers than
 * seats (one that would let in one more fails); and as many came back as it had
 * turned away.
 *
 * Differences to Savina: the factory makes one customer in a step and continues,
 * so that it hears of those that come back meanwhile. The draws that make up the
 * times are xorshift64*, a nanosecond each. And the room ends only when the
 * barber has asked it for the last time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/lib/savina.h"

enum { HAIRCUTS, SEATS, MAKE_TIME, CUT_TIME };
enum { FACTORY, ROOM, BARBER, CUSTOMER };
enum {
	ENTER = SB_SAVINA_START + 1,
	FULL,
	WAIT,
	NEXT,
	SERVED,
	DONE,
	RETURNED,
	EXIT,
};

static const struct sb_param params[] = {
	[HAIRCUTS] = { "haircuts", 5000, 1, 1 << 23, NULL, "customers" },
	[SEATS] = { "seats", 1000, 1, 1 << 23, NULL, "seats of the waiting room" },
	[MAKE_TIME] = { "make-time", 1000, 1, 65536, NULL,
			"range of the draws between two customers" },
	[CUT_TIME] = { "cut-time", 1000, 1, 65536, NULL,
		       "range of the draws that a haircut takes" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct data {
	struct sb_savina_round round;
	struct sb_savina_fifo seats;
	uint64_t haircuts; /* the barber's count */
	uint64_t turned_away;
	uint64_t came_back;
	uint8_t *served; /* [HAIRCUTS], how often each customer was */
};

/* Somebody who takes random times. */
struct clock {
	struct sb_savina_random random;
	struct sb_rng rng;
};

static void clock_init(struct clock *clock)
{
	sb_savina_random_seed(&clock->random, SB_SAVINA_SEED);
	sb_rng_seed(&clock->rng, SB_SAVINA_SEED);
}

static void take_time(struct clock *clock, uint64_t range)
{
	sb_savina_busy_wait(&clock->rng,
			    sb_savina_random_below(&clock->random, (uint32_t)range) + 10);
}

/* ---- a customer ---- */

struct customer {
	struct sb_savina_process self;
	bool is_in_chair;
};

static int customer_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct customer *c = state;
	const uint64_t id = c->self.id;

	switch (sb_savina_kind(message)) {
	case FULL:
		return sb_savina_idle(sb_savina_send(&c->self, step, FACTORY, 0,
						     sb_savina_message(RETURNED, id)));
	case SERVED:
		sb_savina_expect(&c->self, !c->is_in_chair);
		c->is_in_chair = true;
		return SB_IDLE;
	case DONE:
		sb_savina_expect(&c->self, c->is_in_chair);
		((struct data *)c->self.round)->served[id]++;
		return sb_savina_done(
			sb_savina_send(&c->self, step, FACTORY, 0, sb_savina_message(DONE, id)));
	default: /* WAIT */
		sb_savina_expect(&c->self, !c->is_in_chair);
		return SB_IDLE;
	}
}

SB_SAVINA_PROCESS(customer, NULL);

/* ---- the factory ---- */

struct factory {
	struct sb_savina_process self;
	struct clock clock;
	bool works;
	uint64_t made;
	uint64_t served;
	uint64_t came_back;
};

static int send_in(struct factory *f, struct sb_step *step, uint64_t customer)
{
	return sb_savina_send(&f->self, step, ROOM, 0, sb_savina_message(ENTER, customer));
}

static int make_customer(struct factory *f, struct sb_step *step)
{
	struct sb_savina_process customer = { f->self.round, f->made };
	sb_pid *pid = &f->self.round->group[CUSTOMER].pid[f->made];
	const int rc = sb_step_spawn(step, &customer_ops, "main", sb_value_ptr(&customer), pid);

	if (rc)
		return rc;
	return send_in(f, step, f->made++);
}

static int factory_go_on(void *state, struct sb_step *step)
{
	struct factory *f = state;
	const uint64_t *param = f->self.round->param;
	int rc;

	if (!f->works)
		return SB_IDLE;
	rc = make_customer(f, step);
	take_time(&f->clock, param[MAKE_TIME]);
	f->works = f->made < param[HAIRCUTS];
	if (rc)
		return rc;
	return f->works ? SB_CONTINUE : SB_IDLE;
}

static int count_served(struct factory *f, struct sb_step *step)
{
	if (++f->served < f->self.round->param[HAIRCUTS])
		return SB_IDLE;
	((struct data *)f->self.round)->came_back = f->came_back;
	return sb_savina_done(sb_savina_send(&f->self, step, ROOM, 0, sb_savina_message(EXIT, 0)));
}

static int factory_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct factory *f = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		clock_init(&f->clock);
		f->works = true;
		return SB_IDLE;
	case RETURNED:
		f->came_back++;
		return sb_savina_idle(send_in(f, step, sb_savina_number(message)));
	default: /* DONE */
		return count_served(f, step);
	}
}

/* After a failure, nobody else would end its customers. */
static void factory_close(void *state)
{
	const struct factory *f = state;

	for (uint64_t i = 0; i < f->made && f->served < f->made; i++)
		sb_scheduler_terminate(f->self.round->scheduler,
				       sb_savina_pid(&f->self, CUSTOMER, i));
}

SB_SAVINA_PROCESS(factory, factory_go_on, .close = factory_close);

/* ---- the waiting room ---- */

struct room {
	struct sb_savina_process self;
	bool barber_works; /* or the request for the next is on its way */
	bool closes;
	uint64_t turned_away;
};

static int tell_customer(struct room *r, struct sb_step *step, uint64_t customer, uint32_t kind)
{
	return sb_savina_idle(
		sb_savina_send(&r->self, step, CUSTOMER, customer, sb_savina_message(kind, 0)));
}

static int tell_barber(struct room *r, struct sb_step *step, union sb_value message)
{
	return sb_savina_send(&r->self, step, BARBER, 0, message);
}

static int enter(struct room *r, struct sb_step *step, uint64_t customer)
{
	struct data *data = (struct data *)r->self.round;
	int rc;

	if (sb_savina_fifo_length(&data->seats) == r->self.round->param[SEATS]) {
		r->turned_away++;
		return tell_customer(r, step, customer, FULL);
	}
	rc = sb_savina_fifo_put(&data->seats, customer);
	if (rc)
		return rc;
	if (r->barber_works)
		return tell_customer(r, step, customer, WAIT);
	r->barber_works = true;
	return sb_savina_idle(sb_step_send(step, step->self, sb_savina_message(NEXT, 0)));
}

static int end_room(struct room *r, struct sb_step *step)
{
	((struct data *)r->self.round)->turned_away = r->turned_away;
	return sb_savina_done(tell_barber(r, step, sb_savina_message(EXIT, 0)));
}

static int next(struct room *r, struct sb_step *step)
{
	struct data *data = (struct data *)r->self.round;

	if (sb_savina_fifo_length(&data->seats))
		return sb_savina_idle(tell_barber(
			r, step, sb_savina_message(ENTER, sb_savina_fifo_take(&data->seats))));
	r->barber_works = false;
	if (r->closes)
		return end_room(r, step);
	return sb_savina_idle(tell_barber(r, step, sb_savina_message(WAIT, 0)));
}

static int room_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct room *r = state;

	switch (sb_savina_kind(message)) {
	case ENTER:
		return enter(r, step, sb_savina_number(message));
	case NEXT:
		return next(r, step);
	default: /* EXIT */
		r->closes = true;
		return r->barber_works ? SB_IDLE : end_room(r, step);
	}
}

SB_SAVINA_PROCESS(room, NULL);

/* ---- the barber ---- */

struct barber {
	struct sb_savina_process self;
	struct clock clock;
	uint64_t haircuts;
};

static int cut(struct barber *b, struct sb_step *step, uint64_t customer)
{
	int rc;

	if (!b->haircuts)
		clock_init(&b->clock);
	rc = sb_savina_send(&b->self, step, CUSTOMER, customer, sb_savina_message(SERVED, 0));
	if (rc)
		return rc;
	take_time(&b->clock, b->self.round->param[CUT_TIME]);
	b->haircuts++;
	rc = sb_savina_send(&b->self, step, CUSTOMER, customer, sb_savina_message(DONE, 0));
	return rc ? rc
		  : sb_savina_idle(
			    sb_savina_send(&b->self, step, ROOM, 0, sb_savina_message(NEXT, 0)));
}

static int barber_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct barber *b = state;

	switch (sb_savina_kind(message)) {
	case ENTER:
		return cut(b, step, sb_savina_number(message));
	case WAIT:
		return SB_IDLE;
	default: /* EXIT */
		((struct data *)b->self.round)->haircuts = b->haircuts;
		return SB_DONE;
	}
}

SB_SAVINA_PROCESS(barber, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_savina_fifo_fini(&data->seats);
	free(data->served);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t customers = run->param[HAIRCUTS];
	const struct sb_savina_group group[] = {
		[FACTORY] = { .ops = &factory_ops, .processes = 1 },
		[ROOM] = { .ops = &room_ops, .processes = 1 },
		[BARBER] = { .ops = &barber_ops, .processes = 1 },
		[CUSTOMER] = { .ops = &customer_ops, .processes = customers, .is_spawned = true },
	};
	int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	rc = sb_savina_fifo_init(&data->seats, run->param[SEATS]);
	data->served = calloc(customers, sizeof(*data->served));
	if (!rc && data->served)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_savina_fifo_empty(&data->seats);
	data->haircuts = 0;
	data->turned_away = 0;
	data->came_back = 0;
	memset(data->served, 0, run->param[HAIRCUTS]);
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[HAIRCUTS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[HAIRCUTS]; i++) {
		if (data->served[i] == 1)
			continue;
		snprintf(why, why_bytes, "customer %" PRIu64 " was served %u times", i,
			 data->served[i]);
		return false;
	}
	if (data->haircuts == run->param[HAIRCUTS] && data->came_back == data->turned_away)
		return true;
	snprintf(why, why_bytes,
		 "%" PRIu64 " haircuts, expected %" PRIu64 "; %" PRIu64
		 " customers turned away, %" PRIu64 " came back",
		 data->haircuts, run->param[HAIRCUTS], data->turned_away, data->came_back);
	return false;
}

const struct sb_workload sb_workload_savina_barber = {
	.name = "savina-barber",
	.operation = "haircut",
	.doc = "customers wait for a barber in a room with few seats (Savina 12, Sleeping Barber)",
	.source = SB_SAVINA("12: Sleeping Barber"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
