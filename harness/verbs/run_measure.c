/* run_measure.c - the measurements of `run`: each workload of each job, the rows that
 * were saved before, and what is said of both. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/job.h"
#include "harness/output/exports.h"
#include "harness/output/facts.h"
#include "harness/output/outcome.h"
#include "harness/run/load.h"
#include "harness/run/measure.h"
#include "harness/run/placing.h"
#include "harness/run/saved.h"
#include "harness/run/series.h"
#include "harness/run/watch.h"
#include "harness/sweep/forks.h"
#include "harness/sweep/sweep.h"
#include "harness/system/clock_choice.h"
#include "harness/system/memory.h"
#include "harness/terminal/status.h"
#include "harness/verbs/run_session.h"
#include "harness/verbs/verbs.h"
#include "results/files/summary.h"
#include "results/record/record.h"
#include "results/record/series.h"

static void begin_phase(void *arg, const struct sb_series *series, enum sb_phase phase,
			uint32_t repetition)
{
	struct sb_run_session *session = arg;

	sb_watcher_begin(&session->watcher, series, phase, repetition);
}

static void end_phase(void *arg, const struct sb_series *series, enum sb_phase phase,
		      uint32_t repetition)
{
	struct sb_run_session *session = arg;

	/* A row that has been told of is saved. */
	if (phase == SB_PHASE_REPETITION)
		sb_saved_keep(session->saved, &session->result,
			      (uint32_t)(series - session->result.series), repetition, 1);
	sb_watcher_end(&session->watcher, series, phase, repetition);
}

/* The last row is saved again, with the readings of the memory and the answer. */
static void keep_end(struct sb_run_session *session, const struct sb_series *series)
{
	const uint32_t last = series->records - 1;

	if (series->record[last].is_measured)
		sb_saved_keep(session->saved, &session->result,
			      (uint32_t)(series - session->result.series), last, 1);
}

static int measure_series(struct sb_run_session *session, struct sb_run_stage *stage,
			  const struct sb_chosen *chosen, struct sb_ground *ground,
			  struct sb_series *series)
{
	const struct sb_options *options = &stage->job->options;
	const struct sb_watch watch = { begin_phase, end_phase, session };
	int rc;

	/* The rows that are saved are not measured again, unless the load of the others would come
	 * from another measurement of the capacity. */
	if (!series->residence && sb_measures_capacity(options, chosen->workload))
		sb_series_forget_rows(series);
	sb_watcher_watch(&session->watcher, options);
	rc = sb_opt(options, SB_OPT_virtual)
		     ? sb_virtual_measure(series, chosen, options, &stage->virtual.ground, &watch)
		     : sb_measure(series, chosen, options, ground, &watch);
	if (rc)
		return rc;
	keep_end(session, series);
	sb_watcher_sum(&session->watcher, series);
	return sb_run_add_answer(session, series);
}

/* With the rows that were saved. */
static int open_one(struct sb_run_session *session, const struct sb_run_stage *stage,
		    const struct sb_chosen *chosen)
{
	const uint32_t index = session->result.all_series++;
	struct sb_series *series = &session->result.series[index];
	uint32_t records;
	int rc = sb_series_init(series, &stage->job->options, chosen, &stage->plan.placement);

	if (!rc)
		rc = sb_run_add_job_settings(session, stage, series);
	if (rc)
		return sb_fail_memory();
	series->reality = sb_facts_reality(&stage->job->options, stage->machine.emulated);
	records = series->records;
	rc = sb_saved_adopt(session->saved, index, &stage->job->options, series);
	/* --until-ci decides again. */
	series->records = records;
	return rc;
}

static int open_series(struct sb_run_session *session, struct sb_run_stage *stage)
{
	const struct sb_options *options = &stage->job->options;
	int rc = 0;

	stage->first_series = session->result.all_series;
	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = open_one(session, stage, &options->chosen[i]);
	return rc;
}

