/* ground.h - the modelled machine of a run: the topology's CPUs, and the model's costs. */
#ifndef SB_HARNESS_VIRTUAL_GROUND_H
#define SB_HARNESS_VIRTUAL_GROUND_H

#include "affinity/plan.h"
#include "harness/cli/options.h"
#include "harness/virtual/model_file.h"
#include "harness/virtual/virtual.h"

struct sb_virtual_machine {
	struct sb_model_file file;
	struct sb_model model;
	struct sb_placement all; /* every CPU, as a place */
	struct sb_model_place *place;
	struct sb_virtual_ground ground;
	/* Whether workers run on hardware threads of one core, on cores that are slower than others,
	 * and on such that have no factor. */
	bool shares_cores, has_slow_cores, has_unknown_cores;
};

/* Returns 0, or an exit status after an error has been printed; for sb_virtual_machine_free in
 * all cases. */
SB_MUST_CHECK int sb_virtual_machine_make(struct sb_virtual_machine *machine,
					  const struct sb_options *options,
					  const struct sb_topology *topology,
					  const struct sb_plan *plan);
/* The same of a machine that has its file already, and nothing else. */
SB_MUST_CHECK int sb_virtual_machine_take(struct sb_virtual_machine *machine,
					  const struct sb_topology *topology,
					  const struct sb_plan *plan);
void sb_virtual_machine_free(struct sb_virtual_machine *machine);

/* Whether there is one. */
bool sb_virtual_has_model(const struct sb_options *options);

/* The model that the options ask for: --model, or that of the profile, or this machine's. Returns
 * as above; for sb_model_file_free in all cases. */
SB_MUST_CHECK int sb_virtual_open_model(struct sb_model_file *file,
					const struct sb_options *options);

/* Says in the result which model it is, and what it lacks. Returns 0, or an exit status after an
 * error. */
SB_MUST_CHECK int sb_virtual_add_facts(struct sb_result *result,
				       const struct sb_virtual_machine *machine);

/* In the cache: the file in which `calibrate --save-model` keeps this machine's model. */
#define SB_MODEL_OWN "model.json"

#endif
