/*
 * run.c - the verb `run`: jobs -> topology and placement of each -> result
 * directory -> each workload of each job -> files, pictures, page -> summary.
 */
#include "harness/verbs/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "harness/output/exports.h"
#include "harness/output/facts.h"
#include "harness/cli/help.h"
#include "harness/cli/job.h"
#include "harness/terminal/interrupts.h"
#include "harness/run/load.h"
#include "harness/run/measure.h"
#include "harness/system/memory.h"
#include "harness/output/outcome.h"
#include "harness/run/placing.h"
#include "harness/run/saved.h"
#include "harness/run/series.h"
#include "harness/terminal/status.h"
#include "harness/sweep/sweep.h"
#include "harness/system/clock_choice.h"
#include "harness/run/watch.h"
#include "results/files/file.h"
#include "results/files/summary.h"
#include "results/record/record.h"

/* ---- jobs ---- */

/* A job and what it is placed on. */
struct stage {
	const struct sb_job *job;
	struct sb_topology *topology;
	struct sb_machine machine;
	struct sb_plan plan;
};

/* What is worked on: all jobs of a command line, and their result. */
struct session {
	const struct sb_jobs *jobs;
	const struct sb_options *options; /* of the first: what is common */
	struct stage *stage;		  /* [stages] */
	uint32_t stages;
	struct sb_result result;
	struct sb_watcher watcher;
	struct sb_saved *saved; /* the rows so far */
};

static void close_stage(struct stage *stage)
{
	sb_plan_free(&stage->plan);
	sb_topology_free(stage->topology);
}

static int check_workers(const struct stage *stage)
{
	if (stage->plan.placement.workers <= SB_WORKERS_MAX)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--workers: %" PRIu32
		       " are too many to run; expected at most %d",
		       stage->plan.placement.workers, SB_WORKERS_MAX);
}

/* In both cases for close_stage. */
static int open_stage(struct stage *stage, const struct sb_job *job)
{
	int rc = sb_load_check(&job->options);

	stage->job = job;
	if (!rc)
		rc = sb_placing_open(&job->options, &stage->topology);
	if (rc)
		return rc;
	sb_topology_machine(stage->topology, &stage->machine);
	rc = sb_placing_plan(&job->options, stage->topology, &stage->plan);
	if (rc)
		return rc;
	sb_placing_note_generator(&job->options, stage->topology, &stage->plan);
	return check_workers(stage);
}

/* ---- the measurement ---- */

static int add_answer(struct session *session, const struct sb_series *series)
{
	if (series->answer && sb_result_add_fact(&session->result, "run",
						 "find_slo", series->answer))
		return sb_fail_memory();
	return 0;
}

/* Whether not all jobs have the same. */
static bool differs(const struct session *session, enum sb_option_id id)
{
	const struct sb_job *job = session->jobs->job;

	for (uint32_t j = 1; j < session->jobs->jobs; j++) {
		if (strcmp(job[j].options.value[id].text,
			   job[0].options.value[id].text) != 0)
			return true;
	}
	return false;
}

static int add_option(struct sb_series *series,
		      const struct sb_options *options, enum sb_option_id id)
{
	const char *text = options->value[id].text;

	return sb_series_add_setting(
		series, &(struct sb_setting){
				.name = (char *)(uintptr_t)sb_option[id].name,
				.text = (char *)(uintptr_t)text,
				.number = sb_sweep_number(text) });
}

/* The job's name, and what sets it apart from the other jobs. */
static int add_job_settings(const struct session *session,
			    const struct stage *stage, struct sb_series *series)
{
	const struct sb_job *job = stage->job;
	int rc = 0;

	if (job->name)
		rc = sb_series_add_setting(
			series, &(struct sb_setting){
					.name = (char *)(uintptr_t) "job",
					.text = (char *)(uintptr_t)job->name,
					.number = (double)NAN });
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if ((sb_option[id].verbs & SB_VERB_RUN) &&
		    id != SB_OPT_workload && !sb_option_is_common(id) &&
		    differs(session, id))
			rc = add_option(series, &job->options, id);
	}
	return rc;
}

