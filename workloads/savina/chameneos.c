/*
 * savina-chameneos - Savina benchmark 6, Chameneos.
 *
 * Creatures of three colours ask a mall to meet somebody. The mall lets a
 * creature wait until the next one comes and hands it that one's colour. The one
 * that waited takes the colour that complements both, tells the other, and both
 * ask again. After so many meetings each that asks is told to leave, answers how
 * often it has met, and ends. Everybody sends to one mailbox. One operation is
 * one message: four for each meeting, and three for each creature (the first
 * time it asks, the exit, its answer).
 *
 * Check: the mall notes who met whom, and in which colours they came. Played
 * again from the notes alone, every creature came in the colour that its meetings
 * gave it, ends in the right one, and has counted right; and the counts add up to
 * twice the meetings.
 *
 * In Savina the mall creates the creatures; here it tells them to start.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

enum { CREATURES, MEETINGS };
enum { MALL, CREATURE };
enum { MEET = SB_SAVINA_START + 1, CHANGE, EXIT, COUNT };

#define COLOURS 3

static const struct sb_param params[] = {
	[CREATURES] = { "creatures", 100, 2, 1 << 20, NULL, "creatures that meet" },
	[MEETINGS] = { "meetings", 200000, 1, 1 << 28, NULL, "meetings of two" },
	{ NULL, 0, 0, 0, NULL, NULL },
};

/* One who comes to the mall. */
struct visitor {
	uint32_t id;
	uint32_t colour;
};

/* The one who waited, and the one who came. */
struct meeting {
	struct visitor visitor[2];
};

struct result {
	uint64_t meetings;
	uint32_t colour;
};

struct data {
	struct sb_savina_round round;
	uint64_t counted;	 /* the sum that the mall was told */
	struct meeting *meeting; /* [MEETINGS], in the mall's order */
	struct result *result;	 /* [CREATURES], as they say */
	struct result *replayed; /* [CREATURES], as the notes say */
};

static union sb_value visitor_message(struct visitor visitor)
{
	return sb_savina_message(MEET, (uint64_t)visitor.id * COLOURS + visitor.colour);
}

static struct visitor visitor_of(union sb_value message)
{
	const uint64_t number = sb_savina_number(message);

	return (struct visitor){ (uint32_t)(number / COLOURS), (uint32_t)(number % COLOURS) };
}

/* ---- the mall ---- */

struct mall {
	struct sb_savina_process self;
	bool someone_waits;
	struct visitor waits;
	uint64_t meetings;
	uint64_t counts;
};

static int introduce(struct mall *m, struct sb_step *step, struct visitor visitor)
{
	struct data *data = (struct data *)m->self.round;

	if (!m->someone_waits) {
		m->someone_waits = true;
		m->waits = visitor;
		return SB_IDLE;
	}
	data->meeting[m->meetings++] = (struct meeting){ { m->waits, visitor } };
	m->someone_waits = false;
	return sb_savina_idle(
		sb_savina_send(&m->self, step, CREATURE, m->waits.id, visitor_message(visitor)));
}

static int count(struct mall *m, uint64_t meetings)
{
	struct data *data = (struct data *)m->self.round;

	data->counted += meetings;
	m->counts++;
	return m->counts < m->self.round->param[CREATURES] ? SB_IDLE : SB_DONE;
}

static int mall_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct mall *m = state;
	const uint32_t kind = sb_savina_kind(message);

	if (kind == SB_SAVINA_START)
		return sb_savina_idle(sb_savina_send_all(&m->self, step, CREATURE, message));
	if (kind == COUNT)
		return count(m, sb_savina_number(message));
	if (m->meetings < m->self.round->param[MEETINGS])
		return introduce(m, step, visitor_of(message));
	return sb_savina_idle(sb_savina_send(&m->self, step, CREATURE, visitor_of(message).id,
					     sb_savina_message(EXIT, 0)));
}

/* ---- a creature ---- */

struct creature {
	struct sb_savina_process self;
	struct result is;
};

/* The colour that two colours become. */
static const uint8_t complement[COLOURS][COLOURS] = { { 0, 2, 1 }, { 2, 1, 0 }, { 1, 0, 2 } };

static int go_to_mall(struct creature *c, struct sb_step *step)
{
	const struct visitor visitor = { (uint32_t)c->self.id, c->is.colour };

	return sb_savina_idle(sb_savina_send(&c->self, step, MALL, 0, visitor_message(visitor)));
}

static int meet(struct creature *c, struct sb_step *step, struct visitor other)
{
	int rc;

	c->is.colour = complement[c->is.colour][other.colour];
	c->is.meetings++;
	rc = sb_savina_send(&c->self, step, CREATURE, other.id,
			    sb_savina_message(CHANGE, c->is.colour));
	return rc ? rc : go_to_mall(c, step);
}

