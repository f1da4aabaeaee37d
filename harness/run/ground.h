/*
 * ground.h - the CPUs under a measurement: which may be used, and whether the
 * workers still are where they were pinned. A cpuset may change at any time.
 */
#ifndef SB_HARNESS_RUN_GROUND_H
#define SB_HARNESS_RUN_GROUND_H

#include "affinity/mask.h"
#include "core/readings.h"

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

/* Whether all is as it was at the start, once the workers run. If not, lost says
 * why. */
bool sb_ground_holds(struct sb_ground *ground, const struct sb_scheduler *scheduler);

/* Whether workers that cannot be started, with that error of that worker's, had
 * the CPU before; lost then says so. */
bool sb_ground_is_lost(struct sb_ground *ground, uint32_t worker, int rc);

/* The time to transfer a cache line between the CPUs of the first and the last worker, or of the only
 * one and another that may be used. NaN: there are no two, or they are not pinned. */
double sb_ground_transfer_ns(const struct sb_ground *ground);

#endif
