/*
 * saved.h - the repetitions that a run has measured so far, in run.db of its
 * result directory: a run that is killed loses the one under way, and
 * `run --resume` measures the others.
 *
 * The store is made after the first repetition, if there are more to come, and
 * removed when the result has been written. Its plan has the run as a job file.
 */
#ifndef SB_HARNESS_RUN_SAVED_H
#define SB_HARNESS_RUN_SAVED_H

#include "harness/cli/job.h"
#include "harness/output/store.h"
#include "results/record/record.h"

struct sb_saved {
	const struct sb_jobs *jobs;
	struct sb_store *store; /* NULL: there is none, or none yet */
	bool is_off;		/* it could not be written, and this was said */
};

/* All that returns int returns 0, or an exit status after an error has been
 * printed. */

/*
 * --resume: opens the store of the directory that the options name, and parses
 * the jobs in it, as the command line changes them. `given` are the jobs of that
 * command line; its options say where and how to print, and no more. jobs: for
 * sb_jobs_free in all cases.
 */
SB_MUST_CHECK int sb_saved_resume(struct sb_saved *saved, const struct sb_jobs *given, int argc,
				  char **argv, struct sb_jobs *jobs);

/* Of a resumed run: its facts, from its first row. */
SB_MUST_CHECK int sb_saved_take_facts(struct sb_saved *saved, struct sb_result *result);

/* Moves the saved rows of series number `index` into it. A series that has its
 * memory then has ended: no row is missing. */
SB_MUST_CHECK int sb_saved_adopt(struct sb_saved *saved, uint32_t index,
				 const struct sb_options *options, struct sb_series *series);

/* Saves a row of the result's series number `index`. A store that cannot be
 * written ends nothing: a line says so, once. */
void sb_saved_keep(struct sb_saved *saved, const struct sb_result *result, uint32_t index,
		   uint32_t repetition);

/* The result is complete and has been written. */
void sb_saved_remove(struct sb_saved *saved);

void sb_saved_close(struct sb_saved *saved);

#endif
