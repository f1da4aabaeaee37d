/*
 * shape.h - the numbers in a synthetic description of a machine.
 */
#ifndef SB_AFFINITY_PROFILE_SHAPE_H
#define SB_AFFINITY_PROFILE_SHAPE_H

#include "core/platform/base.h"

#define SB_SHAPE_BYTES	4096
#define SB_SHAPE_LEVELS 128 /* hwloc's own limit */

/* Levels with one object below each of the level above are left out. */
struct sb_shape {
	uint64_t units;	      /* the product; counting ends when it is too large */
	uint64_t comparisons; /* that hwloc would make to load it */
	uint32_t levels;
	uint32_t count[SB_SHAPE_LEVELS];
	char small[SB_SHAPE_BYTES]; /* the text with 2 for each larger count */
	bool has_indexes;
};

/* Returns 0 or -ENAMETOOLONG. */
SB_MUST_CHECK int sb_shape_read(struct sb_shape *shape, const char *text);

#endif
