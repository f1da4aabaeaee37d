/*
 * file.h - files that appear whole under their names or not at all: written
 * beside them under a temporary name, synced, renamed.
 */
#ifndef SB_RESULTS_FILE_H
#define SB_RESULTS_FILE_H

#include <stdio.h>

#include "core/base.h"

struct sb_file {      /* stays where it is until it is ended */
	FILE *stream; /* write here */
	int fd;	      /* of the stream, which has no number of its own */
	int error;    /* -errno of the first write that failed, or 0 */
	char *path;
	char *temporary;
};

/* Returns 0 or -errno. */
SB_MUST_CHECK int sb_file_begin(struct sb_file *file, const char *directory,
				const char *name);

/* The same, of a path. */
SB_MUST_CHECK int sb_file_begin_path(struct sb_file *file, const char *path);

/* Ends it: under its name if every write succeeded, else removed. Returns 0 or
 * -errno. */
SB_MUST_CHECK int sb_file_commit(struct sb_file *file);

/* Ends it without a trace. */
void sb_file_abandon(struct sb_file *file);

/*
 * The same for what other programs write: files of any number into a directory
 * of their own, and from there all together to where they belong. A picture that
 * has no end (gnuplot does not look whether its writing succeeds) is not whole.
 */
struct sb_stage {
	char *path; /* write here */
	char *directory;
};

/* Makes the directory, too. Returns 0 or -errno. */
SB_MUST_CHECK int sb_stage_begin(struct sb_stage *stage, const char *directory);

/* Ends it: every file under its name, or none of them if one is not whole.
 * Returns 0 or -errno; -ENOSPC for a picture without an end. */
SB_MUST_CHECK int sb_stage_commit(struct sb_stage *stage);

/* Ends it without a trace. */
void sb_stage_abandon(struct sb_stage *stage);

/* With all that is in it; there may be none. */
void sb_directory_remove(const char *path);

/* Removes what a killed process has left: temporary files and stages. */
void sb_directory_clear_leftovers(const char *path);

/* Copies what there is of a file. What cannot be written the stream remembers.
 * Returns 0 or -errno of opening or reading. */
SB_MUST_CHECK int sb_file_copy(const char *path, FILE *out);

/* directory/name, for the caller to free; NULL when there is no memory. */
char *sb_path_join(const char *directory, const char *name);

/* The directory that a file is in, likewise. */
char *sb_path_directory(const char *path);

/* Makes a directory and its parents. Returns 0 or -errno. */
SB_MUST_CHECK int sb_directory_make(const char *path);

/* Names in it are safe from now on: a file is only so with its directory. Returns
 * 0 or -errno. */
SB_MUST_CHECK int sb_directory_sync(const char *path);

#endif
