#include "workloads/replay/actors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "workloads/load/distribution.h"
#include "workloads/load/input.h"

#define TEXT_BYTES_MAX (UINT64_C(1) << 32)

/* The text while it is read. Lines are read twice: first they are counted, then kept. */
struct reading {
	const char *at;	 /* the rest of the line */
	const char *end; /* of the line */
	uint64_t line;
	char *why;
	struct sb_actors *made;
	uint64_t spawns;
	uint32_t *process; /* [steps] of each step, in the order of lines; NULL: still counting */
	struct sb_actor_step *step; /* [steps] likewise */
	uint64_t last_ns;
};

static int fail(const struct reading *r, const char *expected)
{
	snprintf(r->why, SB_WHY_BYTES, "line %llu: expected %s", (unsigned long long)r->line,
		 expected);
	return -EINVAL;
}

static void skip_blanks(struct reading *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
}

static bool take_number(struct reading *r, uint64_t most, uint64_t *out)
{
	const char *start;
	uint64_t n = 0;

	skip_blanks(r);
	start = r->at;
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
		if (n > (most - (uint64_t)(*r->at - '0')) / 10)
			return false;
		n = 10 * n + (uint64_t)(*r->at - '0');
	}
	*out = n;
	return r->at > start;
}

static int take_process(struct reading *r, uint32_t *process)
{
	uint64_t n;

	if (!take_number(r, SB_ACTORS_PROCESSES - 1, &n))
		return fail(r, "the number of a process, below 16777216");
	*process = (uint32_t)n;
	if (r->made->actors <= n)
		r->made->actors = (uint32_t)n + 1;
	return 0;
}

static int take_time(struct reading *r, uint64_t *at_ns)
{
	if (!take_number(r, INT64_MAX, at_ns))
		return fail(r, "a time in nanoseconds");
	if (*at_ns < r->last_ns)
		return fail(r, "a time that is not before that of the line above");
	r->last_ns = *at_ns;
	return 0;
}

static int take_end(struct reading *r)
{
	skip_blanks(r);
	return r->at == r->end ? 0 : fail(r, "the end of the line");
}

/* ---- a line ---- */

static int take_arrival(struct reading *r, bool spawns)
{
	struct sb_actor_arrival arrival = { .act.spawns = spawns };
	int rc = take_time(r, &arrival.at_ns);

	rc = rc ? rc : take_process(r, &arrival.act.process);
	rc = rc ? rc : take_end(r);
	if (rc)
		return rc;
	if (r->process)
		r->made->arrival[r->made->arrivals] = arrival;
	r->made->arrivals++;
	r->spawns += spawns;
	return 0;
}

static int take_acts(struct reading *r, struct sb_actor_step *step)
{
	int rc = 0;

	step->first_act = r->made->acts;
	for (skip_blanks(r); r->at < r->end && !rc; skip_blanks(r)) {
		struct sb_actor_act act = { .spawns = *r->at == '+' };

		if (*r->at != '+' && *r->at != '>')
			return fail(r, "+PROCESS or >PROCESS");
		r->at++;
		rc = take_process(r, &act.process);
		if (rc)
			break;
		if (r->process)
			r->made->act[r->made->acts] = act;
		r->made->acts++;
		r->spawns += act.spawns;
		step->acts++;
	}
	return rc;
}

static int take_step(struct reading *r)
{
	struct sb_actor_step step = { 0 };
	uint64_t at_ns;
	uint64_t messages;
	uint32_t process;
	int rc = take_time(r, &at_ns);

	rc = rc ? rc : take_process(r, &process);
	if (rc)
		return rc;
	if (!take_number(r, UINT32_MAX, &messages) || !take_number(r, INT64_MAX, &step.work_ns))
		return fail(r, "how many messages it takes, and for how many nanoseconds it works");
	step.messages = (uint32_t)messages;
	rc = take_acts(r, &step);
	if (rc)
		return rc;
	if (r->process) {
		r->process[r->made->steps] = process;
		r->step[r->made->steps] = step;
	}
	r->made->steps++;
	return 0;
}

