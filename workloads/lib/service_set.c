#include "workloads/lib/service_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "workloads/lib/cputime.h"
#include "workloads/load/quantity.h"

/* The order is the same everywhere: it is part of the workload. */
#define ORDER_SEED 1

#define WORDS (SB_SET_LINE_BYTES / sizeof(uint64_t))

/* One cycle through all lines (Sattolo, 1986). */
static void link_lines(struct sb_set *set)
{
	struct sb_rng rng;

	sb_rng_seed(&rng, ORDER_SEED);
	for (uint64_t i = 0; i < set->lines; i++)
		set->line[i].word[0] = i;
	for (uint64_t i = set->lines - 1; i > 0; i--) {
		const uint32_t other = sb_rng_below(&rng, (uint32_t)i);
		const uint64_t kept = set->line[i].word[0];

		set->line[i].word[0] = set->line[other].word[0];
		set->line[other].word[0] = kept;
	}
}

void sb_set_init(struct sb_set *set, enum sb_set_kind kind, void *block, uint64_t bytes)
{
	SB_CHECK(bytes, >=, SB_SET_LINE_BYTES);
	*set = (struct sb_set){ .kind = kind, .lines = bytes / SB_SET_LINE_BYTES, .line = block };
	memset(block, 0, set->lines * SB_SET_LINE_BYTES);
	if (kind == SB_SET_CHASE)
		link_lines(set);
}

static void chase(struct sb_set *set, uint64_t units)
{
	const struct sb_set_line *line = set->line;
	uint64_t position = set->position;

	for (uint64_t i = 0; i < units; i++)
		position = line[position].word[0];
	set->position = position;
}

static void stream(struct sb_set *set, uint64_t units)
{
	for (uint64_t i = 0; i < units; i++) {
		struct sb_set_line *line = &set->line[set->position++];

		for (size_t w = 0; w < WORDS; w++)
			line->word[w]++;
		if (set->position == set->lines)
			set->position = 0;
	}
}

void sb_set_work(struct sb_set *set, uint64_t units)
{
	/* In virtual time a unit is a nanosecond, and the memory has no cost of its own. */
	(void)sb_cpu_works(units);
	if (set->kind == SB_SET_CHASE)
		chase(set, units);
	else
		stream(set, units);
	set->done += units;
}

static bool chase_is_right(const struct sb_set *set)
{
	uint64_t position = 0;

	for (uint64_t i = set->done % set->lines; i; i--)
		position = set->line[position].word[0];
	return position == set->position;
}

static bool stream_is_right(const struct sb_set *set)
{
	const uint64_t passes = set->done / set->lines;
	const uint64_t begun = set->done % set->lines;

	for (uint64_t i = 0; i < set->lines; i++) {
		for (size_t w = 0; w < WORDS; w++) {
			if (set->line[i].word[w] != passes + (i < begun))
				return false;
		}
	}
	return true;
}

bool sb_set_is_right(const struct sb_set *set)
{
	return set->kind == SB_SET_CHASE ? chase_is_right(set) : stream_is_right(set);
}

static void work(void *set, uint64_t units)
{
	sb_set_work(set, units);
}

uint64_t sb_set_units_per_ms(enum sb_set_kind kind, uint64_t bytes)
{
	const size_t room = bytes / SB_SET_LINE_BYTES * SB_SET_LINE_BYTES;
	void *block = aligned_alloc(SB_SET_LINE_BYTES, room);
	struct sb_set set;
	uint64_t speed;

	if (!block)
		return 0;
	sb_set_init(&set, kind, block, bytes);
	speed = sb_cputime_units_per_ms(work, &set);
	free(block);
	return speed;
}

#define BYTES_MAX (UINT64_C(1) << 34)

bool sb_set_parse(const char *text, enum sb_set_kind *kind, uint64_t *bytes)
{
	static const struct {
		const char *name;
		enum sb_set_kind kind;
	} kinds[] = {
		{ "chase:", SB_SET_CHASE },
		{ "stream:", SB_SET_STREAM },
	};

	*kind = SB_SET_NONE;
	*bytes = 0;
	if (!strcmp(text, "spin"))
		return true;
	for (size_t i = 0; i < SB_ARRAY_SIZE(kinds); i++) {
		const size_t prefix = strlen(kinds[i].name);

		if (strncmp(text, kinds[i].name, prefix))
			continue;
		*kind = kinds[i].kind;
		return sb_quantity_bytes(text + prefix, bytes) && *bytes >= SB_SET_LINE_BYTES &&
		       *bytes <= BYTES_MAX;
	}
	return false;
}
