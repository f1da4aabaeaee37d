/*
 * slurm.h - a sweep's chunks as an array job of Slurm: submitted, waited for, submitted again
 * where rows are missing.
 *
 * The chunks' directory has the job's script, a folder for each chunk by its number, and what the
 * job printed of it (NUMBER.out). A chunk that was run to its end leaves its store there
 * (sweep.db), one that was stopped before what it had (partial.db). All nodes must see the
 * directory. The stores are copied there and from there, and opened on local disks alone, because
 * SQLite's locks do not hold on a network file system.
 */
#ifndef SB_HARNESS_FLEET_SLURM_H
#define SB_HARNESS_FLEET_SLURM_H

#include "harness/terminal/progress.h"

/* Slurm's default for the largest index of an array job. */
#define SB_SLURM_CHUNKS_MAX 1000

/* A chunk's store, in its folder; chunk_job.sh has the same names. */
#define SB_SLURM_WHOLE	 "sweep.db"
#define SB_SLURM_PARTIAL "partial.db"

struct sb_slurm {
	const char *directory; /* of the chunks; an absolute path */
	const char *name;      /* of the job; no other job has it */
	char *const *plan;     /* the sweep's options; ends with NULL */
	const char *options;   /* of sbatch, as words of a shell: "partition=fast --time=10" */
	uint32_t chunks;       /* from 1 to SB_SLURM_CHUNKS_MAX */
	struct sb_progress *progress;

	bool was_submitted; /* set if at least once */
};

/*
 * Submits the chunks that are not there and not under way, until all are there, or several tries
 * brought no row more, or sb_interrupted. Notes which chunks ended early, and why. Returns 0, or an
 * exit status after an error has been printed: the commands of Slurm failed.
 */
int sb_slurm_run(struct sb_slurm *slurm);

/* How many chunks to make, at most max: two for each node of the cluster; 0 after an error has
 * been printed. */
uint32_t sb_slurm_chunks(uint32_t max);

/* The types of nodes, by their features: "rome", "rome&nvme", as --constraint takes them. For the
 * caller to free, each and the list. Returns 0, or an exit status after an error has been printed. */
int sb_slurm_node_types(char ***types, uint32_t *n);

#endif
