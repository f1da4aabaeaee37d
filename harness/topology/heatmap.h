/*
 * heatmap.h - a series on the machine that it ran on, as a picture: what each
 * worker did, by its processing unit.
 */
#ifndef SB_HARNESS_TOPOLOGY_HEATMAP_H
#define SB_HARNESS_TOPOLOGY_HEATMAP_H

#include <stdio.h>

#include "results/record/record.h"

/* metric: "busy_pct", "steal_items", or "" for the first. format: "svg" or
 * "png". Returns 0 or an exit status after an error has been printed. */
int sb_heatmap_draw(const struct sb_result *result, const struct sb_series *series,
		    const char *metric, const char *format, FILE *out);

#endif
