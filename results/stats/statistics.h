/*
 * statistics.h - of numbers: their spread, and, in the order of their time, whether
 * they drift or change their level. None of these assumes a distribution.
 */
#ifndef SB_RESULTS_STATS_STATISTICS_H
#define SB_RESULTS_STATS_STATISTICS_H

#include "core/platform/base.h"

/* Smallest first. */
void sb_sort(double *value, uint32_t n);

/*
 * Median, extremes and quartiles; with n == 0 all but n is NaN. Quartiles by
 * linear interpolation (Hyndman and Fan's type 7).
 */
struct sb_spread {
	uint32_t n;
	double median, min, max, q1, q3;
};

/* Of n values, which are sorted for it. */
struct sb_spread sb_spread_of(double *value, uint32_t n);

/* The fraction q of the sorted values is below, interpolated; n >= 1. */
double sb_quantile_of(const double *sorted, uint32_t n, double q);

/* Of sorted values, n >= 1. */
double sb_median_of_sorted(const double *sorted, uint32_t n);

/*
 * Mann and Kendall's test for a trend in n values in the order of their time.
 * p: two-sided; exact without ties and up to SB_TREND_EXACT values, else by the
 * normal distribution. drift: Sen's slope, the median of all pairs' slopes,
 * times n - 1. 1 and 0 for fewer than 3 values. Kendall, Rank Correlation
 * Methods, 1948; Sen, JASA 63, 1968.
 */
#define SB_TREND_EXACT 40
struct sb_trend {
	double p;
	double drift;
};
struct sb_trend sb_trend_of(const double *value, uint32_t n);

/*
 * A change of level: the split, with at least SB_STEP_SIDE values on both sides,
 * whose sides differ most by their ranks; p: how often a random order of the
 * same values has one that differs as much. 1 for fewer values.
 */
#define SB_STEP_SIDE 3
struct sb_step_change {
	double p;
	uint32_t before; /* how many values */
};
struct sb_step_change sb_step_of(const double *value, uint32_t n);

/*
 * The 95 % confidence interval of a median from the order statistics, which
 * assumes nothing of the distribution. NaN for fewer than SB_INTERVAL_LEAST values: no two of
 * them are that sure. n: at most SB_INTERVAL_MAX, for the chances are tiny.
 */
#define SB_INTERVAL_LEAST 6
#define SB_INTERVAL_MAX	  1000
struct sb_interval {
	double low, high;
};
struct sb_interval sb_median_interval(const double *sorted, uint32_t n);

/* A median with that interval, or with the least and the largest value where there is none. */
struct sb_median {
	uint32_t n; /* values; 0: none, and NaN */
	bool is_interval;
	double at, low, high;
};

/* Of n values, which are sorted for it. The interval needs values that are independent of each
 * other. */
struct sb_median sb_median_of(double *value, uint32_t n, bool are_independent);

/*
 * Replaces repetitions by one value for each fork, the median of its repetitions, and returns how
 * many there are. Repetitions of one fork are no sample of what the program costs: they follow from
 * each other, and share the layout of its memory. fork[i]: that of value[i]; those of a fork are
 * side by side. NaN: it has no number. A fork of several repetitions with fewer than two numbers has
 * no value.
 */
uint32_t sb_fork_medians(double *value, const uint32_t *fork, uint32_t n);

/* How many forks there are before --until-ci compares the interval with its limit for the next time:
 * looks at every number would end in a narrow interval by chance. 0: there are no more looks after
 * n forks. */
uint32_t sb_next_look(uint32_t n);
#define SB_LOOK_FORKS_MAX 60

/*
 * Whether values have come to rest: the medians of the last and of the last but
 * one SB_REST_VALUES differ by less than SB_REST_PART.
 */
#define SB_REST_VALUES 5
#define SB_REST_PART   0.01
bool sb_is_at_rest(const double *value, uint32_t n);

#endif
