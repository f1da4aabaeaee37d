/*
 * sweep.h - the plan of a sweep: what it goes through, its configurations, and
 * in which order they run.
 *
 * The configurations are all combinations of the values of its dimensions, for
 * each workload; a dimension that is a parameter of another workload alone does
 * not count for this one. If options are among the dimensions that tune the scheduler
 * (SB_TUNABLE), their default is one more configuration, unless it is a combination
 * anyway: what a change brings is said against it. The other dimensions are the work
 * that it has to do, and the default is measured on each. A round is one repetition of each, in random order
 * drawn from the seed.
 */
#ifndef SB_HARNESS_SWEEP_SWEEP_H
#define SB_HARNESS_SWEEP_SWEEP_H

#include "core/platform/platform.h"
#include "harness/cli/options.h"
#include "harness/terminal/metrics.h"
#include "harness/terminal/shell_words.h"

#define SB_SWEEP_VALUES_MAX 1000
#define SB_SWEEP_ROWS_MAX   100000
#define SB_SWEEP_ARGS_MAX   (SB_OPTIONS + SB_GIVEN_MAX + SB_SWEEPS_MAX + SB_WORDS_MAX + 8)

/* A workload that does not have the parameter. */
#define SB_NO_LEVEL UINT32_MAX

struct sb_dimension {
	char *name;
	int option; /* SB_OPTIONS: a parameter of a workload */
	uint32_t values;
	char **value;	   /* as they would stand on the command line */
	uint32_t combined; /* the first of these; then comes the default, if it is another */
	uint32_t initial;  /* the default's level; SB_NO_LEVEL: it tunes nothing */
};

struct sb_configuration {
	const struct sb_chosen *chosen;
	uint32_t level[SB_SWEEPS_MAX]; /* for each dimension */
	char *label;		       /* "skynet batch=1 spin-yield=0" */
	uint64_t row_ns;	       /* filled in when it is checked */
	uint64_t limit_ns;
};

struct sb_slot {
	uint32_t configuration;
	uint32_t repetition;
};

struct sb_sweep {
	const struct sb_options *options; /* of the verb `sweep`, chosen */
	uint32_t dimensions;
	struct sb_dimension dimension[SB_SWEEPS_MAX];
	uint32_t configurations;
	struct sb_configuration *configuration;
	uint32_t planned;		  /* repetitions */
	uint32_t repetitions;		  /* with those that make up for invalid rows */
	struct sb_slot *order;		  /* [configurations * repetitions] */
	struct sb_rng rng;		  /* draws the order */
	struct sb_objectives *objectives; /* [options->chosens] */
};

/*
 * A dimension from the text of -P ('P': NAME=LO..HI[:STEP|:log2]) or -L ('L':
 * NAME=A,B,...). Returns 0, or an exit status after an error has been printed.
 * Then, too, it is for sb_dimension_free.
 */
int sb_dimension_parse(struct sb_dimension *dimension, char letter, const char *text,
		       const struct sb_options *options);
void sb_dimension_free(struct sb_dimension *dimension);

/* Finds the level of the default, or adds it behind the values. Returns as above. */
int sb_dimension_add_default(struct sb_dimension *dimension, const struct sb_options *options);

/* NULL: its workload has no such parameter. */
const struct sb_param *sb_chosen_param(const struct sb_chosen *chosen, const char *name);

/* A value as a number in its unit of account (count, ns, 1/s, %); NaN: it is a
 * word. */
double sb_sweep_number(const char *value);

/* The plan that the options ask for, which must outlive it. Returns as above;
 * the plan is for sb_sweep_free in any case. */
int sb_sweep_plan(struct sb_sweep *sweep, const struct sb_options *options);
void sb_sweep_free(struct sb_sweep *sweep);

/* One more repetition of each configuration, in an order of its own. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_sweep_add_round(struct sb_sweep *sweep);

/* Whether a repetition more may make up for invalid rows: at most half as many as are planned. */
static inline bool sb_sweep_may_add(const struct sb_sweep *sweep)
{
	return sweep->repetitions < sweep->planned + sweep->planned / 2;
}

/* By which its configurations are compared: as --objective of these options says, or as
 * each workload declares. Returns as above. */
int sb_sweep_choose_objectives(struct sb_sweep *sweep, const struct sb_options *options);
const struct sb_objectives *sb_sweep_objectives(const struct sb_sweep *sweep,
						const struct sb_chosen *chosen);

/* Whether all rows are in virtual time, so that they do not disturb each other. */
bool sb_sweep_is_virtual(const struct sb_sweep *sweep);

/* Whether all that tunes the scheduler has its default; false if nothing does. */
bool sb_sweep_is_default(const struct sb_sweep *sweep,
			 const struct sb_configuration *configuration);

/* Whether two configurations of a workload differ at most in what tunes the scheduler. */
bool sb_sweep_has_same_work(const struct sb_sweep *sweep, const struct sb_configuration *a,
			    const struct sb_configuration *b);

/* Arguments of a command. A side of a comparison has words of its own. */
struct sb_arguments {
	uint32_t n;
	char *word[SB_SWEEP_ARGS_MAX + 1]; /* ends with NULL */
};
void sb_arguments_free(struct sb_arguments *arguments);

/* Whether two differ, and the first word of each that does: "nothing more", if it ends there. */
bool sb_arguments_differ(const struct sb_arguments *a, const struct sb_arguments *b,
			 const char **word_a, const char **word_b);

/* One more. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_arguments_add(struct sb_arguments *out, const char *format, ...)
	SB_PRINTF(2, 3);

/* "run", the workload with its parameters, and of the verb's options those that
 * are run's and have been given. Returns 0 or -ENOMEM; in both cases it is for
 * sb_arguments_free. */
SB_MUST_CHECK int sb_arguments_of_run(struct sb_arguments *out, const struct sb_options *options,
				      enum sb_verb verb, const struct sb_chosen *chosen);

/* "run" and all that makes it this configuration, but for where it is to write.
 * Returns 0 or -ENOMEM; in both cases it is for sb_arguments_free. */
SB_MUST_CHECK int sb_sweep_arguments(const struct sb_sweep *sweep, const struct sb_configuration *c,
				     uint32_t repetition, struct sb_arguments *out);

/* "sweep" and the options that the plan depends on, each as --NAME=VALUE: equal
 * for equal plans, and parsed again they give it again. Returns as above. */
SB_MUST_CHECK int sb_sweep_canonical(const struct sb_options *options, struct sb_arguments *out);

/*
 * How long a row takes, of which `run` are the options: its own times, but for
 * starting and writing; and when it hangs, which --kill-after of the sweep may
 * say.
 */
uint64_t sb_sweep_row_ns(const struct sb_options *run);
uint64_t sb_sweep_limit_ns(const struct sb_options *run, const struct sb_options *sweep);

#endif
