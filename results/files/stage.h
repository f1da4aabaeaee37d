/*
 * stage.h - files of other programs that appear all together or not at all: they are
 * written into a directory of their own, and from there moved to where they belong. A picture that
 * has no end (gnuplot does not look whether its writing succeeds) is not whole.
 */
#ifndef SB_RESULTS_FILES_STAGE_H
#define SB_RESULTS_FILES_STAGE_H

#include "core/platform/base.h"

struct sb_stage {
	char *path; /* write here */
	char *directory;
	int owner;     /* the file that says whose it is, locked */
	void *entries; /* a DIR, open: where no more files can be, it still ends */
};

/* Makes the directory, too. Returns 0 or -errno. */
SB_MUST_CHECK int sb_stage_begin(struct sb_stage *stage, const char *directory);

/* Ends it: every file under its name, or none of them if one is not whole.
 * Returns 0 or -errno; -ENOSPC for a picture without an end. */
SB_MUST_CHECK int sb_stage_commit(struct sb_stage *stage);

/* Ends it without a trace. */
void sb_stage_abandon(struct sb_stage *stage);

/* Removes the stages of processes that have been killed, and nothing else. */
void sb_stage_clear_leftovers(const char *directory);

#endif
