/*
 * report.c - the verb `report`: results -> a page or Markdown. The
 * format is what the option says, else what the file's name ends in.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "harness/verbs/verbs.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/page/report.h"
#include "results/record/record.h"
#include "results/record/series.h"

enum format { AUTO, HTML, MARKDOWN };

struct report {
	struct sb_result *result; /* [results] */
	uint32_t results;
	enum format format;
	const char *path; /* "-": standard output */
	char *directory;  /* of that file; what links are relative to */
};

static int choose_format(struct report *report, const struct sb_options *options)
{
	const char *path = options->value[SB_OPT_report_output].text;

	report->format = options->value[SB_OPT_report_format].alternative;
	if (report->format != AUTO)
		return 0;
	if (sb_ends_in(path, ".md") || sb_ends_in(path, ".markdown"))
		report->format = MARKDOWN;
	else if (!*path || !strcmp(path, "-") || sb_ends_in(path, ".html") ||
		 sb_ends_in(path, ".htm"))
		report->format = HTML;
	else
		return sb_fail(SB_EXIT_USAGE,
			       "--output: '%s' does not say which format it is to have; expected a "
			       "name in .html or .md, or --format",
			       path);
	return 0;
}

static int read_results(struct report *report, char *const *word, uint32_t words)
{
	char why[400] = "";
	int rc = 0;

	report->result = calloc(words, sizeof(*report->result));
	if (!report->result)
		return sb_fail_memory();
	for (uint32_t i = 0; i < words && !rc; i++) {
		rc = sb_result_read(&report->result[i], word[i], why, sizeof(why));
		if (rc)
			return sb_fail(sb_status_of(rc), "%s", why);
		report->results++;
	}
	return 0;
}

static int write_to(const void *what, FILE *out)
{
	const struct report *report = what;

	return report->format == MARKDOWN
		       ? sb_write_markdown(report->result, report->results, report->directory, out)
		       : sb_write_html(report->result, report->results, out);
}

static int write_report(const struct report *report, bool is_inside)
{
	const int rc = is_inside ? sb_output_inside(report->path, write_to, report)
				 : sb_output(report->path, write_to, report);

	return rc ? sb_output_failed(report->path, rc) : 0;
}

/* Where it goes, once the results are known. */
static int choose_path(struct report *report, const struct sb_options *options, char **made)
{
	const char *given = options->value[SB_OPT_report_output].text;

	*made = NULL;
	report->path = given;
	if (!*given) {
		*made = sb_path_join(report->result[0].directory,
				     report->format == MARKDOWN ? "report.md" : "report.html");
		report->path = *made;
	}
	if (report->path)
		report->directory = sb_path_directory(report->path);
	return report->directory ? 0 : sb_fail_memory();
}

static int report_on(const struct sb_options *options)
{
	struct report report = { .results = 0 };
	char *made = NULL;
	int rc = choose_format(&report, options);

	if (!rc)
		rc = sb_outputs_try(options, SB_VERB_REPORT);
	if (!rc)
		rc = read_results(&report, options->word, options->words);
	if (!rc)
		rc = choose_path(&report, options, &made);
	if (!rc)
		rc = write_report(&report, made);
	if (!rc && made)
		printf("report: %s\n", made);
	for (uint32_t i = 0; i < report.results; i++)
		sb_result_free(&report.result[i]);
	free(report.result);
	free(report.directory);
	free(made);
	return rc;
}

int sb_command_report(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_REPORT, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_REPORT);
	else if (!rc && !options.words)
		rc = sb_fail(SB_EXIT_USAGE,
			     "report: no result; expected a result directory or a result.json");
	else if (!rc)
		rc = report_on(&options);
	sb_options_free(&options);
	return rc;
}
