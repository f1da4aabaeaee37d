#include "harness/run/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/platform/platform.h"
#include "harness/terminal/status.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* ---- the plan ---- */

void sb_watcher_open(struct sb_watcher *watcher, const struct sb_options *options)
{
	*watcher = (struct sb_watcher){
		.options = options,
		.is_verbose = sb_opt(options, SB_OPT_verbose),
	};
	sb_progress_open(&watcher->progress, stderr, sb_opt(options, SB_OPT_quiet));
}

/* Of a process that measures: its start, its clocks and its files. */
#define FORK_START_NS 5e7

static double phase_ns(const struct sb_options *options, enum sb_phase phase)
{
	switch (phase) {
	case SB_PHASE_CAPACITY:
		return (double)sb_capacity_ns(options);
	case SB_PHASE_WARM_UP:
		return (double)sb_warm_up_ns(options);
	case SB_PHASE_FORK:
		return FORK_START_NS + (double)sb_warm_up_ns(options) +
		       (double)(sb_opt(options, SB_OPT_repetitions) *
				sb_opt(options, SB_OPT_duration));
	case SB_PHASE_REPETITION:
	default:
		return (double)sb_opt(options, SB_OPT_duration);
	}
}

void sb_watcher_plan(struct sb_watcher *watcher, const struct sb_options *options)
{
	const uint32_t repetitions = (uint32_t)sb_opt(options, SB_OPT_repetitions);
	const uint32_t forks = sb_forks_least(options);

	for (uint32_t i = 0; i < options->chosens && forks > 1; i++) {
		watcher->planned_ns += forks * phase_ns(options, SB_PHASE_FORK);
		watcher->steps += forks;
	}
	for (uint32_t i = 0; i < options->chosens && forks == 1; i++) {
		if (sb_measures_capacity(options, options->chosen[i].workload))
			watcher->planned_ns += phase_ns(options, SB_PHASE_CAPACITY);
		watcher->planned_ns += phase_ns(options, SB_PHASE_WARM_UP) +
				       repetitions * phase_ns(options, SB_PHASE_REPETITION);
		watcher->steps += repetitions;
	}
	sb_progress_plan(&watcher->progress, watcher->steps, watcher->planned_ns);
}

/* ---- what is said ---- */

static void SB_PRINTF(2, 0) say(const struct sb_watcher *watcher, const char *format, va_list args)
{
	char *text;

	if (!watcher->is_verbose || vasprintf(&text, format, args) < 0)
		return;
	sb_note("%s", text);
	free(text);
}

void sb_watcher_say(const struct sb_watcher *watcher, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(watcher, format, args);
	va_end(args);
}

static void say_phase(const struct sb_watcher *watcher, const char *title, enum sb_phase phase)
{
	const struct sb_options *options = watcher->options;
	const struct sb_option_value *warm_up = &options->value[SB_OPT_warmup];

	if (phase == SB_PHASE_CAPACITY)
		sb_watcher_say(watcher, "%s: the capacity, by a closed loop for %.3g s", title,
			       1e-9 * phase_ns(options, phase));
	else if (phase == SB_PHASE_WARM_UP && warm_up->alternative)
		sb_watcher_say(watcher, "%s: warm-up, until the cost of an operation is at rest",
			       title);
	else if (phase == SB_PHASE_WARM_UP)
		sb_watcher_say(watcher, "%s: warm-up, for %s", title, warm_up->text);
}

static void say_repetition(const struct sb_watcher *watcher, const char *title,
			   const struct sb_record *record)
{
	const double *value = record->value;
	char operations[SB_HUMAN_BYTES];
	char cost[SB_HUMAN_BYTES];

	if (!sb_record_has_numbers(record))
		return;
	sb_human(operations, value[SB_METRIC_operations], "count");
	sb_human(cost, value[SB_METRIC_ns_per_op], "ns");
	sb_watcher_say(watcher,
		       "%s: repetition %" PRIu32
		       ": %.0f rounds with %s operations in %.3g s, %s/op",
		       title, record->repetition, value[SB_METRIC_rounds], operations,
		       value[SB_METRIC_wall_s], cost);
}

