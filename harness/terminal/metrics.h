/* metrics.h - a metric that a user names. */
#ifndef SB_HARNESS_TERMINAL_METRICS_H
#define SB_HARNESS_TERMINAL_METRICS_H

#include "results/record/metric.h"

/* option: where the name was given, as "--limit". Returns an exit status, after an
 * error with a suggestion. */
int sb_parse_metric(const char *option, const char *name, enum sb_metric_id *out);

struct sb_objectives {
	uint32_t n;
	enum sb_metric_id metric[SB_OBJECTIVES_MAX];
};

/* "wake_ns_p99,cpu_ns_per_op". As above. */
int sb_parse_objectives(const char *option, const char *text, struct sb_objectives *out);

#endif
