/*
 * timeseries.h - what a repetition was like from its beginning to its end, in points of time.
 *
 * Points are made of readings: each has what was counted since the one before, so the counts
 * of all of them add up to the row's. There are at most SB_POINTS_MAX of them: then
 * neighbours become one, and the interval is twice as long. A percentile is that of
 * all that was timed in its interval, merged or not.
 */
#ifndef SB_RESULTS_LEDGER_TIMESERIES_H
#define SB_RESULTS_LEDGER_TIMESERIES_H

#include <stdio.h>

#include "results/record/record.h"

#define SB_POINTS_MAX 256 /* even */

enum sb_point_count {
#define COUNT(name, doc)	 SB_POINT_##name,
#define STEAL(name, member, doc) SB_POINT_##name,
#define REQUEST(name, doc)	 SB_POINT_##name,
#include "results/ledger/timeseries.def"
	SB_POINT_COUNTS
};

enum sb_point_kernel {
#define KERNEL(name, doc) SB_POINT_##name,
#include "results/ledger/timeseries.def"
	SB_POINT_KERNELS
};

enum sb_point_depth {
#define DEPTH(name, doc) SB_POINT_##name,
#include "results/ledger/timeseries.def"
	SB_POINT_DEPTHS
};

enum sb_point_quantile {
#define QUANTILE(name, q, doc) SB_POINT_##name,
#include "results/ledger/timeseries.def"
	SB_POINT_QUANTILES
};

/* A column: its name, "steps", and its meaning. */
struct sb_point_column {
	const char *name;
	const char *doc;
};

extern const struct sb_point_column sb_point_count[SB_POINT_COUNTS];
extern const struct sb_point_column sb_point_kernel[SB_POINT_KERNELS];
extern const struct sb_point_column sb_point_depth[SB_POINT_DEPTHS];
extern const struct sb_point_column sb_point_quantile[SB_POINT_QUANTILES];

/* An interval, from the end of the point before. NaN: it was not looked at, the kernel does not
 * count it, or too few were timed. */
struct sb_point {
	uint64_t end_ns; /* since the repetition began */
	uint64_t count[SB_POINT_COUNTS];
	uint64_t timed;
	double kernel[SB_POINT_KERNELS];
	double depth[SB_POINT_DEPTHS];
	double quantile[SB_POINT_QUANTILES];
};

/* Of a row; freed by free(). */
struct sb_timeseries {
	uint64_t interval_ns;
	uint32_t latency; /* in sb_latency */
	bool has_requests;
	uint32_t points;
	struct sb_point point[];
};

/* Room for that many points, all zero. NULL: no memory. */
struct sb_timeseries *sb_timeseries_new(uint32_t points);

static inline uint64_t sb_point_begin_ns(const struct sb_timeseries *t, uint32_t point)
{
	return point ? t->point[point - 1].end_ns : 0;
}

/* Per second. */
double sb_point_rate(const struct sb_timeseries *t, uint32_t point, enum sb_point_count count);

/* One of the five times as a share of all of them, in percent; NaN: none was kept. */
double sb_point_share(const struct sb_timeseries *t, uint32_t point, enum sb_point_count time);

/* What is taken for the throughput: requests, or else steps. */
static inline enum sb_point_count sb_timeseries_progress(const struct sb_timeseries *t)
{
	return t->has_requests ? SB_POINT_requests : SB_POINT_steps;
}

/* ---- how a series is made ---- */

/* A reading of everything, summed since whenever, but for the latency. */
struct sb_moment {
	uint64_t at_ns;
	uint64_t count[SB_POINT_COUNTS];
	double kernel[SB_POINT_KERNELS]; /* NaN: unknown */
	uint64_t depth[SB_POINT_DEPTHS];
};

struct sb_points;

/* NULL: no memory. */
struct sb_points *sb_points_new(uint64_t interval_ns);

/* The histogram of the latency: to be filled for the next moment; it is empty. */
struct sb_hist_counts *sb_points_next_hist(struct sb_points *points);

/* From where on. */
void sb_points_begin(struct sb_points *points, const struct sb_moment *start);

/* The next point. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_points_add(struct sb_points *points, const struct sb_moment *now);

/* Neighbours become one. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_points_merge(struct sb_points *points);

uint64_t sb_points_interval_ns(const struct sb_points *points);

/* The last point ends at that moment, whose depths nobody has looked at; one that is less than
 * half as long as the others is a part of the one before. NULL: no memory. */
struct sb_timeseries *sb_points_end(struct sb_points *points, const struct sb_moment *end);

/* NULL is allowed. */
void sb_points_free(struct sb_points *points);

/* ---- what it says ---- */

bool sb_result_has_timeseries(const struct sb_result *result);

/* timeseries.csv. Returns 0. */
int sb_write_timeseries_csv(const struct sb_result *result, FILE *out);

enum sb_timeseries_found {
	SB_TIMESERIES_NONE,   /* there is none */
	SB_TIMESERIES_STEADY, /* nothing */
	SB_TIMESERIES_POINTS, /* some points are far from the others, in few repetitions */
	SB_TIMESERIES_BURST,  /* the same in most repetitions */
	SB_TIMESERIES_DRIFT,  /* in most repetitions it rises, or falls, all the time */
};

/* The words, a sentence without its end; out: the caller's. */
#define SB_TIMESERIES_BYTES 400
enum sb_timeseries_found sb_timeseries_find(char out[SB_TIMESERIES_BYTES],
					    const struct sb_series *series);

/* A line, if there is a drift or a burst. */
void sb_put_timeseries_finding(FILE *out, const struct sb_result *result,
			       const struct sb_series *series);

/* The repetition whose time per operation is the median; NULL: none has points. */
const struct sb_record *sb_timeseries_median(const struct sb_series *series);

/* The last percentile that at least half of the points of all repetitions have;
 * SB_POINT_QUANTILES: none is. */
enum sb_point_quantile sb_timeseries_tail(const struct sb_series *series);

#endif
