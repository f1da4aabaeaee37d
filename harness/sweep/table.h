/* table.h - what a sweep says to people: its table and what follows from
 * it. */
#ifndef SB_HARNESS_SWEEP_TABLE_H
#define SB_HARNESS_SWEEP_TABLE_H

#include <stdio.h>

#include "harness/sweep/sweep.h"
#include "results/record/record.h"

/* The result has a series for each configuration; seed is that of resampling. */
struct sb_sweep_view {
	const struct sb_sweep *sweep;
	const struct sb_result *result;
	enum sb_metric_id objective;
	uint64_t seed;
};

/* A line for each configuration, a table for each workload; with what is
 * recommended. */
void sb_sweep_put_tables(const struct sb_sweep_view *view, FILE *out);

/* The recommendation alone, a paragraph for each workload. */
void sb_sweep_put_recommendations(const struct sb_sweep_view *view, FILE *out);

#endif
