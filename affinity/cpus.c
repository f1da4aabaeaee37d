/*
 * cpus.c - which CPUs a text names: terms joined by commas or spaces, each a
 * range of the operating system's numbers (0-3) or a location in hwloc's style
 * (numa:0.core:0-3), whose numbers are logical and count within what is before.
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
		 "'%s' %s; expected a list such as 0-3,8 or a location such as "
		 "numa:0.core:0-3",
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
	return parse_number(&text, &out->last) && !*text &&
	       out->first <= out->last;
}

/* ---- a range of CPUs ---- */

static bool is_usable(const struct sb_topology *t, uint32_t cpu)
{
	return hwloc_bitmap_isset(hwloc_topology_get_topology_cpuset(t->hwloc),
				  cpu);
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
				 "has CPU %u, which is not there or may not be "
				 "used",
				 (unsigned)cpu);
			return refuse(p, term, what);
		}
		hwloc_bitmap_set(set, (unsigned)cpu);
	}
	return r.first <= r.last ? 0 : refuse(p, term, "names no CPU");
}

/* ---- a location ---- */

/* Object i within the set, memory without CPUs only in the whole machine. */
static hwloc_obj_t object_within(const struct sb_topology *t,
				 hwloc_const_bitmap_t within, int depth,
				 uint32_t i)
{
	if (hwloc_bitmap_isequal(within,
				 hwloc_topology_get_topology_cpuset(t->hwloc)))
		return hwloc_get_obj_by_depth(t->hwloc, depth, i);
	return hwloc_get_obj_inside_cpuset_by_depth(t->hwloc, within, depth, i);
}

static int add_objects(struct parser *p, const char *step,
		       hwloc_const_bitmap_t within, int depth, struct range r,
		       hwloc_bitmap_t out)
{
	char what[80];
	uint32_t i;

	for (i = r.first; i <= r.last; i++) {
		hwloc_obj_t obj = object_within(p->topology, within, depth, i);

		if (!obj)
			break;
		hwloc_bitmap_or(out, out, obj->cpuset);
	}
	if (i <= r.last && (r.last != UINT32_MAX || i == r.first)) {
		snprintf(what, sizeof(what),
			 "is not there: there are %" PRIu32 " of these, from 0",
			 i);
		return refuse(p, step, what);
	}
	if (hwloc_bitmap_iszero(out))
		return refuse(p, step, "has no CPUs");
	return 0;
}

/* TYPE:RANGE within a set, which becomes what it names. */
static int narrow(struct parser *p, char *step, hwloc_bitmap_t within)
{
	char *colon = strchr(step, ':');
	hwloc_bitmap_t found;
	struct range r;
	hwloc_obj_type_t type;
	int depth = 0;
	int rc;

	if (!colon || !parse_range(colon + 1, &r))
		return refuse(p, step, "is no location");
	*colon = '\0';
	rc = hwloc_type_sscanf_as_depth(step, &type, p->topology->hwloc,
					&depth);
	*colon = ':';
	if (rc < 0)
		return refuse(p, step, "has no known type");
	if (depth == HWLOC_TYPE_DEPTH_UNKNOWN)
		return refuse(p, step,
			      "is of a type that this machine has not");
	if (depth == HWLOC_TYPE_DEPTH_MULTIPLE)
		return refuse(p, step,
			      "is of a type at several depths; write group0, "
			      "group1 and so on");
	found = hwloc_bitmap_alloc();
	if (!found)
		return -ENOMEM;
	rc = add_objects(p, step, within, depth, r, found);
	if (!rc)
		rc = hwloc_bitmap_copy(within, found) ? -ENOMEM : 0;
	hwloc_bitmap_free(found);
	return rc;
}

static int add_location(struct parser *p, char *term, hwloc_bitmap_t set)
{
	hwloc_bitmap_t within = hwloc_bitmap_dup(
		hwloc_topology_get_topology_cpuset(p->topology->hwloc));
	char *step;
	int rc = within ? 0 : -ENOMEM;

	while (!rc && (step = strsep(&term, ".")))
		rc = narrow(p, step, within);
	if (!rc)
		hwloc_bitmap_or(set, set, within);
	hwloc_bitmap_free(within);
	return rc;
}

int sb_cpus_parse(const struct sb_topology *topology, const char *text,
		  hwloc_bitmap_t set, char *why, size_t bytes)
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
