#include "harness/run/saved.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/trust.h"
#include "harness/output/identity.h"
#include "harness/plugin/plugin.h"
#include "harness/run/measure.h"
#include "harness/run/row.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"

/* Keys of the plan. */
#define JOB   "job"   /* a job file */
#define NAMED "named" /* there if its sections have the names of jobs */

/* ---- a new store ---- */

static uint32_t count_planned(const struct sb_jobs *jobs)
{
	uint32_t rows = 0;

	for (uint32_t j = 0; j < jobs->jobs; j++)
		rows += jobs->job[j].options.chosens * sb_repetitions_max(&jobs->job[j].options);
	return rows;
}

static char *job_text(const struct sb_jobs *jobs)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	sb_jobs_show(jobs, SB_VERB_RUN, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int put_jobs(struct sb_store *store, const struct sb_jobs *jobs)
{
	char *text = job_text(jobs);
	int rc = text ? sb_store_put_plan(store, JOB, text) : -ENOMEM;

	if (!rc && jobs->job[0].name)
		rc = sb_store_put_plan(store, NAMED, "yes");
	free(text);
	return rc;
}

/* Every repetition that a series may come to have. */
static int put_slots(struct sb_store *store, const struct sb_jobs *jobs)
{
	uint32_t position = 0;
	uint32_t series = 0;
	int rc = 0;

	for (uint32_t j = 0; j < jobs->jobs && !rc; j++) {
		const struct sb_options *options = &jobs->job[j].options;
		const uint32_t most = sb_repetitions_max(options);

		for (uint32_t c = 0; c < options->chosens && !rc; c++) {
			rc = sb_store_put_configuration(store, series,
							options->chosen[c].workload->name);
			for (uint32_t r = 0; r < most && !rc; r++)
				rc = sb_store_put_slot(store, position++, series, r);
			series++;
		}
	}
	return rc;
}

/* Returns 0 or -errno. */
static int create(struct sb_saved *saved, const char *directory)
{
	int rc = sb_store_create(&saved->store, &sb_store_of_run, directory);

	rc = rc ? rc : put_jobs(saved->store, saved->jobs);
	rc = rc ? rc : put_slots(saved->store, saved->jobs);
	rc = rc ? rc : sb_identity_put(saved->store);
	return rc ? rc : sb_store_publish(saved->store);
}

/* ---- one row ---- */

static int put_row(struct sb_saved *saved, const struct sb_result *result, uint32_t index,
		   uint32_t repetition)
{
	const struct sb_series *series = &result->series[index];
	const double wall_s = series->record[repetition].value[SB_METRIC_wall_s];
	char *text = sb_row_text(result, series, repetition);
	char started[SB_DATE_BYTES];
	int rc = -ENOMEM;

	sb_format_now(started);
	if (text)
		rc = sb_store_put_row(saved->store, &(struct sb_stored_row){
							    .configuration = index,
							    .repetition = repetition,
							    .started = started,
							    /* An invalid row has none. */
							    .elapsed_s = isnan(wall_s) ? 0 : wall_s,
							    .result = text,
							    .stderr_text = "",
						    });
	free(text);
	return rc;
}

void sb_saved_keep(struct sb_saved *saved, const struct sb_result *result, uint32_t index,
		   uint32_t repetition)
{
	int rc = 0;

	if (saved->is_off || (!saved->store && count_planned(saved->jobs) < 2))
		return;
	if (!saved->store)
		rc = create(saved, result->directory);
	rc = rc ? rc : put_row(saved, result, index, repetition);
	if (!rc)
		return;
	saved->is_off = true;
	sb_note("repetitions are not saved before the end: %s",
		rc == -ENOMEM ? "no memory" : sb_store_why(saved->store));
}

/* ---- --resume ---- */

static bool may_be_said(enum sb_option_id id)
{
	switch (id) {
	case SB_OPT_resume:
	case SB_OPT_other_build:
	case SB_OPT_help:
		return true;
	case SB_OPT_clock:
		return false;
	default:
		return sb_option_is_common(id) ||
		       sb_option[id].verbs & (SB_RUNS_CODE | SB_WRITES_FILE);
	}
}

static int check_said(const struct sb_options *given)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		if ((sb_option[id].verbs & SB_VERB_RUN) && !may_be_said(id) &&
		    sb_option_is_said(given, id))
			return sb_fail(SB_EXIT_USAGE,
				       "run --resume: --%s is not expected; the run goes on as it "
				       "was begun",
				       sb_option[id].name);
	}
	if (given->givens)
		return sb_fail(
			SB_EXIT_USAGE,
			"run --resume: --%s is not expected; the run goes on as it was begun",
			given->given[0].name);
	return 0;
}

