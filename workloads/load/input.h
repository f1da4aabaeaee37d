/*
 * input.h - opens what a user names as input: a job file, a histogram, a trace.
 *
 * A file has an end, and a pipe has one when its writer has closed it (one
 * without a writer is empty). A device may have none, and is refused. A byte order
 * mark of UTF-8 is skipped.
 */
#ifndef SB_WORKLOADS_LOAD_INPUT_H
#define SB_WORKLOADS_LOAD_INPUT_H

#include <stdio.h>

#include "core/platform/base.h"

#define SB_INPUT_BYTES_MAX (UINT64_C(1) << 30)

/* NULL with a negative error: -ENOTSUP for what is neither a file nor a
 * pipe, -EISDIR for a directory, -EFBIG for a file that is too large. */
SB_MUST_CHECK FILE *sb_input_open(const char *path, int *error);

/* Of these errors, and of all others. */
const char *sb_input_error(int error);

#endif
