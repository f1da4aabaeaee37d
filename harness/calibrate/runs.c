#include "harness/calibrate/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/output/output.h"
#include "harness/output/runs.h"
#include "harness/sweep/sweep.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/compare/comparison.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/number.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/text/escape.h"

/* The runs of one workload. */
struct work {
	char what[SB_SPREAD_BYTES];
	uint32_t runs;	/* that have numbers */
	uint32_t moved; /* in which the host changed */
	double *median; /* [runs][SB_METRICS]; NaN: not measured */
};

struct session {
	const struct sb_options *options;
	uint32_t runs;
	char *directory;
	char date[SB_DATE_BYTES];
	double span_s; /* from the start of the first run to that of the last */
	struct sb_progress progress;
	struct work *work; /* [options->chosens] */
	struct sb_spreads known, made;
};

/* ---- one run ---- */

/* Passes these options even if they have the default value, because --forks changes the defaults of `run`. */
static int make_arguments(const struct session *s, uint32_t i, struct sb_arguments *out)
{
	static const enum sb_option_id ids[] = { SB_OPT_repetitions, SB_OPT_duration,
						 SB_OPT_warmup };
	const struct sb_options *o = s->options;
	int rc = sb_arguments_of_run(out, o, SB_VERB_CALIBRATE, &o->chosen[i]);

	rc = rc ? rc : sb_arguments_add(out, "--forks=%" PRIu64, sb_opt(o, SB_OPT_forks));
	for (size_t k = 0; k < SB_ARRAY_SIZE(ids) && !rc; k++)
		rc = sb_arguments_add(out, "--%s=%s", sb_option[ids[k]].name,
				      o->value[ids[k]].text);
	rc = rc ? rc : sb_arguments_add(out, "--output=%s/run", s->directory);
	rc = rc ? rc : sb_arguments_add(out, "--no-plots");
	return rc ? rc : sb_arguments_add(out, "--quiet");
}

static void take_fact(char *out, size_t bytes, const struct sb_result *result, const char *key)
{
	snprintf(out, bytes, "%s", sb_result_fact(result, "machine", key));
}

static int take_run(struct session *s, struct work *work, const struct sb_result *result)
{
	struct sb_spreads *made = &s->made;
	double *median = &work->median[(size_t)work->runs * SB_METRICS];

	if (!sb_spread_what(result, result->series, work->what))
		return sb_fail(SB_EXIT_USAGE,
			       "--runs: the workload's parameters are too long for "
			       "the file of spreads; expected less than %d bytes",
			       SB_SPREAD_BYTES);
	take_fact(made->boot_id, sizeof(made->boot_id), result, "boot_id");
	take_fact(made->cpu_model, sizeof(made->cpu_model), result, "cpu_model");
	take_fact(made->kernel, sizeof(made->kernel), result, "kernel");
	if (sb_series_host_change(result->series, SB_METRIC_ns_per_op).changes) {
		work->moved++;
		return 0;
	}
	for (int m = 0; m < SB_METRICS; m++)
		median[m] = sb_series_spread(result->series, (enum sb_metric_id)m).median;
	if (!sb_series_passes_lines(result->series))
		median[SB_METRIC_line_transfer_ns] = (double)NAN;
	work->runs += isfinite(median[SB_METRIC_ns_per_op]);
	return 0;
}

static int take_result(struct session *s, struct work *work, const struct sb_child *child)
{
	char *directory = sb_path_join(s->directory, "run");
	struct sb_result result;
	char why[SB_REASON_BYTES];
	int rc;

	if (!directory)
		return sb_fail_memory();
	if (sb_child_is_refused(child)) {
		rc = sb_child_refuse(child, "");
	} else if (!sb_child_ended_well(child)) {
		sb_child_describe(child, why, sizeof(why));
		rc = sb_fail(SB_EXIT_INVALID, "a run of %s", why);
	} else if (sb_result_read(&result, directory, why, sizeof(why))) {
		rc = sb_fail(SB_EXIT_INVALID, "a run: %s", why);
	} else {
		rc = take_run(s, work, &result);
		sb_result_free(&result);
	}
	sb_directory_remove(directory);
	free(directory);
	return rc;
}

