/*
 * named.c - of the machines that come with the project, what hwloc's synthetic
 * description cannot say.
 */
#include <stdlib.h>

#include "affinity/internal.h"
#include "affinity/profile/profile.h"

static int keep_only(hwloc_topology_t t, const char *cpus)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int rc = -1;

	if (set && !hwloc_bitmap_list_sscanf(set, cpus))
		rc = hwloc_topology_restrict(t, set, 0);
	hwloc_bitmap_free(set);
	return rc;
}

static int make_fast(hwloc_topology_t t, const char *cpus)
{
	hwloc_bitmap_t fast = hwloc_bitmap_alloc();
	hwloc_bitmap_t slow = hwloc_bitmap_alloc();
	int rc = -1;

	if (fast && slow && !hwloc_bitmap_list_sscanf(fast, cpus) &&
	    !hwloc_bitmap_andnot(slow, hwloc_topology_get_topology_cpuset(t), fast))
		rc = hwloc_cpukinds_register(t, slow, 0, 0, NULL, 0) ||
		     hwloc_cpukinds_register(t, fast, 1, 0, NULL, 0);
	hwloc_bitmap_free(fast);
	hwloc_bitmap_free(slow);
	return rc;
}

#define NODES_MAX 32

/* The matrix of the nodes, in hwloc's order, row by row. */
static int set_distances(hwloc_topology_t t, const char *text)
{
	const int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
	hwloc_obj_t node[NODES_MAX];
	hwloc_uint64_t value[NODES_MAX * NODES_MAX];
	hwloc_distances_add_handle_t handle;

	SB_CHECK(n, <=, NODES_MAX);
	for (int i = 0; i < n; i++)
		node[i] = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)i);
	for (int i = 0; i < n * n; i++) {
		char *end;

		value[i] = strtoull(text, &end, 10);
		text = end;
	}
	handle = hwloc_distances_add_create(
		t, "NUMALatency", HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY,
		0);
	if (!handle || hwloc_distances_add_values(t, handle, (unsigned)n, node, value, 0))
		return -1;
	return hwloc_distances_add_commit(t, handle, 0);
}

int sb_profile_finish(hwloc_topology_t t, const struct sb_profile *profile)
{
	int rc = 0;

	if (profile->only)
		rc = keep_only(t, profile->only);
	if (!rc && profile->fast)
		rc = make_fast(t, profile->fast);
	if (!rc && profile->distances)
		rc = set_distances(t, profile->distances);
	return rc;
}
