/*
 * contest.h - which series of a sweep is best by a metric. The headline, the marks of tables and
 * the titles of pictures are all from one struct sb_contest, so they cannot disagree.
 */
#ifndef SB_RESULTS_COMPARE_CONTEST_H
#define SB_RESULTS_COMPARE_CONTEST_H

#include <stdio.h>

#include "results/record/record.h"
#include "results/stats/ranking.h"

struct sb_contest {
	enum sb_metric_id metric;
	uint32_t n;
	uint32_t rounds;
	double *value; /* [n * rounds] lower is better: the inverse where the metric is not so */
	struct sb_rank *rank; /* [n] of these values */
	struct sb_ranking ranking;
};

/* Row r of each series is of round r. Returns 0 or -ENOMEM; for sb_contest_free in both cases. */
SB_MUST_CHECK int sb_contest_make(struct sb_contest *contest, const struct sb_series *const *series,
				  uint32_t n, enum sb_metric_id metric);
void sb_contest_free(struct sb_contest *contest);

/* Whether two series of a result are compared: it is a sweep, and they are of one workload and,
 * unless nothing but the load varies, of one load. The least load is no choice. */
bool sb_contest_is_one(const struct sb_result *result, const struct sb_series *a,
		       const struct sb_series *b);

/* Whether nothing but the load varies among the series of its workload. */
bool sb_contest_is_load(const struct sb_result *result, const struct sb_series *series);

/* The estimate in the metric's unit; NaN: it has no numbers. */
double sb_contest_estimate(const struct sb_contest *contest, uint32_t i);

/* Its 95 % interval within the rounds; NaN: there are too few. */
void sb_contest_interval(const struct sb_contest *contest, uint32_t i, double *low, double *high);

/* "20.4 ns [20.0 ns .. 20.7 ns]": the estimate with its interval, or "-". */
#define SB_CONTEST_CELL_BYTES 112
void sb_contest_cell(char out[SB_CONTEST_CELL_BYTES], const struct sb_contest *contest, uint32_t i);

/* "best", "~", "worse", "? 2/5": the mark, and how many rows have numbers if some have none; "" of
 * one by itself. */
#define SB_CONTEST_MARK_BYTES 32
void sb_contest_mark(char out[SB_CONTEST_MARK_BYTES], const struct sb_contest *contest, uint32_t i);

/*
 * "lowest NOUN: A, 20.4 ns; may be as good: B, C (2 of 5 rows)": the answer, which names each
 * series that lacks rows. name: [n]. There is a leader.
 */
void sb_contest_put(FILE *out, const struct sb_contest *contest, const char *noun,
		    const char *const *name);

#endif
