/*
 * machines.h - a sweep for each of several machines: those of a pack in virtual time, or one for
 * each type of a cluster's nodes. Each is a sweep of its own, in a folder of the result directory
 * that has the machine's name; the report on all of them is beside these folders.
 */
#ifndef SB_HARNESS_FLEET_MACHINES_H
#define SB_HARNESS_FLEET_MACHINES_H

#include "harness/cli/options.h"
#include "harness/sweep/sweep.h"

/* Whether the options ask for several: --nodes-as series, or a pack without a machine's name. */
bool sb_machines_asked_for(const struct sb_options *options);

/* Whether the result directory is that of several. */
bool sb_machines_have_begun(const char *directory);

/* Both return 0 or an exit status, the last that was not 0. plan: the sweep's options.
 * sb_machines_sweep runs all of them; sb_machines_resume continues in --output those that have
 * rows, and begins the others. */
int sb_machines_sweep(const struct sb_options *options, const struct sb_arguments *plan);
int sb_machines_resume(const struct sb_options *options, const struct sb_arguments *plan);

#endif
