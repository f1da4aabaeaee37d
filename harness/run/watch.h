/*
 * watch.h - what a person is told while series are measured: progress on a
 * terminal, and with --verbose what is done and what came of it, line by line.
 */
#ifndef SB_HARNESS_RUN_WATCH_H
#define SB_HARNESS_RUN_WATCH_H

#include "harness/run/measure.h"
#include "harness/terminal/progress.h"

struct sb_watcher {
	struct sb_progress progress;
	const struct sb_options *options; /* of the job that is measured */
	bool is_verbose;
	uint32_t steps;	   /* that there are, in all */
	double planned_ns; /* for them */
};

/* Before all jobs; the options are the first one's. */
void sb_watcher_open(struct sb_watcher *watcher, const struct sb_options *options);

/* This job's workloads are to be measured, too. */
void sb_watcher_plan(struct sb_watcher *watcher, const struct sb_options *options);

/* This job is measured from now on. */
void sb_watcher_watch(struct sb_watcher *watcher, const struct sb_options *options);

/* The progress that sb_measure reports. */
void sb_watcher_begin(struct sb_watcher *watcher, const struct sb_series *series,
		      enum sb_phase phase, uint32_t repetition);
void sb_watcher_end(struct sb_watcher *watcher, const struct sb_series *series, enum sb_phase phase,
		    uint32_t repetition);

/* With --verbose, a line on standard error. */
void sb_watcher_say(const struct sb_watcher *watcher, const char *format, ...) SB_PRINTF(2, 3);

/* With --verbose, when a series is done: how many of its rows are valid, and why
 * the others are not. */
void sb_watcher_sum(const struct sb_watcher *watcher, const struct sb_series *series);

void sb_watcher_close(struct sb_watcher *watcher);

#endif