static bool take_word(struct reading *r, const char *word)
{
	const size_t length = strlen(word);

	if ((size_t)(r->end - r->at) <= length || memcmp(r->at, word, length) != 0 ||
	    r->at[length] != ' ')
		return false;
	r->at += length;
	return true;
}

static int take_line(struct reading *r)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at == '#')
		return 0;
	if (take_word(r, "step"))
		return take_step(r);
	if (take_word(r, "spawn"))
		return take_arrival(r, true);
	if (take_word(r, "message"))
		return take_arrival(r, false);
	return fail(r, "spawn, message or step");
}

static int take_lines(struct reading *r, const char *text, size_t bytes)
{
	const char *end = text + bytes;
	int rc = 0;

	r->line = 0;
	r->last_ns = 0;
	while (text < end && !rc) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));

		r->at = text;
		r->end = feed ? feed : end;
		r->line++;
		if (r->line == 1 &&
		    ((size_t)(r->end - text) < strlen(SB_ACTORS_FIRST_LINE) ||
		     memcmp(text, SB_ACTORS_FIRST_LINE, strlen(SB_ACTORS_FIRST_LINE)) != 0))
			return fail(r, "'" SB_ACTORS_FIRST_LINE "'");
		rc = take_line(r);
		text = feed ? feed + 1 : end;
	}
	return !rc && !r->line ? fail(r, "'" SB_ACTORS_FIRST_LINE "'") : rc;
}

/* ---- the whole ---- */

static int no_memory(char *why)
{
	snprintf(why, SB_WHY_BYTES, "no memory");
	return -ENOMEM;
}

/* So that all steps of a process stand together. */
static void group_steps(const struct reading *r)
{
	struct sb_actors *made = r->made;
	uint64_t first = 0;

	for (uint64_t i = 0; i < made->steps; i++)
		made->actor[r->process[i]].steps++;
	for (uint32_t a = 0; a < made->actors; a++) {
		made->actor[a].first_step = first;
		first += made->actor[a].steps;
		made->actor[a].steps = 0;
	}
	for (uint64_t i = 0; i < made->steps; i++) {
		struct sb_actor *actor = &made->actor[r->process[i]];

		made->step[actor->first_step + actor->steps++] = r->step[i];
	}
}

static int keep_all(struct reading *r, const char *text, size_t bytes)
{
	struct sb_actors *made = r->made;
	int rc;

	made->actor = calloc((size_t)made->actors + 1, sizeof(*made->actor));
	made->step = calloc(made->steps + 1, sizeof(*made->step));
	made->act = calloc(made->acts + 1, sizeof(*made->act));
	made->arrival = calloc(made->arrivals + 1, sizeof(*made->arrival));
	r->process = calloc(made->steps + 1, sizeof(*r->process));
	r->step = calloc(made->steps + 1, sizeof(*r->step));
	if (!made->actor || !made->step || !made->act || !made->arrival || !r->process || !r->step)
		return no_memory(r->why);
	made->steps = 0;
	made->acts = 0;
	made->arrivals = 0;
	rc = take_lines(r, text, bytes);
	if (!rc)
		group_steps(r);
	return rc;
}

static void note_spawn(uint8_t *spawned, const struct sb_actor_act *act)
{
	if (act->spawns && spawned[act->process] < 2)
		spawned[act->process]++;
}

/* Who is never spawned cannot be sent to, nor step. */
static int check_spawns(const struct sb_actors *made, char *why)
{
	uint8_t *spawned = calloc((size_t)made->actors + 1, 1);
	int rc = 0;

	if (!spawned)
		return no_memory(why);
	for (uint64_t i = 0; i < made->arrivals; i++)
		note_spawn(spawned, &made->arrival[i].act);
	for (uint64_t i = 0; i < made->acts; i++)
		note_spawn(spawned, &made->act[i]);
	for (uint32_t i = 0; i < made->actors && !rc; i++) {
		if (spawned[i] == 1)
			continue;
		snprintf(why, SB_WHY_BYTES, "process %lu is spawned %s; expected it once",
			 (unsigned long)i, spawned[i] ? "twice" : "nowhere");
		rc = -EINVAL;
	}
	free(spawned);
	return rc;
}

