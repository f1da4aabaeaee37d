/* machine.h - where workers go on this machine, for a program that embeds the scheduler. */
#ifndef SB_AFFINITY_MACHINE_H
#define SB_AFFINITY_MACHINE_H

#include "core/placement.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Places workers side by side on the cores that this process may use, each pinned to a
 * processing unit; 0: one worker for each core. Of more workers than processing units the rest
 * begins again with the first. Takes milliseconds, for it reads the machine. Returns
 * 0 or -errno with nothing to free; the placement is for sb_placement_free.
 *
 * hwloc reads the machine, and obeys its own environment variables, as hwloc documents them: with
 * HWLOC_XMLFILE, for instance, the machine is what that file says. Nothing of the process is
 * changed, and no time limit is set. Callers: any thread.
 */
SB_MUST_CHECK int sb_placement_here(uint32_t workers, struct sb_placement *placement);

/* The same without pinning: the operating system moves the workers as it likes. Callers: any
 * thread. */
SB_MUST_CHECK int sb_placement_unpinned(uint32_t workers, struct sb_placement *placement);

#ifdef __cplusplus
}
#endif

#endif
