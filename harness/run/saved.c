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
#define LINE  "command_line"

/* ---- a new store ---- */

bool sb_saved_series_of_run(const struct sb_saved *saved, uint32_t index,
			    struct sb_saved_series *out)
{
	for (uint32_t j = 0; j < saved->jobs->jobs; j++) {
		const struct sb_options *options = &saved->jobs->job[j].options;

		*out = (struct sb_saved_series){ "", sb_repetitions_max(options) };
		if (index < options->chosens) {
			out->label = options->chosen[index].workload->name;
			return true;
		}
		index -= options->chosens;
	}
	return false;
}

static bool has_several_rows(const struct sb_saved *saved)
{
	struct sb_saved_series series;

	return saved->series(saved, 1, &series) ||
	       (saved->series(saved, 0, &series) && series.most > 1);
}

static char *job_text(const struct sb_store_kind *kind, const struct sb_jobs *jobs)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	sb_jobs_show(jobs, kind->verb, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int put_jobs(struct sb_saved *saved)
{
	char *text = job_text(saved->kind, saved->jobs);
	int rc = text ? sb_store_put_plan(saved->store, JOB, text) : -ENOMEM;

	if (!rc && saved->jobs->job[0].name)
		rc = sb_store_put_plan(saved->store, NAMED, "yes");
	free(text);
	return rc;
}

/* Every repetition that a series may come to have. */
static int put_slots(struct sb_saved *saved)
{
	struct sb_saved_series series;
	uint32_t position = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && saved->series(saved, i, &series); i++) {
		rc = sb_store_put_configuration(saved->store, i, series.label);
		for (uint32_t r = 0; r < series.most && !rc; r++)
			rc = sb_store_put_slot(saved->store, position++, i, r);
	}
	return rc;
}

/* Returns 0 or -errno. */
static int create(struct sb_saved *saved, const char *directory)
{
	int rc = sb_store_create(&saved->store, saved->kind, directory);

	rc = rc ? rc : put_jobs(saved);
	if (!rc && saved->command)
		rc = sb_store_put_plan(saved->store, LINE, saved->command);
	rc = rc ? rc : put_slots(saved);
	rc = rc ? rc : sb_identity_put(saved->store);
	for (uint32_t i = 0; i < SB_SAVED_FILES && !rc; i++) {
		if (saved->file[i])
			rc = sb_identity_put_file(saved->store, i, saved->file[i]);
	}
	return rc ? rc : sb_store_publish(saved->store);
}

/* ---- rows ---- */

static int put_rows(struct sb_store *store, const struct sb_stored_row *row, uint32_t rows)
{
	int rc = sb_store_begin_rows(store);

	for (uint32_t i = 0; i < rows && !rc; i++)
		rc = sb_store_put_row(store, &row[i]);
	return rc ? rc : sb_store_end_rows(store);
}

void sb_saved_keep_rows(struct sb_saved *saved, const char *directory,
			const struct sb_stored_row *row, uint32_t rows)
{
	int rc = 0;

	if (saved->is_off || (!saved->store && !has_several_rows(saved)))
		return;
	if (!saved->store)
		rc = create(saved, directory);
	rc = rc ? rc : put_rows(saved->store, row, rows);
	if (!rc)
		return;
	saved->is_off = true;
	sb_note("what is measured is not saved before the end: %s",
		rc == -ENOMEM ? "no memory" : sb_store_why(saved->store));
}

void sb_saved_keep(struct sb_saved *saved, const struct sb_result *result, uint32_t index,
		   uint32_t repetition, uint32_t rows)
{
	const struct sb_series *series = &result->series[index];
	struct sb_stored_row *row = saved->is_off ? NULL : calloc(rows, sizeof(*row));
	char started[SB_DATE_BYTES];

	sb_format_now(started);
	for (uint32_t i = 0; row && i < rows; i++) {
		const double wall_s = series->record[repetition + i].value[SB_METRIC_wall_s];
		char *text = sb_row_text(result, series, repetition + i);

		row[i] = (struct sb_stored_row){
			.configuration = index,
			.repetition = repetition + i,
			.reason = text ? NULL : "no memory",
			.started = started,
			/* An invalid row has none. */
			.elapsed_s = isnan(wall_s) ? 0 : wall_s,
			.result = text,
			.stderr_text = "",
		};
	}
	if (row)
		sb_saved_keep_rows(saved, result->directory, row, rows);
	for (uint32_t i = 0; row && i < rows; i++)
		free((char *)(uintptr_t)row[i].result);
	free(row);
}

