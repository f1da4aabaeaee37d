/*
 * savina-philosopher - Savina benchmark 11, Dining Philosophers.
 *
 * Philosophers ask an arbiter for the forks at their sides. Who is denied them
 * asks again at once; who gets them eats, gives them back and sends itself a
 * message to begin the next round. One operation is one meal: four messages, and
 * two for each time that it was denied.
 *
 * Check: the philosopher that gives forks back is the one that got both of them last, so
 * no fork was in two hands; in the end all forks are on the table, every
 * philosopher has had all of its meals, and the arbiter has denied as often as
 * they were denied.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { PHILOSOPHERS, MEALS };
enum { ARBITER, PHILOSOPHER };
enum { HUNGRY = SB_SAVINA_START + 1, EAT, DENIED, DONE, EXIT };

static const struct sb_param params[] = {
	[PHILOSOPHERS] = { "philosophers", 20, 2, 1 << 20, NULL, "philosophers, and forks" },
	[MEALS] = { "meals", 10000, 1, UINT32_MAX, NULL, "meals of each" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t meals;
	uint64_t denied;
};

struct data {
	struct sb_savina_round round;
	struct result arbiter;
	struct result *result; /* [PHILOSOPHERS] */
	uint64_t *holder;      /* [PHILOSOPHERS], who has the fork, + 1; 0: nobody */
};

/* ---- the arbiter ---- */

struct arbiter {
	struct sb_savina_process self;
	struct result is;
	uint64_t ended;
};

static uint64_t *left_fork(struct arbiter *a, uint64_t philosopher)
{
	return &((struct data *)a->self.round)->holder[philosopher];
}

static uint64_t *right_fork(struct arbiter *a, uint64_t philosopher)
{
	const uint64_t forks = a->self.round->param[PHILOSOPHERS];

	return left_fork(a, (philosopher + 1) % forks);
}

static int on_hungry(struct arbiter *a, struct sb_step *step, uint64_t philosopher)
{
	uint64_t *left = left_fork(a, philosopher);
	uint64_t *right = right_fork(a, philosopher);
	uint32_t kind = EAT;

	if (*left || *right) {
		kind = DENIED;
		a->is.denied++;
	} else {
		*left = philosopher + 1;
		*right = philosopher + 1;
		a->is.meals++;
	}
	return sb_savina_idle(sb_savina_send(&a->self, step, PHILOSOPHER, philosopher,
					     sb_savina_message(kind, 0)));
}

static int on_done(struct arbiter *a, uint64_t philosopher)
{
	uint64_t *left = left_fork(a, philosopher);
	uint64_t *right = right_fork(a, philosopher);

	sb_savina_expect(&a->self, *left == philosopher + 1 && *right == philosopher + 1);
	*left = 0;
	*right = 0;
	return SB_IDLE;
}

static int on_exit_of_one(struct arbiter *a)
{
	const uint64_t philosophers = a->self.round->param[PHILOSOPHERS];

	if (++a->ended < philosophers)
		return SB_IDLE;
	for (uint64_t i = 0; i < philosophers; i++)
		sb_savina_expect(&a->self, !*left_fork(a, i));
	((struct data *)a->self.round)->arbiter = a->is;
	return SB_DONE;
}

static int arbiter_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct arbiter *a = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		return sb_savina_idle(sb_savina_send_all(&a->self, step, PHILOSOPHER, message));
	case HUNGRY:
		return on_hungry(a, step, sb_savina_number(message));
	case DONE:
		return on_done(a, sb_savina_number(message));
	default:
		return on_exit_of_one(a);
	}
}

/* ---- a philosopher ---- */

struct philosopher {
	struct sb_savina_process self;
	struct result is;
};

static int say(struct philosopher *p, struct sb_step *step, uint32_t kind)
{
	return sb_savina_send(&p->self, step, ARBITER, 0, sb_savina_message(kind, p->self.id));
}

static int eat(struct philosopher *p, struct sb_step *step)
{
	int rc = say(p, step, DONE);

	p->is.meals++;
	if (rc)
		return rc;
	if (p->is.meals < p->self.round->param[MEALS])
		return sb_savina_idle(
			sb_step_send(step, step->self, sb_savina_message(SB_SAVINA_START, 0)));
	((struct data *)p->self.round)->result[p->self.id] = p->is;
	return sb_savina_done(say(p, step, EXIT));
}

static int philosopher_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct philosopher *p = state;
	const uint32_t kind = sb_savina_kind(message);

	if (kind == EAT)
		return eat(p, step);
	p->is.denied += kind == DENIED;
	return sb_savina_idle(say(p, step, HUNGRY));
}

SB_SAVINA_PROCESS(arbiter, NULL);
SB_SAVINA_PROCESS(philosopher, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->result);
	free(data->holder);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t philosophers = run->param[PHILOSOPHERS];
	const struct sb_savina_group group[] = {
		[ARBITER] = { .ops = &arbiter_ops, .processes = 1 },
		[PHILOSOPHER] = { .ops = &philosopher_ops, .processes = philosophers },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->result = calloc(philosophers, sizeof(*data->result));
	data->holder = calloc(philosophers, sizeof(*data->holder));
	if (data->result && data->holder)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->arbiter = (struct result){ 0 };
	for (uint64_t i = 0; i < run->param[PHILOSOPHERS]; i++) {
		data->result[i] = (struct result){ 0 };
		data->holder[i] = 0;
	}
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PHILOSOPHERS] * run->param[MEALS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t meals = run->param[MEALS];
	uint64_t denied = 0;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[PHILOSOPHERS]; i++) {
		denied += data->result[i].denied;
		if (data->result[i].meals == meals)
			continue;
		snprintf(why, why_bytes,
			 "philosopher %" PRIu64 " had %" PRIu64 " meals, expected %" PRIu64, i,
			 data->result[i].meals, meals);
		return false;
	}
	if (data->arbiter.meals == operations(run) && data->arbiter.denied == denied)
		return true;
	snprintf(why, why_bytes,
		 "the arbiter gave forks %" PRIu64 " times and denied %" PRIu64
		 ", expected %" PRIu64 " and %" PRIu64,
		 data->arbiter.meals, data->arbiter.denied, operations(run), denied);
	return false;
}

const struct sb_workload sb_workload_savina_philosopher = {
	.name = "savina-philosopher",
	.operation = "meal",
	.doc = "philosophers ask an arbiter for forks (Savina 11, Dining Philosophers)",
	.source = SB_SAVINA("11: Dining Philosophers"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
