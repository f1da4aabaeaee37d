/*
 * shift.h - from some numbers to others, measured at another time: by how much
 * they have moved, by Mann and Whitney's test, whose distribution is exact, and
 * Hodges and Lehmann's estimate. It asks that the two are alike but for the shift
 * and that each number is one by itself, which a machine need not keep to between
 * one day and another: pairs (paired.h) are better. Hollander and Wolfe,
 * Nonparametric Statistical Methods, chapter 4.
 */
#ifndef SB_RESULTS_SHIFT_H
#define SB_RESULTS_SHIFT_H

#include "core/base.h"

/* More numbers of a side are not taken. */
#define SB_SHIFT_MAX 100

struct sb_shift {
	uint32_t all;	 /* differences */
	double *sorted;	 /* [all] */
	double *at_most; /* [all + 1] how likely so many are on one side of the
			  * shift */
};

/* From m numbers to n others, both 1 to SB_SHIFT_MAX. Returns 0 or -ENOMEM; then it is empty. */
SB_MUST_CHECK int sb_shift_make(struct sb_shift *shift, const double *from,
				uint32_t m, const double *to, uint32_t n);
void sb_shift_free(struct sb_shift *shift);

/* The median of the differences. */
double sb_shift_estimate(const struct sb_shift *shift);

/* How likely numbers like these, or farther above the limit, are if the shift is
 * the limit or less; ties speak for that. */
double sb_shift_p_above(const struct sb_shift *shift, double limit);

/* The same of below. */
double sb_shift_p_below(const struct sb_shift *shift, double limit);

/* The interval with that error in all; infinite: too few numbers. */
void sb_shift_interval(const struct sb_shift *shift, double level, double *low,
		       double *high);

#endif
