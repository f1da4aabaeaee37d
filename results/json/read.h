/*
 * read.h - a result, read back from its file, to write anything from it again.
 * The file may come from anywhere: whatever is in it, the answer is a result
 * that all writers can take, or one line that says what is wrong.
 */
#ifndef SB_RESULTS_JSON_READ_H
#define SB_RESULTS_JSON_READ_H

#include <jansson.h>

#include "results/record/record.h"

/* A larger file is not read, nor one that would take more memory. */
#define SB_READ_FILE_BYTES   (UINT64_C(1) << 30)
#define SB_READ_MEMORY_BYTES (UINT64_C(8) << 30)

/* The same of other JSON. */
#define SB_JSON_FILE_BYTES   (UINT64_C(16) << 20)
#define SB_JSON_MEMORY_BYTES (UINT64_C(256) << 20)

/*
 * Reads a result.json, or that of a result directory, which is then the
 * result's directory (else it is where the file is). What a later version has
 * added by name (metrics, counters, histograms) is left out, and what an earlier
 * one did not have is as if not measured; rows without numbers have nothing but
 * their repetition, their reason and their slowest events. out: caller's, to be freed with
 * sb_result_free() after success alone. Returns 0, or -errno and one line in why:
 * -EINVAL for what is not a result, -EFBIG, -ENOMEM or what the system says.
 */
SB_MUST_CHECK int sb_result_read(struct sb_result *out, const char *path, char *why, size_t bytes);

/* The JSON of another file that may come from anywhere: a model, a pack of machines, a calibration.
 * NULL with the reason in error, which may be NULL; line -1: the file cannot be read, as errno says. */
json_t *sb_json_read_file(const char *path, size_t flags, json_error_t *error);

/* The same of a document in memory, whose result has no directory. */
SB_MUST_CHECK int sb_result_read_text(struct sb_result *out, const char *text, char *why,
				      size_t bytes);

#endif
