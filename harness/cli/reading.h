/* reading.h - how options are read, wherever they come from. */
#ifndef SB_HARNESS_CLI_READING_H
#define SB_HARNESS_CLI_READING_H

#include <getopt.h>

#include "harness/cli/options.h"

/* getopt_long's result for a workload's parameter. */
#define PARAM_VALUE	 (SB_OPTIONS + 1000)
#define LONG_MAX_OPTIONS (SB_OPTIONS + SB_WORKLOADS_MAX * SB_PARAMS_MAX + 1)

/* Sets an option from its text; source: what an error says it comes from. Returns an
 * exit status. */
int sb_options_set(struct sb_options *options, enum sb_option_id id, const char *text,
		   const char *source);

/* All options, then for verbs with workloads all parameters of all workloads, each name once.
 * Returns how many options there are. */
size_t sb_options_long_table(struct option *table, enum sb_verb verb);

/* For sb_most_like(): the name of the i-th option of such a table. */
const char *sb_long_option_name(const void *table, size_t i);

/* A parameter of a workload; whether one has it is seen when the workloads are known. */
int sb_options_take_param(struct sb_options *options, const char *name, const char *text);

/* A name that another tool has for something (habits.def), with its dashes unless a job file has it:
 * "here it is --repetitions N", for an error. elsewhere: another verb has it. False: neither. */
#define SB_HABIT_BYTES 200
bool sb_habit_in_verb(enum sb_verb verb, const char *word, char out[SB_HABIT_BYTES]);
bool sb_habit_elsewhere(enum sb_verb verb, const char *word, char out[SB_HABIT_BYTES]);

/* Sets what the environment says. Returns an exit status. */
int sb_options_from_environment(struct sb_options *options, enum sb_verb verb);

/* Refuses a variable SCHED_BENCH_... that is of no option of any verb. Returns an exit status. */
int sb_options_check_environment(void);

/* Sets what the command line says. Returns an exit status. */
int sb_options_from_arguments(struct sb_options *options, enum sb_verb verb, int argc, char **argv);

struct sb_option_default {
	enum sb_option_id id;
	const char *text;
};

/* Sets those of these options that the verb has and nothing has set. Returns an exit status. */
int sb_options_default(struct sb_options *options, enum sb_verb verb,
		       const struct sb_option_default *value, size_t n, const char *source);

/* The number of --forks, once all other options are known, and what it changes. */
int sb_options_apply_forks(struct sb_options *options, enum sb_verb verb);

#endif
