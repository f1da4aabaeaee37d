/*
 * savina-threadring - Savina benchmark 5, Thread Ring.
 *
 * Processes in a ring hand on one token, which is one less at each hop. Who gets
 * the token 0 sends an exit round the ring instead. One message is in flight.
 * One operation is one message: the tokens and the exits.
 *
 * With --tokens each (not Savina's) every process begins with a token, which it
 * sends on before it looks at any other, so that all of them are under way at
 * the same time. The exit is sent by who gets the last 0 of all.
 *
 * Check: every process saw exactly its tokens, in order (from the first token
 * and its place in the ring it follows which these are), the right ones got a
 * token 0, and the exit reached its sender last.
 *
 * Savina's exit goes one hop further, to a process that has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { PROCESSES, HOPS, TOKENS };
enum { ONE, EACH };
enum { RING };
enum { TOKEN = SB_SAVINA_START + 1, EXIT };

static const char *const tokens[] = { "one", "each", NULL };

static const struct sb_param params[] = {
	[PROCESSES] = { "processes", 100, 1, 1 << 20, NULL, "processes in the ring" },
	[HOPS] = { "hops", 100000, 0, UINT32_MAX, NULL, "the first token" },
	[TOKENS] = { "tokens", ONE, 0, 1, tokens, "one in all, or each process begins with one" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

struct result {
	uint64_t tokens;
	bool got_zero;
};

struct data {
	struct sb_savina_round round;
	struct result *result;	 /* [PROCESSES] */
	_Atomic(uint64_t) ended; /* tokens */
};

struct member {
	struct sb_savina_process self;
	struct result result;
	sb_pid next;	   /* in the ring */
	uint64_t expected; /* the next token, */
	uint64_t less;	   /* and by how much the one after that is less */
	bool begun;
	bool sends_exit;
};

static int hand_on(const struct member *m, struct sb_step *step, union sb_value message)
{
	return sb_step_send(step, m->next, message);
}

/*
 * If each process has a token and begins with it, those that it gets come in the
 * order in which they began behind it: its own, its neighbour's, ..., each one hop
 * older than the one before.
 */
static void prepare(struct member *m)
{
	const uint64_t *param = m->self.round->param;
	const uint64_t next = m->self.id + 1;

	m->next = sb_savina_pid(&m->self, RING, next == param[PROCESSES] ? 0 : next);
	m->expected = param[TOKENS] == EACH ? param[HOPS] : param[HOPS] - m->self.id;
	m->less = param[TOKENS] == EACH ? 1 : param[PROCESSES];
}

static int send_exit(struct member *m, struct sb_step *step)
{
	m->sends_exit = true;
	return hand_on(m, step, sb_savina_message(EXIT, m->self.round->param[PROCESSES]));
}

static uint64_t tokens_in_all(const uint64_t *param)
{
	return param[TOKENS] == EACH ? param[PROCESSES] : 1;
}

static int on_zero(struct member *m, struct sb_step *step)
{
	struct data *data = (struct data *)m->self.round;

	m->result.got_zero = true;
	if (sb_add_rlx(&data->ended, 1) + 1 < tokens_in_all(m->self.round->param))
		return 0;
	return send_exit(m, step);
}

static int on_token(struct member *m, struct sb_step *step, uint64_t token)
{
	sb_savina_expect(&m->self, token == m->expected);
	m->expected -= m->less;
	m->result.tokens++;
	return token ? hand_on(m, step, sb_savina_message(TOKEN, token - 1)) : on_zero(m, step);
}

/* The token that it begins with: whatever comes first makes it begin. */
static int begin(struct member *m, struct sb_step *step)
{
	const uint64_t *param = m->self.round->param;

	if (SB_LIKELY(m->begun))
		return 0;
	m->begun = true;
	prepare(m);
	return m->self.id && param[TOKENS] == ONE ? 0 : on_token(m, step, param[HOPS]);
}

/* Before its own token, without which there is no exit: so that finds nobody
 * with a start unread. */
static int start_others(struct member *m, struct sb_step *step)
{
	int rc = 0;

	for (uint64_t i = 1; i < m->self.round->param[PROCESSES] && !rc; i++)
		rc = sb_savina_send(&m->self, step, RING, i, sb_savina_message(SB_SAVINA_START, 0));
	return rc;
}

static int on_start(struct member *m, struct sb_step *step)
{
	int rc = 0;

	if (!m->self.id && m->self.round->param[TOKENS] == EACH)
		rc = start_others(m, step);
	return rc ? rc : begin(m, step);
}

static int on_hop(struct member *m, struct sb_step *step, uint64_t token)
{
	const int rc = begin(m, step);

	return rc ? rc : on_token(m, step, token);
}

/* How many have still to get the exit, this one included. */
static int on_exit_token(struct member *m, struct sb_step *step, uint64_t left)
{
	struct data *data = (struct data *)m->self.round;

	sb_savina_expect(&m->self, (left == 1) == m->sends_exit);
	data->result[m->self.id] = m->result;
	return sb_savina_done(left > 1 ? hand_on(m, step, sb_savina_message(EXIT, left - 1)) : 0);
}

static int member_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct member *m = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		return sb_savina_idle(on_start(m, step));
	case TOKEN:
		return sb_savina_idle(on_hop(m, step, sb_savina_number(message)));
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
		[RING] = { .ops = &member_ops, .processes = run->param[PROCESSES] },
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
	sb_store_rlx(&data->ended, 0);
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return tokens_in_all(run->param) * (run->param[HOPS] + 1) + run->param[PROCESSES];
}

/* What process i must have got: of tokens that begin everywhere, as many as one
 * token makes hops, for each of them passes a part of the ring. */
static struct result expected_result(const uint64_t *param, uint64_t i)
{
	const uint64_t hops = param[HOPS];
	const uint64_t processes = param[PROCESSES];

	if (param[TOKENS] == EACH)
		return (struct result){ hops + 1, true };
	return (struct result){ i <= hops ? (hops - i) / processes + 1 : 0, i == hops % processes };
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[PROCESSES]; i++) {
		const struct result *r = &data->result[i];
		const struct result e = expected_result(run->param, i);

		if (r->tokens == e.tokens && r->got_zero == e.got_zero)
			continue;
		snprintf(why, why_bytes,
			 "process %" PRIu64 ": %" PRIu64 " tokens%s, expected %" PRIu64 "%s", i,
			 r->tokens, r->got_zero ? " with 0" : "", e.tokens,
			 e.got_zero ? " with 0" : "");
		return false;
	}
	return true;
}

const struct sb_workload sb_workload_savina_threadring = {
	.name = "savina-threadring",
	.operation = "message",
	.doc = "tokens that go round a ring (Savina 5, Thread Ring: one)",
	.source = SB_SAVINA("5: Thread Ring"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
