/* job_names.h - which options a job file has. */
#ifndef SB_HARNESS_CLI_JOB_NAMES_H
#define SB_HARNESS_CLI_JOB_NAMES_H

#include "harness/cli/options.h"

/* The section whose entries are for all jobs. */
#define SB_JOB_GLOBAL "global"

/* They ask for something else than a new run. */
bool sb_job_is_question(enum sb_option_id id);

#endif
