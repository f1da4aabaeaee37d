/*
 * forks.h - a workload in several forks: OS processes, one after the other, each a run of this program
 * with `--forks 1`. What differs between processes (their memory's layout, the order of their threads,
 * what else the machine does) is then seen, and their medians are independent.
 */
#ifndef SB_HARNESS_SWEEP_FORKS_H
#define SB_HARNESS_SWEEP_FORKS_H

#include "harness/run/saved.h"
#include "harness/run/watch.h"
#include "results/record/record.h"

/* A fork of a series of the result, with the next seed for the next number. */
struct sb_fork {
	const struct sb_options *options;
	const struct sb_chosen *chosen;
	struct sb_result *result;
	struct sb_series *series;
	struct sb_saved *saved; /* takes its rows */
	struct sb_watcher *watcher;
	uint32_t number; /* from 0 */
};

/*
 * Measures it, unless its rows are there. After the last one the series may want more (--until-ci):
 * its records are as many then. A fork that crashes has invalid rows. Returns 0, or an exit status
 * after an error has been printed: a fork was refused, or cannot be started.
 */
SB_MUST_CHECK int sb_fork_measure(const struct sb_fork *f);

#endif
