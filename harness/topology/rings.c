#include "core/platform/base.h"
#include "core/worker/distance.h"
#include "harness/topology/rings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t remoteness(const struct sb_placement *p, uint32_t thief, uint32_t victim)
{
	return sb_place_remoteness(p, &p->place[thief], &p->place[victim]);
}

/* The least distance of a victim beyond that; false: there is none. */
static bool next_ring(const struct sb_placement *p, uint32_t thief, bool any, uint64_t beyond,
		      uint64_t *out)
{
	bool found = false;

	for (uint32_t v = 0; v < p->workers; v++) {
		const uint64_t far = remoteness(p, thief, v);

		if (v == thief || (!any && far <= beyond) || (found && far >= *out))
			continue;
		*out = far;
		found = true;
	}
	return found;
}

static bool is_in_ring(const struct sb_placement *p, uint32_t thief, uint32_t victim, uint64_t far)
{
	return victim != thief && victim < p->workers && remoteness(p, thief, victim) == far;
}

static uint32_t first_in_ring(const struct sb_placement *p, uint32_t thief, uint64_t far)
{
	uint32_t v = 0;

	while (!is_in_ring(p, thief, v, far))
		v++;
	return v;
}

/* Without a node, what two workers share is their package. */
static const char *class_name(enum sb_distance class, const struct sb_place *own)
{
	if (class != SB_DISTANCE_NODE || own->node >= 0)
		return sb_distance_name(class);
	return own->package >= 0 ? "package" : "machine";
}

/* "remote in the package at 12", where the machine has distances. */
static void ring_name(const struct sb_placement *p, uint32_t thief, uint64_t far, char *out,
		      size_t bytes)
{
	const struct sb_place *own = &p->place[thief];
	const struct sb_place *other = &p->place[first_in_ring(p, thief, far)];
	const enum sb_distance class = sb_place_distance(own, other);
	const uint32_t distance = sb_place_node_distance(p, own, other);
	const bool inside =
		class == SB_DISTANCE_REMOTE && own->package >= 0 && own->package == other->package;
	char at[24] = "";

	if (distance && !sb_place_same_node(own, other))
		snprintf(at, sizeof(at), " at %" PRIu32, distance);
	snprintf(out, bytes, "%s%s%s", class_name(class, own), inside ? " in the package" : "", at);
}

/* "1-3 5" */
static void put_members(const struct sb_placement *p, uint32_t thief, uint64_t far)
{
	for (uint32_t v = 0; v < p->workers; v++) {
		uint32_t end = v;

		if (!is_in_ring(p, thief, v, far))
			continue;
		while (is_in_ring(p, thief, end + 1, far))
			end++;
		printf(end > v ? " %" PRIu32 "-%" PRIu32 : " %" PRIu32, v, end);
		v = end;
	}
}

static void put_rings_of_each(const struct sb_placement *p)
{
	puts("\nworker  rings of victims, the nearest first (--victim near)");
	for (uint32_t w = 0; w < p->workers; w++) {
		const char *separator = "  ";
		uint64_t far = 0;
		char name[48];

		printf("%6" PRIu32, w);
		for (bool any = true; next_ring(p, w, any, far, &far); any = false) {
			ring_name(p, w, far, name, sizeof(name));
			printf("%s%s:", separator, name);
			put_members(p, w, far);
			separator = " | ";
		}
		putchar('\n');
	}
}

/* ---- many workers: who is near whom, by class ---- */

/* More lines of one class tell nothing new. */
#define LINES_MAX  6
#define LINE_WIDTH 90

struct member {
	int key; /* equal: as near as the class says */
	uint32_t worker;
};

static int key_of(const struct sb_place *place, enum sb_distance class)
{
	switch (class) {
	case SB_DISTANCE_SELF:
		return place->pu;
	case SB_DISTANCE_SMT:
		return place->core;
	case SB_DISTANCE_CACHE:
		return place->cache;
	default:
		return place->node >= 0 ? place->node : -2 - place->package;
	}
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a;
	const struct member *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->worker < y->worker ? -1 : 1;
}

/* The groups of one class, as "0-3 8-11, 4-7". */
struct groups {
	const char *name;
	int column;
	int line;
};

/* False: there is no more room. */
static bool put_word(struct groups *groups, const char *word)
{
	const int width = (int)strlen(word) + 1;

	if (groups->line && groups->column + width > LINE_WIDTH) {
		if (groups->line == LINES_MAX) {
			puts(" ...");
			return false;
		}
		putchar('\n');
		groups->column = 0;
	}
	if (!groups->column)
		groups->column = printf("%6s ", groups->line++ ? "" : groups->name);
	groups->column += printf(" %s", word);
	return true;
}

