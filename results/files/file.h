/*
 * file.h - files that appear whole under their names or not at all: written without a
 * name, synced, and then linked or renamed. Where the file system has no files without
 * a name (O_TMPFILE), or /proc is not there to link them, they are written beside under a
 * temporary one, which a process that is killed leaves behind.
 */
#ifndef SB_RESULTS_FILES_FILE_H
#define SB_RESULTS_FILES_FILE_H

#include <stdio.h>

#include "core/platform/base.h"

struct sb_result;

struct sb_file {      /* stays where it is until it is ended */
	FILE *stream; /* write here */
	int fd;	      /* of the stream, which has no number of its own */
	int error;    /* -errno of the first write that failed, or 0 */
	char *path;
	char *temporary; /* its name until then; NULL: it has none */
};

/* Returns 0 or -errno. */
SB_MUST_CHECK int sb_file_begin(struct sb_file *file, const char *directory, const char *name);

/* The same, of a path. */
SB_MUST_CHECK int sb_file_begin_path(struct sb_file *file, const char *path);

/* Ends it: under its name if every write succeeded, else removed. Returns 0 or
 * -errno. */
SB_MUST_CHECK int sb_file_commit(struct sb_file *file);

/* Ends it without a trace. */
void sb_file_abandon(struct sb_file *file);

/* A file of the result's directory, which write fills in: all of it, or nothing. Returns 0 or
 * -errno, of write as well. */
SB_MUST_CHECK int sb_file_write(const struct sb_result *result, const char *name,
				int (*write)(const struct sb_result *result, FILE *out));

/* With all that is in it; there may be none. */
void sb_directory_remove(const char *path);

/* Copies what there is of a file. The stream remembers write errors.
 * Returns 0 or -errno of opening or reading. */
SB_MUST_CHECK int sb_file_copy(const char *path, FILE *out);

/* Opens a file that may come from anywhere. Returns NULL with -errno in error: -EFBIG if it has more
 * bytes than most, -EINVAL if it is no file, so that reading might never end. */
FILE *sb_file_open(const char *path, uint64_t most, int *error);

/* For a directory inside one that may come from anywhere: -ELOOP for a link, which may lead out of it,
 * else 0. */
SB_MUST_CHECK int sb_directory_check(const char *path);

/* Whether there is something of that name in it. */
bool sb_directory_holds(const char *directory, const char *name);

/* directory/name, for the caller to free; NULL when there is no memory. */
char *sb_path_join(const char *directory, const char *name);

/* The directory that a file is in, likewise. */
char *sb_path_directory(const char *path);

/* A name for mkdtemp() or mkstemps() with that suffix, in $TMPDIR or /tmp; for the caller to
 * free, NULL when there is no memory. */
char *sb_path_temporary(const char *suffix);

/* Makes a directory and its parents. Returns 0 or -errno. */
SB_MUST_CHECK int sb_directory_make(const char *path);

/* Names in it are safe from now on: a file is only so with its directory. Returns
 * 0 or -errno. */
SB_MUST_CHECK int sb_directory_sync(const char *path);

#endif
