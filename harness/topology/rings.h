/*
 * rings.h - the rings of victims of a placement, as --victim near looks at
 * them: as text for each worker, as data for all.
 */
#ifndef SB_HARNESS_TOPOLOGY_RINGS_H
#define SB_HARNESS_TOPOLOGY_RINGS_H

#include <jansson.h>

#include "core/placement.h"

/* Nothing for a single worker. */
void sb_topo_put_rings(const struct sb_placement *p);

/* The classes of distance, and the machine's distances between nodes. */
json_t *sb_topo_rings_to_json(void);
json_t *sb_topo_distances_to_json(const struct sb_placement *p);

#endif
