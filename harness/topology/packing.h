/* packing.h - a machine as a pack has it. */
#ifndef SB_HARNESS_TOPOLOGY_PACKING_H
#define SB_HARNESS_TOPOLOGY_PACKING_H

#include "affinity/topology.h"
#include "harness/cli/options.h"
#include "harness/system/pack.h"

/* The machine of the topology, under the name that the options say, with the model that --virtual
 * would use, if there is one. Returns 0, or an exit status after an error has been printed; for
 * sb_pack_free in both cases. */
int sb_topo_describe(const struct sb_options *options, const struct sb_topology *topology,
		     struct sb_pack_machine *machine);

#endif
