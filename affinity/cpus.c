/*
 * cpus.c - which CPUs a text names: terms joined by commas or spaces, each a
 * range of the operating system's numbers (0-3) or a location that means what it
 * means to hwloc-calc (numa:0.core:0-3), whose numbers are logical. An object that
 * is missing is refused, where hwloc-calc goes on without it.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/internal.h"

#define TERM_MAX 256

struct parser {
	const struct sb_topology *topology;
	char *why;
	size_t bytes;
};

struct range {
	uint32_t first;
	uint32_t last; /* UINT32_MAX: all there are */
};

static int refuse(struct parser *p, const char *term, const char *what)
{
	snprintf(p->why, p->bytes,
		 "'%s' %s; expected a list such as 0-3,8 or a location such as numa:0.core:0-3",
		 term, what);
	return -EINVAL;
}

static bool parse_number(const char **text, uint32_t *out)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	value = strtoul(*text, &end, 10);
	*text = end;
	*out = (uint32_t)value;
	return !errno && value < UINT32_MAX;
}

/* N, N-M, N- or all, to the end of the text. */
static bool parse_range(const char *text, struct range *out)
{
	*out = (struct range){ 0, UINT32_MAX };
	if (!strcmp(text, "all"))
		return true;
	if (!parse_number(&text, &out->first))
		return false;
	out->last = out->first;
	if (*text != '-')
		return !*text;
	text++;
	out->last = UINT32_MAX;
	if (!*text)
		return true;
	return parse_number(&text, &out->last) && !*text && out->first <= out->last;
}

/* ---- a range of CPUs ---- */

static bool is_usable(const struct sb_topology *t, uint32_t cpu)
{
	return hwloc_bitmap_isset(hwloc_topology_get_topology_cpuset(t->hwloc), cpu);
}

static int add_cpus(struct parser *p, const char *term, hwloc_bitmap_t set)
{
	char what[80];
	struct range r;

	if (!parse_range(term, &r))
		return refuse(p, term, "is no range of CPUs");
	if (r.last == UINT32_MAX)
		r.last = (uint32_t)hwloc_bitmap_last(
			hwloc_topology_get_topology_cpuset(p->topology->hwloc));
	for (uint64_t cpu = r.first; cpu <= r.last; cpu++) {
		if (!is_usable(p->topology, (uint32_t)cpu)) {
			snprintf(what, sizeof(what),
				 "has CPU %u, which is not there or may not be used",
				 (unsigned)cpu);
			return refuse(p, term, what);
		}
		hwloc_bitmap_set(set, (unsigned)cpu);
	}
	return r.first <= r.last ? 0 : refuse(p, term, "names no CPU");
}

/* ---- a location ---- */

/*
 * As hwloc-calc reads it: a step is taken within each object of the step before
 * it, and counts anew there. An object is inside another one if its CPUs and its
 * nodes are the other one's, too.
 */
struct step {
	const char *text;
	int depth;
	struct range range;
};

#define STEPS_MAX 16

struct location {
	struct parser *parser;
	struct step step[STEPS_MAX];
	uint32_t steps;
	hwloc_bitmap_t cpus;
};

/* The object itself, or the one that memory belongs to. */
static hwloc_obj_t normal_object(hwloc_obj_t obj)
{
	while (obj->depth < 0)
		obj = obj->parent;
	return obj;
}

static hwloc_obj_t ancestor_at(hwloc_obj_t obj, int depth)
{
	while (obj && obj->depth > depth)
		obj = obj->parent;
	return obj && obj->depth == depth ? obj : NULL;
}

/* hwloc's trees are as deep as a machine is, and a location has few steps.
 * NOLINTBEGIN(misc-no-recursion) */

static hwloc_obj_t first_below(hwloc_obj_t obj, int depth)
{
	hwloc_obj_t found = obj->depth == depth ? obj : NULL;

	for (hwloc_obj_t c = obj->depth < depth ? obj->first_child : NULL; c && !found;
	     c = c->next_sibling)
		found = first_below(c, depth);
	return found;
}

/* Inside the object or next to it is nothing but this and its next cousins, up
 * to one that is elsewhere in the tree. */
static hwloc_obj_t first_candidate(const struct sb_topology *t, hwloc_obj_t within, int depth)
{
	hwloc_obj_t tree = normal_object(within);

	if (depth < 0)
		return hwloc_get_obj_by_depth(t->hwloc, depth, 0);
	return depth < tree->depth ? ancestor_at(tree, depth) : first_below(tree, depth);
}

static bool is_candidate(hwloc_obj_t obj, hwloc_obj_t within)
{
	hwloc_obj_t tree = normal_object(within);

	if (obj->depth < 0)
		return true;
	return obj->depth < tree->depth ? ancestor_at(tree, obj->depth) == obj
					: ancestor_at(obj, tree->depth) == tree;
}