int sb_actors_parse(struct sb_actors *actors, const char *text, size_t bytes, char *why)
{
	struct reading r = { .made = actors, .why = why };
	int rc;

	*actors = (struct sb_actors){ 0 };
	rc = take_lines(&r, text, bytes);
	/* Then the memory for them is bounded by the text. */
	if (!rc && r.spawns < actors->actors) {
		snprintf(why, SB_WHY_BYTES,
			 "process %lu is used, and %llu processes are spawned; expected as many as "
			 "there are numbers from 0 on",
			 (unsigned long)actors->actors - 1, (unsigned long long)r.spawns);
		rc = -EINVAL;
	}
	if (!rc)
		rc = keep_all(&r, text, bytes);
	free(r.process);
	free(r.step);
	if (!rc && !actors->actors)
		rc = fail(&r, "at least one spawn");
	if (!rc)
		rc = check_spawns(actors, why);
	if (rc)
		sb_actors_free(actors);
	return rc;
}

/* The file's bytes; for the caller to free. */
static char *read_bytes(const char *path, size_t *bytes, char *why)
{
	int error = 0;
	FILE *in = sb_input_open(path, &error);
	char *text = NULL;
	size_t room = 0;

	*bytes = 0;
	if (!in) {
		snprintf(why, SB_WHY_BYTES, "%s", sb_input_error(error));
		return NULL;
	}
	do {
		char *grown;

		room = room ? 2 * room : 1 << 16;
		grown = realloc(text, room);
		if (!grown) {
			free(text);
			text = NULL;
			(void)no_memory(why);
			break;
		}
		text = grown;
		*bytes += fread(text + *bytes, 1, room - *bytes, in);
	} while (*bytes == room && room <= SB_INPUT_BYTES_MAX);
	fclose(in);
	if (*bytes <= SB_INPUT_BYTES_MAX)
		return text;
	snprintf(why, SB_WHY_BYTES, "it has more than 1 GiB");
	free(text);
	return NULL;
}

static char *decompress(const char *packed, size_t *bytes, char *why)
{
	const unsigned long long size = ZSTD_getFrameContentSize(packed, *bytes);
	char *text;
	size_t got;

	/* The frame never becomes more than it says. */
	if (size < ZSTD_CONTENTSIZE_ERROR && size > SB_ACTORS_PLAIN_BYTES &&
	    size / SB_ACTORS_EXPANSION > *bytes) {
		snprintf(
			why, SB_WHY_BYTES,
			"it expands to %llu MiB, more than %d times its size; expected a recording",
			size >> 20, SB_ACTORS_EXPANSION);
		return NULL;
	}
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
	    size > TEXT_BYTES_MAX) {
		snprintf(why, SB_WHY_BYTES,
			 "it cannot be decompressed; expected text, or one "
			 "frame of zstd that knows its size");
		return NULL;
	}
	text = malloc(size + 1);
	if (!text) {
		(void)no_memory(why);
		return NULL;
	}
	got = ZSTD_decompress(text, size, packed, *bytes);
	if (!ZSTD_isError(got) && got == size) {
		*bytes = size;
		return text;
	}
	snprintf(why, SB_WHY_BYTES, "it cannot be decompressed: it is damaged");
	free(text);
	return NULL;
}

int sb_actors_read(struct sb_actors *actors, const char *path, char *why)
{
	static const char magic[] = "\x28\xb5\x2f\xfd";
	size_t bytes;
	char *text = read_bytes(path, &bytes, why);
	int rc = -EINVAL;

	if (text && bytes >= 4 && !memcmp(text, magic, 4)) {
		char *packed = text;

		text = decompress(packed, &bytes, why);
		free(packed);
	}
	if (text)
		rc = sb_actors_parse(actors, text, bytes, why);
	free(text);
	return rc;
}

void sb_actors_free(struct sb_actors *actors)
{
	free(actors->actor);
	free(actors->step);
	free(actors->act);
	free(actors->arrival);
	*actors = (struct sb_actors){ 0 };
}