static int run_once(struct session *s, uint32_t i)
{
	static struct sb_child child;
	struct sb_arguments arguments;
	int rc = make_arguments(s, i, &arguments);

	child = (struct sb_child){ .argv = arguments.word, .limit_ns = UINT64_MAX };
	if (rc)
		rc = sb_fail_memory();
	else if (sb_child_run(&child))
		rc = sb_fail(SB_EXIT_ENVIRONMENT, "a run cannot be started");
	else if (!sb_child_was_cut_short(&child))
		rc = take_result(s, &s->work[i], &child);
	sb_arguments_free(&arguments);
	return rc;
}

/* ---- all of them ---- */

static void wait_until(uint64_t ns)
{
	while (sb_clock_ns() < ns && !sb_load_rlx(&sb_interrupted))
		sb_thread_sleep(100000000);
}

/* The first begins at once, and the last after --over, or when those before it have ended. */
static int run_all(struct session *s)
{
	const uint64_t start = sb_clock_ns();
	const uint64_t over = sb_opt(s->options, SB_OPT_over);
	char label[40];
	int rc = 0;

	for (uint32_t r = 0; r < s->runs && !rc; r++) {
		snprintf(label, sizeof(label), "run %" PRIu32 " of %" PRIu32, r + 1, s->runs);
		sb_progress_phase(&s->progress, label, "");
		wait_until(start + over / (s->runs - 1) * r);
		s->span_s = 1e-9 * (double)(sb_clock_ns() - start);
		for (uint32_t i = 0; i < s->options->chosens && !rc; i++)
			rc = sb_load_rlx(&sb_interrupted) ? SB_EXIT_INVALID : run_once(s, i);
	}
	sb_progress_close(&s->progress);
	if (sb_load_rlx(&sb_interrupted))
		return sb_fail(SB_EXIT_INVALID, "interrupted; nothing is stored");
	return rc;
}

/* ---- what they come to ---- */

static double line_of(const struct work *w, uint32_t run)
{
	return w->median[(size_t)run * SB_METRICS + SB_METRIC_line_transfer_ns];
}

/* Leaves out the runs in another state of the host than most. */
static void keep_one_state(struct work *w)
{
	double line[SB_SPREAD_RUNS_MAX];
	uint32_t readings = 0;
	uint32_t kept = 0;
	double most;

	for (uint32_t r = 0; r < w->runs; r++) {
		line[readings] = line_of(w, r);
		readings += isfinite(line[readings]);
	}
	most = sb_spread_of(line, readings).median;
	for (uint32_t r = 0; r < w->runs; r++) {
		if (line_of(w, r) > SB_HOST_STATES * most || most > SB_HOST_STATES * line_of(w, r))
			continue;
		memmove(&w->median[(size_t)kept++ * SB_METRICS], &w->median[(size_t)r * SB_METRICS],
			SB_METRICS * sizeof(double));
	}
	w->moved += w->runs - kept;
	w->runs = kept;
}

/* NaN: not all runs have it, or not above 0. */
static double sd_of_ln(const struct work *w, enum sb_metric_id metric)
{
	double mean = 0;
	double squares = 0;

	for (uint32_t r = 0; r < w->runs; r++)
		mean += log(w->median[(size_t)r * SB_METRICS + metric]) / w->runs;
	for (uint32_t r = 0; r < w->runs; r++)
		squares += pow(log(w->median[(size_t)r * SB_METRICS + metric]) - mean, 2);
	return sqrt(squares / (w->runs - 1));
}

static int add_spreads(struct session *s, struct work *w)
{
	struct sb_spreads *made = &s->made;

	keep_one_state(w);
	if (w->runs < SB_SPREAD_RUNS_LEAST)
		return sb_fail(SB_EXIT_INVALID,
			       "%s: %" PRIu32 " of %" PRIu32
			       " runs have numbers, in one state of the host; expected at least %d",
			       w->what, w->runs, s->runs, SB_SPREAD_RUNS_LEAST);
	for (int m = 0; m < SB_METRICS; m++) {
		struct sb_run_spread *spread = &made->spread[made->n];

		*spread = (struct sb_run_spread){
			.metric = (enum sb_metric_id)m,
			.runs = w->runs,
			.span_s = s->span_s,
			.sd = sd_of_ln(w, (enum sb_metric_id)m),
		};
		strcpy(spread->what, w->what);
		strcpy(spread->date, s->date);
		made->n += m < (int)sb_metrics() && sb_metric[m].better != SB_NEITHER &&
			   isfinite(spread->sd);
	}
	return 0;
}

