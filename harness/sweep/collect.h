/* collect.h - from the rows of a sweep to one result, as `run` has. */
#ifndef SB_HARNESS_SWEEP_COLLECT_H
#define SB_HARNESS_SWEEP_COLLECT_H

#include "affinity/topology.h"
#include "harness/output/store.h"
#include "harness/sweep/sweep.h"
#include "results/record/record.h"

/* The options of the run that a configuration is, parsed and checked, for
 * sb_options_free; arguments have to live as long. Returns 0, or an exit status
 * after an error that names the configuration has been printed. */
int sb_configuration_parse(const struct sb_sweep *sweep,
			   const struct sb_configuration *configuration,
			   struct sb_arguments *arguments, struct sb_options *run);

/*
 * One series for each configuration, with what varies among its settings, and
 * one record for each row: what its run has measured, or invalid with the
 * reason; those that have not been run say so. The known facts of machine and
 * options is what the first run said. result->directory is the caller's. Returns
 * as above.
 */
int sb_collect(const struct sb_sweep *sweep, struct sb_store *store,
	       const struct sb_topology *topology, struct sb_result *result);

#endif
