/*
 * heat.h - values on a machine's processing units and NUMA nodes, as colours: the
 * info attribute lstopoStyle of hwloc's objects, drawn by lstopo.
 */
#ifndef SB_AFFINITY_HEAT_H
#define SB_AFFINITY_HEAT_H

#include "affinity/topology.h"

enum sb_heat_of {
	SB_HEAT_PU,
	SB_HEAT_NODE,
	SB_HEAT_SCALE /* no object: a box of its own, that shows a colour */
};

/* The value that an object shows; those without are white. */
struct sb_heat {
	enum sb_heat_of of;
	int index;   /* as in struct sb_place; of a scale 0 */
	double part; /* from 0, white, to 1 */
	char text[32];
};

struct sb_heat_map {
	const struct sb_heat *heat; /* [heats] */
	uint32_t heats;
	char *const *legend; /* [lines] */
	uint32_t lines;
};

/*
 * Draws it in a format of lstopo's ("svg", "png") to the stream. The legend is
 * lines of text below, in which what SVG would take for markup is replaced. Returns 0; -ENOENT, lstopo is not installed; -ENOTSUP, it has not
 * that format; or another -errno.
 */
SB_MUST_CHECK int sb_heat_draw(const struct sb_topology *topology, const struct sb_heat_map *map,
			       const char *format, FILE *out);

#endif
