/* metric.h - the metrics of a row, and how counters and histograms are named. */
#ifndef SB_RESULTS_RECORD_METRIC_H
#define SB_RESULTS_RECORD_METRIC_H

#include "core/counters.h"
#include "core/requests.h"

enum sb_better { SB_LOWER, SB_HIGHER, SB_NEITHER };

/* "lower", "higher" or "", and back. False: the text is none of these. */
const char *sb_better_name(enum sb_better better);
bool sb_better_find(const char *name, enum sb_better *better);

struct sb_metric {
	const char *name;
	const char *unit;
	enum sb_better better;
	const char *doc;
};

/* So many may be added to those of metrics.def. */
#define SB_METRICS_ADDED 64

enum sb_metric_id {
#define METRIC(name, unit, better, doc) SB_METRIC_##name,
#include "results/record/metrics.def"
#undef METRIC
	SB_METRICS_BUILT_IN,
	SB_METRICS = SB_METRICS_BUILT_IN + SB_METRICS_ADDED
};

/* The operating system's counts of a thread. */
enum sb_os_id {
#define OS(name, unit, doc) SB_OS_##name,
#include "results/record/os.def"
#undef OS
	SB_OS_COUNTS
};

/* [sb_metrics()]: those of metrics.def, then those that were added. */
extern const struct sb_metric *const sb_metric;
enum sb_metric_id sb_metrics(void);

/*
 * Adds a metric that a workload declares, or that a stored result has; texts are copied and stay
 * for good. One that was added under the same name before is the same, and keeps its meaning.
 * SB_METRICS: there is no room, or the name is one of metrics.def, or has other characters than a
 * to z, 0 to 9 and '_', or the unit has other characters than letters of ASCII, a micro sign,
 * digits, blanks and %/_.*^(). The first thread, before any run.
 */
enum sb_metric_id sb_metric_add(const struct sb_metric *metric);

extern const struct sb_metric sb_counter_info[SB_COUNTERS];

/* The histograms of a record: those of the workers, of wakes that the workload times,
 * and of requests from outside. */
enum sb_record_hist_id {
	SB_RECORD_wake = SB_HISTS,
	SB_RECORD_wake_long_step,
	SB_RECORD_REQUEST, /* the first of SB_REQUEST_HISTS */
	SB_RECORD_HISTS = SB_RECORD_REQUEST + SB_REQUEST_HISTS
};
extern const struct sb_metric sb_record_hist_info[SB_RECORD_HISTS];

/* ---- latencies, see latencies.def ---- */

enum { SB_LATENCY_P50 = 1, SB_LATENCY_P99 = 3, SB_LATENCY_MAX = 5, SB_LATENCY_METRICS = 7 };

struct sb_latency {
	const char *name;
	enum sb_metric_id first; /* of its metrics: mean, p50, p90, p99, p99.9, max, timed */
	uint32_t hist;		 /* enum sb_record_hist_id or sb_hist_id */
	const char *doc;
};

extern const struct sb_latency sb_latency[];
extern const size_t sb_latencies;

/* The metric of that name, or of that name in earlier versions; SB_METRICS: there is
 * none. */
enum sb_metric_id sb_metric_find(const char *name);

/* What is to be low or high, by its metric's direction: one metric, or two. */
#define SB_OBJECTIVES_MAX 2

/* The metrics of "wake_ns_p99,cpu_ns_per_op", as sb_metric_find has them. Returns
 * how many, at most room. */
uint32_t sb_metric_list(const char *text, enum sb_metric_id *metric, uint32_t room);

/* Its name in earlier versions, or NULL. */
const char *sb_metric_old_name(enum sb_metric_id metric);

#endif
