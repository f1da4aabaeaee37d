#include "affinity/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/internal.h"
#include "affinity/plan.h"
#include "affinity/profile/profile.h"

/* ---- distances between nodes ---- */

static void copy_distances(struct sb_topology *t, const struct hwloc_distances_s *d)
{
	for (uint32_t i = 0; i < d->nbobjs; i++) {
		for (uint32_t j = 0; j < d->nbobjs; j++) {
			const uint64_t value = d->values[i * d->nbobjs + j];

			t->node_distance[d->objs[i]->logical_index * t->nodes +
					 d->objs[j]->logical_index] =
				value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
		}
	}
}

/* The first matrix that means latency; none is none. */
static int read_distances(struct sb_topology *t)
{
	struct hwloc_distances_s *d = NULL;
	unsigned int n = 1;

	if (hwloc_distances_get_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, &n, &d,
					HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) ||
	    !n || !d)
		return 0;
	t->node_distance = calloc((size_t)t->nodes * t->nodes, sizeof(*t->node_distance));
	if (t->node_distance)
		copy_distances(t, d);
	hwloc_distances_release(t->hwloc, d);
	return t->node_distance ? 0 : -ENOMEM;
}

/* ---- one processing unit ---- */

static int ancestor_index(hwloc_topology_t t, hwloc_obj_t obj, hwloc_obj_type_t type)
{
	hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(t, type, obj);

	return found ? (int)found->logical_index : -1;
}

/* The largest cache above: the one next to the root. */
static hwloc_obj_t last_level_cache(hwloc_obj_t pu)
{
	hwloc_obj_t cache = NULL;

	for (hwloc_obj_t o = pu->parent; o; o = o->parent) {
		if (hwloc_obj_type_is_dcache(o->type))
			cache = o;
	}
	return cache;
}

/* Memory of another kind than the cores' own. */
static bool is_special_memory(hwloc_obj_t node)
{
	return node->subtype || hwloc_obj_get_info_by_name(node, "DAXDevice") ||
	       hwloc_obj_get_info_by_name(node, "GPUBusId");
}

/* False: the machine has no distances, or has left this node out. */
static bool has_distances(const struct sb_topology *t, hwloc_obj_t node)
{
	const uint32_t i = node->logical_index;

	return t->node_distance && t->node_distance[i * t->nodes + i];
}

static uint64_t sum_of_distances(const struct sb_topology *t, hwloc_obj_t node)
{
	uint64_t sum = 0;

	for (uint32_t from = 0; from < t->nodes; from++)
		sum += t->node_distance[from * t->nodes + node->logical_index];
	return sum;
}

/* Below 0: a is nearer to all the others, above: b is. */
static int compare_distances(const struct sb_topology *t, hwloc_obj_t a, hwloc_obj_t b)
{
	uint64_t sum_a;
	uint64_t sum_b;

	if (!has_distances(t, a) || !has_distances(t, b))
		return has_distances(t, b) - has_distances(t, a);
	sum_a = sum_of_distances(t, a);
	sum_b = sum_of_distances(t, b);
	return sum_a < sum_b ? -1 : sum_a > sum_b;
}

/*
 * Of several nodes with this unit: plain memory first, then the smallest
 * locality. hwloc gives memory without CPUs the locality of the nodes it is
 * nearest to; but it is farther from all others than those are, or they alone
 * have distances. Then the operating system's order, which puts memory that is
 * added to a machine behind that of its sockets.
 */
static bool is_nearer(const struct sb_topology *t, hwloc_obj_t a, hwloc_obj_t b)
{
	const int weight_a = hwloc_bitmap_weight(a->cpuset);
	const int weight_b = hwloc_bitmap_weight(b->cpuset);
	const int nearer = compare_distances(t, a, b);

	if (is_special_memory(a) != is_special_memory(b))
		return is_special_memory(b);
	if (weight_a != weight_b)
		return weight_a < weight_b;
	return nearer ? nearer < 0 : a->os_index < b->os_index;
}

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

/* The nearest of those attached to parent, where nearest is not nearer. */
static hwloc_obj_t nearest_of(const struct sb_topology *t, hwloc_obj_t parent, hwloc_obj_t pu,
			      hwloc_obj_t nearest)
{
	for (hwloc_obj_t m = parent->memory_first_child; m; m = m->next_sibling) {
		if (m->type != HWLOC_OBJ_NUMANODE)
			nearest = nearest_of(t, m, pu, nearest);
		else if (hwloc_bitmap_isset(m->cpuset, pu->os_index) &&
			 (!nearest || is_nearer(t, m, nearest)))
			nearest = m;
	}
	return nearest;
}

