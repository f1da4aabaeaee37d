/* run_session.h - a run while it goes on. */
#ifndef SB_HARNESS_VERBS_RUN_SESSION_H
#define SB_HARNESS_VERBS_RUN_SESSION_H

#include "harness/cli/job.h"
#include "harness/run/saved.h"
#include "harness/run/watch.h"
#include "harness/virtual/ground.h"
#include "results/record/record.h"

/* A job and what it is placed on. */
struct sb_run_stage {
	const struct sb_job *job;
	struct sb_topology *topology;
	struct sb_machine machine;
	struct sb_virtual_machine virtual; /* with --virtual */
	struct sb_plan plan;
	uint32_t first_series; /* of the result: its own, one for each workload */
};

/* The work of a command line: all its jobs, and their result. */
struct sb_run_session {
	const struct sb_jobs *jobs;
	const struct sb_options *options; /* of the first: what is common */
	struct sb_run_stage *stage;	  /* [stages] */
	uint32_t stages;
	struct sb_result result;
	struct sb_watcher watcher;
	struct sb_saved *saved; /* the rows so far */
};

/* A run of these jobs by that command line, with the argv of a verb. directory: if not NULL,
 * takes the result's directory, for the caller to free; NULL: it came to none. */
int sb_run_new(const struct sb_jobs *jobs, int argc, char **argv, char **directory);

/* Stores the result of a search for a rate. Returns 0 or -errno. */
int sb_run_add_answer(struct sb_run_session *session, const struct sb_series *series);

/* The job's name, and what sets it apart from the other jobs. */
int sb_run_add_job_settings(const struct sb_run_session *session, const struct sb_run_stage *stage,
			    struct sb_series *series);

/* Measures all workloads of all jobs. Returns an exit status. */
int sb_run_measure_stages(struct sb_run_session *session);

#endif
