/*
 * hist.h - log-linear histogram of unsigned values: 64 buckets for each power
 * of two, exact below 128, and above that within 0.8 % of the value (half of a
 * bucket's width; the bound that is promised is 1 %). Range 0 to 2^42 - 1, in
 * nanoseconds more than an hour; larger values count in the last bucket.
 * The layout is that of Gil Tene's HdrHistogram with 6 bits of precision.
 * Sum and maximum are exact.
 *
 * struct sb_hist is written by one thread and may be read by any at any time.
 * struct sb_hist_counts is a reading of it: plain numbers to subtract, merge
 * and query.
 */
#ifndef SB_CORE_HIST_H
#define SB_CORE_HIST_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

#define SB_HIST_BITS	   6
#define SB_HIST_VALUE_BITS 42
#define SB_HIST_HALF	   (1u << SB_HIST_BITS)
#define SB_HIST_BUCKETS	   (SB_HIST_HALF * (SB_HIST_VALUE_BITS - SB_HIST_BITS + 1))

struct sb_hist {
	sb_counter sum;
	sb_counter max; /* since it was forgotten; the reader that does writes it, too */
	sb_counter bucket[SB_HIST_BUCKETS];
};

struct sb_hist_counts {
	uint64_t count;
	uint64_t sum;
	uint64_t max; /* see sb_hist_max; 0: not known */
	uint64_t bucket[SB_HIST_BUCKETS];
};

static inline uint32_t sb_hist_index(uint64_t value)
{
	uint32_t shift;

	if (value < SB_HIST_HALF)
		return (uint32_t)value;
	if (SB_UNLIKELY(value >> SB_HIST_VALUE_BITS))
		return SB_HIST_BUCKETS - 1;
	shift = 63 - (uint32_t)__builtin_clzll(value) - SB_HIST_BITS;
	return shift * SB_HIST_HALF + (uint32_t)(value >> shift);
}

/* Counts one value. Owner only. */
static inline void sb_hist_record(struct sb_hist *hist, uint64_t value)
{
	sb_counter_add(&hist->bucket[sb_hist_index(value)], 1);
	sb_counter_add(&hist->sum, value);
	if (SB_UNLIKELY(value > sb_counter_read(&hist->max)))
		sb_store_rlx(&hist->max, value);
}

/*
 * The maximum is that of the values from now on. Any thread, one at a time. While
 * the owner records, a value of just this moment may be missing in it, or one from
 * before be in it; sb_hist_max allows for both.
 */
static inline void sb_hist_forget_max(struct sb_hist *hist)
{
	/* An empty histogram takes no memory as long as it is only read. */
	if (sb_counter_read(&hist->max))
		sb_store_rlx(&hist->max, 0);
}

/* Smallest value of a bucket, and the number of values it stands for. */
uint64_t sb_hist_bucket_low(uint32_t index);
uint64_t sb_hist_bucket_width(uint32_t index);

/* Adds a reading to *out. Any thread; each bucket is read once, the whole is
 * not one instant. */
void sb_hist_read(struct sb_hist *hist, struct sb_hist_counts *out);

/* a += b, and a -= b where b is an earlier reading of the same histogram; a keeps
 * its maximum, which is exact if it was forgotten when b was read. */
void sb_hist_merge(struct sb_hist_counts *a, const struct sb_hist_counts *b);
void sb_hist_subtract(struct sb_hist_counts *a, const struct sb_hist_counts *b);

/*
 * The smallest recorded value v such that at least the fraction q (0 to 1) of
 * the values is <= v, as the middle of its bucket, but no more than the maximum.
 * 0 when there is no value.
 */
uint64_t sb_hist_quantile(const struct sb_hist_counts *counts, double q);

/*
 * The largest value. Where the maximum is not known, or is none of the highest bucket
 * in use, the largest that this bucket can have. So the mean is never above it. 0 when
 * there is no value.
 */
uint64_t sb_hist_max(const struct sb_hist_counts *counts);

/* Mean of the values as recorded, not as bucketed. 0 when there is none. */
double sb_hist_mean(const struct sb_hist_counts *counts);

#endif
