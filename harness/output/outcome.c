#include "harness/output/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/output/exports.h"
#include "harness/output/store.h"
#include "harness/system/program.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "results/convert/convert.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/files/stage.h"
#include "results/json/write.h"
#include "results/ledger/exemplars.h"
#include "results/ledger/files.h"
#include "results/page/report.h"
#include "results/plots/plots.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/trace/trace.h"

enum format { PRETTY, JSON, CSV };

/* ---- the result directory ---- */

/* A new one: its maker owns it. */
static int make_own(const char *root, char **directory)
{
	const time_t now = time(NULL);
	char name[40];
	struct tm parts;
	int rc = sb_directory_make(root);

	localtime_r(&now, &parts);
	strftime(name, sizeof(name), "%Y%m%d-%H%M%S", &parts);
	*directory = sb_path_join(root, name);
	for (unsigned int i = 2; !rc && *directory; i++) {
		if (!mkdir(*directory, 0777))
			return 0;
		if (errno != EEXIST)
			return -errno;
		free(*directory);
		if (asprintf(directory, "%s/%s-%u", root, name, i) < 0)
			*directory = NULL;
	}
	return *directory ? rc : -ENOMEM;
}

static int make_directory(const struct sb_options *options, char **directory)
{
	const char *given = options->value[SB_OPT_output].text;

	if (!*given)
		return make_own(options->value[SB_OPT_output_root].text, directory);
	*directory = strdup(given);
	return *directory ? sb_directory_make(given) : -ENOMEM;
}

/* Two at once would write one result out of both. The lock lasts as long as the
 * program. Where a file system has no locks, nothing is lost but this. */
static bool is_in_use(const char *directory)
{
	const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

/* result.json is written first, and all else can be made again from it;
 * meta.json is written last; runs.csv may be all that its owner has kept. A
 * directory with one of these is left alone, and so is one with the rows of a
 * sweep, a run, a comparison or a gate, or with sweeps of several machines. The first that it holds
 * is named. */
static int check_empty(const char *directory)
{
	const struct {
		const char *file;
		const char *what;
		const char *verb; /* whose --resume continues it; NULL: none */
	} held[] = {
		{ "result.json", "a result", NULL },
		{ "meta.json", "a result", NULL },
		{ "verdict.json", "a result", NULL },
		{ sb_store_of_sweep.name, "a sweep", "sweep" },
		{ sb_store_of_run.name, "a run", "run" },
		{ sb_store_of_ab.name, "a comparison", "ab" },
		{ sb_store_of_gate.name, "a gate", "gate" },
		{ SB_MACHINES_FILE, "sweeps", "sweep" },
		{ "runs.csv", "a result", NULL },
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(held); i++) {
		if (!sb_directory_holds(directory, held[i].file))
			continue;
		return sb_fail(SB_EXIT_USAGE,
			       "result directory '%s' already holds %s; expected a new one%s%s%s",
			       directory, held[i].what, held[i].verb ? ", or " : "",
			       held[i].verb ? held[i].verb : "", held[i].verb ? " --resume" : "");
	}
	return 0;
}

/* Found out now, not after the measurement. */
static int try_writing(const char *directory)
{
	struct sb_file file;
	int rc;

	sb_stage_clear_leftovers(directory);
	rc = sb_file_begin(&file, directory, "try");
	if (!rc)
		sb_file_abandon(&file);
	return rc;
}

/* Other tools write a file. A directory of that name may be there. */
static int check_name(const char *output)
{
	static const struct {
		const char *end, *instead;
	} files[] = { { ".json", "--export-json FILE" },
		      { ".csv", "--export-csv FILE" },
		      { ".html", "report RESULT -o FILE" } };
	const size_t length = strlen(output);
	struct stat info;

	if (!stat(output, &info))
		return 0;
	if (!strcmp(output, "json") || !strcmp(output, "csv"))
		return sb_fail(SB_EXIT_USAGE,
			       "--output: '%s' would be a directory; --format %s prints it", output,
			       output);
	for (size_t i = 0; i < SB_ARRAY_SIZE(files); i++) {
		const size_t end = strlen(files[i].end);

		if (length > end && !strcmp(output + length - end, files[i].end))
			return sb_fail(SB_EXIT_USAGE,
				       "--output: '%s' would be a directory; a file is %s", output,
				       files[i].instead);
	}
	return 0;
}

int sb_outcome_check(const struct sb_options *options)
{
	const char *output = options->value[SB_OPT_output].text;
	const int rc = check_name(output);

	return rc || !*output ? rc : check_empty(output);
}

int sb_outcome_prepare(const struct sb_options *options, struct sb_result *result)
{
	int rc = check_name(options->value[SB_OPT_output].text);

	if (rc)
		return rc;
	rc = make_directory(options, &result->directory);

	if (rc == -ENOMEM)
		return sb_fail_memory();
	if (!rc && is_in_use(result->directory))
		return sb_fail(
			SB_EXIT_USAGE,
			"result directory '%s': another run is writing there; expected a new one",
			result->directory);
	if (!rc && !sb_opt(options, SB_OPT_resume))
		rc = check_empty(result->directory);
	if (rc > 0)
		return rc;
	rc = rc ? rc : try_writing(result->directory);
	if (rc)
		return sb_fail(sb_status_of(rc), "result directory '%s' cannot be written: %s",
			       result->directory, strerror(-rc));
	return 0;
}

/* ---- pictures ---- */

/* Whether the lack of gnuplot has been reported. */
static bool lacks_gnuplot;

void sb_outcome_try_plots(const struct sb_options *options)
{
	struct sb_program gnuplot = {
		.argv = (const char *const[]){ "gnuplot", "--version", NULL },
	};

	if (sb_opt(options, SB_OPT_no_plots))
		return;
	lacks_gnuplot = sb_program_run(&gnuplot) == -ENOENT;
	sb_program_free(&gnuplot);
	if (lacks_gnuplot)
		sb_note("no plots: gnuplot is not installed; sched-bench plot all draws them from "
			"the result, once it is");
}

/* ---- what is written ---- */

static int cannot_write(const struct sb_result *result, const char *name, int rc)
{
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s/%s cannot be written: %s", result->directory, name,
		       strerror(-rc));
}