int sb_saved_find(struct sb_saved *saved, uint32_t index, uint32_t repetition,
		  int (*take)(void *arg, const struct sb_stored_row *row), void *arg)
{
	int rc;

	if (!saved->store || saved->is_off)
		return 0;
	rc = sb_store_row(saved->store, index, repetition, take, arg);
	return rc < 0 ? sb_store_failed(saved->store, rc) : rc;
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

static int check_said(const struct sb_store_kind *kind, const struct sb_options *given)
{
	const char *name = given->givens ? given->given[0].name : NULL;

	for (int id = 0; id < SB_OPTIONS && !name; id++) {
		if ((sb_option[id].verbs & kind->verb) && !may_be_said(id) &&
		    sb_option_is_said(given, id))
			name = sb_option[id].name;
	}
	if (!name)
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "%s --resume: --%s is not expected; the %s goes on as it was begun",
		       kind->verb_name, name, kind->noun);
}

static int find_directory(const struct sb_store_kind *kind, const struct sb_options *given,
			  const char **out)
{
	const bool has_output = sb_option_is_said(given, SB_OPT_output);

	if (given->words > 1 || (given->words && has_output))
		return sb_fail(SB_EXIT_USAGE,
			       "%s --resume: '%s' is not expected; one directory has been named",
			       kind->verb_name, given->word[given->words - 1]);
	*out = given->words ? given->word[0] : given->value[SB_OPT_output].text;
	if (!**out)
		return sb_fail(
			SB_EXIT_USAGE,
			"--resume: a directory is missing; expected the result directory of a %s",
			kind->noun);
	return 0;
}

/* What is complete has a result, and no store. */
static int check_complete(const struct sb_store_kind *kind, const char *directory)
{
	if (sb_directory_holds(directory, kind->name) ||
	    !sb_directory_holds(directory, kind->result))
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
	options->words = 0;
	for (size_t i = 0; i < SB_ARRAY_SIZE(printing); i++)
		options->value[printing[i]] = given->value[printing[i]];
}

/* What follows the options of the whole run, which may differ. */
static const char *skip_common(const char *text)
{
	const char *jobs = strstr(text, "\n\n[");

	return jobs && !strncmp(text, "[global]", 8) ? jobs + 2 : text;
}

static bool is_same(const struct sb_saved *saved, const struct sb_jobs *plan)
{
	char *then = job_text(saved->kind, plan);
	char *now = job_text(saved->kind, saved->jobs);
	const bool same = then && now && !strcmp(skip_common(then), skip_common(now));

	free(then);
	free(now);
	return same;
}

/* What the command line repeats, to allow it, is what the plan has. */
static int check_same(const struct sb_saved *saved, const char *text, const char *directory)
{
	char *words[] = { (char *)(uintptr_t)saved->kind->verb_name, NULL };
	struct sb_jobs plan;
	int rc = sb_jobs_parse_text(&plan, saved->kind->verb, saved->kind->name, text, 1, words);

	for (uint32_t i = 0; i < plan.jobs && !rc; i++) {
		if (!saved->jobs->job[i].name)
			plan.job[i].name = NULL;
	}
	if (!rc && !is_same(saved, &plan))
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s was begun with other options than this command line has; expected "
			     "the same",
			     directory);
	sb_jobs_free(&plan);
	return rc;
}

