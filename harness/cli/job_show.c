/* job_show.c - options as a job file that says the same. */
#include <inttypes.h>
#include <string.h>

#include "harness/cli/job.h"
#include "harness/cli/job_names.h"

static void put_entry(enum sb_verb verb, const char *name, const char *text, FILE *out)
{
	fprintf(out, "%s=", name);
	sb_ini_put_value(out, text, sb_job_is_list(verb, name, text));
	fputc('\n', out);
}

static bool is_shown(const struct sb_options *options, enum sb_verb verb, enum sb_option_id id)
{
	return (sb_option[id].verbs & verb) && !sb_job_is_question(id) && id != SB_OPT_policy &&
	       strcmp(options->value[id].source, "default") != 0;
}

/* Of an option that is a flag, "1" or "0". */
static const char *text_of(const struct sb_options *options, enum sb_option_id id)
{
	if (sb_option[id].form)
		return options->value[id].text;
	return options->value[id].number ? "1" : "0";
}

static void show_common(const struct sb_options *options, enum sb_verb verb, FILE *out)
{
	bool any = false;

	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!sb_option_is_common(id) || !is_shown(options, verb, id))
			continue;
		if (!any)
			fputs("[" SB_JOB_GLOBAL "]\n", out);
		any = true;
		put_entry(verb, sb_option[id].name, text_of(options, id), out);
	}
	if (any)
		fputc('\n', out);
}

/* The last of a name counts. */
static bool is_last(const struct sb_options *options, uint32_t given)
{
	for (uint32_t i = given + 1; i < options->givens; i++) {
		if (!strcmp(options->given[i].name, options->given[given].name))
			return false;
	}
	return true;
}

static void show_job(const struct sb_job *job, enum sb_verb verb, FILE *out)
{
	const struct sb_options *options = &job->options;
	const char *workload = options->value[SB_OPT_workload].text;

	fprintf(out, "[%s]\n", job->name ? job->name : *workload ? workload : "job");
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (!sb_option_is_common(id) && is_shown(options, verb, id))
			put_entry(verb, sb_option[id].name, text_of(options, id), out);
	}
	for (uint32_t i = 0; i < options->givens; i++) {
		const struct sb_given_param *given = &options->given[i];

		if (given->is_used && is_last(options, i))
			put_entry(verb, given->name, given->text, out);
	}
	for (uint32_t i = 0; i < job->lists; i++)
		fprintf(out, "%s=%s\n", job->list[i].name, job->list[i].text);
}

void sb_jobs_show(const struct sb_jobs *jobs, enum sb_verb verb, FILE *out)
{
	show_common(&jobs->job[0].options, verb, out);
	for (uint32_t i = 0; i < jobs->jobs; i++) {
		if (i)
			fputc('\n', out);
		show_job(&jobs->job[i], verb, out);
	}
}
