/*
 * spreads.h - how far runs of one program are apart on this machine, as `calibrate --runs` has
 * measured it: the standard deviation of the logarithm of a run's median. No spread within a run
 * contains what the machine does between two runs, so another run can be foretold, and two runs be
 * compared, only with this. It is known until the next boot, for measurements of the same work, and
 * for runs that are no further apart in time than those that it was made of.
 */
#ifndef SB_RESULTS_COMPARE_SPREADS_H
#define SB_RESULTS_COMPARE_SPREADS_H

#include <stdio.h>

#include "results/record/record.h"
#include "results/stats/paired.h"

/* Runs that a spread is made of: with fewer, a limit says nothing. */
#define SB_SPREAD_RUNS_LEAST 3
#define SB_SPREAD_RUNS_MAX   1000
#define SB_SPREADS_MAX	     20000
#define SB_SPREAD_BYTES	     512

struct sb_run_spread {
	char what[SB_SPREAD_BYTES]; /* was measured, see sb_spread_what */
	enum sb_metric_id metric;
	uint32_t runs;
	double span_s; /* between the begin of the first and that of the last */
	double sd;     /* of ln(median of a run) */
	char date[40]; /* of the first */
};

/* Spreads of one work are side by side. */
struct sb_spreads {
	char boot_id[64], cpu_model[128], kernel[128]; /* facts of the results that they are from */
	uint32_t n;
	struct sb_run_spread *spread;
};

/* "pingpong (pairs=1 round-trips=1000), workers 2, forks 9, repetitions 3, duration 130ms", and behind
 * it ", load 50%" or ", rate 10k/s" of an open loop: runs with the same text measure the same. False: it
 * is too long. */
bool sb_spread_what(const struct sb_result *result, const struct sb_series *series,
		    char out[SB_SPREAD_BYTES]);

/* NULL: none is known. */
const struct sb_run_spread *sb_spreads_find(const struct sb_spreads *spreads, const char *what,
					    enum sb_metric_id metric);

/* Whether the result was measured since the boot that they are of. */
bool sb_spreads_are_of(const struct sb_spreads *spreads, const struct sb_result *result);

/* How far the logarithms of two runs' medians are apart at most, with that error (0.05). */
double sb_spread_limit(const struct sb_run_spread *spread, double level);

/* Of the ratio of two runs, from their forks: makes its interval, of that error, so wide that it contains
 * how far runs of one program are apart as well. Returns whether it is that which makes it so wide. */
bool sb_spread_widen(const struct sb_run_spread *spread, double level, struct sb_estimated *ratio);

/* Seconds between the begins of two runs; NaN: unknown. */
double sb_runs_apart_s(const struct sb_result *a, const struct sb_result *b);

/* "30 min", or "an unknown time" for NaN. */
#define SB_SPAN_BYTES 32
void sb_span_describe(char out[SB_SPAN_BYTES], double s);

/* Takes the place of those of the same work, if it is of the same boot, and of all else otherwise.
 * Returns 0, -ENOMEM, or -E2BIG: there are too many. */
SB_MUST_CHECK int sb_spreads_put(struct sb_spreads *spreads, const struct sb_spreads *made);

void sb_spreads_free(struct sb_spreads *spreads);

/* The file: results/json/spreads.c. It may come from anywhere. Writing returns 0 or -ENOMEM; reading
 * 0, for sb_spreads_free, or -errno, with what is wrong in why: -ENOENT if there is none. */
SB_MUST_CHECK int sb_spreads_write(const struct sb_spreads *spreads, FILE *out);
SB_MUST_CHECK int sb_spreads_read(struct sb_spreads *out, const char *path, char *why,
				  size_t bytes);

#endif