static bool is_inside(hwloc_obj_t obj, hwloc_obj_t within)
{
	return (!hwloc_bitmap_iszero(obj->cpuset) || !hwloc_bitmap_iszero(obj->nodeset)) &&
	       hwloc_bitmap_isincluded(obj->nodeset, within->nodeset) &&
	       hwloc_bitmap_isincluded(obj->cpuset, within->cpuset);
}

static int refuse_missing(struct parser *p, const struct step *step, hwloc_obj_t within,
			  uint32_t there)
{
	char what[120];

	if (within->parent)
		snprintf(what, sizeof(what), "is not there: %s %u has %" PRIu32 " of these, from 0",
			 hwloc_obj_type_string(within->type), within->logical_index, there);
	else
		snprintf(what, sizeof(what), "is not there: there are %" PRIu32 " of these, from 0",
			 there);
	return refuse(p, step->text, what);
}

static int add_step(struct location *l, uint32_t i, hwloc_obj_t within);

static int add_object(struct location *l, uint32_t i, hwloc_obj_t obj)
{
	if (i + 1 < l->steps)
		return add_step(l, i + 1, obj);
	return hwloc_bitmap_or(l->cpus, l->cpus, obj->cpuset) ? -ENOMEM : 0;
}

static int add_step(struct location *l, uint32_t i, hwloc_obj_t within)
{
	const struct step *step = &l->step[i];
	const struct range r = step->range;
	hwloc_obj_t obj = first_candidate(l->parser->topology, within, step->depth);
	uint32_t n = 0;

	for (; obj && is_candidate(obj, within); obj = obj->next_cousin) {
		int rc = 0;

		if (!is_inside(obj, within))
			continue;
		if (n >= r.first && n <= r.last)
			rc = add_object(l, i, obj);
		if (rc)
			return rc;
		n++;
	}
	/* "all" may be none, here. */
	if (n <= r.first ? r.first || r.last != UINT32_MAX : r.last != UINT32_MAX && n <= r.last)
		return refuse_missing(l->parser, step, within, n);
	return 0;
}

/* NOLINTEND(misc-no-recursion) */

/* TYPE:RANGE; the text is changed, but whole again afterwards. */
static int parse_step(struct parser *p, char *text, struct step *step)
{
	char *colon = strchr(text, ':');
	hwloc_obj_type_t type;
	int rc;

	step->text = text;
	if (!colon || !parse_range(colon + 1, &step->range))
		return refuse(p, text, "is no location");
	*colon = '\0';
	rc = hwloc_type_sscanf_as_depth(text, &type, p->topology->hwloc, &step->depth);
	*colon = ':';
	if (rc < 0)
		return refuse(p, text, "has no known type");
	if (step->depth == HWLOC_TYPE_DEPTH_UNKNOWN)
		return refuse(p, text, "is of a type that this machine has not");
	if (step->depth == HWLOC_TYPE_DEPTH_MULTIPLE)
		return refuse(p, text,
			      "is of a type at several depths; write group0, group1 and so on");
	if (step->depth < 0 && step->depth != HWLOC_TYPE_DEPTH_NUMANODE)
		return refuse(p, text, "is of a type that has no CPUs");
	return 0;
}

static int add_location(struct parser *p, char *term, hwloc_bitmap_t set)
{
	struct location l = { .parser = p, .cpus = hwloc_bitmap_alloc() };
	char *text;
	int rc = l.cpus ? 0 : -ENOMEM;

	while (!rc && (text = strsep(&term, "."))) {
		if (l.steps == STEPS_MAX)
			rc = refuse(p, text, "is a step too many");
		else
			rc = parse_step(p, text, &l.step[l.steps++]);
	}
	if (!rc)
		rc = add_step(&l, 0, hwloc_get_root_obj(p->topology->hwloc));
	if (!rc && hwloc_bitmap_iszero(l.cpus))
		rc = refuse(p, l.step[l.steps - 1].text, "has no CPUs");
	if (!rc)
		rc = hwloc_bitmap_or(set, set, l.cpus) ? -ENOMEM : 0;
	hwloc_bitmap_free(l.cpus);
	return rc;
}

int sb_cpus_parse(const struct sb_topology *topology, const char *text, hwloc_bitmap_t set,
		  char *why, size_t bytes)
{
	struct parser p = { topology, why, bytes };
	char *copy = strdup(text);
	char *rest = copy;
	char *term;
	int rc = copy ? 0 : -ENOMEM;

	hwloc_bitmap_zero(set);
	while (!rc && (term = strsep(&rest, ", "))) {
		if (strlen(term) > TERM_MAX)
			rc = refuse(&p, "...", "has a term that is too long");
		else if (isdigit((unsigned char)*term))
			rc = add_cpus(&p, term, set);
		else if (*term)
			rc = add_location(&p, term, set);
	}
	if (!rc && hwloc_bitmap_iszero(set))
		rc = refuse(&p, text, "names no CPU");
	free(copy);
	return rc;
}