static int leave(struct creature *c, struct sb_step *step)
{
	struct data *data = (struct data *)c->self.round;

	data->result[c->self.id] = c->is;
	return sb_savina_done(
		sb_savina_send(&c->self, step, MALL, 0, sb_savina_message(COUNT, c->is.meetings)));
}

static int creature_receive(void *state, struct sb_step *step, union sb_value message)
{
	struct creature *c = state;

	switch (sb_savina_kind(message)) {
	case SB_SAVINA_START:
		c->is.colour = (uint32_t)(c->self.id % COLOURS);
		return go_to_mall(c, step);
	case MEET:
		return meet(c, step, visitor_of(message));
	case CHANGE:
		c->is.colour = (uint32_t)sb_savina_number(message);
		c->is.meetings++;
		return go_to_mall(c, step);
	default:
		return leave(c, step);
	}
}

SB_SAVINA_PROCESS(mall, NULL);
SB_SAVINA_PROCESS(creature, NULL);

/* ---- the workload ---- */

static void teardown(struct sb_workload_run *run)
{
	struct data *data = run->data;

	free(data->meeting);
	free(data->result);
	free(data->replayed);
	sb_savina_tear_down(run);
}

static int setup(struct sb_workload_run *run)
{
	struct data *data = run->data;
	const uint64_t creatures = run->param[CREATURES];
	const struct sb_savina_group group[] = {
		[MALL] = { .ops = &mall_ops, .processes = 1 },
		[CREATURE] = { .ops = &creature_ops, .processes = creatures },
	};
	const int rc = sb_savina_set_up(run, group, SB_ARRAY_SIZE(group));

	if (rc)
		return rc;
	data->meeting = calloc(run->param[MEETINGS], sizeof(*data->meeting));
	data->result = calloc(creatures, sizeof(*data->result));
	data->replayed = calloc(creatures, sizeof(*data->replayed));
	if (data->meeting && data->result && data->replayed)
		return 0;
	teardown(run);
	return -ENOMEM;
}

static int start(struct sb_workload_run *run)
{
	struct data *data = run->data;

	data->counted = 0;
	for (uint64_t i = 0; i < run->param[CREATURES]; i++) {
		data->result[i] = (struct result){ 0 };
		data->replayed[i] = (struct result){ .colour = (uint32_t)(i % COLOURS) };
	}
	return sb_savina_start(run);
}

static uint64_t operations(const struct sb_workload_run *run)
{
	return 4 * run->param[MEETINGS] + 3 * run->param[CREATURES];
}

/* True if both came in the colours that they had. The three colours, or three
 * times the same, add up to a multiple of three. */
static bool replay(struct result *replayed, const struct meeting *meeting)
{
	const struct visitor *visitor = meeting->visitor;
	bool ok = visitor[0].id != visitor[1].id;

	for (int i = 0; i < 2; i++) {
		struct result *r = &replayed[visitor[i].id];

		ok = ok && r->colour == visitor[i].colour;
		r->colour = (2 * COLOURS - visitor[0].colour - visitor[1].colour) % COLOURS;
		r->meetings++;
	}
	return ok;
}

static bool replay_all(const struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	for (uint64_t i = 0; i < run->param[MEETINGS]; i++) {
		if (replay(data->replayed, &data->meeting[i]))
			continue;
		snprintf(why, why_bytes,
			 "meeting %" PRIu64 ": somebody came in a colour that was not its own", i);
		return false;
	}
	return true;
}

static bool check(struct sb_workload_run *run, char *why, size_t why_bytes)
{
	const struct data *data = run->data;

	if (!sb_savina_check(run, why, why_bytes) || !replay_all(run, why, why_bytes))
		return false;
	for (uint64_t i = 0; i < run->param[CREATURES]; i++) {
		const struct result *is = &data->result[i];
		const struct result *expected = &data->replayed[i];

		if (is->colour == expected->colour && is->meetings == expected->meetings)
			continue;
		snprintf(why, why_bytes,
			 "creature %" PRIu64 ": %" PRIu64 " meetings and colour %" PRIu32
			 ", expected %" PRIu64 " and %" PRIu32,
			 i, is->meetings, is->colour, expected->meetings, expected->colour);
		return false;
	}
	if (data->counted == 2 * run->param[MEETINGS])
		return true;
	snprintf(why, why_bytes, "the counts add up to %" PRIu64 ", expected %" PRIu64,
		 data->counted, 2 * run->param[MEETINGS]);
	return false;
}

const struct sb_workload sb_workload_savina_chameneos = {
	.name = "savina-chameneos",
	.operation = "message",
	.doc = "creatures that meet in a mall and change colours (Savina 6, Chameneos)",
	.source = SB_SAVINA("6: Chameneos"),
	.params = params,
	.data_bytes = sizeof(struct data),
	.setup = setup,
	.start = start,
	.operations = operations,
	.check = check,
	.teardown = teardown,
};