static int write_document(const struct sb_result *result, const char *name,
			  int (*write)(const struct sb_result *result, FILE *out))
{
	const int rc = sb_file_write(result, name, write);

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

	if (rc == -ENOENT && lacks_gnuplot)
		return 0;
	if (rc == -ENOENT || rc == -EIO)
		sb_note("no plots: %s", why);
	else if (rc)
		return cannot_write(result, "plots", rc);
	return 0;
}

/* The measurement itself first: whatever happens then, it is safe. */
int sb_outcome_write(const struct sb_result *result, const struct sb_options *options)
{
	const char *failed;
	int rc = write_document(result, "result.json", sb_write_json);

	if (rc)
		return rc;
	rc = sb_write_tables(result, &failed);
	if (rc)
		return cannot_write(result, failed, rc);
	if (sb_result_has_exemplars(result))
		rc = write_document(result, "exemplars.json", sb_write_exemplars);
	if (rc)
		return rc;
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

static void put_place(const struct sb_result *result, const struct sb_options *options, FILE *out)
{
	const bool are_there =
		!sb_opt(options, SB_OPT_no_plots) && sb_directory_holds(result->directory, "plots");

	fprintf(out, "result: %s (report.html, result.json, runs.csv%s%s)\n",
		sb_terminal_text(result->directory), are_there ? ", plots" : "",
		count_traced(result) ? ", trace.json" : "");
}

void sb_outcome_print(const struct sb_result *result, const struct sb_options *options,
		      bool is_written, void (*pretty)(const void *what, FILE *out),
		      const void *what)
{
	FILE *people = sb_exports_to_stdout(options) ? stderr : stdout;

	switch (options->value[SB_OPT_format].alternative) {
	case JSON:
		(void)sb_write_json(result, stdout);
		break;
	case CSV:
		(void)sb_write_runs_csv(result, stdout);
		break;
	case PRETTY:
	default:
		if (sb_opt(options, SB_OPT_quiet))
			break;
		pretty(what, people);
		if (is_written)
			put_place(result, options, people);
		break;
	}
}

/* So many series are named. */
#define REASONS_MOST 5

/* What the summary says of rows without numbers. */
static void note_invalid(const struct sb_result *result)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < result->all_series && n < REASONS_MOST; i++) {
		const struct sb_series *series = &result->series[i];
		char name[SB_NAME_BYTES];
		uint32_t r = 0;

		while (r < series->records && series->record[r].verdict != SB_INVALID)
			r++;
		if (r == series->records)
			continue;
		n++;
		sb_series_name(name, result, series);
		sb_note("%s: %" PRIu32 " of %" PRIu32 " repetitions are invalid: %s", name,
			sb_series_count(series, SB_INVALID), series->records,
			series->record[r].reason);
	}
}

int sb_outcome_status(const struct sb_result *result, const struct sb_options *options)
{
	bool is_measured = !sb_opt_traces(options) || count_traced(result) == result->all_series;

	for (uint32_t i = 0; i < result->all_series; i++) {
		if (result->series[i].met_limit)
			return SB_EXIT_ENVIRONMENT;
		if (result->series[i].not_recorded ||
		    sb_series_count(&result->series[i], SB_INVALID))
			is_measured = false;
	}
	if (!is_measured && sb_opt(options, SB_OPT_quiet))
		note_invalid(result);
	return is_measured ? SB_EXIT_OK : SB_EXIT_INVALID;
}
