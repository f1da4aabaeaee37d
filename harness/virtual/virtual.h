/*
 * virtual.h - a measurement in virtual time, on a modelled machine.
 *
 * The scheduler, the workloads and the measurement are compiled a second time for it, and linked
 * into one object that shows sb_virtual_measure alone (the Makefile's VIRTUAL_WORLD); what they
 * need of the rest of the command they share with it. That object has its own
 * implementations of harness/system/, in world/.
 */
#ifndef SB_HARNESS_VIRTUAL_VIRTUAL_H
#define SB_HARNESS_VIRTUAL_VIRTUAL_H

#include "core/platform/virtual/model.h"
#include "harness/run/measure.h"

struct sb_explore;

/* Of a run that explores. */
#define SB_VIRTUAL_EXPLORE_CPUS 16

/* A place of the placement is pinned to the virtual CPU that is its processing unit. */
struct sb_virtual_ground {
	const struct sb_model *model;
	const struct sb_explore *explore; /* instead of that; NULL: by the model's costs */
	struct sb_placement placement;	  /* os_cpu is the virtual CPU */
	uint32_t first_cpu;		  /* of the thread that submits */
	bool *may_run; /* [model->cpus]: where it and generators may run; NULL: anywhere */
};

/* Returns 0, or an exit status after an error: this build has no virtual time. */
int sb_virtual_check(void);

/* As sb_measure. */
int sb_virtual_measure(struct sb_series *series, const struct sb_chosen *chosen,
		       const struct sb_options *options, struct sb_virtual_ground *ground,
		       const struct sb_watch *watch);

#endif
