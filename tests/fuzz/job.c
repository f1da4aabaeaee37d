/* Job files: what is read is written and read again, and swept. */
#include <string.h>

#include "harness/cli/job.h"
#include "harness/run/load.h"
#include "harness/sweep/sweep.h"
#include "tests/fuzz/fuzz.h"

/* Where nothing is behind the text that a reader might look at. */
static void parse_text(const struct fuzz_input *input)
{
	char *exact = malloc(input->bytes ? input->bytes : 1);
	struct sb_ini_error error = { .line = 0 };
	struct sb_ini ini;

	FUZZ_CHECK(exact);
	memcpy(exact, input->text, input->bytes);
	if (sb_ini_parse(&ini, exact, input->bytes, &error)) {
		FUZZ_CHECK(error.line && error.column);
		fuzz_check_why(error.why);
	} else {
		sb_ini_free(&ini);
	}
	free(exact);
}

static int parse_jobs(struct sb_jobs *jobs, enum sb_verb verb, const char *path)
{
	char *argv[] = { (char[]){ "run" }, (char *)(uintptr_t)path, NULL };

	return sb_jobs_parse(jobs, verb, 2, argv);
}

static char *show(const struct sb_jobs *jobs, enum sb_verb verb)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	FUZZ_CHECK(out);
	sb_jobs_show(jobs, verb, out);
	fclose(out);
	return text;
}

/* What --show-job says is a job file that says the same. */
static void check_shown(const struct sb_jobs *jobs, enum sb_verb verb)
{
	char path[300];
	char *first = show(jobs, verb);
	char *second;
	struct sb_jobs again;
	FILE *file;

	snprintf(path, sizeof(path), "%s/job", fuzz_directory());
	file = fopen(path, "we");
	FUZZ_CHECK(file);
	fputs(first, file);
	fclose(file);
	FUZZ_CHECK(!parse_jobs(&again, verb, path));
	second = show(&again, verb);
	FUZZ_CHECK(!strcmp(first, second));
	sb_jobs_free(&again);
	free(first);
	free(second);
}

static void check_loads(const struct sb_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->jobs; i++)
		fuzz_check_status(sb_load_check(&jobs->job[i].options));
}

static void sweep(const struct sb_job *job)
{
	for (uint32_t i = 0; i < job->lists; i++) {
		const struct sb_entry *list = &job->list[i];
		struct sb_dimension dimension;
		char *text = NULL;

		FUZZ_CHECK(asprintf(&text, "%s=%s", list->name, list->text) >= 0);
		fuzz_check_status(sb_dimension_parse(
			&dimension, strstr(list->text, "..") ? 'P' : 'L', text, &job->options));
		sb_dimension_free(&dimension);
		free(text);
	}
}

void fuzz_job(const struct fuzz_input *input)
{
	static const enum sb_verb verbs[] = { SB_VERB_RUN, SB_VERB_SWEEP };

	parse_text(input);
	for (size_t i = 0; i < SB_ARRAY_SIZE(verbs); i++) {
		struct sb_jobs jobs;
		const int status = parse_jobs(&jobs, verbs[i], input->path);

		fuzz_check_status(status);
		if (!status) {
			fuzz_check_limits(INPUT_job, input->bytes, 0, jobs.jobs);
			check_shown(&jobs, verbs[i]);
			check_loads(&jobs);
			for (uint32_t j = 0; j < jobs.jobs; j++)
				sweep(&jobs.job[j]);
		}
		sb_jobs_free(&jobs);
	}
}
