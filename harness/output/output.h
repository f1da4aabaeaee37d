/*
 * output.h - a file that a person has named on the command line, or that is put into a result.
 */
#ifndef SB_HARNESS_OUTPUT_OUTPUT_H
#define SB_HARNESS_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/cli/options.h"

/* Writes what to the stream; returns 0 or -errno. */
typedef int (*sb_output_writer)(const void *what, FILE *out);

/*
 * A regular file, also behind a link, appears whole or not at all; a device or
 * a pipe is written to, and "-" is standard output. Returns 0 or -errno; -EEXIST:
 * the name is that of a result, which is never overwritten.
 */
SB_MUST_CHECK int sb_output(const char *path, sb_output_writer write, const void *what);

/* A file in a result directory, which nobody has named: it takes the place of whatever has its name
 * there, so that a link leads nowhere. */
SB_MUST_CHECK int sb_output_inside(const char *path, sb_output_writer write, const void *what);

/* Whether it could be, as far as that can be told before; leaves nothing behind.
 * Returns 0 or -errno. */
SB_MUST_CHECK int sb_output_try(const char *path);

/* Tries every file that options of the verb name (SB_WRITES_FILE), so that none is found wrong after a
 * measurement. Returns 0, or an exit status after an error has been printed. */
SB_MUST_CHECK int sb_outputs_try(const struct sb_options *options, enum sb_verb verb);

/* Prints that the file cannot be written, for that -errno. Returns the exit
 * status: a disk that is full or fails is the environment, all else but want of
 * memory is the name that was given. */
int sb_output_failed(const char *path, int rc);

/* Whether it is result.json or meta.json of a result directory. */
bool sb_output_is_kept(const char *path);

/* The same reason, for callers that say more. */
const char *sb_output_why(int rc);

/* directory/name in the user's cache of this program, for the caller to free; the
 * directory is made. NULL: there is none, or no memory. */
char *sb_cache_path(const char *name);

#endif
