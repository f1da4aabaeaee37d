/*
 * comparison.h - two existing results: which series are the same in both, what differs
 * besides, and a finding for each metric (results/stats/unpaired.h).
 *
 * What a machine does changes within a minute, so the spread within a run does not say how far another
 * run of the same program would be. A verdict needs several runs on each side, taken in turn: then a run
 * is one value, the median of its series; or the spread between runs that `calibrate --runs` has
 * measured (spreads.h): then the values are those of forks, and a difference is more than both their
 * interval and that spread explain. In virtual time there is no such change, and repetitions are
 * the values. Otherwise a finding is open: it has an estimate, and no interval. Series that were measured
 * in two states of the host (line_transfer_ns) are not compared.
 */
#ifndef SB_RESULTS_FILES_COMPARISON_H
#define SB_RESULTS_FILES_COMPARISON_H

#include "results/compare/findings.h"
#include "results/compare/spreads.h"

struct sb_match {
	const struct sb_series *series[2];
};

/* Runs of a side from which on they have a verdict, and at most. */
#define SB_COMPARED_RUNS_LEAST 4
#define SB_COMPARED_RUNS_MAX   100

/* Forks of a side from which on they are compared by such a spread. */
#define SB_COMPARED_FORKS_LEAST 5

/* result, runs, metric, is_chosen and spreads are the caller's. */
struct sb_comparison {
	const struct sb_result *result[2]; /* [runs]: settings and notes are of the first */
	uint32_t runs[2];
	const enum sb_metric_id *metric; /* [metrics] */
	uint32_t metrics;
	bool is_chosen;			  /* else those without values are left out */
	const struct sb_spreads *spreads; /* NULL: none are known */

	enum sb_comparison_values { SB_VALUES_OPEN, SB_VALUES_RUNS, SB_VALUES_REPETITIONS } values;
	struct sb_findings findings;
	struct sb_match *match; /* [matches] */
	uint32_t matches;
	bool *is_matched[2]; /* by series */
	int rc;		     /* of the notes */
};

/* What is compared where nothing is chosen; ab compares the same. */
extern const enum sb_metric_id sb_comparison_metrics[];
extern const uint32_t sb_comparison_metrics_n;

/* Returns 0, -ENOMEM, or -E2BIG: more than SB_HOLM_MAX findings. For sb_comparison_free in all
 * cases. */
SB_MUST_CHECK int sb_comparison_make(struct sb_comparison *comparison);
void sb_comparison_free(struct sb_comparison *comparison);

/* Whether a workload is in both, whatever its settings. */
bool sb_comparison_shares_workload(const struct sb_comparison *comparison);

#endif
