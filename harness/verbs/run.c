/*
 * run.c - the verb `run`: jobs -> topology and placement of each -> result
 * directory -> each workload of each job -> files, pictures, page -> summary.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "harness/cli/help.h"
#include "harness/cli/job.h"
#include "harness/output/exports.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/output/runs.h"
#include "harness/run/load.h"
#include "harness/run/measure.h"
#include "harness/run/placing.h"
#include "harness/run/saved.h"
#include "harness/run/series.h"
#include "harness/run/tracing.h"
#include "harness/run/watch.h"
#include "harness/sweep/sweep.h"
#include "harness/system/clock_choice.h"
#include "harness/system/memory.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/verbs/run_session.h"
#include "harness/verbs/verbs.h"
#include "harness/within/glances.h"
#include "results/files/answer.h"
#include "results/files/summary.h"
#include "results/ledger/findings.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* ---- jobs ---- */

static void close_stage(struct sb_run_stage *stage)
{
	sb_virtual_machine_free(&stage->virtual);
	sb_plan_free(&stage->plan);
	sb_topology_free(stage->topology);
}

static int check_workers(const struct sb_run_stage *stage)
{
	if (stage->plan.placement.workers <= SB_WORKERS_MAX)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--workers: %" PRIu32 " are too many to run; expected at most %d",
		       stage->plan.placement.workers, SB_WORKERS_MAX);
}

/* Checks the options that do not depend on the machine. */
static int check_job(const struct sb_job *job)
{
	int rc = sb_load_check(&job->options);

	rc = rc ? rc : sb_tracing_check(&job->options);
	return rc ? rc : sb_glances_check(&job->options);
}

/* In both cases for close_stage. */
static int open_stage(struct sb_run_stage *stage, const struct sb_job *job)
{
	int rc = check_job(job);

	stage->job = job;
	if (!rc)
		rc = sb_placing_open(&job->options, &stage->topology);
	if (rc)
		return rc;
	sb_topology_machine(stage->topology, &stage->machine);
	rc = sb_placing_plan(&job->options, stage->topology, &stage->plan);
	if (rc)
		return rc;
	sb_placing_note(&job->options, stage->topology, &stage->plan);
	rc = check_workers(stage);
	if (!rc && sb_opt(&job->options, SB_OPT_virtual))
		rc = sb_virtual_machine_make(&stage->virtual, &job->options, stage->topology,
					     &stage->plan);
	return rc;
}

/* ---- the measurement ---- */

int sb_run_add_answer(struct sb_run_session *session, const struct sb_series *series)
{
	if (series->answer &&
	    sb_result_add_fact(&session->result, "run", "find_slo", series->answer))
		return sb_fail_memory();
	return 0;
}

/* Whether not all jobs have the same. */
static bool differs(const struct sb_run_session *session, enum sb_option_id id)
{
	const struct sb_job *job = session->jobs->job;

	for (uint32_t j = 1; j < session->jobs->jobs; j++) {
		if (strcmp(job[j].options.value[id].text, job[0].options.value[id].text) != 0)
			return true;
	}
	return false;
}

static int add_option(struct sb_series *series, const struct sb_options *options,
		      enum sb_option_id id)
{
	const char *text = options->value[id].text;

	return sb_series_add_setting(
		series, &(struct sb_setting){ .name = (char *)(uintptr_t)sb_option[id].name,
					      .text = (char *)(uintptr_t)text,
					      .number = sb_sweep_number(text) });
}

int sb_run_add_job_settings(const struct sb_run_session *session, const struct sb_run_stage *stage,
			    struct sb_series *series)
{
	const struct sb_job *job = stage->job;
	int rc = 0;

	if (job->name)
		rc = sb_series_add_setting(
			series, &(struct sb_setting){ .name = (char *)(uintptr_t) "job",
						      .text = (char *)(uintptr_t)job->name,
						      .number = (double)NAN });
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if ((sb_option[id].verbs & SB_VERB_RUN) && id != SB_OPT_workload &&
		    !sb_option_is_common(id) && differs(session, id))
			rc = add_option(series, &job->options, id);
	}
	return rc;
}

/* ---- all of it ---- */

static void print_pretty(const void *what, FILE *out)
{
	const struct sb_result *result = what;

	sb_write_summary(result, out, sb_terminal_has_color(out), sb_terminal_width(out));
	sb_write_ledger_findings(result, out, sb_terminal_width(out));
}

/* The machine that is not this one, if a job is on such, else this one. */
static const struct sb_run_stage *main_stage(const struct sb_run_session *session)
{
	for (uint32_t i = 0; i < session->stages; i++) {
		if (session->stage[i].machine.emulated)
			return &session->stage[i];
	}
	return &session->stage[0];
}

static int gather_facts(struct sb_run_session *session, int argc, char **argv)
{
	const struct sb_run_stage *stage = main_stage(session);
	struct sb_result *result = &session->result;

	int rc = sb_facts_gather(result, session->options, stage->topology,
				 stage->plan.placement.workers, argc, argv);

	if (!rc && sb_opt(session->options, SB_OPT_virtual))
		rc = sb_virtual_add_facts(result, &stage->virtual);
	if (!rc && session->saved->store)
		return sb_saved_take_facts(session->saved, result);
	/* An option that is not the run's is a setting of each series. */
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (!differs(session, id))
			continue;
		sb_result_drop_fact(result, "options", sb_option[id].name);
		sb_result_drop_fact(result, "option_sources", sb_option[id].name);
	}
	return rc;
}