/* Members of one group, in the order of their numbers. */
static bool put_group(struct groups *groups, const struct member *member, uint32_t n)
{
	const char *before = groups->line ? "| " : "";

	for (uint32_t i = 0, j; i < n; i = j) {
		char word[40];

		for (j = i + 1; j < n; j++) {
			if (member[j].worker != member[j - 1].worker + 1)
				break;
		}
		snprintf(word, sizeof(word), j > i + 1 ? "%s%" PRIu32 "-%" PRIu32 : "%s%" PRIu32,
			 before, member[i].worker, member[j - 1].worker);
		if (!put_word(groups, word))
			return false;
		before = "";
	}
	return true;
}

/* No word for a worker that is alone. */
static void put_class(const struct sb_placement *p, struct member *member, enum sb_distance class)
{
	struct groups groups = { .name = sb_distance_name(class) };
	bool more = true;

	for (uint32_t w = 0; w < p->workers; w++)
		member[w] = (struct member){ key_of(&p->place[w], class), w };
	qsort(member, p->workers, sizeof(*member), compare_members);
	for (uint32_t i = 0, j; more && i < p->workers; i = j) {
		for (j = i + 1; j < p->workers; j++) {
			if (member[j].key != member[i].key)
				break;
		}
		if (j > i + 1 && member[i].key != -1)
			more = put_group(&groups, member + i, j - i);
	}
	if (groups.line && more)
		putchar('\n');
}

/* The least distance from that node beyond another one; UINT32_MAX: none. */
static uint32_t next_distance(const struct sb_placement *p, uint32_t node, uint32_t beyond)
{
	const uint32_t *row = &p->node_distance[node * p->nodes];
	uint32_t next = UINT32_MAX;

	for (uint32_t i = 0; i < p->nodes; i++) {
		if (i != node && row[i] > beyond && row[i] < next)
			next = row[i];
	}
	return next;
}

static void put_nodes_at(const struct sb_placement *p, uint32_t node, uint32_t distance)
{
	const uint32_t *row = &p->node_distance[node * p->nodes];
	const char *separator = " ";

	for (uint32_t i = 0; i < p->nodes; i++) {
		if (i == node || row[i] != distance)
			continue;
		printf("%s%" PRIu32, separator, i);
		separator = ",";
	}
	printf(" at %" PRIu32, distance);
}

/* More are in the JSON alone. */
#define NODES_SHOWN 16

static void put_remote(const struct sb_placement *p)
{
	puts(p->node_distance ? "remote  the others, by the distance of their node; equally far: "
				"the own package first"
			      : "remote  the others, the own package first");
	for (uint32_t i = 0; p->node_distance && p->nodes <= NODES_SHOWN && i < p->nodes; i++) {
		uint32_t distance = 0;

		printf("        from node %" PRIu32 ":", i);
		for (const char *bar = ""; (distance = next_distance(p, i, distance)) < UINT32_MAX;
		     bar = " |") {
			fputs(bar, stdout);
			put_nodes_at(p, i, distance);
		}
		putchar('\n');
	}
}

static void put_classes(const struct sb_placement *p)
{
	struct member *member = calloc(p->workers, sizeof(*member));

	if (!member)
		return;
	puts("\nrings of victims, the nearest first (--victim near): workers that have the same");
	for (enum sb_distance c = SB_DISTANCE_SELF; c < SB_DISTANCE_REMOTE; c++)
		put_class(p, member, c);
	put_remote(p);
	free(member);
}

/* From so many on, a line for each does not fit a screen. */
#define WORKERS_SHOWN 24

void sb_topo_put_rings(const struct sb_placement *p)
{
	if (p->workers > WORKERS_SHOWN)
		put_classes(p);
	else if (p->workers > 1)
		put_rings_of_each(p);
}
/*
 * One list for all workers, as long as there are classes: workers that have the
 * same number in that column are that near, "remote" has none. Written out for
 * each worker, the rings of a large machine are gigabytes.
 */
json_t *sb_topo_rings_to_json(void)
{
	static const struct {
		enum sb_distance distance;
		const char *same;
	} classes[] = {
		{ SB_DISTANCE_SELF, "pu" },	{ SB_DISTANCE_SMT, "core" },
		{ SB_DISTANCE_CACHE, "cache" }, { SB_DISTANCE_NODE, "node" },
		{ SB_DISTANCE_REMOTE, NULL },
	};
	json_t *rings = json_array();

	for (size_t i = 0; i < SB_ARRAY_SIZE(classes); i++)
		json_array_append_new(rings, json_pack("{ssss?}", "distance",
						       sb_distance_name(classes[i].distance),
						       "same", classes[i].same));
	return rings;
}

/* From row to column; null: the machine has none. */
json_t *sb_topo_distances_to_json(const struct sb_placement *p)
{
	json_t *rows;

	if (!p->node_distance)
		return json_null();
	rows = json_array();
	for (uint32_t i = 0; i < p->nodes; i++) {
		json_t *row = json_array();

		for (uint32_t j = 0; j < p->nodes; j++)
			json_array_append_new(row,
					      json_integer(p->node_distance[i * p->nodes + j]));
		json_array_append_new(rows, row);
	}
	return rows;
}