static int find_directory(const struct sb_options *given, const char **out)
{
	const bool has_output = sb_option_is_said(given, SB_OPT_output);

	if (given->words > 1 || (given->words && has_output))
		return sb_fail(SB_EXIT_USAGE,
			       "run --resume: '%s' is not expected; one directory has been named",
			       given->word[given->words - 1]);
	*out = given->words ? given->word[0] : given->value[SB_OPT_output].text;
	if (!**out)
		return sb_fail(
			SB_EXIT_USAGE,
			"--resume: a directory is missing; expected the result directory of a run");
	return 0;
}

/* A complete run has a result, and no store. */
static int check_complete(const char *directory)
{
	if (sb_directory_holds(directory, sb_store_of_run.name) ||
	    !sb_directory_holds(directory, "meta.json"))
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "'%s' holds a complete result; there is nothing to go on with", directory);
}

/* Where to write is this directory, however it was named; how much to print is for
 * this command line to say. */
static void set_output(struct sb_options *options, const struct sb_options *given,
		       const char *directory)
{
	static const enum sb_option_id printing[] = { SB_OPT_quiet, SB_OPT_verbose, SB_OPT_format,
						      SB_OPT_output_root };

	options->value[SB_OPT_output].text = directory;
	for (size_t i = 0; i < SB_ARRAY_SIZE(printing); i++)
		options->value[printing[i]] = given->value[printing[i]];
}

static int parse_jobs(struct sb_saved *saved, const struct sb_options *given, const char *directory,
		      int argc, char **argv, struct sb_jobs *jobs)
{
	char *text = sb_store_plan(saved->store, JOB);
	char *named = sb_store_plan(saved->store, NAMED);
	int rc;

	sb_plugin_distrust(sb_opt(given, SB_OPT_trust) ? NULL : directory);
	if (text)
		rc = sb_jobs_parse_text(jobs, SB_VERB_RUN, sb_store_of_run.name, text, argc, argv);
	else
		rc = sb_fail(SB_EXIT_USAGE, "%s: the store has no job", directory);
	sb_plugin_distrust(NULL);
	for (uint32_t i = 0; i < jobs->jobs && !rc; i++) {
		set_output(&jobs->job[i].options, given, directory);
		if (!named)
			jobs->job[i].name = NULL;
		rc = sb_trust_check(&jobs->job[i].options, given, directory);
	}
	free(text);
	free(named);
	return rc;
}

struct plan_check {
	const struct sb_jobs *jobs;
	uint32_t series;
};

static const char *workload_of(const struct sb_jobs *jobs, uint32_t series)
{
	for (uint32_t j = 0; j < jobs->jobs; j++) {
		const struct sb_options *options = &jobs->job[j].options;

		if (series < options->chosens)
			return options->chosen[series].workload->name;
		series -= options->chosens;
	}
	return "";
}

static int take_label(void *arg, uint32_t id, const char *label)
{
	struct plan_check *check = arg;

	return id != check->series || strcmp(workload_of(check->jobs, check->series++), label) != 0;
}