#define CPUS_BYTES 1024

/* Where the workers are, with --verbose. */
static void say_plan(const struct sb_run_session *session, const struct sb_run_stage *stage)
{
	const struct sb_placement *p = &stage->plan.placement;
	char cpus[CPUS_BYTES] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < p->workers && used < sizeof(cpus); i++)
		used += (size_t)snprintf(cpus + used, sizeof(cpus) - used, "%s%d", i ? "," : "",
					 p->place[i].os_cpu >= 0 ? p->place[i].os_cpu
								 : p->place[i].pu);
	sb_watcher_say(&session->watcher, "%s%s%" PRIu32 " worker%s (%s, %s) on %s %s%s",
		       stage->job->name ? stage->job->name : "", stage->job->name ? ": " : "",
		       p->workers, p->workers == 1 ? "" : "s",
		       stage->job->options.value[SB_OPT_workers].text,
		       stage->job->options.value[SB_OPT_placement].text,
		       stage->machine.emulated ? "processing units" : "CPUs", cpus,
		       stage->machine.emulated ? " of a profile, so not pinned" : "");
}

static int measure_workloads(struct sb_run_session *session, struct sb_run_stage *stage,
			     struct sb_ground *ground)
{
	const struct sb_options *options = &stage->job->options;
	struct sb_series *series = &session->result.series[stage->first_series];
	const bool is_foretold = sb_memory_foretell(options);
	int rc = 0;

	for (uint32_t i = 0; i < options->chosens && !rc; i++)
		rc = measure_series(session, stage, &options->chosen[i], ground, &series[i]);
	sb_memory_report(options, series, options->chosens, is_foretold);
	return rc;
}

/*
 * This thread submits and waits: it is the generator, and is bound to the
 * generators' CPUs (NULL: there are none) before the first scheduler is made,
 * because the threads that it starts inherit that: RCU's helper, which outlives
 * all schedulers, and those of a workload. They disturb nobody there; on the
 * workers' cores they would. Workers are pinned one by one.
 */
static int measure_beside(struct sb_run_session *session, struct sb_run_stage *stage,
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
		return sb_fail(SB_EXIT_ENVIRONMENT, "the thread that submits cannot be pinned: %s",
			       strerror(-rc));
	rc = measure_workloads(session, stage, &ground);
	/* gnuplot would inherit it, too. What a cpuset has lost meanwhile stays
	 * lost. */
	if (generator_cpus)
		(void)sb_cpu_mask_bind(&home);
	return rc;
}

static int add_generator_cpus(struct sb_run_session *session, const struct sb_cpu_mask *cpus)
{
	char text[CPUS_BYTES];

	return sb_result_add_fact(&session->result, "run", "generator_cpus",
				  sb_cpu_mask_text(cpus, text, sizeof(text)))
		       ? sb_fail_memory()
		       : 0;
}

/* Once, also where a run goes on with what was saved. */
static int add_condition(struct sb_run_session *session, const struct sb_run_stage *stage,
			 const struct sb_ground *ground, uint32_t i)
{
	const struct sb_options *options = &stage->job->options;
	uint32_t cpus;
	const uint32_t threads = sb_load_sharing(options, &options->chosen[i], ground, &cpus);
	const uint32_t workers = ground->placement->workers;
	char title[SB_SERIES_TITLE_BYTES];
	char text[120];

	sb_series_title(title, &session->result.series[stage->first_series + i]);
	if (!threads || *sb_result_fact(&session->result, "conditions", title))
		return 0;
	snprintf(text, sizeof(text),
		 "%" PRIu32 " submitting thread%s %" PRIu32 " CPU%s with %" PRIu32 " worker%s",
		 threads, threads > 1 ? "s share" : " shares", cpus, cpus > 1 ? "s" : "", workers,
		 workers > 1 ? "s" : "");
	return sb_result_add_fact(&session->result, "conditions", title, text);
}

