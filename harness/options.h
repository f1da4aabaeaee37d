/*
 * options.h - the options of a verb: from the command line, else from the
 * environment (SCHED_BENCH_<NAME>), else the default; all from options.def.
 */
#ifndef SB_HARNESS_OPTIONS_H
#define SB_HARNESS_OPTIONS_H

#include "workloads/workload.h"

/* Which verbs have an option: a sum of these. */
enum sb_verb {
	SB_VERB_RUN = 1,
	SB_VERB_TOPO = 2,
	SB_VERB_CHECK = 4,
	SB_VERB_CALIBRATE = 8,
	SB_VERB_MICRO = 16
};

enum sb_option_id {
#define GROUP(title)
#define OPTION(id, name, letter, form, initial, min, max, help) SB_OPT_##id,
#include "harness/options.def"
#undef OPTION
#undef GROUP
	SB_OPTIONS
};

struct sb_option {
	unsigned int verbs;
	const char *name;
	int letter;
	const char *form; /* NULL: a flag */
	const char *initial;
	uint64_t min, max;
	const char *help;
};

extern const struct sb_option sb_option[SB_OPTIONS];

/* A value: which alternative of the form, and the number if it has one. A flag
 * is 0 or 1 in number. Text is the whole value, as given. */
struct sb_option_value {
	const char *text;
	unsigned int alternative;
	uint64_t number;
	const char *source; /* "command line", "environment" or "default" */
};

#define SB_WORKLOADS_MAX 64
#define SB_PARAMS_MAX	 16
#define SB_GIVEN_MAX	 64

/* --NAME VALUE for a parameter of a workload. */
struct sb_given_param {
	const char *name;
	const char *text;
};

/* A workload that was asked for, with its parameters. */
struct sb_chosen {
	const struct sb_workload *workload;
	uint64_t param[SB_PARAMS_MAX];
	const char *text[SB_PARAMS_MAX]; /* of those that are texts */
};

struct sb_options {
	struct sb_option_value value[SB_OPTIONS];
	struct sb_given_param given[SB_GIVEN_MAX];
	uint32_t givens;
	struct sb_chosen chosen[SB_WORKLOADS_MAX];
	uint32_t chosens;
	char *workload_names; /* all -w, joined by commas */
};

/*
 * Parses argv[1..) for `run`. Returns 0, or an exit status after an error has
 * been printed. With --help given, nothing else is checked.
 */
int sb_options_parse(struct sb_options *options, int argc, char **argv);

/* The same for a verb that runs nothing; of the options that it has not, the
 * environment is not asked. */
int sb_options_parse_for(struct sb_options *options, enum sb_verb verb,
			 int argc, char **argv);
void sb_options_free(struct sb_options *options);

static inline uint64_t sb_opt(const struct sb_options *options,
			      enum sb_option_id id)
{
	return options->value[id].number;
}

#endif