/* NOLINTEND(misc-no-recursion) */

/* hwloc attaches a node to what has the same CPUs. */
static int node_index(const struct sb_topology *t, hwloc_obj_t pu)
{
	hwloc_obj_t nearest = NULL;

	for (hwloc_obj_t o = pu->parent; o; o = o->parent)
		nearest = nearest_of(t, o, pu, nearest);
	return nearest ? (int)nearest->logical_index : -1;
}

/* hwloc sorts kinds by efficiency where it knows it, the slowest first. */
static int speed_of(hwloc_topology_t t, hwloc_obj_t pu)
{
	const int kind = hwloc_cpukinds_get_by_cpuset(t, pu->cpuset, 0);
	int efficiency = -1;

	if (kind < 0 ||
	    hwloc_cpukinds_get_info(t, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0))
		return 0;
	return efficiency < 0 ? 0 : kind;
}

/* ---- all of them ---- */

/* A cache's number among the last-level ones, in the order of the units: they
 * need not be of one level. */
static int cache_index(struct sb_topology *t, hwloc_obj_t pu, hwloc_obj_t *last_seen)
{
	hwloc_obj_t cache = last_level_cache(pu);

	if (!cache)
		return -1;
	if (cache != *last_seen)
		t->caches++;
	*last_seen = cache;
	return (int)t->caches - 1;
}

static void list_units(struct sb_topology *t)
{
	hwloc_obj_t cache = NULL;
	hwloc_obj_t last_core = NULL;

	for (uint32_t i = 0; i < t->pus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PU, i);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_CORE, pu);

		if (!core || core != last_core)
			t->cores++;
		last_core = core;
		t->unit[i] = (struct sb_unit){
			.place = { .os_cpu = (int)pu->os_index,
				   .pu = (int)pu->logical_index,
				   .core = core ? (int)core->logical_index : -1,
				   .cache = cache_index(t, pu, &cache),
				   .node = node_index(t, pu),
				   .package = ancestor_index(t->hwloc, pu, HWLOC_OBJ_PACKAGE) },
			.pu = pu,
			.core = t->cores - 1,
			.speed = speed_of(t->hwloc, pu),
		};
		t->kinds |= t->unit[i].speed != t->unit[0].speed;
	}
}

/* ---- loading ---- */

/* Depths that differ between parts of the machine count as none. */
static uint32_t count_of(const struct sb_topology *t, hwloc_obj_type_t type)
{
	const int n = hwloc_get_nbobjs_by_type(t->hwloc, type);

	return n > 0 ? (uint32_t)n : 0;
}

static int read_hwloc(struct sb_topology *t)
{
	t->pus = count_of(t, HWLOC_OBJ_PU);
	t->nodes = count_of(t, HWLOC_OBJ_NUMANODE);
	t->unit = calloc(t->pus, sizeof(*t->unit));
	if (!t->unit)
		return -ENOMEM;
	if (read_distances(t))
		return -ENOMEM;
	list_units(t);
	return 0;
}

int sb_topology_adopt(struct sb_topology **topology, hwloc_topology_t hwloc, const char *name,
		      bool emulated)
{
	struct sb_topology *t = calloc(1, sizeof(*t));

	if (!t) {
		hwloc_topology_destroy(hwloc);
		return -ENOMEM;
	}
	t->hwloc = hwloc;
	t->emulated = emulated;
	t->name = strdup(name);
	if (!t->name || read_hwloc(t)) {
		sb_topology_free(t);
		return -ENOMEM;
	}
	*topology = t;
	return 0;
}

/* Without DONT_CHANGE_BINDING hwloc moves the calling thread to each CPU in turn, to ask that CPU. */
#define HERE_FLAGS                                                                                 \
	(HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING |          \
	 HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING)

int sb_topology_here(struct sb_topology **topology)
{
	hwloc_topology_t t;
	int units = 0;

	if (hwloc_topology_init(&t))
		return -ENOMEM;
	if (!hwloc_topology_set_flags(t, HERE_FLAGS) && !hwloc_topology_load(t))
		units = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	if (units > 0 && units <= SB_PROFILE_PUS_MAX)
		return sb_topology_adopt(topology, t, SB_PROFILE_THIS, false);
	hwloc_topology_destroy(t);
	return -EIO;
}

int sb_topology_rename(struct sb_topology *topology, const char *profile)
{
	char *name = strdup(profile);

	if (!name)
		return -ENOMEM;
	free(topology->name);
	topology->name = name;
	return 0;
}