static int parse_jobs(struct sb_saved *saved, const struct sb_options *given, const char *directory,
		      int argc, char **argv, struct sb_jobs *jobs)
{
	char *text = sb_store_plan(saved->store, JOB);
	char *named = sb_store_plan(saved->store, NAMED);
	int rc;

	sb_plugin_distrust(sb_opt(given, SB_OPT_trust) ? NULL : directory);
	if (text)
		rc = sb_jobs_parse_text(jobs, saved->kind->verb, saved->kind->name, text, argc,
					argv);
	else
		rc = sb_fail(SB_EXIT_USAGE, "%s: the store has no job", directory);
	sb_plugin_distrust(NULL);
	for (uint32_t i = 0; i < jobs->jobs && !rc; i++) {
		set_output(&jobs->job[i].options, given, directory);
		if (!named)
			jobs->job[i].name = NULL;
		rc = sb_trust_check(&jobs->job[i].options, given, directory);
	}
	rc = rc ? rc : check_same(saved, text, directory);
	free(text);
	free(named);
	return rc;
}

struct plan_check {
	const struct sb_saved *saved;
	uint32_t series;
};

static int take_label(void *arg, uint32_t id, const char *label)
{
	struct plan_check *check = arg;
	struct sb_saved_series series;

	return id != check->series || !check->saved->series(check->saved, id, &series) ||
	       strcmp(series.label, label) != 0 || !++check->series;
}

static int check_plan(struct sb_saved *saved, const char *directory)
{
	struct plan_check check = { saved, 0 };
	struct sb_saved_series more;
	const int rc = sb_store_configurations(saved->store, take_label, &check);

	if (rc < 0)
		return sb_store_failed(saved->store, rc);
	if (!rc && !saved->series(saved, check.series, &more))
		return 0;
	return sb_fail(
		SB_EXIT_USAGE,
		"%s: its workloads are not those of its job; expected the store of this version",
		directory);
}

int sb_saved_resume(struct sb_saved *saved, const struct sb_options *given, int argc, char **argv,
		    struct sb_jobs *jobs)
{
	const char *directory = "";
	int rc = check_said(saved->kind, given);

	*jobs = (struct sb_jobs){ .job = NULL };
	rc = rc ? rc : find_directory(saved->kind, given, &directory);
	rc = rc ? rc : check_complete(saved->kind, directory);
	if (rc)
		return rc;
	rc = sb_store_open(&saved->store, saved->kind, directory, false);
	if (rc)
		return sb_store_failed(saved->store, rc);
	rc = sb_identity_check(saved->store, SB_IDENTITY_MACHINE, directory);
	if (!rc && !sb_opt(given, SB_OPT_other_build))
		rc = sb_identity_check(saved->store, SB_IDENTITY_BUILD, directory);
	/* It comes before a job, and so before the stored one. */
	sb_options_clear_environment();
	saved->jobs = jobs;
	saved->command = sb_store_plan(saved->store, LINE);
	return rc ? rc : parse_jobs(saved, given, directory, argc, argv, jobs);
}

int sb_saved_check(struct sb_saved *saved)
{
	const struct sb_options *options = &saved->jobs->job[0].options;
	const char *directory = options->value[SB_OPT_output].text;
	int rc = check_plan(saved, directory);

	for (uint32_t i = 0; i < SB_SAVED_FILES && !rc; i++) {
		if (saved->file[i] && !sb_opt(options, SB_OPT_other_build))
			rc = sb_identity_check_file(saved->store, i, saved->file[i], directory);
	}
	return rc;
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
	if (sb_rows_adopt(&from, series, row->repetition, 1)) {
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

int sb_saved_interrupted(const struct sb_saved *saved, const char *directory)
{
	const char *hint = "";

	if (!saved->store || saved->is_off)
		return sb_fail(SB_EXIT_INVALID, "interrupted");
	for (uint32_t j = 0; j < saved->jobs->jobs && !*hint; j++)
		hint = sb_trust_hint(&saved->jobs->job[j].options);
	return sb_fail(SB_EXIT_INVALID,
		       "interrupted; to measure the rest: sched-bench %s --resume %s%s",
		       saved->kind->verb_name, directory, hint);
}

void sb_saved_close(struct sb_saved *saved)
{
	sb_store_close(saved->store);
	saved->store = NULL;
	free(saved->command);
	saved->command = NULL;
}
