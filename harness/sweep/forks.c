#include "harness/sweep/forks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/atomic.h"
#include "harness/run/row.h"
#include "harness/sweep/sweep.h"
#include "harness/system/child.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/progress.h"
#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/read.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* So many forks that crashed, hung or met --timeout, and no other: the rest would, too. */
#define HOPELESS 2

static uint32_t rows_of(const struct sb_fork *f)
{
	return (uint32_t)sb_opt(f->options, SB_OPT_repetitions);
}

static uint32_t first_of(const struct sb_fork *f)
{
	return f->number * rows_of(f);
}

/* ---- its process ---- */

/* The options that have been given, and ours behind them, which count. */
static int make_arguments(const struct sb_fork *f, const char *directory, struct sb_arguments *out)
{
	const struct sb_options *o = f->options;
	int rc = sb_arguments_of_run(out, o, SB_VERB_RUN, f->chosen);

	rc = rc ? rc : sb_arguments_add(out, "--forks=1");
	rc = rc ? rc : sb_arguments_add(out, "--until-ci=none");
	rc = rc ? rc : sb_arguments_add(out, "--repetitions=%s", o->value[SB_OPT_repetitions].text);
	rc = rc ? rc : sb_arguments_add(out, "--duration=%s", o->value[SB_OPT_duration].text);
	rc = rc ? rc : sb_arguments_add(out, "--warmup=%s", o->value[SB_OPT_warmup].text);
	rc = rc ? rc : sb_arguments_add(out, "--seed=%" PRIu64, sb_opt(o, SB_OPT_seed) + f->number);
	rc = rc ? rc : sb_arguments_add(out, "--output=%s", directory);
	return rc ? rc : sb_arguments_add(out, "--no-plots");
}

/* Of a hang, which each repetition may come close to. */
static uint64_t limit_ns(const struct sb_fork *f)
{
	return sb_sweep_limit_ns(f->options, f->options) +
	       (rows_of(f) - 1) *
		       (sb_opt(f->options, SB_OPT_duration) + sb_opt(f->options, SB_OPT_timeout));
}

static void invalidate(const struct sb_fork *f, const char *why)
{
	for (uint32_t r = 0; r < rows_of(f); r++)
		sb_record_invalidate(&f->series->record[first_of(f) + r], why);
}

/* Rows without numbers that took longer than --timeout are not measured, as those of a crash. */
static void forget_timeout(const struct sb_fork *f, const struct sb_child *child)
{
	struct sb_record *record = &f->series->record[first_of(f)];

	for (uint32_t r = 0; r < rows_of(f); r++)
		record[r].is_measured &= sb_record_has_numbers(&record[r]) ||
					 child->elapsed_ns < sb_opt(f->options, SB_OPT_timeout);
}

/* The rows of its result, or why there are none. */
static int take_result(const struct sb_fork *f, const char *directory, const struct sb_child *child)
{
	struct sb_result from;
	char why[SB_REASON_BYTES];

	if (!sb_child_ended_well(child) && !sb_child_is_refused(child)) {
		sb_child_describe(child, why, sizeof(why));
		invalidate(f, why);
	} else if (sb_result_read(&from, directory, why, sizeof(why))) {
		if (sb_child_is_refused(child))
			return sb_child_refuse(child, "");
		invalidate(f, why);
	} else {
		if (!sb_rows_adopt(&from, f->series, first_of(f), rows_of(f)))
			invalidate(f, "what the fork wrote are not its rows");
		sb_result_free(&from);
		forget_timeout(f, child);
		f->series->met_limit |= sb_child_is_refused(child);
	}
	return 0;
}

static bool is_measured(const struct sb_fork *f)
{
	for (uint32_t r = 0; r < rows_of(f); r++) {
		if (!f->series->record[first_of(f) + r].is_measured)
			return false;
	}
	return true;
}

static void keep_rows(const struct sb_fork *f)
{
	if (is_measured(f))
		sb_saved_keep(f->saved, f->result, (uint32_t)(f->series - f->result->series),
			      first_of(f), rows_of(f));
}

/* What it says of itself, once: the others would say the same. */
static void pass_on(const struct sb_fork *f, const struct sb_child *child)
{
	char *words = sb_text_copy(child->stderr_text);
	char *rest = f->number && sb_child_ended_well(child) ? NULL : words;

	sb_progress_hide();
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (*line)
			fprintf(stderr, "%s\n", sb_terminal_text(line));
	}
	free(words);
}

static int run_child(const struct sb_fork *f, const char *directory, struct sb_arguments *arguments)
{
	static struct sb_child child;
	int rc;

	child = (struct sb_child){ .argv = arguments->word,
				   .limit_ns = limit_ns(f),
				   .stacks = "standard error" };
	sb_watcher_begin(f->watcher, f->series, SB_PHASE_FORK, f->number);
	sb_directory_remove(directory);
	rc = sb_child_run(&child);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "a fork cannot be started: %s", strerror(-rc));
	if (sb_child_was_cut_short(&child)) {
		invalidate(f, "interrupted");
		return 0;
	}
	rc = take_result(f, directory, &child);
	if (rc)
		return rc;
	pass_on(f, &child);
	keep_rows(f);
	sb_watcher_end(f->watcher, f->series, SB_PHASE_FORK, f->number);
	return 0;
}

static int run_fork(const struct sb_fork *f)
{
	struct sb_arguments arguments = { .n = 0 };
	char *directory = sb_path_join(f->result->directory, "run.fork");
	int rc;

	if (!directory || make_arguments(f, directory, &arguments)) {
		rc = sb_fail_memory();
	} else {
		rc = run_child(f, directory, &arguments);
		sb_directory_remove(directory);
	}
	sb_arguments_free(&arguments);
	free(directory);
	return rc;
}

/* ---- which ---- */

static bool is_hopeless(const struct sb_fork *f)
{
	if (f->series->met_limit)
		return true;
	for (uint32_t r = 0; r < first_of(f); r++) {
		if (f->series->record[r].is_measured)
			return false;
	}
	return f->number >= HOPELESS;
}

/* --until-ci, at its looks alone. */
static void look(const struct sb_fork *f)
{
	const struct sb_option_value *until = &f->options->value[SB_OPT_until_ci];
	const struct sb_median median = sb_series_median(f->series, SB_METRIC_ns_per_op);
	const double width =
		median.is_interval ? (median.high - median.low) / median.at : (double)INFINITY;
	const uint32_t next = sb_next_look(f->number + 1);

	if (!until->alternative || width <= 1e-6 * (double)until->number || is_hopeless(f))
		return;
	if (next)
		f->series->records = next * rows_of(f);
	else
		sb_note("%s: --until-ci %s: the median's 95 %% interval is %.3g %% wide after "
			"%" PRIu32 " forks, the most that there may be",
			f->series->workload, until->text, 100 * width, f->number + 1);
}

int sb_fork_measure(const struct sb_fork *f)
{
	const uint32_t end = first_of(f) + rows_of(f);
	int rc = 0;

	if (end > f->series->records)
		return 0;
	if (is_measured(f))
		rc = 0;
	else if (sb_load_rlx(&sb_interrupted))
		invalidate(f, "interrupted");
	else if (is_hopeless(f))
		invalidate(f, f->series->record[first_of(f) - 1].reason);
	else
		rc = run_fork(f);
	if (end == f->series->records && !rc && !sb_load_rlx(&sb_interrupted))
		look(f);
	return rc;
}
