/*
 * validity.h - which numbers may be believed: rules over one row, and over the
 * rows of a series. All thresholds stand in one table, which `sched-bench list
 * validity` prints. The workload's own check of its answer, and what else makes
 * a row invalid at once, are not here.
 */
#ifndef SB_RESULTS_RECORD_VALIDITY_H
#define SB_RESULTS_RECORD_VALIDITY_H

#include "results/record/record.h"

/* The facts of a run before it is judged; not every rule is for every run. */
struct sb_conditions {
	/* Each worker is pinned to a CPU that no other worker has. Where they
	 * share CPUs, one takes it from the other all the time. */
	bool alone;
	bool polls;	  /* workers never sleep and need the kernel for nothing */
	bool is_emulated; /* the placement is that of another machine */
	bool shares;	  /* threads that submit have to share CPUs with workers */
};

/* UNSHARED: where workers are alone, and no threads that submit have to share their CPUs. MORE: in
 * every run, and a metric at the threshold or below breaks the rule. */
enum sb_rule_for { SB_RULE_ALWAYS, SB_RULE_ALONE, SB_RULE_UNSHARED, SB_RULE_POLLS, SB_RULE_MORE };

/* A row whose metric is above a threshold is suspect, or invalid, but only if
 * that other metric is at least least: a tick of the kernel's clock, or one
 * event, is much in a short repetition and says nothing. */
struct sb_rule {
	const char *name;
	enum sb_rule_for applies;
	enum sb_metric_id metric;
	double suspect; /* above */
	double invalid; /* above; infinite: never */
	enum sb_metric_id evidence;
	double least;
	/* What has a rule of its own, and is taken off the metric before that is
	 * looked at; SB_METRICS: nothing. */
	enum sb_metric_id explained;
	const char *doc; /* also the reason's end */
};

/* Ends with a NULL name. */
extern const struct sb_rule sb_rules[];

/* Rules over repetitions: text for people, thresholds in validity.c. */
struct sb_series_rule {
	const char *name;
	const char *threshold;
	const char *doc;
	void (*judge)(struct sb_series *series);
};

extern const struct sb_series_rule sb_series_rules[];

/* The rules that make a row of requests suspect or invalid. */
struct sb_request_rule {
	const char *name;
	const char *threshold;
	const char *doc;
	void (*judge)(struct sb_record *record, const struct sb_requests *r);
	bool unshared; /* not where conditions.shares */
};

extern const struct sb_request_rule sb_request_rules[]; /* ends with NULL */

/* Of requests in virtual time: whether a row is steady, and long enough; and whether the mean of a
 * series is known well enough. */
void sb_judge_halves(struct sb_record *record, const struct sb_requests *r);
void sb_judge_length(struct sb_record *record, const struct sb_requests *r);
void sb_judge_mean(struct sb_series *series);

/* By these alone. */
void sb_judge_requests(struct sb_record *record, const struct sb_requests *r,
		       const struct sb_conditions *conditions);

/*
 * A host that has moved one of the CPUs during the series: line_transfer_ns differs between its forks
 * by more than a factor of SB_HOST_STATES, and the metric of all forks in one state is below that of all
 * in the other, by more than 5 % in the median. Of two states, the first is that of the first fork.
 */
#define SB_HOST_STATES 2
struct sb_host_change {
	uint32_t changes;  /* 0: it has not */
	uint32_t fork[2];  /* before and after the first change, counted from 1 */
	double line_ns[2]; /* medians in each state: of line_transfer_ns, */
	double value[2];   /* and of the metric that was asked for */
	uint32_t forks[2]; /* that have it */
};
/* Whether the state of the host can matter: one worker passes no cache lines to another. */
static inline bool sb_series_passes_lines(const struct sb_series *series)
{
	return series->placement.workers > 1;
}

struct sb_host_change sb_series_host_change(const struct sb_series *series,
					    enum sb_metric_id metric);

/* "the host changed between fork 4 and 5 (cache line 45 ns -> 190 ns): ns_per_op is 56 ns in 4
 * forks, 107 ns in 5", of one that has. */
void sb_host_change_describe(const struct sb_host_change *change, enum sb_metric_id metric,
			     char out[SB_REASON_BYTES]);

/* A row with numbers, by all rules of rows. A value that was not measured breaks no rule. */
void sb_judge_record(struct sb_record *record, const struct sb_conditions *conditions);

/* All rows of a series, once, when all are there. */
void sb_judge_series(struct sb_series *series);

#endif
