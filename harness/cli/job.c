#include "harness/cli/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/job_names.h"
#include "harness/cli/reading.h"
#include "harness/plugin/description.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/status.h"
#include "workloads/load/input.h"

/* ---- where things are ---- */

/* "FILE:LINE:COLUMN", which lives as long as the jobs; NULL: no memory. */
static const char *note_where(struct sb_jobs *jobs, const char *path, uint32_t line,
			      uint32_t column)
{
	char **grown = realloc((void *)jobs->where, (jobs->wheres + 1) * sizeof(*grown));
	char *text;

	if (!grown)
		return NULL;
	jobs->where = grown;
	if (asprintf(&text, "%s:%" PRIu32 ":%" PRIu32, path, line, column) < 0)
		return NULL;
	grown[jobs->wheres++] = text;
	return text;
}

/* An entry that is being looked at, for errors. */
struct spot {
	enum sb_verb verb;
	const char *path;
	const struct sb_ini_section *section;
	const struct sb_ini_entry *entry;
};

static int SB_PRINTF(3, 4)
	fail_at(const struct spot *spot, uint32_t column, const char *format, ...)
{
	char what[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return sb_fail(SB_EXIT_USAGE, "%s:%" PRIu32 ":%" PRIu32 ": %s", spot->path,
		       spot->entry->line, column, what);
}

static int unknown_name(const struct spot *spot)
{
	const char *name = spot->entry->name;
	const char *like = sb_option_most_like(spot->verb, name + strspn(name, "-"));
	char habit[SB_HABIT_BYTES];

	if (sb_habit_in_verb(spot->verb, name, habit))
		return fail_at(spot, spot->entry->name_column, "unknown option '%s'; %s", name,
			       habit);
	if (like)
		return fail_at(spot, spot->entry->name_column,
			       "unknown option '%s'; did you mean '%s'?", name, like);
	return fail_at(spot, spot->entry->name_column,
		       "unknown option '%s'; expected the name of an option, as sched-bench list "
		       "options names them, or of a workload's parameter",
		       name);
}

static int missing_value(const struct spot *spot)
{
	const enum sb_option_id id = sb_option_find(spot->verb, spot->entry->name);
	char form[SB_FORM_BYTES];

	if (id == SB_OPTIONS)
		sb_param_describe(sb_param_find(spot->entry->name), form);
	else
		sb_option_describe(&sb_option[id], form);
	return fail_at(spot, spot->entry->name_column, "%s: a value is missing; expected %s",
		       spot->entry->name, form);
}

static bool is_global(const struct sb_ini_section *section)
{
	return !strcmp(section->name, SB_JOB_GLOBAL);
}

/* All that is wrong with it but its value. */
static int check_entry(const struct spot *spot)
{
	const struct sb_ini_entry *entry = spot->entry;
	const enum sb_option_id id = sb_option_find(spot->verb, entry->name);

	if (id == SB_OPTIONS && !sb_param_find(entry->name))
		return unknown_name(spot);
	if (id != SB_OPTIONS && sb_job_is_question(id))
		return fail_at(spot, entry->name_column,
			       "%s belongs on the command line; expected an option of a run",
			       entry->name);
	if (id != SB_OPTIONS && sb_option_is_common(id) && !is_global(spot->section))
		return fail_at(spot, entry->name_column,
			       "%s is of the whole run; expected it in [" SB_JOB_GLOBAL "]",
			       entry->name);
	if (!entry->value && (id == SB_OPTIONS || sb_option[id].form))
		return missing_value(spot);
	return 0;
}

/* ---- a job's entries ---- */

/* The entries that a section adds to a job; lists apart. */
struct entries {
	struct sb_entry *entry;
	uint32_t n;
};

static int add(struct entries *entries, const struct sb_entry *entry)
{
	struct sb_entry *grown = realloc(entries->entry, (entries->n + 1) * sizeof(*grown));

	if (!grown)
		return sb_fail_memory();
	entries->entry = grown;
	grown[entries->n++] = *entry;
	return 0;
}

static bool is_list(const struct spot *spot)
{
	const struct sb_ini_entry *entry = spot->entry;

	return entry->value && !entry->is_quoted &&
	       sb_job_is_list(spot->verb, entry->name, entry->value);
}

/* Of a name that a job sets, [global]'s list does not count. */
static void forget_list(struct entries *lists, const char *name)
{
	for (uint32_t i = 0; i < lists->n; i++) {
		if (!strcmp(lists->entry[i].name, name))
			lists->entry[i--] = lists->entry[--lists->n];
	}
}

static int take_entry(struct sb_jobs *jobs, const struct spot *spot, struct entries *values,
		      struct entries *lists)
{
	const struct sb_ini_entry *entry = spot->entry;
	struct sb_entry taken = { .name = entry->name,
				  .text = entry->value ? entry->value : "yes",
				  .is_global = is_global(spot->section) };
	const int rc = check_entry(spot);

	if (rc)
		return rc;
	taken.where = note_where(jobs, spot->path, entry->line,
				 entry->value ? entry->value_column : entry->name_column);
	if (!taken.where)
		return sb_fail_memory();
	forget_list(lists, entry->name);
	if (!is_list(spot))
		return add(values, &taken);
	if (spot->verb == SB_VERB_RUN)
		return fail_at(spot, entry->value_column,
			       "%s: '%s' is several values, which sched-bench sweep goes through; "
			       "expected one",
			       entry->name, entry->value);
	return add(lists, &taken);
}

static int take_section(struct sb_jobs *jobs, struct spot *spot,
			const struct sb_ini_section *section, struct entries *values,
			struct entries *lists)
{
	int rc = 0;

	spot->section = section;
	for (uint32_t i = 0; section && i < section->entries && !rc; i++) {
		spot->entry = &section->entry[i];
		rc = take_entry(jobs, spot, values, lists);
	}
	return rc;
}

/* ---- jobs ---- */

/* A command line, while its jobs are made. */
struct command {
	enum sb_verb verb;
	int argc;
	char **argv;
};

static struct sb_job *add_job(struct sb_jobs *jobs)
{
	struct sb_job *grown = realloc(jobs->job, (jobs->jobs + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	jobs->job = grown;
	memset(&grown[jobs->jobs], 0, sizeof(*grown));
	return &grown[jobs->jobs++];
}

static int check_name(const struct sb_jobs *jobs, const char *path,
		      const struct sb_ini_section *section)
{
	for (uint32_t i = 0; i < jobs->jobs; i++) {
		if (jobs->job[i].name && !strcmp(jobs->job[i].name, section->name))
			return sb_fail(SB_EXIT_USAGE,
				       "%s:%" PRIu32 ":%" PRIu32
				       ": another file has a job '%s', too; expected another name",
				       path, section->line, section->column, section->name);
	}
	return 0;
}

/* All that is in effect for a section, resolved. */
static int make_job(struct sb_jobs *jobs, const struct command *command, const char *path,
		    const struct sb_ini_section *global, const struct sb_ini_section *section)
{
	struct spot spot = { .verb = command->verb, .path = path };
	struct entries values = { NULL, 0 };
	struct entries lists = { NULL, 0 };
	const char *where = note_where(jobs, path, section->line, section->column);
	struct sb_job *job;
	int rc = where ? check_name(jobs, path, section) : sb_fail_memory();

	if (!rc)
		rc = take_section(jobs, &spot, global, &values, &lists);
	if (!rc)
		rc = take_section(jobs, &spot, section, &values, &lists);
	job = rc ? NULL : add_job(jobs);
	if (!rc && !job)
		rc = sb_fail_memory();
	if (job) {
		job->name = section->name;
		job->list = lists.entry;
		job->lists = lists.n;
		rc = sb_options_parse_job(&job->options, command->verb, values.entry, values.n,
					  command->argc, command->argv);
		job->options.where = where;
		/* A gate has workloads of its own. */
		if (!rc &&
		    (command->verb != SB_VERB_GATE || *job->options.value[SB_OPT_workload].text))
			rc = sb_options_choose(&job->options);
	} else {
		free(lists.entry);
	}
	free(values.entry);
	return rc;
}

static const struct sb_ini_section *find_global(const struct sb_ini *ini)
{
	for (uint32_t i = 0; i < ini->sections; i++) {
		if (is_global(&ini->section[i]))
			return &ini->section[i];
	}
	return NULL;
}

/* Loads plug-ins before names are checked, because their parameters are names, too. */
static int load_plugins(struct sb_jobs *jobs, const char *path,
			const struct sb_ini_section *section)
{
	int rc = 0;

	for (uint32_t i = 0; i < section->entries && !rc; i++) {
		const struct sb_ini_entry *entry = &section->entry[i];
		const char *where;

		if (strcmp(entry->name, "workload") != 0 || !entry->value)
			continue;
		where = note_where(jobs, path, entry->line, entry->value_column);
		rc = where ? sb_plugin_load_list(entry->value, where) : sb_fail_memory();
	}
	return rc;
}

static int make_jobs(struct sb_jobs *jobs, const struct command *command, const char *path,
		     const struct sb_ini *ini)
{
	const struct sb_ini_section *global = find_global(ini);
	const uint32_t before = jobs->jobs;
	int rc = 0;

	for (uint32_t i = 0; i < ini->sections && !rc; i++)
		rc = load_plugins(jobs, path, &ini->section[i]);
	for (uint32_t i = 0; i < ini->sections && !rc; i++) {
		if (&ini->section[i] != global)
			rc = make_job(jobs, command, path, global, &ini->section[i]);
	}
	if (!rc && jobs->jobs == before)
		rc = sb_fail(SB_EXIT_USAGE,
			     "%s: no job; expected a section [NAME] with workload=", path);
	return rc;
}

/* A word that is no file may be meant for a workload. */
static int cannot_read(const char *path, int rc)
{
	if (rc == -ENOENT && sb_workload_find(path))
		return sb_fail(SB_EXIT_USAGE, "'%s' is not expected; workloads are named with -w",
			       path);
	return sb_fail(
		rc == -EFBIG || rc == -ENOTSUP ? SB_EXIT_USAGE : sb_status_of(rc),
		"%s: %s; expected a job file; -w names a workload, and no other program is run",
		path, rc == -EFBIG ? "longer than 1 MiB" : sb_input_error(rc));
}

static int bad_file(const char *path, const struct sb_ini_error *error)
{
	return sb_fail(SB_EXIT_USAGE, "%s:%" PRIu32 ":%" PRIu32 ": %s", path, error->line,
		       error->column, error->why);
}

static int read_file(struct sb_jobs *jobs, const struct command *command, const char *path)
{
	struct sb_ini_error error;
	int rc;

	if (sb_description_is(path))
		return sb_fail(SB_EXIT_USAGE,
			       "%s: it describes a workload; expected a job file, or -w %s%s", path,
			       strchr(path, '/') ? "" : "./", path);
	rc = sb_ini_read(&jobs->file[jobs->files], path, NULL, &error);
	if (rc == -EINVAL)
		return bad_file(path, &error);
	if (rc)
		return cannot_read(path, rc);
	return make_jobs(jobs, command, path, &jobs->file[jobs->files++]);
}

/* ---- what all jobs must agree on ---- */

static int check_common(const struct sb_jobs *jobs)
{
	const struct sb_option_value *first = jobs->job[0].options.value;

	for (uint32_t j = 1; j < jobs->jobs; j++) {
		const struct sb_option_value *value = jobs->job[j].options.value;

		for (int id = 0; id < SB_OPTIONS; id++) {
			if (!sb_option_is_common((enum sb_option_id)id))
				continue;
			if (strcmp(value[id].text, first[id].text) != 0)
				return sb_fail(SB_EXIT_USAGE,
					       "%s: '%s' for job '%s', but '%s' for '%s'; expected "
					       "one value for the whole run",
					       sb_option[id].name, value[id].text,
					       jobs->job[j].name, first[id].text,
					       jobs->job[0].name);
		}
	}
	return 0;
}

/* A parameter of the command line is for the jobs that have it. */
static int check_params(const struct sb_jobs *jobs)
{
	const struct sb_options *first = &jobs->job[0].options;

	for (uint32_t g = 0; g < first->givens; g++) {
		const char *name = first->given[g].name;
		bool is_used = first->given[g].where;

		for (uint32_t j = 0; j < jobs->jobs && !is_used; j++) {
			const struct sb_options *o = &jobs->job[j].options;

			for (uint32_t i = 0; i < o->givens; i++)
				is_used |= o->given[i].is_used && !strcmp(o->given[i].name, name);
		}
		if (!is_used)
			return sb_fail(SB_EXIT_USAGE,
				       "--%s: none of the chosen workloads (%s) has it", name,
				       jobs->jobs > 1 ? "of all jobs"
						      : first->value[SB_OPT_workload].text);
	}
	return 0;
}

/* ---- all of it ---- */

static int parse_files(struct sb_jobs *jobs, const struct command *command, char **path,
		       uint32_t files)
{
	int rc = 0;

	jobs->file = calloc(files, sizeof(*jobs->file));
	if (!jobs->file)
		return sb_fail_memory();
	for (uint32_t i = 0; i < files && !rc; i++)
		rc = read_file(jobs, command, path[i]);
	return rc ? rc : check_common(jobs);
}

int sb_jobs_parse(struct sb_jobs *jobs, enum sb_verb verb, int argc, char **argv)
{
	const struct command command = { verb, argc, argv };
	struct sb_job *job;
	char **word;
	uint32_t words;
	int rc;

	*jobs = (struct sb_jobs){ .job = NULL };
	job = add_job(jobs);
	if (!job)
		return sb_fail_memory();
	rc = sb_options_parse_job(&job->options, verb, NULL, 0, argc, argv);
	if (rc || sb_opt(&job->options, SB_OPT_help) || sb_opt(&job->options, SB_OPT_resume))
		return rc;
	word = job->options.word;
	words = job->options.words;
	if (words) {
		sb_options_free(&job->options);
		jobs->jobs = 0;
		rc = parse_files(jobs, &command, word, words);
	} else {
		rc = sb_options_choose(&job->options);
	}
	return rc ? rc : check_params(jobs);
}

int sb_jobs_parse_text(struct sb_jobs *jobs, enum sb_verb verb, const char *name, const char *text,
		       int argc, char **argv)
{
	const struct command command = { verb, argc, argv };
	struct sb_ini_error error;
	int rc;

	*jobs = (struct sb_jobs){ .file = calloc(1, sizeof(*jobs->file)) };
	if (!jobs->file)
		return sb_fail_memory();
	rc = sb_ini_parse(&jobs->file[0], text, strlen(text), &error);
	if (rc == -ENOMEM)
		return sb_fail_memory();
	if (rc)
		return bad_file(name, &error);
	jobs->files = 1;
	rc = make_jobs(jobs, &command, name, &jobs->file[0]);
	return rc ? rc : check_common(jobs);
}

void sb_jobs_free(struct sb_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->jobs; i++) {
		sb_options_free(&jobs->job[i].options);
		free(jobs->job[i].list);
	}
	for (uint32_t i = 0; i < jobs->files; i++)
		sb_ini_free(&jobs->file[i]);
	for (uint32_t i = 0; i < jobs->wheres; i++)
		free(jobs->where[i]);
	free(jobs->job);
	free(jobs->file);
	free((void *)jobs->where);
	*jobs = (struct sb_jobs){ .job = NULL };
}
