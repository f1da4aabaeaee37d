/*
 * remote.h - a sweep whose chunks a cluster runs. Its store is worked on in a local directory and
 * copied to the result directory when it changes, because that may be on a network file system,
 * on which SQLite's locks do not hold.
 */
#ifndef SB_HARNESS_FLEET_REMOTE_H
#define SB_HARNESS_FLEET_REMOTE_H

#include "harness/sweep/session.h"

/* The options of sbatch in the value of --on, "slurm" or "slurm:OPTIONS"; NULL after an error has
 * been printed. */
const char *sb_remote_options(const char *on);

/* The others return 0, or an exit status after an error has been printed. */

/* Makes the result directory and a store, as sb_session_begin. */
int sb_remote_begin(struct sb_session *s, const struct sb_arguments *plan);

/* Whether a cluster runs, or ran, the sweep of that result directory and rows are missing. */
bool sb_remote_is_there(const char *directory);

/* As sb_session_resume. */
int sb_remote_resume(struct sb_session *s, struct sb_arguments *stored);

/* Has all chunks run and takes their rows, until all are there or no more come. */
int sb_remote_run(struct sb_session *s, const struct sb_arguments *plan);

/* Removes the local directory, if there is one. */
void sb_remote_end(struct sb_session *s);

#endif
