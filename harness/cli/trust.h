/*
 * trust.h - what a stored plan may set. A result directory may come from a stranger, so its plan
 * runs no code and writes no file outside the directory (SB_RUNS_CODE and SB_WRITES_FILE in
 * options.def), unless the command line has --trust or the same option with the same value.
 * sb_plugin_distrust() keeps the plan's plug-ins from being loaded while it is parsed.
 */
#ifndef SB_HARNESS_CLI_TRUST_H
#define SB_HARNESS_CLI_TRUST_H

#include "harness/cli/options.h"

/* Refuses a plan that may not be followed. stored: its options; given: those of the command line;
 * name: of the plan, for the error. Returns 0 or an exit status. */
SB_MUST_CHECK int sb_trust_check(const struct sb_options *stored, const struct sb_options *given,
				 const char *name);

/* The same of one option, whose value is text. */
SB_MUST_CHECK int sb_trust_check_one(enum sb_option_id id, const char *text,
				     const struct sb_options *given, const char *name);

/* " --trust" if a plan with these options cannot be resumed without it, else "". */
const char *sb_trust_hint(const struct sb_options *options);

#endif