static void begin_phase(void *arg, const struct sb_series *series,
			enum sb_phase phase, uint32_t repetition)
{
	struct session *session = arg;

	sb_watcher_begin(&session->watcher, series, phase, repetition);
}

static void end_phase(void *arg, const struct sb_series *series,
		      enum sb_phase phase, uint32_t repetition)
{
	struct session *session = arg;

	/* A row that has been told of is saved. */
	if (phase == SB_PHASE_REPETITION)
		sb_saved_keep(session->saved, &session->result,
			      session->result.all_series - 1, repetition);
	sb_watcher_end(&session->watcher, series, phase, repetition);
}

/* The rows that are saved are not measured again, unless the load of the others
 * would come from another measurement of the capacity. */
static int adopt_saved(struct session *session, const struct stage *stage,
		       const struct sb_chosen *chosen, struct sb_series *series)
{
	const struct sb_options *options = &stage->job->options;
	const int rc =
		sb_saved_adopt(session->saved, session->result.all_series - 1,
			       options, series);

	if (!rc && !series->residence &&
	    sb_measures_capacity(options, chosen->workload))
		sb_series_forget_rows(series);
	return rc;
}

/* The last row is saved again, with the readings of the memory and the answer. */
static void keep_end(struct session *session, const struct sb_series *series)
{
	const uint32_t last = series->records - 1;

	if (series->record[last].is_measured)
		sb_saved_keep(session->saved, &session->result,
			      session->result.all_series - 1, last);
}

static int measure_series(struct session *session, const struct stage *stage,
			  const struct sb_chosen *chosen,
			  struct sb_ground *ground, struct sb_series *series)
{
	const struct sb_options *options = &stage->job->options;
	const struct sb_watch watch = { begin_phase, end_phase, session };
	int rc = adopt_saved(session, stage, chosen, series);

	if (rc)
		return rc;
	sb_watcher_watch(&session->watcher, options);
	rc = sb_measure(series, chosen, options, ground, &watch);
	if (rc)
		return rc;
	keep_end(session, series);
	sb_watcher_sum(&session->watcher, series);
	return add_answer(session, series);
}

static int measure_one(struct session *session, const struct stage *stage,
		       const struct sb_chosen *chosen, struct sb_ground *ground)
{
	struct sb_result *result = &session->result;
	struct sb_series *series = &result->series[result->all_series++];
	int rc = sb_series_init(series, &stage->job->options, chosen,
				&stage->plan.placement);

	if (!rc)
		rc = add_job_settings(session, stage, series);
	if (rc)
		return sb_fail_memory();
	series->emulated = stage->machine.emulated;
	return measure_series(session, stage, chosen, ground, series);
}

#define CPUS_BYTES 1024

/* Where the workers are, with --verbose. */
static void say_plan(const struct session *session, const struct stage *stage)
{
	const struct sb_placement *p = &stage->plan.placement;
	char cpus[CPUS_BYTES] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < p->workers && used < sizeof(cpus); i++)
		used += (size_t)snprintf(
			cpus + used, sizeof(cpus) - used, "%s%d", i ? "," : "",
			p->place[i].os_cpu >= 0 ? p->place[i].os_cpu
						: p->place[i].pu);
	sb_watcher_say(
		&session->watcher,
		"%s%s%" PRIu32 " worker%s (%s, %s) on %s %s%s",
		stage->job->name ? stage->job->name : "",
		stage->job->name ? ": " : "", p->workers,
		p->workers == 1 ? "" : "s",
		stage->job->options.value[SB_OPT_workers].text,
		stage->job->options.value[SB_OPT_placement].text,
		stage->machine.emulated ? "processing units" : "CPUs", cpus,
		stage->machine.emulated ? " of a profile, so not pinned" : "");
}

