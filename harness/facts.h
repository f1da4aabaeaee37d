/* facts.h - what a result says about the machine, the run and the options. */
#ifndef SB_HARNESS_FACTS_H
#define SB_HARNESS_FACTS_H

#include "affinity/topology.h"
#include "harness/options.h"
#include "results/record.h"

/* Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_facts_gather(struct sb_result *result,
				  const struct sb_options *options,
				  const struct sb_machine *machine, int argc,
				  char **argv);

#endif
