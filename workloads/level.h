/*
 * level.h - the mean over time of something that is looked at now and then, such
 * as how many requests are in a system, and how far that may be off.
 *
 * Between two looks the level counts as the mean of both. If the moments do not
 * depend on the level, the looks are independent draws from the path that it
 * took, each of the weight of the time it stands for; the error is that of their
 * weighted mean. A long gap, after which one look stands for much, widens it.
 */
#ifndef SB_WORKLOADS_LEVEL_H
#define SB_WORKLOADS_LEVEL_H

#include "core/base.h"

struct sb_level {
	bool begun;
	uint64_t last_ns;
	double last;
	double time, time_square;     /* sums of gaps, and of their squares */
	double area;		      /* of level times gap */
	double moment, moment_square; /* of looks times gap */
};

void sb_level_look(struct sb_level *level, uint64_t now_ns, double value);

/* NaN before the second look. */
double sb_level_mean(const struct sb_level *level);
double sb_level_error(const struct sb_level *level);

#endif
