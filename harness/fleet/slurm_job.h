/* slurm_job.h - the array job of a sweep's chunks: its script, and its submission. */
#ifndef SB_HARNESS_FLEET_SLURM_JOB_H
#define SB_HARNESS_FLEET_SLURM_JOB_H

#include "harness/fleet/slurm.h"
#include "harness/system/program.h"

/* Submits the chunks that are not there. Returns 0, or an exit status after an error has been
 * printed. */
int sb_slurm_submit(struct sb_slurm *slurm);

/* Whether the chunk is there, whole. */
bool sb_slurm_has(const struct sb_slurm *slurm, uint32_t number);

/* The size of a file of the chunk; 0: it has none of that name. */
uint64_t sb_slurm_bytes(const struct sb_slurm *slurm, uint32_t number, const char *name);

/* Runs a command of Slurm. Returns 0, or an exit status after one line about its failure has been
 * printed; for sb_program_free in both cases. */
int sb_slurm_call(struct sb_program *program);

#endif
