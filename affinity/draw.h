/*
 * draw.h - a machine, and a plan on it, as text and as a picture.
 */
#ifndef SB_AFFINITY_DRAW_H
#define SB_AFFINITY_DRAW_H

#include "affinity/plan.h"

/* A line for each object; caches and cores that only contain one another share
 * one. */
void sb_draw_tree(const struct sb_topology *topology, const struct sb_plan *plan, FILE *out);

/* Boxes within boxes, as an SVG document. */
void sb_draw_svg(const struct sb_topology *topology, const struct sb_plan *plan, FILE *out);

#endif
