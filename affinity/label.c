#include "affinity/label.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/platform/base.h"

void sb_label_append(char *words, const char *more)
{
	static const char dots[] = "...";
	const size_t used = strlen(words);

	if (used >= strlen(dots) && !strcmp(words + used - strlen(dots), dots))
		return;
	if (used + strlen(more) + sizeof(dots) > SB_LABEL_BYTES)
		more = dots;
	memcpy(words + used, more, strlen(more) + 1);
}

static void append_size(char *words, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes;
	size_t unit = 0;
	char text[48];

	while (size >= 1024 && unit + 1 < SB_ARRAY_SIZE(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), size == floor(size) ? " (%.0f %s)" : " (%.1f %s)", size,
		 units[unit]);
	sb_label_append(words, text);
}

static const char *type_name(hwloc_obj_type_t type)
{
	return type == HWLOC_OBJ_NUMANODE ? "Node" : hwloc_obj_type_string(type);
}

void sb_label_object(char *words, hwloc_obj_t obj)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s %u", *words ? " + " : "", type_name(obj->type),
		 obj->logical_index);
	sb_label_append(words, text);
	if (obj->type == HWLOC_OBJ_NUMANODE && obj->os_index != obj->logical_index) {
		snprintf(text, sizeof(text), " (OS %u)", obj->os_index);
		sb_label_append(words, text);
	}
	if (obj->subtype) {
		snprintf(text, sizeof(text), " %.40s", obj->subtype);
		sb_label_append(words, text);
	}
	if (hwloc_obj_type_is_cache(obj->type) && obj->attr->cache.size)
		append_size(words, obj->attr->cache.size);
	if (obj->type == HWLOC_OBJ_NUMANODE && obj->attr->numanode.local_memory)
		append_size(words, obj->attr->numanode.local_memory);
}

/* Caches may lie between a core and its units. */
bool sb_label_is_leaf(hwloc_obj_t obj)
{
	hwloc_obj_t core = obj;

	for (hwloc_obj_t c = obj->first_child; c; c = c->next_sibling) {
		if (c->type != HWLOC_OBJ_PU || c->memory_arity)
			return false;
	}
	while (core && core->type != HWLOC_OBJ_CORE)
		core = core->parent;
	return core || !obj->arity;
}

hwloc_obj_t sb_label_chain(char *words, hwloc_obj_t obj)
{
	sb_label_object(words, obj);
	while (!sb_label_is_leaf(obj) && obj->arity == 1 && !obj->memory_arity &&
	       !obj->first_child->memory_arity) {
		obj = obj->first_child;
		sb_label_object(words, obj);
	}
	return obj;
}

enum sb_role sb_label_role(const struct sb_drawing *d, hwloc_obj_t pu)
{
	const struct sb_unit *unit = d->topology->unit;
	enum sb_role role = SB_ROLE_NONE;

	for (uint32_t g = 0; g < d->plan->generators; g++) {
		const int at = d->plan->generator[g].pu;

		if (at == (int)pu->logical_index)
			return SB_ROLE_GENERATOR;
		if (unit[at].core == unit[pu->logical_index].core)
			role = SB_ROLE_KEPT_FREE;
	}
	return role;
}

/* " [worker 1 5]" */
static void append_workers(char *words, const struct sb_drawing *d, hwloc_obj_t pu)
{
	uint32_t found = 0;
	char text[24];

	for (uint32_t w = 0; w < d->plan->placement.workers; w++) {
		if (d->plan->placement.place[w].pu != (int)pu->logical_index)
			continue;
		snprintf(text, sizeof(text), "%s%" PRIu32, found ? " " : " [worker ", w);
		sb_label_append(words, text);
		found++;
	}
	if (found)
		sb_label_append(words, "]");
}

static void append_plan(char *words, const struct sb_drawing *d, hwloc_obj_t pu)
{
	static const char *const names[] = {
		[SB_ROLE_NONE] = "",
		[SB_ROLE_GENERATOR] = " [generator]",
		[SB_ROLE_KEPT_FREE] = " [kept free]",
	};

	append_workers(words, d, pu);
	sb_label_append(words, names[sb_label_role(d, pu)]);
}

void sb_label_unit(char *words, const struct sb_drawing *d, hwloc_obj_t pu)
{
	char text[48];

	snprintf(text, sizeof(text), d->has_both_numbers ? "CPU %u (PU %u)" : "CPU %u",
		 pu->os_index, pu->logical_index);
	sb_label_append(words, text);
	append_plan(words, d, pu);
}

void sb_label_kind(char *words, const struct sb_drawing *d, hwloc_obj_t leaf)
{
	hwloc_obj_t pu = leaf->type == HWLOC_OBJ_PU ? leaf : leaf->first_child;
	char text[24];

	if (!pu || !d->topology->kinds)
		return;
	snprintf(text, sizeof(text), " of kind %d", d->topology->unit[pu->logical_index].speed);
	sb_label_append(words, text);
}

struct sb_drawing sb_label_drawing(const struct sb_topology *topology, const struct sb_plan *plan,
				   FILE *out)
{
	struct sb_drawing d = { topology, plan, out, false };

	for (uint32_t i = 0; i < topology->pus; i++)
		d.has_both_numbers |= topology->unit[i].pu->os_index != i;
	return d;
}
