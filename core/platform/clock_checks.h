/*
 * clock_checks.h - whether the processor's counter can be trusted: a table of
 * checks, done in turn. Each needs those before it. Tests replace some.
 */
#ifndef SB_CORE_PLATFORM_CLOCK_CHECKS_H
#define SB_CORE_PLATFORM_CLOCK_CHECKS_H

#include "core/platform/clock.h"

struct sb_clock_trial {
	const int *cpu;
	uint32_t cpus;
	struct sb_clock_info *info; /* filled in as it becomes known */
};

struct sb_clock_check {
	const char *name;
	/* False: info->reason says why. */
	bool (*passes)(struct sb_clock_trial *trial);
};

enum sb_clock_check_id {
	SB_CLOCK_CONSTANT,     /* neither the core's frequency nor its sleep
				* change the counter's rate */
	SB_CLOCK_KERNEL,       /* the kernel uses it, too, so it has not found
				* it unstable */
	SB_CLOCK_RATE,	       /* against CLOCK_MONOTONIC_RAW */
	SB_CLOCK_SYNCHRONIZED, /* between the CPUs */
	SB_CLOCK_CHECKS
};

extern const struct sb_clock_check sb_clock_checks[SB_CLOCK_CHECKS];

/* By how much the counter goes on at once, or between two readings of it if that
 * is more. Some go on by many ticks at a time. */
uint64_t sb_clock_step_ticks(void);

/* A reading of CLOCK_MONOTONIC_RAW or CLOCK_MONOTONIC, and of the counter
 * before and after it: the best of several, so close together. */
struct sb_clock_point {
	uint64_t before;
	uint64_t after;
	uint64_t ns;
};

struct sb_clock_point sb_clock_point_raw(void);
struct sb_clock_point sb_clock_point_monotonic(void);

/*
 * The rates, in ticks per nanosecond, with which all points can be: each pair
 * of them bounds it, a hard bound whatever came between its readings. A bad
 * point is one with a wide bracket, bounds nothing, and so does no harm.
 * min > max: no constant rate explains them.
 */
struct sb_clock_rate {
	double min;
	double max;
};

struct sb_clock_rate sb_clock_rate_of(const struct sb_clock_point *point, uint32_t points);

/*
 * What rounds of question and answer between two CPUs tell of how far the
 * second's counter is ahead, in ticks: from low to high. The answer is read
 * after the question is and before the third reading:
 *
 *	near   ask --------------------> again      ahead <= answer - ask
 *	far          \--> answer --/                ahead >= answer - again
 *
 * low <= 0 <= high as long as no reading was smaller than one that had been
 * made before it. Of a counter that goes on in steps, each bound is a step off.
 */
struct sb_clock_offset {
	int64_t low;
	int64_t high;
	uint32_t rounds;
};

static inline bool sb_clock_offset_agrees(const struct sb_clock_offset *offset)
{
	return offset->low <= 0 && offset->high >= 0;
}

void sb_clock_offset_add(struct sb_clock_offset *offset, uint64_t ask, uint64_t answer,
			 uint64_t again);

/* sb_clock_calibrate with checks of one's own. */
SB_MUST_CHECK int sb_clock_calibrate_by(const struct sb_clock_check checks[SB_CLOCK_CHECKS],
					const int *cpu, uint32_t cpus, struct sb_clock_info *info);

#endif
