/*
 * savina-cigsmok - Savina benchmark 13, Cigarette Smokers.
 *
 * An arbiter puts on the table what one smoker, drawn at random, lacks, and tells
 * it for how long it will smoke: 10 to 1009 draws of a random number. The smoker
 * takes what is there, says that it has begun, and then smokes. The arbiter goes
 * on as soon as it hears that; after so many rounds all end. One operation is one
 * cigarette: two messages.
 *
 * Check: the table was empty whenever the arbiter put something there, and who
 * took it was who was meant; and each smoker has smoked as often and as long as
 * the arbiter's draws, made again here, say.
 *
 * As in Savina, two may smoke at once; never do two find something on the table.
 * Unlike there, the arbiter draws from Savina's own sequence and not Java's, and
 * the draws that are the smoking are xorshift64*.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { ROUNDS, SMOKERS };
enum { ARBITER, SMOKER };
enum { SMOKE = SB_SAVINA_START + 1, STARTED, EXIT };

#define DRAWS_LEAST 10
#define DRAWS_RANGE 1000

static const struct sb_param params[] = {
	[ROUNDS] = { "rounds", 1000, 1, UINT32_MAX, NULL, "cigarettes that are smoked" },
	[SMOKERS] = { "smokers", 200, 1, 65536, NULL, "who smoke them" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t smokes;
	uint64_t draws;
};

struct data {
	struct sb_savina_round round;
	_Atomic(uint64_t) table; /* whose things lie there, + 1; 0: nothing */
	struct result *result;	 /* [SMOKERS] */
	struct result *expected; /* [SMOKERS] */
};

/* ---- the arbiter ---- */

struct choice {
	uint32_t smoker;
	uint32_t draws;
};

static void seed_choices(struct sb_savina_random *random, const uint64_t *param)
{
	sb_savina_random_seed(random, param[ROUNDS] * param[SMOKERS]);
}

static struct choice draw_choice(struct sb_savina_random *random, const uint64_t *param)
{
	struct choice choice;

	choice.smoker = sb_savina_random_below(random, (uint32_t)param[SMOKERS]);
	choice.draws = sb_savina_random_below(random, DRAWS_RANGE) + DRAWS_LEAST;
	return choice;
}

struct arbiter {
	struct sb_savina_process self;
	struct sb_savina_random random;
	uint64_t rounds; /* begun */
	uint64_t chosen;
};

static int choose(struct arbiter *a, struct sb_step *step)
{
	struct data *data = (struct data *)a->self.round;
	const uint64_t *param = a->self.round->param;
	struct choice choice;

	if (a->rounds == param[ROUNDS])
		return sb_savina_done(
			sb_savina_send_all(&a->self, step, SMOKER, sb_savina_message(EXIT, 0)));
	a->rounds++;
	choice = draw_choice(&a->random, param);
	a->chosen = choice.smoker;
	sb_savina_expect(&a->self, sb_xchg_acq_rel(&data->table, a->chosen + 1) == 0);
	return sb_savina_idle(sb_savina_send(&a->self, step, SMOKER, choice.smoker,
					     sb_savina_message(SMOKE, choice.draws)));
}

static int arbiter_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct arbiter *a = state;

	if (sb_savina_kind(message) == SB_SAVINA_START)
		seed_choices(&a->random, a->self.round->param);
	else
		sb_savina_expect(&a->self, sb_savina_number(message) == a->chosen);
	return choose(a, step);
}

/* ---- a smoker ---- */

struct smoker {
	struct sb_savina_process self;
	struct sb_rng rng;
	struct result is;
};

static int smoke(struct smoker *s, struct sb_step *step, uint64_t draws)
{
	struct data *data = (struct data *)s->self.round;
	const uint64_t found = sb_xchg_acq_rel(&data->table, 0);
	const int rc =
		sb_savina_send(&s->self, step, ARBITER, 0, sb_savina_message(STARTED, s->self.id));

	sb_savina_expect(&s->self, found == s->self.id + 1);
	if (!s->is.smokes)
		sb_rng_seed(&s->rng, s->self.id);
	s->is.smokes++;
	s->is.draws += draws;
	sb_savina_busy_wait(&s->rng, (uint32_t)draws);
	return sb_savina_idle(rc);
}

static int smoker_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct smoker *s = state;

	if (sb_savina_kind(message) == SMOKE)
		return smoke(s, step, sb_savina_number(message));
	((struct data *)s->self.round)->result[s->self.id] = s->is;
	return SB_DONE;
}

SB_SAVINA_PROCESS(arbiter, NULL);
SB_SAVINA_PROCESS(smoker, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->result);
	free(data->expected);
	sb_savina_tear_down(run);
}

static void draw_all(const struct sb_workload_run *run, struct result *expected)
{
	struct sb_savina_random random;

	seed_choices(&random, run->param);
	for (uint64_t i = 0; i < run->param[ROUNDS]; i++) {
		const struct choice choice = draw_choice(&random, run->param);

		expected[choice.smoker].smokes++;
		expected[choice.smoker].draws += choice.draws;
	}
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t smokers = run->param[SMOKERS];
	const struct sb_savina_group group[] = {
		[ARBITER] = { .ops = &arbiter_ops, .processes = 1 },
		[SMOKER] = { .ops = &smoker_ops, .processes = smokers },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->result = calloc(smokers, sizeof(*data->result));
	data->expected = calloc(smokers, sizeof(*data->expected));
	if (!data->result || !data->expected) {
		teardown(run);
		return -ENOMEM;
	}
	draw_all(run, data->expected);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	sb_store_rlx(&data->table, 0);
	for (uint64_t i = 0; i < run->param[SMOKERS]; i++)
		data->result[i] = (struct result){ 0 };
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[ROUNDS];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[SMOKERS]; i++) {
		const struct result *is = &data->result[i];
		const struct result *expected = &data->expected[i];

		if (is->smokes == expected->smokes && is->draws == expected->draws)
			continue;
		snprintf(why, why_bytes,
			 "smoker %" PRIu64 " smoked %" PRIu64 " times and %" PRIu64
			 " draws, expected %" PRIu64 " and %" PRIu64,
			 i, is->smokes, is->draws, expected->smokes, expected->draws);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_cigsmok = {
	.name = "savina-cigsmok",
	.operation = "cigarette",
	.doc = "an arbiter chooses who smokes next (Savina 13, Cigarette Smokers)",
	.source = SB_SAVINA("13: Cigarette Smokers"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
