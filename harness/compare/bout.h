/*
 * bout.h - one workload of a gate: in pairs until each of its metrics is clear, or
 * against a stored result.
 */
#ifndef SB_HARNESS_COMPARE_BOUT_H
#define SB_HARNESS_COMPARE_BOUT_H

#include "harness/compare/gate.h"
#include "harness/compare/pairs.h"

#define SB_BOUT_BLOCK	  2 /* pairs */
#define SB_BOUT_PAIRS_MAX (SB_LOOK_LAST * SB_BOUT_BLOCK)
/* Against a stored result as many runs are enough. */
#define SB_BOUT_STORED	  30

struct sb_bout {
	struct sb_gate_setup *setup;
	const struct sb_gate_job *job;
	struct sb_gate_workload *workload;
	struct sb_gate_test *test; /* [job->limits->n] */
	uint64_t left_ns;	   /* time for this workload and those behind it */
	struct sb_pairs pairs;
	double looked;	  /* share of the last look */
	bool is_hopeless; /* it ended early: noise hides what is left to decide */
	int rc;
};

/* Both return 0, or an exit status after an error has been printed. */
SB_MUST_CHECK int sb_bout_run(struct sb_bout *bout);
SB_MUST_CHECK int sb_bout_run_stored(struct sb_bout *bout, const struct sb_result *stored);

/* ---- what both do ---- */

/* The rest of the budget is shared by the remaining workloads. */
uint64_t sb_bout_time(const struct sb_bout *bout);

/* The words of one side's runs: the workload's, its own, and what slows the
 * candidate down. Returns those in out. */
struct sb_bout_words {
	char *word[SB_GATE_WORDS + SB_WORDS_MAX + 2];
	char slowdown[40];
};
char *const *sb_bout_words(const struct sb_bout *bout, struct sb_bout_words *out,
			   enum sb_side_id side);

static inline double sb_bout_worsening(const struct sb_gate_test *test, double log_ratio)
{
	return test->is_fall ? -log_ratio : log_ratio;
}

/* For struct sb_pairs. */
void sb_bout_before_run(void *arg, uint32_t pair, enum sb_side_id side);

/* Afterwards: what the workload came to; and that too many invalid pairs leave no
 * verdict. */
void sb_bout_sum_up(struct sb_bout *bout);
void sb_bout_reject_invalid(struct sb_bout *bout);

#endif
