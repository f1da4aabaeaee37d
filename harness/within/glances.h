/*
 * glances.h - a thread that looks at the workers while a repetition goes on: its time series.
 *
 * It reads what workers have counted, which costs them nothing but the misses of the lines that
 * were read. It has the CPUs of the thread that measures, as generators have, so
 * where all CPUs are workers' it takes one from a worker for a moment; if that takes more
 * than SB_GLANCE_PART of the time, it looks half as often. Its CPU time is in no metric.
 */
#ifndef SB_HARNESS_WITHIN_GLANCES_H
#define SB_HARNESS_WITHIN_GLANCES_H

#include "harness/cli/options.h"
#include "results/record/record.h"

struct sb_glances;

/* Fewer points say nothing of a repetition, so none are kept by default. */
#define SB_GLANCES_LEAST 8

/* Of one CPU: 1 / this, and so much beyond it in a repetition. */
#define SB_GLANCE_PART	  100
#define SB_GLANCE_FREE_NS UINT64_C(1000000)

/* Whether --series, if it was given, goes together with the others. Returns 0, or an exit status
 * after an error has been printed. */
int sb_glances_check(const struct sb_options *options);

struct sb_osview;

/* For a workload that is run so, and the view of its workers; for sb_glances_free. NULL: no series
 * is kept, or there is no memory for one; all that follow accept that. */
struct sb_glances *sb_glances_make(const struct sb_options *options,
				   const struct sb_workload_run *run, const struct sb_osview *os);
void sb_glances_free(struct sb_glances *glances);

/* From now on; start, hist: what was read last, of all workers and of each histogram [SB_HISTS].
 * Returns 0 or -errno: there is no thread. */
SB_MUST_CHECK int sb_glances_start(struct sb_glances *glances,
				   const struct sb_worker_reading *start,
				   const struct sb_hist_counts *hist);

/* A round goes on, or has ended and is about to be checked: only meanwhile the workload is asked. */
void sb_glances_round(struct sb_glances *glances, bool goes_on);

/* Until now. Returns the CPU time that it took. */
uint64_t sb_glances_stop(struct sb_glances *glances);

/* The row's series, to end at its last readings. NULL: none was kept, or no memory. */
struct sb_timeseries *sb_glances_keep(struct sb_glances *glances, const struct sb_record *record);

#endif
