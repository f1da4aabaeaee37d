/* placing.h - from the options to a machine and to places on it. */
#ifndef SB_HARNESS_RUN_PLACING_H
#define SB_HARNESS_RUN_PLACING_H

#include "affinity/mask.h"
#include "affinity/plan.h"
#include "harness/cli/options.h"

/* Both return 0, or an exit status after an error has been printed. */
int sb_placing_open(const struct sb_options *options, struct sb_topology **topology);
int sb_placing_plan(const struct sb_options *options, const struct sb_topology *topology,
		    struct sb_plan *plan);

/* How many processing units workers may have. Returns as above. */
int sb_placing_room(const struct sb_options *options, uint32_t *pus);

/* Prints where the plan has CPUs for the generator, or a number of workers, that no option asked
 * for. */
void sb_placing_note(const struct sb_options *options, const struct sb_topology *topology,
		     const struct sb_plan *plan);

/* The generators' CPUs by their own numbers, also of a profile. Empty: there
 * are none. */
struct sb_cpu_mask sb_placing_generator_cpus(const struct sb_topology *topology,
					     const struct sb_plan *plan);

#endif
