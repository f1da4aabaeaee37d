/* machine.h - placements of workers on this machine. */
#ifndef SB_AFFINITY_MACHINE_H
#define SB_AFFINITY_MACHINE_H

#include "core/placement.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes a placement that pins each worker to a processing unit that the calling process may use.
 *
 * workers: their number; 0: one for each usable core. They fill the cores side by side. If there
 * are more workers than processing units, the next worker starts again with the first unit. A
 * scheduler accepts at most SB_WORKERS_MAX.
 *
 * Returns 0; -ENOMEM; -EIO: hwloc could not read the machine; -EINVAL: it reports no usable CPU. On
 * an error *placement need not be freed; else the caller frees it with sb_placement_free, at any
 * time after sb_scheduler_create.
 *
 * hwloc reads the machine, which takes milliseconds, and obeys its own environment variables: with
 * HWLOC_XMLFILE, for instance, the machine is the one that this file describes. The function
 * changes nothing of the process, and there is no time limit. Callers: any thread.
 */
SB_MUST_CHECK int sb_placement_here(uint32_t workers, struct sb_placement *placement);

/* Makes the placement of sb_placement_here without pinning: the operating system chooses the CPUs
 * of the workers. Returns as sb_placement_here. Callers: any thread. */
SB_MUST_CHECK int sb_placement_unpinned(uint32_t workers, struct sb_placement *placement);

#ifdef __cplusplus
}
#endif

#endif