static int check_plan(struct sb_saved *saved, const char *directory)
{
	struct plan_check check = { saved->jobs, 0 };
	const int rc = sb_store_configurations(saved->store, take_label, &check);

	if (rc < 0)
		return sb_store_failed(saved->store, rc);
	if (!rc && !*workload_of(saved->jobs, check.series))
		return 0;
	return sb_fail(
		SB_EXIT_USAGE,
		"%s: its workloads are not those of its job; expected the store of this version",
		directory);
}

int sb_saved_resume(struct sb_saved *saved, const struct sb_jobs *given, int argc, char **argv,
		    struct sb_jobs *jobs)
{
	const struct sb_options *options = &given->job[0].options;
	const char *directory = "";
	int rc = check_said(options);

	*jobs = (struct sb_jobs){ .job = NULL };
	rc = rc ? rc : find_directory(options, &directory);
	rc = rc ? rc : check_complete(directory);
	if (rc)
		return rc;
	rc = sb_store_open(&saved->store, &sb_store_of_run, directory, false);
	if (rc)
		return sb_store_failed(saved->store, rc);
	rc = sb_identity_check(saved->store, SB_IDENTITY_MACHINE, directory);
	if (!rc && !sb_opt(options, SB_OPT_other_build))
		rc = sb_identity_check(saved->store, SB_IDENTITY_BUILD, directory);
	/* It comes before a job, and so before the stored one. */
	sb_options_clear_environment();
	rc = rc ? rc : parse_jobs(saved, options, directory, argc, argv, jobs);
	saved->jobs = jobs;
	return rc ? rc : check_plan(saved, directory);
}

/* The first row has them; 1 ends the search. */
static int take_facts(void *arg, const struct sb_stored_row *row)
{
	struct sb_result from;
	char why[SB_REASON_BYTES];
	int rc;

	if (!row->result || sb_result_read_text(&from, row->result, why, sizeof(why)))
		return 0;
	rc = sb_row_take_facts(&from, arg);
	sb_result_free(&from);
	return rc ? rc : -ECANCELED;
}

int sb_saved_take_facts(struct sb_saved *saved, struct sb_result *result)
{
	const int rc = sb_store_rows(saved->store, take_facts, result);

	if (rc == -ECANCELED)
		return 0;
	return rc < 0 ? sb_store_failed(saved->store, rc) : rc;
}

struct taking {
	uint32_t index;
	struct sb_series *series;
	uint32_t most; /* rows that it has room for */
};

/* The answer of a search is in the row that was saved last. */
static void take_answer(struct sb_series *series, struct sb_series *from)
{
	free(series->answer);
	series->answer = from->answer;
	series->answer_row = from->answer_row;
	from->answer = NULL;
}

static int take_row(void *arg, const struct sb_stored_row *row)
{
	struct taking *taking = arg;
	struct sb_series *series = taking->series;
	struct sb_result from;
	char why[SB_REASON_BYTES];

	if (row->configuration != taking->index || !row->result ||
	    row->repetition >= taking->most ||
	    sb_result_read_text(&from, row->result, why, sizeof(why)))
		return 0;
	if (sb_row_adopt(&from, series, row->repetition)) {
		if (series->records <= row->repetition)
			series->records = row->repetition + 1;
		take_answer(series, from.series);
	}
	sb_result_free(&from);
	return 0;
}

int sb_saved_adopt(struct sb_saved *saved, uint32_t index, const struct sb_options *options,
		   struct sb_series *series)
{
	struct taking taking = { index, series, sb_repetitions_max(options) };
	int rc;

	if (!saved->store)
		return 0;
	rc = sb_store_rows(saved->store, take_row, &taking);
	return rc < 0 ? sb_store_failed(saved->store, rc) : 0;
}

/* ---- the end ---- */

void sb_saved_remove(struct sb_saved *saved)
{
	if (saved->store)
		sb_store_remove(saved->store);
	saved->store = NULL;
}

void sb_saved_close(struct sb_saved *saved)
{
	sb_store_close(saved->store);
	saved->store = NULL;
}
