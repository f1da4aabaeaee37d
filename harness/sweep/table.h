/* table.h - what a sweep says to people: the answers and the tables. */
#ifndef SB_HARNESS_SWEEP_TABLE_H
#define SB_HARNESS_SWEEP_TABLE_H

#include <stdio.h>

#include "harness/sweep/sweep.h"
#include "results/record/record.h"

/* The result has a series for each configuration and the facts of a sweep, and the sweep its
 * objectives. columns: of the terminal; 0: of any width. */
struct sb_sweep_view {
	const struct sb_sweep *sweep;
	const struct sb_result *result;
	int columns;
};

/* What was found, a paragraph for each workload: its first line says it, the others, which
 * are indented, what it gains and costs. */
void sb_sweep_put_answers(const struct sb_sweep_view *view, FILE *out);

/* Adds the ranking to the facts, in the order of the tables: group "ranking", a fact for each configuration
 * with the same estimates and marks. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_sweep_add_rankings(const struct sb_sweep_view *view, struct sb_result *result);

/* A line for each configuration, a table for each workload. */
void sb_sweep_put_tables(const struct sb_sweep_view *view, FILE *out);

#endif
