/*
 * options.h - the options of a verb: from the command line, else from the
 * environment (SCHED_BENCH_<NAME>), else from a job file (job.h), else from the
 * policy (policy.h), else the default; all from options.def.
 */
#ifndef SB_HARNESS_CLI_OPTIONS_H
#define SB_HARNESS_CLI_OPTIONS_H

#include "workloads/workload.h"

/* Which verbs have an option, and what kind of option it is: a sum of these. */
enum sb_verb {
	SB_VERB_RUN = 1,
	SB_VERB_TOPO = 2,
	SB_VERB_CHECK = 4,
	SB_VERB_CALIBRATE = 8,
	SB_VERB_CONVERT = 16,
	SB_VERB_PLOT = 32,
	SB_VERB_REPORT = 64,
	SB_VERB_SWEEP = 128,
	SB_VERB_MICRO = 256,
	SB_VERB_AB = 512,
	SB_VERB_COMPARE = 1024,
	SB_VERB_GATE = 2048,
	SB_VERB_EXPLORE = 4096,
	SB_VERB_LIST = 8192,
	SB_VERB_DEMO = 16384,
	SB_VERB_NEW = 32768,
	SB_VERBS_ALL = 65535,
	/* Those that run workloads. */
	SB_VERBS_RUNNING = SB_VERB_RUN | SB_VERB_SWEEP | SB_VERB_AB | SB_VERB_GATE,
	/* Those that take workloads, and their parameters. */
	SB_VERBS_CHOOSING = SB_VERBS_RUNNING | SB_VERB_EXPLORE | SB_VERB_CALIBRATE,
	/* Those others whose table goes to standard output. */
	SB_VERBS_PRINTING = SB_VERB_COMPARE | SB_VERB_PLOT | SB_VERB_TOPO | SB_VERB_CHECK |
			    SB_VERB_CALIBRATE | SB_VERB_MICRO | SB_VERB_LIST,

	/* No verbs, but flags of an option. */
	SB_SWEPT = 1 << 16,    /* a sweep may go through its values */
	SB_REPEATED = 1 << 17, /* may be given several times: the values, joined by commas */
	SB_NUMERIC = 1 << 18, /* a number that its own module parses: a job file may list several */
	SB_WHOLE_RUN =
		1 << 19, /* of all jobs together: one clock, one result directory, one output */
	SB_NOT_IN_JOBS = 1 << 20, /* asks for something else than a new run */
	SB_BOTH_SIDES = 1 << 21,  /* the same on both sides of a comparison */
	SB_TUNABLE = 1 << 22,	  /* tunes the scheduler: a sweep measures the default, too */
	SB_RUNS_CODE = 1 << 23,	  /* its value may name code that is run; see trust.h */
	SB_WRITES_FILE = 1 << 24 /* its value names a file that is written, apart from the result */
};

/* The alternatives of --format. */
enum sb_format { SB_FORMAT_PRETTY, SB_FORMAT_JSON, SB_FORMAT_CSV };

enum sb_option_id {
#define GROUP(title)
#define OPTION(id, name, letter, form, initial, min, max, help) SB_OPT_##id,
#include "harness/cli/options.def"
#undef OPTION
#undef GROUP
	SB_OPTIONS
};

struct sb_option {
	const char *id;
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
	/* "command line", "environment", "job", "global", "policy" or
	 * "default" */
	const char *source;
	const char *where; /* "FILE:LINE:COLUMN", if it is from a job file */
	char *joined;	   /* text, if it was joined from several; ours */
};

/* NAME=VALUE of a job file. */
struct sb_entry {
	const char *name;
	const char *text;
	const char *where;
	bool is_global; /* for all jobs; its parameters are for those that have
			 * them */
};

#define SB_GIVEN_MAX  64
#define SB_SWEEPS_MAX 16

/* --NAME VALUE for a parameter of a workload. */
struct sb_given_param {
	const char *name;
	const char *text;
	const char *where; /* NULL: from the command line */
	bool is_global;
	bool is_used; /* a chosen workload has it */
};

/* -P or -L, as it was given. */
struct sb_given_sweep {
	char letter;
	const char *text;
};

