/*
 * job.h - job files: the options of several jobs, in fio's manner.
 *
 *     [global]                 for all jobs of the file, unless they say otherwise
 *     duration=2s
 *     export-json=all.json     what is of the whole run belongs here
 *
 *     [small]                  a job, under its name
 *     workload=pingpong        each option by its long name,
 *     round-trips=1000         each parameter of the workload,
 *     no-smt                   a flag alone, or =1
 *     spin-yield=0,12,64       several values: a sweep; `run` refuses them
 *
 * The command line comes before the environment, that before the job, that before
 * [global], that before the policy, that before the default. A file says exactly
 * what a command line says: sb_jobs_show turns one into the other.
 */
#ifndef SB_HARNESS_CLI_JOB_H
#define SB_HARNESS_CLI_JOB_H

#include <stdio.h>

#include "harness/terminal/ini.h"
#include "harness/cli/options.h"

/* One job: a section of a file, or the command line. */
struct sb_job {
	const char *name; /* NULL: the command line is all there is */
	struct sb_options options;
	/* Entries that are lists of values, [global]'s first; for a sweep. They
	 * are not in the options. Of two with one name the later one counts. */
	struct sb_entry *list;
	uint32_t lists;
};

struct sb_jobs {
	struct sb_job *job;
	uint32_t jobs;
	/* The buffers that the jobs' texts are part of. */
	struct sb_ini *file;
	uint32_t files;
	char **where;
	uint32_t wheres;
};

/*
 * The jobs of a command line: those of the files that it names, or itself. For a
 * verb without SB_VERB_RUN, lists are kept; `run` refuses them. Returns 0, or an
 * exit status after an error has been printed. In all cases for sb_jobs_free. With --help or
 * --resume given, nothing else is checked, and there is one job.
 */
int sb_jobs_parse(struct sb_jobs *jobs, enum sb_verb verb, int argc, char **argv);

/* The same of a stored job file, as the command line changes it. name: for
 * errors. */
int sb_jobs_parse_text(struct sb_jobs *jobs, enum sb_verb verb, const char *name, const char *text,
		       int argc, char **argv);

void sb_jobs_free(struct sb_jobs *jobs);

/* Whether an option is the whole run's, so that all jobs have one value. */
bool sb_option_is_common(enum sb_option_id id);

/* Several values rather than one: of an option or a parameter that is not free
 * text, "1,4" or a range "0..64:log2". */
bool sb_job_is_list(enum sb_verb verb, const char *name, const char *text);

/* The options that were set, as a job file that sets the same. It has the values
 * of a policy, not its name: it means the same when the policy has changed. */
void sb_jobs_show(const struct sb_jobs *jobs, enum sb_verb verb, FILE *out);

#endif