static int measure_workloads(struct session *session, const struct stage *stage,
			     struct sb_ground *ground)
{
	const struct sb_options *options = &stage->job->options;
	const uint32_t first = session->result.all_series;
	const bool is_foretold = sb_memory_foretell(options);
	int rc = 0;

	say_plan(session, stage);
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = measure_one(session, stage, &options->chosen[i], ground);
	sb_memory_report(options, session->result.series + first,
			 session->result.all_series - first, is_foretold);
	return rc;
}

/*
 * This thread submits and waits: it is the generator, and is bound to the
 * generators' CPUs (NULL: there are none) before the first scheduler is made,
 * because the threads that it starts inherit that: RCU's helper, which outlives
 * all schedulers, and those of a workload. They disturb nobody there; on the
 * workers' cores they would. Workers are pinned one by one.
 */
static int measure_beside(struct session *session, const struct stage *stage,
			  const struct sb_cpu_mask *generator_cpus)
{
	struct sb_ground ground = { .placement = &stage->plan.placement };
	struct sb_cpu_mask home;
	int rc = sb_cpu_mask_read(&home);

	if (!rc && generator_cpus)
		rc = sb_cpu_mask_bind(generator_cpus);
	if (!rc)
		rc = sb_cpu_mask_read(&ground.usable);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "the thread that submits cannot be pinned: %s",
			       strerror(-rc));
	rc = measure_workloads(session, stage, &ground);
	/* gnuplot would inherit it, too. What a cpuset has lost meanwhile stays
	 * lost. */
	if (generator_cpus)
		(void)sb_cpu_mask_bind(&home);
	return rc;
}

static int add_generator_cpus(struct session *session,
			      const struct sb_cpu_mask *cpus)
{
	char text[CPUS_BYTES];

	return sb_result_add_fact(&session->result, "run", "generator_cpus",
				  sb_cpu_mask_text(cpus, text, sizeof(text)))
		       ? sb_fail_memory()
		       : 0;
}

static int measure_stage(struct session *session, const struct stage *stage)
{
	const struct sb_cpu_mask cpus =
		sb_placing_generator_cpus(stage->topology, &stage->plan);
	int rc = 0;

	if (!stage->plan.generators)
		return measure_beside(session, stage, NULL);
	rc = add_generator_cpus(session, &cpus);
	if (rc)
		return rc;
	return measure_beside(session, stage,
			      stage->machine.emulated ? NULL : &cpus);
}

static void say_clock(const struct session *session)
{
	struct sb_clock_info info;

	sb_clock_describe(&info);
	sb_watcher_say(&session->watcher, "clock: %s%s%s", info.source,
		       *info.reason ? ", because " : "", info.reason);
}

static int measure_stages(struct session *session)
{
	uint32_t all = 0;
	int rc = 0;

	for (uint32_t i = 0; i < session->stages; i++) {
		const struct sb_options *options =
			&session->stage[i].job->options;

		sb_watcher_plan(&session->watcher, options);
		all += options->chosens;
	}
	/* A job without a workload is refused. */
	SB_CHECK(all, >, 0);
	session->result.series = calloc(all, sizeof(*session->result.series));
	if (!session->result.series)
		return sb_fail_memory();
	say_clock(session);
	for (uint32_t i = 0; i < session->stages && !rc; i++)
		rc = measure_stage(session, &session->stage[i]);
	return rc;
}

/* ---- all of it ---- */

static void print_pretty(const void *what, FILE *out)
{
	const struct sb_result *result = what;

	sb_write_summary(result, out, sb_terminal_has_color(out),
			 isatty(fileno(out)) ? sb_terminal_columns(out) : 0);
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (result->series[i].answer)
			fprintf(out, "%s\n", result->series[i].answer);
	}
}

/* The machine that is not this one, if a job is on such, else this one. */
static const struct stage *main_stage(const struct session *session)
{
	for (uint32_t i = 0; i < session->stages; i++) {
		if (session->stage[i].machine.emulated)
			return &session->stage[i];
	}
	return &session->stage[0];
}

