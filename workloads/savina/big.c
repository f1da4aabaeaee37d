/*
 * savina-big - Savina benchmark 7, Big.
 *
 * Each of many processes pings one of them, itself included, that it draws;
 * waits for the pong; and does so again, so many times. Then it tells a sink,
 * which ends them all when everybody has. All talk to all. One operation is one
 * message: pings, pongs, and two for the end of each process.
 *
 * Check: every pong came from the one that was pinged, and every process got as
 * many pings as the others' draws, made again here, say.
 *
 * A round is 5000 pings of each instead of Savina's 20000, so that repetitions
 * of half a second have more than one; --pings 20000 is Savina's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { PROCESSES, PINGS };
enum { SINK, MEMBER };
enum { PING = SB_SAVINA_START + 1, PONG, EXIT };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 120, 1, 65536, NULL, "processes that ping each other" },
	[PINGS] = { "pings", 5000, 1, UINT32_MAX, NULL, "pings of each process" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t pongs;
	uint64_t pinged; /* pings that it got */
};

struct data {
	struct sb_savina_round round;
	uint64_t *expected;    /* [PROCESSES], pings that it gets */
	struct result *result; /* [PROCESSES] */
};

/* ---- the sink ---- */

struct sink {
	struct sb_savina_process self;
	uint64_t ended;
};

static int sink_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct sink *s = state;

	if (sb_savina_kind(message) == SB_SAVINA_START)
		return sb_savina_idle(sb_savina_send_all(&s->self, step, MEMBER, message));
	if (++s->ended < s->self.round->param[PROCESSES])
		return SB_IDLE;
	return sb_savina_done(
		sb_savina_send_all(&s->self, step, MEMBER, sb_savina_message(EXIT, 0)));
}

/* ---- the others ---- */

struct member {
	struct sb_savina_process self;
	struct sb_savina_random random;
	uint64_t pings;
	uint64_t target; /* of the last ping */
	struct result result;
};

static uint32_t draw_target(struct sb_savina_random *random, const uint64_t *param)
{
	return sb_savina_random_below(random, (uint32_t)param[PROCESSES]);
}

static int ping_next(struct member *m, struct sb_step *step)
{
	const uint64_t *param = m->self.round->param;

	if (m->pings == param[PINGS])
		return sb_savina_idle(
			sb_savina_send(&m->self, step, SINK, 0, sb_savina_message(EXIT, 0)));
	m->pings++;
	m->target = draw_target(&m->random, param);
	return sb_savina_idle(sb_savina_send(&m->self, step, MEMBER, m->target,
					     sb_savina_message(PING, m->self.id)));
}

static int answer(struct member *m, struct sb_step *step, uint64_t from)
{
	m->result.pinged++;
	return sb_savina_idle(
		sb_savina_send(&m->self, step, MEMBER, from, sb_savina_message(PONG, m->self.id)));
}

static int member_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct member *m = state;
	struct data *data = (struct data *)m->self.round;
	const uint64_t from = sb_savina_number(message);

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		sb_savina_random_seed(&m->random, m->self.id);
		return ping_next(m, step);
	case PING:
		return answer(m, step, from);
	case PONG:
		sb_savina_expect(&m->self, from == m->target);
		m->result.pongs++;
		return ping_next(m, step);
	default:
		data->result[m->self.id] = m->result;
		return SB_DONE;
	}
}

SB_SAVINA_PROCESS(sink, NULL);
SB_SAVINA_PROCESS(member, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->expected);
	free(data->result);
	sb_savina_tear_down(run);
}

/* The pings that everybody will get. */
static void draw_all(const struct sb_workload_run *run, uint64_t *pinged)
{
	for (uint64_t i = 0; i < run->param[PROCESSES]; i++) {
		struct sb_savina_random random;

		sb_savina_random_seed(&random, i);
		for (uint64_t n = 0; n < run->param[PINGS]; n++)
			pinged[draw_target(&random, run->param)]++;
	}
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t processes = run->param[PROCESSES];
	const struct sb_savina_group group[] = {
		[SINK] = { .ops = &sink_ops, .processes = 1 },
		[MEMBER] = { .ops = &member_ops, .processes = processes },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->expected = calloc(processes, sizeof(*data->expected));
	data->result = calloc(processes, sizeof(*data->result));
	if (!data->expected || !data->result) {
		teardown(run);
		return -ENOMEM;
	}
	draw_all(run, data->expected);
	return 0;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	for (uint64_t i = 0; i < run->param[PROCESSES]; i++)
		data->result[i] = (struct result){ 0 };
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return run->param[PROCESSES] * (2 * run->param[PINGS] + 2);
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[PROCESSES]; i++) {
		const struct result *r = &data->result[i];

		if (r->pongs == run->param[PINGS] && r->pinged == data->expected[i])
			continue;
		snprintf(why, why_bytes,
			 "process %" PRIu64 " got %" PRIu64 " pongs and %" PRIu64
			 " pings, expected %" PRIu64 " and %" PRIu64,
			 i, r->pongs, r->pinged, run->param[PINGS], data->expected[i]);
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_big = {
	.name = "savina-big",
	.operation = "message",
	.doc = "many processes that ping each other (Savina 7, Big)",
	.source = SB_SAVINA("7: Big"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
