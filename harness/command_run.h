/* command_run.h - the verb `run`, and what other verbs that measure share with
 * it. */
#ifndef SB_HARNESS_COMMAND_RUN_H
#define SB_HARNESS_COMMAND_RUN_H

#include "harness/options.h"
#include "results/record.h"

/* argv[0] is the program, argv[1] the verb. Returns an exit status. */
int sb_command_run(int argc, char **argv);

/* Chooses the result's directory, which must not hold a result yet, and makes
 * it. Returns 0, or an exit status after an error has been printed. */
int sb_run_prepare_directory(const struct sb_options *options,
			     struct sb_result *result);

/* The first SIGINT or SIGTERM sets sb_interrupted, the second ends the program. */
void sb_run_catch_interrupts(void);

/* All files of the directory. Returns as above. */
int sb_run_write_directory(const struct sb_result *result,
			   const struct sb_options *options);

/* On standard output, as --format and --quiet say; is_written: so is where the
 * files are. */
void sb_run_print(const struct sb_result *result,
		  const struct sb_options *options, bool is_written,
		  void (*pretty)(const struct sb_result *result));

/* Whether no row is invalid. */
bool sb_run_all_measured(const struct sb_result *result);

#endif
