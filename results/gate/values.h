/*
 * values.h - what a suite of runs in virtual time has measured: of each metric of each workload
 * a value for each seed, in one or two sets of seeds. As a file it can be committed and its changes
 * read:
 *
 *     workload,metric,seed 1,seed 2,...
 *     skynet on laptop,ns_per_op,12.27,12.31,...
 *
 * Values have SB_GATE_DIGITS digits in memory, too, so that a run and the file that it wrote are
 * equal.
 */
#ifndef SB_RESULTS_GATE_VALUES_H
#define SB_RESULTS_GATE_VALUES_H

#include "results/gate/gate.h"
#include "results/record/metric.h"

/* Of a set. That many of each side do not overlap: 1 in 12870 if nothing but luck differs. There
 * are a thousand metrics, so a second set confirms what the first finds. */
#define SB_GATE_SEEDS	  8
#define SB_GATE_SETS	  2
#define SB_GATE_SEEDS_ALL (SB_GATE_SETS * SB_GATE_SEEDS)
#define SB_GATE_DIGITS	  4

struct sb_gate_row {
	char *workload;
	enum sb_metric_id metric;
	uint32_t sets; /* that have been measured, at least one */
	double value[SB_GATE_SEEDS_ALL];
};

struct sb_gate_values {
	uint32_t rows;
	struct sb_gate_row *row;
	uint32_t skipped; /* rows of a file, of metrics that this version does not know */
};

/* The values are rounded. A set in which one is NaN is left out, and nothing is added if that is the
 * first. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_gate_values_add(struct sb_gate_values *values, const char *workload,
				     enum sb_metric_id metric,
				     const double value[SB_GATE_SEEDS_ALL]);
void sb_gate_values_free(struct sb_gate_values *values);

/* NULL: there is no such row. */
const struct sb_gate_row *sb_gate_values_find(const struct sb_gate_values *values,
					      const char *workload, enum sb_metric_id metric);

void sb_gate_values_write(const struct sb_gate_values *values, FILE *out);

/* Rows of metrics that this version does not know are counted and left out. Returns 0, or -errno
 * and a line in why: -EINVAL if it is no such file, or nothing is left of it. The values are for
 * sb_gate_values_free in any case. */
SB_MUST_CHECK int sb_gate_values_read(struct sb_gate_values *out, const char *path, char *why,
				      size_t bytes);

/* Fills in what the test is from and how the sides differ in that set, from 0. low, high: from the
 * candidate's least and the baseline's greatest value to the opposite. */
void sb_gate_compare(struct sb_gate_test *test, const struct sb_gate_row *base,
		     const struct sb_gate_row *candidate, uint32_t set);

/* Regressed, if the sides differ clearly, and the median has become worse by more than the limit,
 * as a part, and by at least `least` of the metric's unit; else fine, with a reason in why if the
 * change is beyond the limit all the same. */
void sb_gate_set_limit(struct sb_gate_test *test, bool is_fall, double limit, double least);

/* What has regressed in the first set is fine after all, unless it has in the second one, too;
 * a side without a second set confirms nothing and refutes nothing. */
void sb_gate_confirm(struct sb_gate_test *test, const struct sb_gate_row *base,
		     const struct sb_gate_row *candidate, double least);

#endif
