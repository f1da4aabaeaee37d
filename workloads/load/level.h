/*
 * level.h - the mean over time of something that is looked at now and then, such
 * as how many requests are in a system, and how far that may be off.
 *
 * Between two looks the level counts as the mean of both. If the moments do not
 * depend on the level, the looks are independent draws from the path that it
 * took, each of the weight of the time it stands for; the error is that of their
 * weighted mean. A long gap, after which one look stands for much, widens it.
 *
 * A look that is late does depend on it: what held up the one who looks may have
 * held up who adds or takes away, too, and all go on in the same moment. Then
 * nobody knows what the level was meanwhile, but for an estimate of how much that
 * may matter: the larger of the two looks, for as long as the second was late.
 */
#ifndef SB_WORKLOADS_LOAD_LEVEL_H
#define SB_WORKLOADS_LOAD_LEVEL_H

#include "core/platform/base.h"

struct sb_level {
	bool begun;
	uint64_t last_ns;
	double last;
	double time, time_square;     /* sums of gaps, and of their squares */
	double area;		      /* of level times gap */
	double moment, moment_square; /* of looks times gap */
	double unknown;		      /* of larger looks times lateness */
};

void sb_level_look(struct sb_level *level, uint64_t now_ns, uint64_t late_ns, double value);

/* NaN before the second look. The error is a standard error, what is unknown a
 * bound. */
double sb_level_mean(const struct sb_level *level);
double sb_level_error(const struct sb_level *level);
double sb_level_unknown(const struct sb_level *level);

#endif