void sb_topology_free(struct sb_topology *topology)
{
	if (!topology)
		return;
	if (topology->hwloc)
		hwloc_topology_destroy(topology->hwloc);
	free(topology->name);
	free(topology->unit);
	free(topology->node_distance);
	free(topology);
}

/* ---- what it says ---- */

/* Those that a usable processing unit is in. */
static uint32_t count_packages(const struct sb_topology *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->pus; i++)
		n += t->unit[i].place.package >= 0 &&
		     (!i || t->unit[i].place.package != t->unit[i - 1].place.package);
	return n;
}

void sb_topology_machine(const struct sb_topology *t, struct sb_machine *machine)
{
	hwloc_obj_t package = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
	const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;

	*machine = (struct sb_machine){
		.packages = count_packages(t),
		.nodes = t->nodes,
		.caches = t->caches,
		.cores = t->cores,
		.pus = t->pus,
		.cpu_model = model ? model : "unknown",
		.profile = t->name,
		.emulated = t->emulated,
	};
}

int sb_topology_os_cpu(const struct sb_topology *t, int pu)
{
	return pu >= 0 && (uint32_t)pu < t->pus ? t->unit[pu].place.os_cpu : -1;
}

int sb_topology_os_node(const struct sb_topology *t, int node)
{
	return node >= 0 && (uint32_t)node < t->nodes
		       ? (int)hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, (unsigned)node)
				 ->os_index
		       : -1;
}

int sb_topology_kind(const struct sb_topology *t, int pu)
{
	return t->kinds && pu >= 0 && (uint32_t)pu < t->pus ? t->unit[pu].speed : -1;
}

/* FNV-1a. */
static void mix(uint64_t *hash, uint64_t value)
{
	for (int i = 0; i < 8; i++) {
		*hash ^= (value >> (8 * i)) & 0xff;
		*hash *= UINT64_C(0x100000001b3);
	}
}

/* hwloc's trees are as deep as a machine is.
 * NOLINTBEGIN(misc-no-recursion) */

/* hwloc adds groups as it sees fit: only what is in them counts. */
static void mix_object(uint64_t *hash, hwloc_obj_t obj)
{
	if (obj->type != HWLOC_OBJ_GROUP) {
		mix(hash, (uint64_t)obj->type);
		mix(hash, obj->type == HWLOC_OBJ_PU || obj->type == HWLOC_OBJ_NUMANODE
				  ? obj->os_index
				  : 0);
		if (hwloc_obj_type_is_cache(obj->type))
			mix(hash, obj->attr->cache.size);
	}
	for (hwloc_obj_t c = obj->memory_first_child; c; c = c->next_sibling)
		mix_object(hash, c);
	for (hwloc_obj_t c = obj->first_child; c; c = c->next_sibling)
		mix_object(hash, c);
	mix(hash, UINT64_MAX);
}

/* NOLINTEND(misc-no-recursion) */

uint64_t sb_topology_fingerprint(const struct sb_topology *t)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	mix_object(&hash, hwloc_get_root_obj(t->hwloc));
	for (uint32_t i = 0; i < t->pus; i++) {
		mix(&hash, (uint64_t)t->unit[i].speed);
		mix(&hash, (uint64_t)t->unit[i].place.node);
	}
	for (uint32_t i = 0; t->node_distance && i < t->nodes * t->nodes; i++)
		mix(&hash, t->node_distance[i]);
	return hash;
}

int sb_topology_export(const struct sb_topology *t, FILE *out)
{
	char *xml = NULL;
	int length = 0;
	int rc = 0;

	if (hwloc_topology_export_xmlbuffer(t->hwloc, &xml, &length, 0))
		return -ENOMEM;
	if (fputs(xml, out) < 0)
		rc = -EIO;
	hwloc_free_xmlbuffer(t->hwloc, xml);
	return rc;
}

int sb_topology_describe(const struct sb_topology *t, char out[SB_SYNTHETIC_BYTES])
{
	const int length = hwloc_topology_export_synthetic(t->hwloc, out, SB_SYNTHETIC_BYTES, 0);

	/* A longer one is cut. */
	return length < 0 || length >= SB_SYNTHETIC_BYTES - 1 ? -ENOTSUP : 0;
}

/* ---- placements ---- */

int sb_placement_make(const struct sb_topology *topology, uint32_t n,
		      struct sb_placement *placement)
{
	const struct sb_plan_request request = { .workers = n };
	struct sb_plan plan;
	char why[128];
	const int rc = sb_plan_make(topology, &request, &plan, why, sizeof(why));

	if (!rc)
		*placement = plan.placement;
	return rc;
}