static void print_work(const struct session *s, const struct work *w)
{
	char span[SB_SPAN_BYTES];

	if (w->runs < SB_SPREAD_RUNS_LEAST)
		return;
	sb_span_describe(span, s->span_s);
	printf("%s: %" PRIu32 " runs over %s", sb_terminal_text(w->what), w->runs, span);
	if (w->moved)
		printf("; %" PRIu32 " left out, in another state of the host", w->moved);
	fputc('\n', stdout);
	for (uint32_t i = 0; i < sb_comparison_metrics_n; i++) {
		const enum sb_metric_id metric = sb_comparison_metrics[i];
		const struct sb_run_spread *spread = sb_spreads_find(&s->made, w->what, metric);

		if (spread)
			printf("  %-24s standard deviation %.2g %%; two runs differ by up to "
			       "%.2g %%\n",
			       sb_metric[metric].name, 100 * spread->sd,
			       100 * (exp(sb_spread_limit(spread, SB_FINDINGS_ERROR)) - 1));
	}
}

static int put_spreads(const void *spreads, FILE *out)
{
	return sb_spreads_write(spreads, out);
}

/* Work with too few runs does not take the others' spreads away. */
static int keep(struct session *s, const char *path)
{
	int failed = 0;
	int rc;

	s->made.spread =
		calloc((size_t)s->options->chosens * SB_METRICS + 1, sizeof(*s->made.spread));
	if (!s->made.spread)
		return sb_fail_memory();
	for (uint32_t i = 0; i < s->options->chosens; i++) {
		rc = add_spreads(s, &s->work[i]);
		failed = rc ? rc : failed;
	}
	if (!s->made.n)
		return failed;
	rc = sb_spreads_put(&s->known, &s->made);
	rc = rc ? rc : sb_output(path, put_spreads, &s->known);
	if (rc)
		return sb_output_failed(path, rc);
	for (uint32_t i = 0; i < s->options->chosens; i++)
		print_work(s, &s->work[i]);
	sb_note("%s: compare and run use it until the next boot", path);
	return failed;
}

/* ---- before and after ---- */

/* Reads the file, and checks that it can be written, before the first measurement. */
static int open_file(struct session *s, const char *path)
{
	char why[600];
	int rc;

	if (!path)
		return sb_fail(SB_EXIT_ENVIRONMENT, "--runs: no cache for the file of spreads; "
						    "expected XDG_CACHE_HOME or HOME");
	rc = sb_output_try(path);
	if (rc)
		return sb_output_failed(path, rc);
	rc = sb_spreads_read(&s->known, path, why, sizeof(why));
	return rc && rc != -ENOENT ? sb_fail(sb_status_of(rc), "%s", why) : 0;
}

static int make_room(struct session *s)
{
	const size_t most = (size_t)s->runs * SB_METRICS;

	s->work = calloc(s->options->chosens, sizeof(*s->work));
	for (uint32_t i = 0; s->work && i < s->options->chosens; i++) {
		s->work[i].median = calloc(most, sizeof(double));
		if (!s->work[i].median)
			return sb_fail_memory();
	}
	s->directory = sb_path_temporary("");
	if (!s->work || !s->directory)
		return sb_fail_memory();
	if (mkdtemp(s->directory))
		return 0;
	return sb_fail(SB_EXIT_ENVIRONMENT, "%s cannot be made: %s", s->directory, strerror(errno));
}

static void close_session(struct session *s)
{
	for (uint32_t i = 0; s->work && i < s->options->chosens; i++)
		free(s->work[i].median);
	free(s->work);
	sb_spreads_free(&s->known);
	sb_spreads_free(&s->made);
	if (s->directory)
		sb_directory_remove(s->directory);
	free(s->directory);
}

int sb_calibrate_runs(struct sb_options *options)
{
	static struct session s;
	char *path = sb_cache_path(SB_RUNS_FILE);
	int rc = sb_options_choose(options);

	s = (struct session){ .options = options, .runs = (uint32_t)sb_opt(options, SB_OPT_runs) };
	rc = rc ? rc : open_file(&s, path);
	rc = rc ? rc : make_room(&s);
	if (!rc) {
		sb_options_clear_environment();
		sb_interrupts_catch();
		sb_format_now(s.date);
		sb_progress_open(&s.progress, stderr, false);
		sb_progress_plan(&s.progress, s.runs, 1);
		rc = run_all(&s);
	}
	rc = rc ? rc : keep(&s, path);
	close_session(&s);
	free(path);
	return rc;
}
