/*
 * saved.h - the repetitions that a run has measured so far, or the pairs of a
 * comparison or a gate, in a store in the result directory: a process that is killed
 * loses what is under way, and --resume measures the rest.
 *
 * The store is made after the first repetition or pair, if there are more to come,
 * and removed when the result has been written. Its plan has the options as a job
 * file.
 */
#ifndef SB_HARNESS_RUN_SAVED_H
#define SB_HARNESS_RUN_SAVED_H

#include "harness/cli/job.h"
#include "harness/output/store.h"
#include "results/record/record.h"

/* A series of the plan. */
struct sb_saved_series {
	const char *label;
	uint32_t most; /* repetitions that it may come to have */
};

#define SB_SAVED_FILES 2

struct sb_saved {
	const struct sb_store_kind *kind;
	const struct sb_jobs *jobs;
	/* Finds a series of the plan by its number; false: there are no more. */
	bool (*series)(const struct sb_saved *saved, uint32_t index, struct sb_saved_series *out);
	const void *plan; /* for it */
	/* What is compared with this program: other programs or a stored result; NULL: nothing. */
	const char *file[SB_SAVED_FILES];
	/* The line with which it was begun, ours: the store's if it is resumed. */
	char *command;
	struct sb_store *store; /* NULL: there is none, or none yet */
	bool is_off; /* nothing is to be saved; or it could not be written, and this was said */
};

/* The series of a run. */
bool sb_saved_series_of_run(const struct sb_saved *saved, uint32_t index,
			    struct sb_saved_series *out);

/* All that returns int returns 0, or an exit status after an error has been
 * printed. */

/*
 * --resume: opens the store of the directory that the options name, and parses
 * the jobs in it, as the command line changes them. `given` are the options of that
 * command line, which say where and how to print, and no more. jobs: for
 * sb_jobs_free in all cases.
 */
SB_MUST_CHECK int sb_saved_resume(struct sb_saved *saved, const struct sb_options *given, int argc,
				  char **argv, struct sb_jobs *jobs);

/* After that, once series and files are known: they are those of the store. */
SB_MUST_CHECK int sb_saved_check(struct sb_saved *saved);

/* Of a resumed run: its facts, from its first row. */
SB_MUST_CHECK int sb_saved_take_facts(struct sb_saved *saved, struct sb_result *result);

/* Moves the saved rows of series number `index` into it. A series that has its
 * memory then has ended: no row is missing. */
SB_MUST_CHECK int sb_saved_adopt(struct sb_saved *saved, uint32_t index,
				 const struct sb_options *options, struct sb_series *series);

/* Saves `rows` rows of the result's series number `index`, starting at row `repetition`, in one transaction.
 * If the store cannot be written, prints one line, once, and the measurement goes on. */
void sb_saved_keep(struct sb_saved *saved, const struct sb_result *result, uint32_t index,
		   uint32_t repetition, uint32_t rows);

/* Saves rows together, all of them or none, in the store of that directory; else as above. */
void sb_saved_keep_rows(struct sb_saved *saved, const char *directory,
			const struct sb_stored_row *row, uint32_t rows);

/* Calls take if that repetition of a series is saved. */
SB_MUST_CHECK int sb_saved_find(struct sb_saved *saved, uint32_t index, uint32_t repetition,
				int (*take)(void *arg, const struct sb_stored_row *row), void *arg);

/* The result is complete and has been written. */
void sb_saved_remove(struct sb_saved *saved);

/* Prints that the measurement was interrupted, and what continues it. Returns SB_EXIT_INVALID. */
int sb_saved_interrupted(const struct sb_saved *saved, const char *directory);

void sb_saved_close(struct sb_saved *saved);

#endif
