/*
 * file.h - a file that appears whole under its name or not at all: written
 * beside it under a temporary name, synced, renamed.
 */
#ifndef SB_RESULTS_FILE_H
#define SB_RESULTS_FILE_H

#include <stdio.h>

#include "core/base.h"

struct sb_file {
	FILE *stream; /* write here */
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

/* directory/name, for the caller to free; NULL when there is no memory. */
char *sb_path_join(const char *directory, const char *name);

/* Makes a directory and its parents. Returns 0 or -errno. */
SB_MUST_CHECK int sb_directory_make(const char *path);

#endif