static int gather_facts(struct session *session, int argc, char **argv)
{
	const struct stage *stage = main_stage(session);
	struct sb_result *result = &session->result;

	int rc = sb_facts_gather(result, session->options, stage->topology,
				 stage->plan.placement.workers, argc, argv);

	if (!rc && session->saved->store)
		return sb_saved_take_facts(session->saved, result);
	/* What is not the run's is a setting of each series. */
	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		if (!differs(session, id))
			continue;
		sb_result_drop_fact(result, "options", sb_option[id].name);
		sb_result_drop_fact(result, "option_sources",
				    sb_option[id].name);
	}
	return rc;
}

static int measure(struct session *session)
{
	int rc;

	sb_interrupts_catch();
	sb_watcher_open(&session->watcher, session->options);
	rc = measure_stages(session);
	if (!rc && sb_timing_add_drift(&session->result))
		rc = sb_fail_memory();
	if (rc)
		sb_watcher_close(&session->watcher);
	return rc;
}

/* The progress, which measure has opened, ends with it. */
static int write_result(struct session *session)
{
	int rc;

	sb_progress_phase(&session->watcher.progress, "", "writing the result");
	rc = sb_outcome_write(&session->result, session->options);
	sb_watcher_close(&session->watcher);
	return rc;
}

/* What is missing after an interrupt can still be measured. */
static void end_saved(struct session *session)
{
	if (!sb_load_rlx(&sb_interrupted))
		sb_saved_remove(session->saved);
	else if (session->saved->store &&
		 !sb_opt(session->options, SB_OPT_quiet))
		sb_note("interrupted; the other repetitions: sched-bench run "
			"--resume %s",
			session->result.directory);
}

static int run_session(struct session *session, int argc, char **argv)
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
	if (!rc)
		rc = measure(session);
	if (rc)
		return rc;
	/* What cannot be written was measured all the same. */
	rc = write_result(session);
	exported = sb_exports_write(options, result);
	sb_outcome_print(result, options, !rc, print_pretty, result);
	if (rc || exported)
		return rc ? rc : exported;
	end_saved(session);
	return sb_outcome_status(result, options);
}

/* All jobs are looked at before the first is measured. */
static int run(const struct sb_jobs *jobs, struct sb_saved *saved, int argc,
	       char **argv)
{
	struct session session = { .jobs = jobs,
				   .options = &jobs->job[0].options,
				   .saved = saved };
	int rc = 0;

	session.stage = calloc(jobs->jobs, sizeof(*session.stage));
	if (!session.stage)
		return sb_fail_memory();
	while (session.stages < jobs->jobs && !rc) {
		rc = open_stage(&session.stage[session.stages],
				&jobs->job[session.stages]);
		session.stages++;
	}
	if (!rc)
		rc = run_session(&session, argc, argv);
	for (uint32_t i = 0; i < session.stages; i++)
		close_stage(&session.stage[i]);
	free(session.stage);
	sb_result_free(&session.result);
	return rc;
}

static int run_new(const struct sb_jobs *jobs, int argc, char **argv)
{
	struct sb_saved saved = { .jobs = jobs };
	const int rc = run(jobs, &saved, argc, argv);

	sb_saved_close(&saved);
	return rc;
}

static int resume(const struct sb_jobs *given, int argc, char **argv)
{
	struct sb_saved saved = { .jobs = NULL };
	struct sb_jobs jobs;
	int rc = sb_saved_resume(&saved, given, argc - 1, argv + 1, &jobs);

	if (!rc)
		rc = run(&jobs, &saved, argc, argv);
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
		sb_jobs_show(&jobs, SB_VERB_RUN, stdout);
	else if (!rc && sb_opt(&jobs.job[0].options, SB_OPT_resume))
		rc = resume(&jobs, argc, argv);
	else if (!rc)
		rc = run_new(&jobs, argc, argv);
	sb_jobs_free(&jobs);
	return rc;
}
