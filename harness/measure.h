/*
 * measure.h - one workload, measured: warm-up, then repetitions of as many
 * rounds as fill the time.
 */
#ifndef SB_HARNESS_MEASURE_H
#define SB_HARNESS_MEASURE_H

#include "affinity/mask.h"
#include "harness/options.h"
#include "results/validity.h"

/* Called after the warm-up and each repetition; for progress. */
struct sb_progress {
	void (*report)(void *arg, const struct sb_series *series);
	void *arg;
};

/* Set by a signal handler: end the run in an orderly way. */
extern _Atomic(bool) sb_interrupted;

/* Where to run; for all workloads of a run. */
struct sb_ground {
	const struct sb_placement *placement;
	struct sb_cpu_mask usable; /* the calling thread's, at the start */
	bool held;		   /* all workers have been pinned there once */
	/* Why this is not so any more, "" while it is: the thread has another
	 * mask, or a worker is not where it was pinned. From then on nobody
	 * can tell what is measured. */
	char lost[160];
};

/* How many records a series may come to have. */
uint32_t sb_repetitions_max(const struct sb_options *options);

/*
 * Runs the chosen workload and fills the series' records, which the caller
 * has allocated: sb_repetitions_max() of them, of which `records` are wanted at
 * least. Rows that cannot be had are invalid, with
 * the reason; all are when the ground has been lost. Returns 0, or an exit status after an error has been printed.
 */
int sb_measure(struct sb_series *series, const struct sb_chosen *chosen,
	       const struct sb_options *options, struct sb_ground *ground,
	       const struct sb_progress *progress);

#endif
