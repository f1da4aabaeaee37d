/*
 * work.h - busy work of a given amount, for workloads whose steps take time,
 * and how much of it a microsecond holds on this machine. It touches no memory
 * and asks no clock, so it takes as long beside a busy neighbour and costs
 * nothing but itself. Any thread.
 */
#ifndef SB_WORKLOADS_LIB_WORK_H
#define SB_WORKLOADS_LIB_WORK_H

#include "core/platform/base.h"

/*
 * Does so many units, each a multiplication and an addition that need the one
 * before. Returns what they come to, which depends on their number alone.
 */
uint64_t sb_work_spin(uint64_t units);

#define SB_WORK_SAMPLES 51

struct sb_work_rate {
	double units_per_us; /* the median of the samples */
	uint32_t samples;
	double sample[SB_WORK_SAMPLES]; /* in the order they came */
};

/* Takes about 10 ms. The first samples may be slow: the core wakes up. */
void sb_work_calibrate(struct sb_work_rate *rate);

/* How many of them a millisecond of CPU time holds, whatever else runs. Measured
 * at the first call, in some 20 ms, on the caller's core. */
uint64_t sb_work_units_per_ms(void);

/* Units for a time, by a rate. */
static inline uint64_t sb_work_units(const struct sb_work_rate *rate, uint64_t ns)
{
	return (uint64_t)((double)ns * rate->units_per_us / 1000 + 0.5);
}

#endif
