/* runs.h - `calibrate --runs`: how far runs of one program are apart on this machine. */
#ifndef SB_HARNESS_CALIBRATE_RUNS_H
#define SB_HARNESS_CALIBRATE_RUNS_H

#include "harness/cli/options.h"

/*
 * Runs each chosen workload as often as --runs says, spread over the time of --over, each run as
 * `sched-bench run` with these options does; stores the spreads of all metrics that have a better
 * direction (results/compare/spreads.h), and prints what compare uses. Runs in another state of the
 * host than most are left out. Returns an exit status, after an error has been printed: 2 if too few runs
 * of a workload have numbers, for which nothing is stored then, or if it was interrupted, when nothing is
 * stored at all.
 */
SB_MUST_CHECK int sb_calibrate_runs(struct sb_options *options);

#endif