/* Some reasons are found when all repetitions can be looked at together. */
void sb_watcher_sum(const struct sb_watcher *watcher, const struct sb_series *series)
{
	char title[SB_SERIES_TITLE_BYTES];

	sb_series_title(title, series);
	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_record *record = &series->record[r];

		if (record->verdict != SB_VALID)
			sb_watcher_say(watcher, "%s: repetition %" PRIu32 ": %s: %s", title,
				       record->repetition, sb_verdict_name(record->verdict),
				       record->reason);
	}
	sb_watcher_say(
		watcher,
		"%s: %" PRIu32 " valid, %" PRIu32 " suspect, %" PRIu32 " emulated, %" PRIu32
		" invalid",
		title, sb_series_count(series, SB_VALID), sb_series_count(series, SB_SUSPECT),
		sb_series_count(series, SB_ONLY_EMULATED), sb_series_count(series, SB_INVALID));
}

/* ---- what is watched ---- */

static void name_phase(char *out, size_t bytes, const struct sb_series *series, enum sb_phase phase,
		       uint32_t repetition)
{
	switch (phase) {
	case SB_PHASE_CAPACITY:
		snprintf(out, bytes, "capacity");
		break;
	case SB_PHASE_WARM_UP:
		snprintf(out, bytes, "warm-up");
		break;
	case SB_PHASE_FORK:
		snprintf(out, bytes, "fork %" PRIu32 " of %" PRIu32, repetition + 1,
			 sb_series_forks(series));
		break;
	case SB_PHASE_REPETITION:
	default:
		snprintf(out, bytes, "repetition %" PRIu32 " of %" PRIu32, repetition + 1,
			 series->records);
		break;
	}
}

void sb_watcher_begin(struct sb_watcher *watcher, const struct sb_series *series,
		      enum sb_phase phase, uint32_t repetition)
{
	char title[SB_SERIES_TITLE_BYTES];
	char text[SB_PROGRESS_TEXT];

	sb_series_title(title, series);
	say_phase(watcher, title, phase);
	name_phase(text, sizeof(text), series, phase, repetition);
	sb_progress_phase(&watcher->progress, title, text);
}

static void show_estimate(struct sb_watcher *watcher, const struct sb_series *series)
{
	const struct sb_spread ns = sb_series_spread(series, SB_METRIC_ns_per_op);
	const bool is_one = ns.n < 2;
	const struct sb_estimate estimate = { ns.median, is_one ? (double)NAN : ns.min,
					      is_one ? (double)NAN : ns.max, "ns/op" };

	sb_progress_estimate(&watcher->progress, &estimate);
}

void sb_watcher_end(struct sb_watcher *watcher, const struct sb_series *series, enum sb_phase phase,
		    uint32_t repetition)
{
	const bool is_step = phase == SB_PHASE_REPETITION || phase == SB_PHASE_FORK;
	const uint32_t rows =
		phase == SB_PHASE_FORK ? (uint32_t)sb_opt(watcher->options, SB_OPT_repetitions) : 1;
	char title[SB_SERIES_TITLE_BYTES];

	sb_progress_done(&watcher->progress, is_step, phase_ns(watcher->options, phase));
	if (!is_step)
		return;
	sb_series_title(title, series);
	for (uint32_t r = 0; r < rows; r++)
		say_repetition(watcher, title, &series->record[rows * repetition + r]);
	show_estimate(watcher, series);
}

void sb_watcher_watch(struct sb_watcher *watcher, const struct sb_options *options)
{
	watcher->options = options;
}

void sb_watcher_close(struct sb_watcher *watcher)
{
	sb_progress_close(&watcher->progress);
}
