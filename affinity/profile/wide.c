#include "affinity/profile/wide.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/profile/profile.h"

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

/* Numbers from first to end, without the end. */
struct range {
	uint32_t first, end;
};

struct writer {
	FILE *out;
	const char *text;
	const struct sb_shape *shape;
	uint32_t made[HWLOC_OBJ_TYPE_MAX]; /* how many, of each type */
	struct range around; /* the nodes of the nearest object around that has some */
};

/* ---- sets ---- */

#define WORD 32

static uint32_t word_of(uint32_t at, struct range range)
{
	uint32_t word = 0;

	for (uint32_t bit = 0; bit < WORD; bit++)
		word |= (uint32_t)(at + bit >= range.first && at + bit < range.end) << bit;
	return word;
}

/* In hwloc's form: the highest word first; an empty one is 0. */
static void put_set(const struct writer *w, const char *which, const char *name, struct range range)
{
	static const char zeroes[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
	uint32_t at = (range.end - 1) / WORD * WORD;

	fprintf(w->out, " %s%s=\"0x%08" PRIx32, which, name, word_of(at, range));
	while (at > range.first) {
		at -= WORD;
		fprintf(w->out, ",0x%08" PRIx32, word_of(at, range));
	}
	for (at /= WORD; at > WORD; at -= WORD)
		fwrite(zeroes, 1, WORD, w->out);
	if (at)
		fprintf(w->out, "%.*s,0x0", (int)at - 1, zeroes);
	fputc('"', w->out);
}

static void put_sets(const struct writer *w, const char *name, struct range range)
{
	put_set(w, "", name, range);
	put_set(w, "complete_", name, range);
}

/* ---- objects ---- */

static void put_cache(const struct writer *w, const struct hwloc_cache_attr_s *cache)
{
	fprintf(w->out,
		" cache_size=\"%" PRIu64 "\" depth=\"%u\" cache_linesize=\"%u\" "
		"cache_associativity=\"%d\" cache_type=\"%d\"",
		cache->size, cache->depth, cache->linesize, cache->associativity, (int)cache->type);
}

/* The tag's name, and what is the same in all objects of this level. */
static void begin_object(struct writer *w, hwloc_obj_t obj)
{
	fprintf(w->out, "<object type=\"%s\"", hwloc_obj_type_string(obj->type));
	if (obj->os_index != HWLOC_UNKNOWN_INDEX && obj->type != HWLOC_OBJ_NUMANODE)
		fprintf(w->out, " os_index=\"%" PRIu32 "\"", w->made[obj->type]);
	if (hwloc_obj_type_is_cache(obj->type) || obj->type == HWLOC_OBJ_MEMCACHE)
		put_cache(w, &obj->attr->cache);
	if (obj->type == HWLOC_OBJ_GROUP)
		fprintf(w->out, " kind=\"%u\" subkind=\"%u\"", obj->attr->group.kind,
			obj->attr->group.subkind);
	w->made[obj->type]++;
}

static void put_numa_node(struct writer *w, hwloc_obj_t obj, struct range nodes)
{
	const struct hwloc_numanode_attr_s *attr = &obj->attr->numanode;

	fprintf(w->out, " os_index=\"%" PRIu32 "\" local_memory=\"%" PRIu64 "\">", nodes.first,
		attr->local_memory);
	for (unsigned int i = 0; i < attr->page_types_len; i++)
		fprintf(w->out, "<page_type size=\"%" PRIu64 "\" count=\"%" PRIu64 "\"/>",
			attr->page_types[i].size, attr->page_types[i].count);
}

static uint32_t count_memory(hwloc_obj_t obj)
{
	uint32_t nodes = 0;

	for (hwloc_obj_t m = obj->memory_first_child; m; m = m->next_sibling)
		nodes += m->type == HWLOC_OBJ_NUMANODE ? 1 : count_memory(m);
	return nodes;
}

/* The numbers of the nodes are the first ones of the range. */
static void put_memory(struct writer *w, hwloc_obj_t parent, struct range cpus, struct range nodes)
{
	for (hwloc_obj_t m = parent->memory_first_child; m; m = m->next_sibling) {
		const bool is_node = m->type == HWLOC_OBJ_NUMANODE;

		nodes.end = nodes.first + (is_node ? 1 : count_memory(m));
		begin_object(w, m);
		put_sets(w, "cpuset", cpus);
		put_sets(w, "nodeset", nodes);
		if (is_node)
			put_numa_node(w, m, nodes);
		else
			fputc('>', w->out);
		put_memory(w, m, cpus, nodes);
		fputs("</object>\n", w->out);
		nodes.first = nodes.end;
	}
}

/* How many children an object has, and where its children's counts begin. A
 * level that hwloc leaves out multiplies those of the next. */
static uint32_t count_children(const struct writer *w, hwloc_obj_t obj, uint32_t *level)
{
	uint32_t children = obj->arity ? 1 : 0;

	for (uint32_t arity = obj->arity; arity > 1; arity /= 2)
		children *= w->shape->count[(*level)++];
	return children;
}

static uint32_t count_nodes(const struct writer *w, hwloc_obj_t obj, uint32_t level)
{
	const uint32_t children = count_children(w, obj, &level);

	return count_memory(obj) +
	       (children ? children * count_nodes(w, obj->first_child, level) : 0);
}

static void put_info(const struct writer *w, hwloc_obj_t root)
{
	for (unsigned int i = 0; i < root->infos_count; i++) {
		const struct hwloc_info_s *info = &root->infos[i];
		const char *value = info->value;

		if (!strcmp(info->name, "SyntheticDescription"))
			value = w->text;
		if (!strpbrk(value, "<>&\"\n\t"))
			fprintf(w->out, "<info name=\"%s\" value=\"%s\"/>\n", info->name, value);
	}
}

/* hwloc numbers the nodes of an object's children before its own. What else
 * is inside their CPUs, or around them, it adds to the sets of nodes itself; from 2.15 on
 * it wants a set of each object. */
static void put_object(struct writer *w, hwloc_obj_t obj, uint32_t level, struct range cpus,
		       struct range nodes)
{
	const uint32_t children = count_children(w, obj, &level);
	const uint32_t each = children ? (cpus.end - cpus.first) / children : 0;
	const uint32_t own = nodes.end - count_memory(obj);
	const uint32_t below = children ? (own - nodes.first) / children : 0;
	const struct range around = w->around;

	if (own < nodes.end)
		w->around = (struct range){ own, nodes.end };
	begin_object(w, obj);
	put_sets(w, "cpuset", cpus);
	put_sets(w, "nodeset", nodes.end > nodes.first ? nodes : w->around);
	if (!obj->parent) {
		put_set(w, "allowed_", "cpuset", cpus);
		put_set(w, "allowed_", "nodeset", nodes);
	}
	fputs(">\n", w->out);
	if (!obj->parent)
		put_info(w, obj);
	put_memory(w, obj, cpus, (struct range){ own, nodes.end });
	for (uint32_t i = 0; i < children; i++)
		put_object(
			w, obj->first_child, level,
			(struct range){ cpus.first + i * each, cpus.first + (i + 1) * each },
			(struct range){ nodes.first + i * below, nodes.first + (i + 1) * below });
	fputs("</object>\n", w->out);
	w->around = around;
}

/* NOLINTEND(misc-no-recursion) */

/* ---- all of it ---- */

/* hwloc goes past all siblings to add one, the slower the more lies between
 * them: this many steps and objects are some five seconds. */
#define STEPS_MAX (UINT64_C(3) << 28)

static bool is_slow(const struct writer *w, hwloc_obj_t root)
{
	uint64_t parents = 1;
	uint64_t steps = 0;
	uint64_t objects = 1;
	uint32_t level = 0;

	for (hwloc_obj_t o = root; o->arity; o = o->first_child) {
		const uint64_t n = count_children(w, o, &level);

		steps += parents * n * n;
		parents *= n;
		objects += parents;
	}
	objects += count_nodes(w, root, 0);
	return steps * objects / parents > STEPS_MAX;
}

static int put_machine(struct writer *w, hwloc_obj_t root)
{
	const uint32_t nodes = count_nodes(w, root, 0);

	if (is_slow(w, root) || nodes > SB_PROFILE_PUS_MAX)
		return ETIME;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
	      "<topology version=\"2.0\">\n",
	      w->out);
	put_object(w, root, 0, (struct range){ 0, (uint32_t)w->shape->units },
		   (struct range){ 0, nodes });
	fputs("</topology>\n", w->out);
	return 0;
}

static int write_out(struct writer *w)
{
	hwloc_topology_t small;
	int rc;

	if (hwloc_topology_init(&small))
		return ENOMEM;
	if (hwloc_topology_set_synthetic(small, w->shape->small) || hwloc_topology_load(small))
		rc = EINVAL;
	else
		rc = put_machine(w, hwloc_get_root_obj(small));
	hwloc_topology_destroy(small);
	return rc;
}

int sb_wide_load(hwloc_topology_t topology, const char *text, const struct sb_shape *shape)
{
	struct writer w = { .text = text, .shape = shape };
	char *xml = NULL;
	size_t bytes = 0;
	int rc = ENOMEM;

	w.out = open_memstream(&xml, &bytes);
	if (w.out)
		rc = write_out(&w);
	if (w.out && fclose(w.out))
		rc = ENOMEM;
	if (!rc &&
	    (bytes >= INT_MAX || hwloc_topology_set_xmlbuffer(topology, xml, (int)bytes + 1)))
		rc = EINVAL;
	free(xml);
	return rc ? rc : hwloc_topology_load(topology) ? EINVAL : 0;
}
