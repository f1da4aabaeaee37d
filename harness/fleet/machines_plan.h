/*
 * machines_plan.h - reads the plan of sweeps of several machines, which may come from a stranger.
 */
#ifndef SB_HARNESS_FLEET_MACHINES_PLAN_H
#define SB_HARNESS_FLEET_MACHINES_PLAN_H

#include <jansson.h>

#include "harness/cli/options.h"

/* The plan in that result directory, to be freed in any case: its member "sweeps" has the command line of
 * each machine's sweep, which does nothing that the given options do not allow. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_machines_read_plan(json_t **plan, const char *directory,
					const struct sb_options *given);

#endif