/* generator_cpus: NULL: the thread that submits stays where it is. */
static int add_conditions(struct sb_run_session *session, const struct sb_run_stage *stage,
			  const struct sb_cpu_mask *generator_cpus)
{
	struct sb_ground ground = { .placement = &stage->plan.placement };
	int rc = 0;

	if (generator_cpus)
		ground.usable = *generator_cpus;
	else if (sb_cpu_mask_read(&ground.usable))
		return 0;
	for (uint32_t i = 0; i < stage->job->options.chosens && !rc; i++)
		rc = add_condition(session, stage, &ground, i);
	return rc ? sb_fail_memory() : 0;
}

/* That fork of each workload that needs it. *has_more is set if one needs another. */
static int measure_forks(struct sb_run_session *session, const struct sb_run_stage *stage,
			 uint32_t fork, bool *has_more)
{
	const struct sb_options *options = &stage->job->options;
	int rc = 0;

	sb_watcher_watch(&session->watcher, options);
	/* A fork is told what counts by its command line. */
	if (!fork)
		sb_options_clear_environment();
	for (uint32_t i = 0; i < options->chosens && !rc; i++) {
		struct sb_series *series = &session->result.series[stage->first_series + i];

		rc = sb_fork_measure(&(struct sb_fork){ options, &options->chosen[i],
							&session->result, series, session->saved,
							&session->watcher, fork });
		*has_more |= series->records > (fork + 1) * sb_opt(options, SB_OPT_repetitions);
	}
	return rc;
}

static void end_forks(const struct sb_run_session *session, const struct sb_run_stage *stage)
{
	const struct sb_options *options = &stage->job->options;
	struct sb_series *series = &session->result.series[stage->first_series];

	for (uint32_t i = 0; i < options->chosens && sb_opt(options, SB_OPT_forks) > 1; i++) {
		sb_judge_series(&series[i]);
		sb_watcher_sum(&session->watcher, &series[i]);
	}
}

/* In this process all of it at once, else one fork. */
static int measure_stage(struct sb_run_session *session, struct sb_run_stage *stage, uint32_t fork,
			 bool *has_more)
{
	const struct sb_cpu_mask cpus = sb_placing_generator_cpus(stage->topology, &stage->plan);
	const bool has_forks = sb_opt(&stage->job->options, SB_OPT_forks) > 1;
	const bool has_own = stage->plan.generators &&
			     !sb_facts_reality(&stage->job->options, stage->machine.emulated);
	int rc = 0;

	if (!fork)
		say_plan(session, stage);
	if (!fork && stage->plan.generators)
		rc = add_generator_cpus(session, &cpus);
	if (!rc && !fork)
		rc = add_conditions(session, stage, has_own ? &cpus : NULL);
	if (!rc && has_forks)
		return measure_forks(session, stage, fork, has_more);
	return rc || fork ? rc : measure_beside(session, stage, has_own ? &cpus : NULL);
}

static void say_clock(const struct sb_run_session *session)
{
	struct sb_clock_info info;

	sb_clock_describe(&info);
	sb_watcher_say(&session->watcher, "clock: %s%s%s", info.source,
		       *info.reason ? ", because " : "", info.reason);
}

int sb_run_measure_stages(struct sb_run_session *session)
{
	uint32_t all = 0;
	bool has_more = true;
	int rc = 0;

	for (uint32_t i = 0; i < session->stages; i++) {
		const struct sb_options *options = &session->stage[i].job->options;

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
		rc = open_series(session, &session->stage[i]);
	/* In turn, so that what the machine does for a while is not one workload's alone. */
	for (uint32_t fork = 0; has_more && !rc; fork++) {
		has_more = false;
		for (uint32_t i = 0; i < session->stages && !rc; i++)
			rc = measure_stage(session, &session->stage[i], fork, &has_more);
	}
	for (uint32_t i = 0; i < session->stages && !rc; i++)
		end_forks(session, &session->stage[i]);
	return rc;
}
