/*
 * paired.h - how B compares with A, measured in interleaved pairs.
 *
 * Pairs come in blocks of two, A B B A or B A A B, and a coin says which. What is
 * counted is a block: the mean of its pairs' ln(B / A). That takes out what the
 * machine's state does slowly: a level in each pair, and a drift that is steady
 * over a block in the block.
 *
 * The test and the interval are Wilcoxon's signed ranks of blocks. They assume
 * that a block is as likely to come out above the true difference as it is to come
 * out below by the same amount, each by itself. Nothing need be normal, and blocks
 * need not be alike. If B is A this is not an assumption about the machine: had
 * the coin fallen the other way, the same four runs would have given the same
 * amount with the other sign. So false alarms are as rare as stated, whatever the
 * noise is, and whatever one run leaves behind for the next. (Pairs by themselves
 * would not do: those of one block share their coin.) If B is A times a factor,
 * the same holds around that factor.
 *
 * Ties and zeros, as percentiles from a histogram's buckets have, make both wider,
 * never narrower: the interval is closed, and what lies on a limit speaks against
 * being beyond it. (Add a symmetric noise, however small: there are no ties then,
 * and all is exact.)
 *
 * Pure functions on arrays. Hollander and Wolfe, Nonparametric Statistical
 * Methods, 3.1 to 3.3; Hodges and Lehmann, Annals of Mathematical Statistics 34,
 * 1963; Holm, Scandinavian Journal of Statistics 6, 1979.
 */
#ifndef SB_RESULTS_STATS_PAIRED_H
#define SB_RESULTS_STATS_PAIRED_H

#include "results/stats/statistics.h"

/* The default error level of tests and intervals. */
#define SB_PAIRED_LEVEL 0.05
#define SB_PAIRED_POWER 0.8

/* Up to so many values the distribution is exact, then it is the normal one. */
#define SB_SIGNED_RANK_EXACT 100
/* All their pairs are looked at. */
#define SB_SIGNED_RANK_MAX   2000

/* One metric's values in the order of the pairs; what is not finite is missing. */
struct sb_pair_values {
	const double *a, *b;
	const uint32_t *block; /* of each pair, ascending */
	uint32_t pairs;
};

/* A value of 0 or below has no logarithm: if there is any, it is differences. */
enum sb_pair_scale { SB_PAIR_RATIO, SB_PAIR_DIFFERENCE };

/*
 * What is counted: a block's mean of ln(b / a), or of b - a, over those of its
 * pairs that have both values. unit: [pairs]. Returns how many there are.
 */
uint32_t sb_paired_units(double *unit, enum sb_pair_scale *scale, const struct sb_pair_values *in);

struct sb_paired {
	uint32_t pairs;	  /* with both values */
	uint32_t missing; /* without */
	uint32_t units;	  /* blocks with at least one of the former */
	double level;
	enum sb_pair_scale scale;
	double a, b; /* medians over those pairs; NaN with all below: none */

	/* B / A as a factor, or B - A: Hodges and Lehmann's estimate and the
	 * interval. Too few blocks for the level: 0 or -INFINITY, and INFINITY. */
	double estimate, low, high;

	/*
	 * The smallest true difference, as such a factor above 1 or amount above
	 * 0, that measuring again as often would have shown to be one with a
	 * power of 80 %: half the interval's width, times 1 + z(80 %) / z(1 -
	 * level / 2), for the interval's end is z(1 - level / 2) standard errors
	 * away and it has to be z(80 %) more. Simulated, it is 74 to 80 % with ten
	 * blocks and more; less if a few blocks have large disturbances (65 to
	 * 70 %), which as many others might not have. NaN: too few.
	 */
	double detectable;

	/* How likely as much would be if there were no difference: in either
	 * direction, for B above A, for B below A. */
	double p, p_above, p_below;
};

/*
 * level: the interval's error, which is divided by the number of things that are
 * said at the same time (Bonferroni). Returns 0, -ENOMEM or -E2BIG.
 */
SB_MUST_CHECK int sb_paired_compare(struct sb_paired *out, const struct sb_pair_values *in,
				    double level);

/* Whether they differ, B above A 1, below -1; 0: not seen. It is the interval
 * without what stands for no difference, and a p of at most the level. */
int sb_paired_sign(const struct sb_paired *paired);

/* So few blocks can differ at that level, if all agree. */
uint32_t sb_paired_units_needed(double level);

/* ---- the parts ---- */

struct sb_estimated {
	double value, low, high;
};

/*
 * The centre of values that are symmetric around it, and its interval with that
 * error. low and high are infinite if there are too few values. Returns as above;
 * -EINVAL: n is 0.
 */
SB_MUST_CHECK int sb_signed_rank_estimate(struct sb_estimated *out, const double *value, uint32_t n,
					  double level);

/* ln(b / a), rounded so that sums are exact, or b - a; and from the former back to
 * a factor; and the smallest difference that an interval on that scale could have
 * shown, as in struct sb_paired. */
double sb_paired_contrast(double a, double b, enum sb_pair_scale scale);
void sb_paired_put_back(struct sb_estimated *estimated, enum sb_pair_scale scale);
double sb_paired_detectable(const struct sb_estimated *estimated, enum sb_pair_scale scale,
			    double level);

/*
 * One-sided: how likely values as far above the limit (or farther) are if their
 * centre is the limit or below it. To ask about below, change the signs of both.
 * Returns as above.
 */
SB_MUST_CHECK int sb_signed_rank_p(double *p, const double *value, uint32_t n, double limit);

/*
 * Holm's step-down correction in place: adjusted p values, of which those of at
 * most 5 % are right all together with 95 %. NaN is no test, and stays. n: at most
 * SB_HOLM_MAX.
 */
#define SB_HOLM_MAX 1000
void sb_holm_adjust(double *p, uint32_t n);

/* The normal distribution's quantile, 0 < share < 1. */
double sb_normal_quantile(double share);

#endif
