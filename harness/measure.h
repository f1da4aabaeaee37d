/*
 * measure.h - one workload, measured: warm-up, then repetitions of as many
 * rounds as fill the time.
 */
#ifndef SB_HARNESS_MEASURE_H
#define SB_HARNESS_MEASURE_H

#include "affinity/mask.h"
#include "harness/options.h"
#include "results/record.h"

/* Called after the warm-up and each repetition; for progress. */
struct sb_progress {
	void (*report)(void *arg, const struct sb_series *series);
	void *arg;
};

/* Set by a signal handler: end the run in an orderly way. */
extern _Atomic(bool) sb_interrupted;

/* Where to run. */
struct sb_ground {
	const struct sb_placement *placement;
	/* The calling thread's, when the run was planned. Once that is
	 * another one, or a worker is not where it was pinned, there is no
	 * telling what is measured. */
	struct sb_cpu_mask usable;
};

/*
 * Runs the chosen workload and fills the series' records, which the caller
 * has allocated (records of them). Rows that cannot be had are invalid, with
 * the reason. Returns 0, or an exit status after an error has been printed.
 */
int sb_measure(struct sb_series *series, const struct sb_chosen *chosen,
	       const struct sb_options *options, const struct sb_ground *ground,
	       const struct sb_progress *progress);

#endif
