/*
 * unpaired.h - how B compares with A when they were measured apart: Mann and
 * Whitney's test, and Hodges and Lehmann's estimate of the shift.
 *
 * The test asks whether values of A and B could have come in any order; the interval
 * that B has A's distribution, times a factor (or shifted). Both take each value as
 * one by itself. Repetitions of one process and runs on different days are not, and
 * no arithmetic here can tell: pairs (paired.h) can.
 *
 * The test is exact, with ties too, up to SB_UNPAIRED_EXACT values, and then normal
 * with the correction for ties and for continuity. The interval is that without
 * ties, which with ties is wider than it need be. Pure functions on arrays.
 * Hollander and Wolfe, Nonparametric Statistical Methods, chapter 4.
 */
#ifndef SB_RESULTS_STATS_UNPAIRED_H
#define SB_RESULTS_STATS_UNPAIRED_H

#include "results/stats/paired.h"

/* Values of both together. */
#define SB_UNPAIRED_EXACT 60
/* Of one side: all differences are looked at. */
#define SB_UNPAIRED_MAX	  2000

struct sb_unpaired {
	double a, b; /* medians */
	enum sb_pair_scale scale;
	/* B / A or B - A, as in struct sb_paired. */
	double estimate, low, high;
	double level;
	double detectable; /* by the same rule */
	double p;	   /* two-sided */
	double p_above, p_below;
	double superiority; /* P(B > A) + P(B = A) / 2 */
	int sign;	    /* by the interval: B above A 1, below -1, else 0 */
};

/* Of finite values, at least one on each side, at most SB_UNPAIRED_MAX. Returns 0,
 * -EINVAL, -E2BIG or -ENOMEM. */
SB_MUST_CHECK int sb_unpaired_compare(struct sb_unpaired *out, const double *a, uint32_t n_a,
				      const double *b, uint32_t n_b, double level);

#endif
