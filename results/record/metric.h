/* metric.h - the metrics of a row, and how counters and histograms are named. */
#ifndef SB_RESULTS_RECORD_METRIC_H
#define SB_RESULTS_RECORD_METRIC_H

#include "core/counters.h"

enum sb_better { SB_LOWER, SB_HIGHER, SB_NEITHER };

struct sb_metric {
	const char *name;
	const char *unit;
	enum sb_better better;
	const char *doc;
};

enum sb_metric_id {
#define METRIC(name, unit, better, doc) SB_METRIC_##name,
#include "results/record/metrics.def"
#undef METRIC
	SB_METRICS
};

/* What the operating system counts of a thread. */
enum sb_os_id {
#define OS(name, unit, doc) SB_OS_##name,
#include "results/record/os.def"
#undef OS
	SB_OS_COUNTS
};

extern const struct sb_metric sb_metric[SB_METRICS];
extern const struct sb_metric sb_counter_info[SB_COUNTERS];
extern const struct sb_metric sb_hist_info[SB_HISTS];

/* The metric of that name, or of that name in earlier versions; SB_METRICS: there is
 * none. */
enum sb_metric_id sb_metric_find(const char *name);

/* What it was called in earlier versions, or NULL. */
const char *sb_metric_old_name(enum sb_metric_id metric);

#endif