/* What each workload is for. */
static int add_objectives(struct sb_run_session *session)
{
	int rc = 0;

	for (uint32_t j = 0; j < session->jobs->jobs; j++) {
		const struct sb_options *options = &session->jobs->job[j].options;

		for (uint32_t i = 0; i < options->chosens && !rc; i++) {
			const struct sb_workload *workload = options->chosen[i].workload;

			rc = sb_result_add_fact(&session->result, "objectives", workload->name,
						sb_workload_objective(workload));
		}
	}
	return rc;
}

static int measure(struct sb_run_session *session)
{
	int rc;

	sb_interrupts_catch();
	sb_watcher_open(&session->watcher, session->options);
	rc = sb_run_measure_stages(session);
	if (!rc && (sb_timing_add_drift(&session->result) || add_objectives(session) ||
		    sb_runs_foretell(&session->result) || sb_answer_from_rows(&session->result)))
		rc = sb_fail_memory();
	if (rc)
		sb_watcher_close(&session->watcher);
	return rc;
}

/* The progress, which measure has opened, ends with it. */
static int write_result(struct sb_run_session *session)
{
	int rc;

	sb_progress_phase(&session->watcher.progress, "", "writing the result");
	rc = sb_outcome_write(&session->result, session->options);
	sb_watcher_close(&session->watcher);
	return rc;
}

/* An interrupt after the last repetition and trace has cut nothing short. */
static bool was_cut_short(const struct sb_result *result)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_lacks_rows(&result->series[i]) || result->series[i].not_recorded)
			return sb_load_rlx(&sb_interrupted);
	}
	return false;
}

/* Rows missing after an interrupt can still be measured. */
static void end_saved(struct sb_run_session *session)
{
	if (!was_cut_short(&session->result))
		sb_saved_remove(session->saved);
	else if (session->saved->store)
		(void)sb_saved_interrupted(session->saved, session->result.directory);
}

static int run_session(struct sb_run_session *session, int argc, char **argv)
{
	const struct sb_options *options = session->options;
	struct sb_result *result = &session->result;
	int rc = sb_exports_check(options);
	int exported;

	if (!rc)
		rc = sb_outcome_prepare(options, result);
	if (!rc)
		rc = sb_timing_choose(options);
	if (!rc)
		rc = gather_facts(session, argc, argv);
	if (!rc) {
		sb_outcome_try_plots(options);
		rc = measure(session);
	}
	if (rc)
		return rc;
	/* A result that cannot be written was measured all the same. */
	rc = write_result(session);
	exported = sb_exports_write(options, result);
	sb_outcome_print(result, options, !rc, print_pretty, result);
	if (rc || exported)
		return rc ? rc : exported;
	end_saved(session);
	return sb_outcome_status(result, options);
}

/* All jobs are looked at before the first is measured. */
static int run(const struct sb_jobs *jobs, struct sb_saved *saved, int argc, char **argv,
	       char **directory)
{
	struct sb_run_session session = { .jobs = jobs,
					  .options = &jobs->job[0].options,
					  .saved = saved };
	int rc = 0;

	session.stage = calloc(jobs->jobs, sizeof(*session.stage));
	if (!session.stage)
		return sb_fail_memory();
	while (session.stages < jobs->jobs && !rc) {
		rc = open_stage(&session.stage[session.stages], &jobs->job[session.stages]);
		session.stages++;
	}
	if (!rc)
		rc = run_session(&session, argc, argv);
	for (uint32_t i = 0; i < session.stages; i++)
		close_stage(&session.stage[i]);
	free(session.stage);
	if (directory) {
		*directory = session.result.directory;
		session.result.directory = NULL;
	}
	sb_result_free(&session.result);
	return rc;
}

int sb_run_new(const struct sb_jobs *jobs, int argc, char **argv, char **directory)
{
	struct sb_saved saved = { .kind = &sb_store_of_run,
				  .jobs = jobs,
				  .series = sb_saved_series_of_run,
				  /* Who has started this process starts it again. */
				  .is_off = !sb_options_are_typed() };
	const int rc = run(jobs, &saved, argc, argv, directory);

	sb_saved_close(&saved);
	return rc;
}

static int show(const struct sb_jobs *jobs)
{
	int rc = 0;

	for (uint32_t i = 0; i < jobs->jobs && !rc; i++)
		rc = check_job(&jobs->job[i]);
	if (!rc)
		sb_jobs_show(jobs, SB_VERB_RUN, stdout);
	return rc;
}

static int resume(const struct sb_jobs *given, int argc, char **argv)
{
	struct sb_saved saved = { .kind = &sb_store_of_run, .series = sb_saved_series_of_run };
	struct sb_jobs jobs;
	int rc = sb_saved_resume(&saved, &given->job[0].options, argc - 1, argv + 1, &jobs);

	rc = rc ? rc : sb_saved_check(&saved);
	if (!rc)
		rc = run(&jobs, &saved, argc, argv, NULL);
	sb_saved_close(&saved);
	sb_jobs_free(&jobs);
	return rc;
}

int sb_command_run(int argc, char **argv)
{
	struct sb_jobs jobs;
	int rc = sb_jobs_parse(&jobs, SB_VERB_RUN, argc - 1, argv + 1);

	if (!rc && sb_opt(&jobs.job[0].options, SB_OPT_help))
		sb_help_verb(SB_VERB_RUN);
	else if (!rc && sb_opt(&jobs.job[0].options, SB_OPT_show_job))
		rc = show(&jobs);
	else if (!rc && sb_opt(&jobs.job[0].options, SB_OPT_resume))
		rc = resume(&jobs, argc, argv);
	else if (!rc)
		rc = sb_run_new(&jobs, argc, argv, NULL);
	sb_jobs_free(&jobs);
	return rc;
}