/* "NAME=LO..HI[:STEP|:log2]" for 'P', "NAME=A,B,..." for 'L'. */
const char *sb_sweep_form(char letter);

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
	struct sb_given_sweep sweep[SB_SWEEPS_MAX];
	uint32_t sweeps;
	struct sb_chosen chosen[SB_WORKLOADS_MAX];
	uint32_t chosens;
	char **word; /* [words], what is left of the command line */
	uint32_t words;
	const char *where; /* of the job; NULL: there is none */
};

/*
 * Parses argv[1..) for `run`. Returns 0, or an exit status after an error has
 * been printed. With --help given, nothing else is checked.
 */
int sb_options_parse(struct sb_options *options, int argc, char **argv);

/* The same for a verb that runs nothing; of the options that it has not, the
 * environment is not asked. */
int sb_options_parse_for(struct sb_options *options, enum sb_verb verb, int argc, char **argv);

/* The command line that a user has typed: in it, and in its parts, an option with two different
 * values is refused. In others, which sched-bench makes for itself, the last value counts. */
void sb_options_typed(int argc, char **argv);
bool sb_options_are_typed(void);

/*
 * For a verb that takes job files: below the environment are these entries, the
 * later ones before the earlier, and words are left for the caller.
 */
int sb_options_parse_job(struct sb_options *options, enum sb_verb verb,
			 const struct sb_entry *entry, uint32_t entries, int argc, char **argv);

/* After that, for a verb with workloads: chooses them, and gives them their
 * parameters. If the options have a job, parameters of the command line may be
 * meant for another one. */
int sb_options_choose(struct sb_options *options);

/* Prints that the value is wrong, where it is, and what was expected, "expected
 * N" or the like. Returns SB_EXIT_USAGE. */
int sb_option_refuse(const struct sb_options *options, enum sb_option_id id, const char *expected);

/* Whether it was said for this run: in the environment it may be meant for
 * others. */
bool sb_option_is_said(const struct sb_options *options, enum sb_option_id id);

/* Whether the parameter was given, for whichever workload. */
bool sb_param_is_given(const struct sb_options *options, const char *name);

/* Whether its values are texts, which the option's own module parses. */
bool sb_option_is_text(const struct sb_option *option);

/* "a count from 1 to 64": what its values look like; a flag's are "yes or no".
 * Likewise of a parameter. */
#define SB_FORM_BYTES 160
void sb_option_describe(const struct sb_option *option, char *out);
void sb_param_describe(const struct sb_param *param, char *out);

/* The options of which an option needs at least one, or it is refused: its help begins with
 * "with --NAME:" or "with --NAME or --NAME:", names that the verb has. Returns how many there are. */
#define SB_NEEDS_MAX 3
uint32_t sb_option_needs(enum sb_option_id id, enum sb_verb verb,
			 enum sb_option_id needed[SB_NEEDS_MAX]);

/* SB_OPTIONS: the verb has none of that long name. */
enum sb_option_id sb_option_find(enum sb_verb verb, const char *name);

/* The first workload's that has one of that name; NULL: none has. */
const struct sb_param *sb_param_find(const char *name);

/* The name of an option or parameter most like that one, or NULL. */
const char *sb_option_most_like(enum sb_verb verb, const char *name);

void sb_options_free(struct sb_options *options);

/* The name of an option's twin in the environment. */
void sb_option_environment(enum sb_option_id id, char *out, size_t bytes);

/* Takes all twins away, for processes that get their options otherwise. Values
 * that have been parsed stay: they point into the environment's own memory. */
void sb_options_clear_environment(void);

static inline uint64_t sb_opt(const struct sb_options *options, enum sb_option_id id)
{
	return options->value[id].number;
}

static inline bool sb_opt_records(const struct sb_options *options)
{
	return *options->value[SB_OPT_record_actors].text;
}

/* Whether trace.json is wanted. */
static inline bool sb_opt_traces(const struct sb_options *options)
{
	return sb_opt(options, SB_OPT_trace) || *options->value[SB_OPT_trace_on].text;
}

/* Whether one more round is made, for trace.json or a recording. */
static inline bool sb_opt_traces_round(const struct sb_options *options)
{
	return sb_opt_traces(options) || sb_opt_records(options);
}

#endif
