/*
 * outcome.h - what becomes of a measurement: the result's directory, chosen before
 * it and written after it, and what is told of it on the terminal.
 */
#ifndef SB_HARNESS_OUTPUT_OUTCOME_H
#define SB_HARNESS_OUTPUT_OUTCOME_H

#include <stdio.h>

#include "harness/cli/options.h"
#include "results/record/record.h"

/* Beside the results of sweeps of several machines: what continues them, harness/fleet/machines.h. */
#define SB_MACHINES_FILE "machines.json"

/* Chooses the result's directory, which must not hold a result yet, and makes
 * it. Returns 0, or an exit status after an error has been printed. */
SB_MUST_CHECK int sb_outcome_prepare(const struct sb_options *options, struct sb_result *result);

/* Whether sb_outcome_prepare() would accept --output; makes nothing. Returns as above. */
SB_MUST_CHECK int sb_outcome_check(const struct sb_options *options);

/* Says before a measurement if its pictures cannot be drawn; the result loses nothing else. */
void sb_outcome_try_plots(const struct sb_options *options);

/* All files of the directory. Returns as above. */
SB_MUST_CHECK int sb_outcome_write(const struct sb_result *result,
				   const struct sb_options *options);

/* As --format and --quiet say; pretty(what, ...) is for people. is_written: where the files
 * are is told, too. Standard output is a program's if an export goes there. */
void sb_outcome_print(const struct sb_result *result, const struct sb_options *options,
		      bool is_written, void (*pretty)(const void *what, FILE *out),
		      const void *what);

/* How the command ends: SB_EXIT_ENVIRONMENT if a workload met a limit, else
 * SB_EXIT_INVALID unless no row is invalid and a trace that was asked for is there.
 * Suspect rows have numbers, and say what is wrong with them. */
int sb_outcome_status(const struct sb_result *result, const struct sb_options *options);

#endif
