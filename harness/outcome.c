#include "harness/outcome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/exports.h"
#include "harness/progress.h"
#include "harness/status.h"
#include "results/file.h"
#include "results/write.h"

enum format { PRETTY, JSON, CSV };

/* ---- the result directory ---- */

static char *choose_directory(const struct sb_options *options)
{
	const char *given = options->value[SB_OPT_output].text;
	const time_t now = time(NULL);
	char name[40];
	struct tm parts;

	if (*given)
		return strdup(given);
	localtime_r(&now, &parts);
	strftime(name, sizeof(name), "%Y%m%d-%H%M%S", &parts);
	return sb_path_join(options->value[SB_OPT_output_root].text, name);
}

/* result.json is written first, and all else can be made again from it;
 * meta.json is written last. A directory with either is left alone. */
static bool holds_result(const char *directory)
{
	static const char *const names[] = { "result.json", "meta.json",
					     "verdict.json" };
	bool found = false;

	for (size_t i = 0; i < SB_ARRAY_SIZE(names) && !found; i++) {
		char *path = sb_path_join(directory, names[i]);

		found = path && !access(path, F_OK);
		free(path);
	}
	return found;
}

/* Found out now, not after the measurement. */
static int try_writing(const char *directory)
{
	struct sb_file file;
	int rc = sb_directory_make(directory);

	if (rc)
		return rc;
	sb_directory_clear_leftovers(directory);
	rc = sb_file_begin(&file, directory, "try");
	if (!rc)
		sb_file_abandon(&file);
	return rc;
}

int sb_outcome_prepare(const struct sb_options *options,
		       struct sb_result *result)
{
	int rc;

	result->directory = choose_directory(options);
	if (!result->directory)
		return sb_fail(SB_EXIT_BUG, "no memory");
	if (holds_result(result->directory))
		return sb_fail(SB_EXIT_USAGE,
			       "result directory '%s' already holds a result; "
			       "expected a new one",
			       result->directory);
	rc = try_writing(result->directory);
	if (rc)
		return sb_fail(SB_EXIT_USAGE,
			       "result directory '%s' cannot be written: %s",
			       result->directory, strerror(-rc));
	return 0;
}

/* ---- what is written ---- */

static int cannot_write(const struct sb_result *result, const char *name,
			int rc)
{
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s/%s cannot be written: %s",
		       result->directory, name, strerror(-rc));
}

static int write_document(const struct sb_result *result, const char *name,
			  int (*write)(const struct sb_result *result,
				       FILE *out))
{
	struct sb_file file;
	int rc = sb_file_begin(&file, result->directory, name);

	if (!rc) {
		rc = write(result, file.stream);
		if (rc)
			sb_file_abandon(&file);
		else
			rc = sb_file_commit(&file);
	}
	return rc ? cannot_write(result, name, rc) : 0;
}

static uint32_t count_traced(const struct sb_result *result)
{
	uint32_t traced = 0;

	for (uint32_t i = 0; i < result->all_series; i++)
		traced += result->series[i].traced != NULL;
	return traced;
}

/* Without gnuplot, or with one that does not draw, all else is still there. */
static int write_plots(const struct sb_result *result)
{
	char why[SB_PLOT_WHY_BYTES];
	const int rc = sb_write_plots(result, why);

	if (rc == -ENOENT || rc == -EIO)
		sb_note("no plots: %s", why);
	else if (rc)
		return cannot_write(result, "plots", rc);
	return 0;
}

/* The measurement itself first: whatever happens then, it is safe. */
int sb_outcome_write(const struct sb_result *result,
		     const struct sb_options *options)
{
	const char *failed;
	int rc = write_document(result, "result.json", sb_write_json);

	if (rc)
		return rc;
	rc = sb_write_csv_files(result, &failed);
	if (rc)
		return cannot_write(result, failed, rc);
	if (count_traced(result)) /* a picture is made from it */
		rc = write_document(result, "trace.json", sb_write_trace);
	if (!rc)
		rc = write_document(result, "latency.hlog", sb_write_hlog);
	if (rc)
		return rc;
	if (!sb_opt(options, SB_OPT_no_plots))
		rc = write_plots(result);
	if (rc)
		return rc;
	rc = sb_write_report(result);
	if (rc)
		return cannot_write(result, "report.html", rc);
	return write_document(result, "meta.json", sb_write_meta);
}

static void put_place(const struct sb_result *result,
		      const struct sb_options *options, FILE *out)
{
	fprintf(out, "result: %s (report.html, result.json, runs.csv%s%s)\n",
		result->directory,
		sb_opt(options, SB_OPT_no_plots) ? "" : ", plots",
		count_traced(result) ? ", trace.json" : "");
}

void sb_outcome_print(const struct sb_result *result,
		      const struct sb_options *options, bool is_written,
		      void (*pretty)(const void *what, FILE *out),
		      const void *what)
{
	FILE *people = sb_exports_to_stdout(options) ? stderr : stdout;

	if (sb_opt(options, SB_OPT_quiet))
		return;
	switch (options->value[SB_OPT_format].alternative) {
	case JSON:
		(void)sb_write_json(result, stdout);
		break;
	case CSV:
		sb_write_runs_csv(result, stdout);
		break;
	case PRETTY:
	default:
		pretty(what, people);
		if (is_written)
			put_place(result, options, people);
		break;
	}
}

bool sb_outcome_is_measured(const struct sb_result *result,
			    const struct sb_options *options)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_count(&result->series[i], SB_INVALID))
			return false;
	}
	return !sb_opt(options, SB_OPT_trace) ||
	       count_traced(result) == result->all_series;
}
