/*
 * output.h - a file that a person has named on the command line.
 */
#ifndef SB_HARNESS_OUTPUT_H
#define SB_HARNESS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

/* Writes what to the stream; returns 0 or -errno. */
typedef int (*sb_output_writer)(const void *what, FILE *out);

/*
 * A regular file, also behind a link, appears whole or not at all; a device or
 * a pipe is written to, and "-" is standard output. Returns 0 or -errno; -EEXIST:
 * the name is that of a result, which is never overwritten.
 */
SB_MUST_CHECK int sb_output(const char *path, sb_output_writer write,
			    const void *what);

/* Whether it is result.json or meta.json of a result directory. */
bool sb_output_is_kept(const char *path);

/* strerror of what sb_output returns. */
const char *sb_output_why(int rc);

/* The exit status for an -errno of writing: a disk that is full or fails is the
 * environment, all else is the name that was given. */
int sb_output_status(int rc);

#endif
