/*
 * exports.h - --export-<format> FILE: a result in files that the user names.
 *
 * A file is written whole or not at all; what is there is replaced. What is there
 * and no file (a pipe, /dev/null) is written to as it is. "-" is standard output,
 * which then has nothing else: the summary goes to standard error.
 */
#ifndef SB_HARNESS_OUTPUT_EXPORTS_H
#define SB_HARNESS_OUTPUT_EXPORTS_H

#include "harness/cli/options.h"
#include "results/record/record.h"

/* Before the measurement: whether each can be written. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_exports_check(const struct sb_options *options);

/* Whether one of them is standard output. */
bool sb_exports_to_stdout(const struct sb_options *options);

/* All of them. Returns as above. */
SB_MUST_CHECK int sb_exports_write(const struct sb_options *options,
				   const struct sb_result *result);

#endif
