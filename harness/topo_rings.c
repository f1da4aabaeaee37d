#include "harness/topo_rings.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t remoteness(const struct sb_placement *p, uint32_t thief,
			   uint32_t victim)
{
	return sb_place_remoteness(p, &p->place[thief], &p->place[victim]);
}

/* The least distance of a victim beyond that; false: there is none. */
static bool next_ring(const struct sb_placement *p, uint32_t thief, bool any,
		      uint64_t beyond, uint64_t *out)
{
	bool found = false;

	for (uint32_t v = 0; v < p->workers; v++) {
		const uint64_t far = remoteness(p, thief, v);

		if (v == thief || (!any && far <= beyond) ||
		    (found && far >= *out))
			continue;
		*out = far;
		found = true;
	}
	return found;
}

static bool is_in_ring(const struct sb_placement *p, uint32_t thief,
		       uint32_t victim, uint64_t far)
{
	return victim != thief && victim < p->workers &&
	       remoteness(p, thief, victim) == far;
}

static uint32_t first_in_ring(const struct sb_placement *p, uint32_t thief,
			      uint64_t far)
{
	uint32_t v = 0;

	while (!is_in_ring(p, thief, v, far))
		v++;
	return v;
}

/* Without a node, what two workers share is their package. */
static const char *class_name(enum sb_distance class,
			      const struct sb_place *own)
{
	if (class != SB_DISTANCE_NODE || own->node >= 0)
		return sb_distance_name(class);
	return own->package >= 0 ? "package" : "machine";
}

/* "remote in the package at 12", where the machine has distances. */
static void ring_name(const struct sb_placement *p, uint32_t thief,
		      uint64_t far, char *out, size_t bytes)
{
	const struct sb_place *own = &p->place[thief];
	const struct sb_place *other = &p->place[first_in_ring(p, thief, far)];
	const enum sb_distance class = sb_place_distance(own, other);
	const uint32_t distance = sb_place_node_distance(p, own, other);
	const bool inside = class == SB_DISTANCE_REMOTE && own->package >= 0 &&
			    own->package == other->package;
	char at[24] = "";

	if (distance && !sb_place_same_node(own, other))
		snprintf(at, sizeof(at), " at %" PRIu32, distance);
	snprintf(out, bytes, "%s%s%s", class_name(class, own),
		 inside ? " in the package" : "", at);
}

/* "1-3 5" */
static void put_members(const struct sb_placement *p, uint32_t thief,
			uint64_t far)
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

void sb_topo_put_rings(const struct sb_placement *p)
{
	if (p->workers < 2)
		return;
	puts("\nworker  rings of victims, the nearest first (--victim near)");
	for (uint32_t w = 0; w < p->workers; w++) {
		const char *separator = "  ";
		uint64_t far = 0;
		char name[48];

		printf("%6" PRIu32, w);
		for (bool any = true; next_ring(p, w, any, far, &far);
		     any = false) {
			ring_name(p, w, far, name, sizeof(name));
			printf("%s%s:", separator, name);
			put_members(p, w, far);
			separator = " | ";
		}
		putchar('\n');
	}
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
		json_array_append_new(
			rings, json_pack("{ssss?}", "distance",
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
			json_array_append_new(
				row,
				json_integer(
					p->node_distance[i * p->nodes + j]));
		json_array_append_new(rows, row);
	}
	return rows;
}
