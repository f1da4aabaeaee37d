/* limits.h - how much worse metrics may get: --limit. */
#ifndef SB_HARNESS_COMPARE_LIMITS_H
#define SB_HARNESS_COMPARE_LIMITS_H

#include "results/record/record.h"

#define SB_LIMITS_MAX 64

struct sb_limit {
	enum sb_metric_id metric;
	bool is_fall; /* it is worse when it falls */
	double part;  /* by how much it may, 0.03; INFINITY: it has no limit */
};

struct sb_limits {
	uint32_t n;
	struct sb_limit limit[SB_LIMITS_MAX];
};

/* The default of --limit. */
#define SB_LIMITS_DEFAULT "ns_per_op=3%,cpu_ns_per_op=3%"

/*
 * And what runs on two workers: how often they deal with each other. How long that
 * takes hangs on the host, which gives the two CPUs when it pleases; how often hardly.
 * Fewer steals are worse, too: then one of the two has less to do.
 */
#define SB_LIMITS_EVENTS_DEFAULT "steals_per_op=±50%,wakes_per_op=+100%,parks_per_op=+100%"

/* In virtual time, with 5 %, 10 % and 15 % for p50, p99 and p99.9 of each latency of waiting. Cache
 * lines from nearby are reported, and have no limit: they may be those that came from afar. */
#define SB_LIMITS_VIRTUAL_DEFAULT                                                                  \
	"ns_per_op=3%,cpu_ns_per_op=3%,steals_per_op=±25%,wakes_per_op=+25%,parks_per_op=+25%,"   \
	"transfers_per_op=10%,transfers_package_per_op=20%,transfers_remote_per_op=20%,"           \
	"memory_fetches_per_op=20%"
SB_MUST_CHECK int sb_limits_of_virtual(struct sb_limits *out);

/* The least change that counts, in the metric's unit: of what happens per operation 0.01 times, of
 * all else any. */
double sb_limit_least(enum sb_metric_id metric);

/* The limit of a change in that direction, or of the other direction; NULL: there is none. */
const struct sb_limit *sb_limit_for(const struct sb_limits *limits, enum sb_metric_id metric,
				    bool is_fall);

/* Whether the metric is of what happens between workers, per operation; and then the
 * one that counts it, in all operations. */
bool sb_limit_event(enum sb_metric_id metric, enum sb_metric_id *count);

/*
 * "METRIC=+3%,...": a rise beyond that is worse; with - a fall; with ± or +- both,
 * which are two limits; without a sign what is worse for the metric. A sign for
 * what is better is refused. Returns 0, or an exit status after an error has been
 * printed.
 */
SB_MUST_CHECK int sb_limits_parse(struct sb_limits *out, const char *text);

/* Moves those of events into events. What is left without any gets its default.
 * Returns as above. */
SB_MUST_CHECK int sb_limits_split(struct sb_limits *times, struct sb_limits *events);

/* The limit of --counts, one percentage for all: "1%", "+1%"; 1 % if it is empty.
 * Returns as above. */
SB_MUST_CHECK int sb_limit_of_counts(const char *text, double *part);

#endif
