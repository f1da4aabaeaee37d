#include "affinity/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>

struct sb_topology {
	hwloc_topology_t hwloc;
	uint32_t pus;
	/* All usable processing units: the first of each core in the order of
	 * the cores, then the second of each, and so on. */
	struct sb_place *place;
};

/* ---- one processing unit ---- */

static int ancestor_index(hwloc_topology_t t, hwloc_obj_t obj,
			  hwloc_obj_type_t type)
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

static int node_index(hwloc_topology_t t, hwloc_obj_t pu)
{
	const int os_index = hwloc_bitmap_first(pu->nodeset);
	hwloc_obj_t node = os_index < 0 ? NULL
					: hwloc_get_numanode_obj_by_os_index(
						  t, (unsigned)os_index);

	return node ? (int)node->logical_index : -1;
}

static struct sb_place place_of(hwloc_topology_t t, hwloc_obj_t pu)
{
	hwloc_obj_t cache = last_level_cache(pu);

	return (struct sb_place){
		.os_cpu = (int)pu->os_index,
		.pu = (int)pu->logical_index,
		.core = ancestor_index(t, pu, HWLOC_OBJ_CORE),
		.cache = cache ? (int)cache->logical_index : -1,
		.node = node_index(t, pu),
		.package = ancestor_index(t, pu, HWLOC_OBJ_PACKAGE),
	};
}

/* ---- all of them ---- */

/* How many processing units of the same core come before this one. */
static uint32_t rank_in_core(const struct sb_place *place, uint32_t i)
{
	uint32_t rank = 0;

	for (uint32_t j = i; j > 0 && place[i].core >= 0; j--) {
		if (place[j - 1].core != place[i].core)
			break;
		rank++;
	}
	return rank;
}

/* hwloc's logical order keeps the units of a core together. */
static int list_places(struct sb_topology *topology)
{
	const uint32_t n = topology->pus;
	struct sb_place *in_order = calloc(n, sizeof(*in_order));
	uint32_t placed = 0;

	topology->place = calloc(n, sizeof(*topology->place));
	if (!in_order || !topology->place) {
		free(in_order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		in_order[i] = place_of(topology->hwloc,
				       hwloc_get_obj_by_type(topology->hwloc,
							     HWLOC_OBJ_PU, i));
	for (uint32_t rank = 0; placed < n; rank++) {
		for (uint32_t i = 0; i < n; i++) {
			if (rank_in_core(in_order, i) == rank)
				topology->place[placed++] = in_order[i];
		}
	}
	free(in_order);
	return 0;
}

static int load(struct sb_topology *topology)
{
	int n;

	if (hwloc_topology_init(&topology->hwloc))
		return -ENOMEM;
	/* The cgroup's limits are hwloc's default; the mask is asked for. */
	if (hwloc_topology_set_flags(
		    topology->hwloc,
		    HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
			    HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING) ||
	    hwloc_topology_load(topology->hwloc))
		return errno ? -errno : -EIO;
	n = hwloc_get_nbobjs_by_type(topology->hwloc, HWLOC_OBJ_PU);
	if (n <= 0)
		return -ENODEV;
	topology->pus = (uint32_t)n;
	return list_places(topology);
}

int sb_topology_load(struct sb_topology **topology)
{
	struct sb_topology *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return -ENOMEM;
	rc = load(t);
	if (rc) {
		sb_topology_free(t);
		return rc;
	}
	*topology = t;
	return 0;
}

void sb_topology_free(struct sb_topology *topology)
{
	if (!topology)
		return;
	if (topology->hwloc)
		hwloc_topology_destroy(topology->hwloc);
	free(topology->place);
	free(topology);
}

/* Depths that differ between parts of the machine count as none. */
static uint32_t count_of(const struct sb_topology *t, hwloc_obj_type_t type)
{
	const int n = hwloc_get_nbobjs_by_type(t->hwloc, type);

	return n > 0 ? (uint32_t)n : 0;
}

static uint32_t count_caches(const struct sb_topology *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->pus; i++)
		n = t->place[i].cache >= (int)n
			    ? (uint32_t)t->place[i].cache + 1
			    : n;
	return n;
}

void sb_topology_machine(const struct sb_topology *t,
			 struct sb_machine *machine)
{
	const uint32_t cores = count_of(t, HWLOC_OBJ_CORE);
	hwloc_obj_t package =
		hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_PACKAGE, 0);
	const char *model =
		package ? hwloc_obj_get_info_by_name(package, "CPUModel")
			: NULL;

	*machine = (struct sb_machine){
		.packages = count_of(t, HWLOC_OBJ_PACKAGE),
		.nodes = count_of(t, HWLOC_OBJ_NUMANODE),
		.caches = count_caches(t),
		.cores = cores ? cores : t->pus,
		.pus = t->pus,
		.cpu_model = model ? model : "unknown",
	};
}

int sb_placement_make(const struct sb_topology *topology, uint32_t n,
		      struct sb_placement *placement)
{
	struct sb_place *place = calloc(n, sizeof(*place));

	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		place[i] = topology->place[i % topology->pus];
	*placement = (struct sb_placement){ .workers = n, .place = place };
	return 0;
}

void sb_placement_free(struct sb_placement *placement)
{
	free(placement->place);
	placement->place = NULL;
}
