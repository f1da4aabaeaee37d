/*
 * comparison.h - two existing results: which series are the same in both, what differs
 * besides, and a finding for each metric (results/stats/unpaired.h).
 */
#ifndef SB_RESULTS_FILES_COMPARISON_H
#define SB_RESULTS_FILES_COMPARISON_H

#include "results/compare/findings.h"

struct sb_match {
	const struct sb_series *series[2];
};

/* result, metric and is_chosen are the caller's. */
struct sb_comparison {
	const struct sb_result *result[2];
	const enum sb_metric_id *metric; /* [metrics] */
	uint32_t metrics;
	bool is_chosen; /* else those without values are left out */

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
