/*
 * measure.h - one workload, measured: warm-up, then repetitions of as many
 * rounds as fill the time.
 */
#ifndef SB_HARNESS_RUN_MEASURE_H
#define SB_HARNESS_RUN_MEASURE_H

#include "harness/cli/options.h"
#include "harness/run/ground.h"
#include "results/record/validity.h"

/* A fork is one more phase, of the process that starts it. */
enum sb_phase { SB_PHASE_CAPACITY, SB_PHASE_WARM_UP, SB_PHASE_REPETITION, SB_PHASE_FORK };

/* The receiver of progress, by the thread that measures, in between and never
 * meanwhile. A phase that fails does not end. */
struct sb_watch {
	void (*begin)(void *arg, const struct sb_series *series, enum sb_phase phase,
		      uint32_t repetition);
	void (*end)(void *arg, const struct sb_series *series, enum sb_phase phase,
		    uint32_t repetition);
	void *arg;
};

/* For so long the capacity is measured, if it is (see sb_measures_capacity), and
 * at least; 0s of a warm-up: there is none. Of `--warmup auto` it is a guess. */
uint64_t sb_capacity_ns(const struct sb_options *options);
uint64_t sb_warm_up_ns(const struct sb_options *options);

bool sb_measures_capacity(const struct sb_options *options, const struct sb_workload *workload);

/* How many forks measure a series at least: --until-ci may ask for more. */
uint32_t sb_forks_least(const struct sb_options *options);

/* How many records a series may come to have. */
uint32_t sb_repetitions_max(const struct sb_options *options);

/*
 * Runs the chosen workload and fills the series' records, which the caller
 * has allocated; those that are measured already are kept. Rows that cannot be had are invalid,
 * with the reason; all are when the ground has been lost. watch: NULL is nobody.
 * Returns 0, or an exit status after an error has been printed.
 */
int sb_measure(struct sb_series *series, const struct sb_chosen *chosen,
	       const struct sb_options *options, struct sb_ground *ground,
	       const struct sb_watch *watch);

#endif
