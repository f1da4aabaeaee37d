#include "affinity/machine.h"

#include "affinity/topology.h"

int sb_placement_here(uint32_t workers, struct sb_placement *placement)
{
	struct sb_topology *topology;
	struct sb_machine machine;
	int rc = sb_topology_here(&topology);

	if (rc)
		return rc;
	sb_topology_machine(topology, &machine);
	rc = sb_placement_make(topology, workers ? workers : machine.cores, placement);
	sb_topology_free(topology);
	return rc;
}

int sb_placement_unpinned(uint32_t workers, struct sb_placement *placement)
{
	const int rc = sb_placement_here(workers, placement);

	for (uint32_t i = 0; !rc && i < placement->workers; i++)
		placement->place[i].os_cpu = -1;
	return rc;
}
