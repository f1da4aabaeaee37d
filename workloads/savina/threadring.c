/*
 * savina-threadring - Savina benchmark 5, Thread Ring.
 *
 * Processes in a ring hand on one token, which is one less at each hop. Who gets
 * the token 0 sends an exit round the ring instead. One message is in flight.
 * One operation is one message: the tokens and the exits.
 *
 * Check: every process saw exactly its tokens, in order (from the first token
 * and its place in the ring it follows which these are), the right one got the
 * token 0, and the exit reached it last.
 *
 * Savina's exit goes one hop further, to a process that has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/savina/savina.h"

enum { PROCESSES, HOPS };
enum { RING };
enum { TOKEN = SB_SAVINA_START + 1, EXIT };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100, 1, 1 << 20, NULL,
			"processes in the ring" },
	[HOPS] = { "hops", 100000, 0, UINT32_MAX, NULL, "the first token" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t tokens;
	bool got_zero;
};

struct data {
	struct sb_savina_round round;
	struct result *result; /* [PROCESSES] */
};

struct member {
	struct sb_savina_process self;
	struct result result;
};

static int hand_on(struct member *m, struct sb_step *step,
		   union sb_value message)
{
	const uint64_t next =
		(m->self.id + 1) % m->self.round->param[PROCESSES];

	return sb_savina_send(&m->self, step, RING, next, message);
}

/* The token that this process gets as its nth, from 0. */
static uint64_t expected_token(const struct member *m, uint64_t nth)
{
	const uint64_t *param = m->self.round->param;

	return param[HOPS] - m->self.id - nth * param[PROCESSES];
}

static int on_token(struct member *m, struct sb_step *step, uint64_t token)
{
	sb_savina_expect(&m->self,
			 token == expected_token(m, m->result.tokens));
	m->result.tokens++;
	if (token)
		return sb_savina_idle(
			hand_on(m, step, sb_savina_message(TOKEN, token - 1)));
	m->result.got_zero = true;
	return sb_savina_idle(hand_on(
		m, step,
		sb_savina_message(EXIT, m->self.round->param[PROCESSES])));
}

/* How many have still to get the exit, this one included. */
static int on_exit_token(struct member *m, struct sb_step *step, uint64_t left)
{
	struct data *data = (struct data *)m->self.round;

	sb_savina_expect(&m->self, (left == 1) == m->result.got_zero);
	data->result[m->self.id] = m->result;
	return sb_savina_done(
		left > 1 ? hand_on(m, step, sb_savina_message(EXIT, left - 1))
			 : 0);
}

static int member_receive(void *state, struct sb_step *step,
			  union sb_value message)
{
	struct member *m = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		return on_token(m, step, m->self.round->param[HOPS]);
	case TOKEN:
		return on_token(m, step, sb_savina_number(message));
	default:
		return on_exit_token(m, step, sb_savina_number(message));
	}
}

SB_SAVINA_PROCESS(member, NULL);

static void teardown(struct sb_workload_run *run)
{
	free(((struct data *)run->data)->result);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const struct sb_savina_group group[] = {
		[RING] = { .ops = &member_ops,
			   .processes = run->param[PROCESSES] },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->result = calloc(run->param[PROCESSES], sizeof(*data->result));
	if (data->result)
		return 0;
	teardown(run);
	return -ENOMEM;
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
	return run->param[HOPS] + 1 + run->param[PROCESSES];
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;
	const uint64_t processes = run->param[PROCESSES];
	const uint64_t hops = run->param[HOPS];

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < processes; i++) {
		const struct result *r = &data->result[i];
		const uint64_t tokens =
			i <= hops ? (hops - i) / processes + 1 : 0;
		const bool gets_zero = i == hops % processes;

		if (r->tokens == tokens && r->got_zero == gets_zero)
			continue;
		snprintf(why, why_bytes,
			 "process %" PRIu64 ": %" PRIu64
			 " tokens%s, expected %" PRIu64 "%s",
			 i, r->tokens, r->got_zero ? " with 0" : "", tokens,
			 gets_zero ? " with 0" : "");
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_threadring = {
	.name = "savina-threadring",
	.operation = "message",
	.doc = "one token that goes round a ring (Savina 5, Thread Ring)",
	.source = SB_SAVINA("5: Thread Ring"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
