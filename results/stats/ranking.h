/*
 * ranking.h - which of several configurations is best, and how sure that is.
 *
 * Repetitions are blocks: in each round every configuration has run once, so
 * what made a round slow made it slow for all. Configurations are therefore
 * compared within rounds, by the logarithms of their ratios, and a round is what
 * is resampled. Pure functions on arrays; the same seed gives the same answer.
 */
#ifndef SB_RESULTS_STATS_RANKING_H
#define SB_RESULTS_STATS_RANKING_H

#include "core/platform/base.h"

/* With fewer rounds nothing is said. */
#define SB_RANKING_ROUNDS 5

/* How a configuration compares with another one. */
struct sb_ratio {
	uint32_t rounds;  /* in which both have a value */
	double ratio;	  /* geometric mean; NaN with the rest: too few rounds */
	double low, high; /* of the 95 % interval */
};

struct sb_rank {
	bool compared; /* it has enough values */
	double p_best; /* share of the resamplings in which it is the best */

	/* One-sided, by Student's t on the logarithms: how likely a difference
	 * to the best one like this would be if there were none. */
	double p_value;
	bool apart; /* from the best */
};

struct sb_ranking {
	uint32_t rounds;   /* in which all that are compared have a value */
	uint32_t compared; /* 0, or at least 2 */
	uint32_t best;	   /* if any are */
	uint32_t second;
};

/* value[c * rounds + r] is what configuration c had in round r: lower is better,
 * NaN or not above 0 is missing. */
struct sb_rounds {
	const double *value;
	uint32_t configurations;
	uint32_t rounds;
};

/*
 * Configurations with the fewest values are left out until SB_RANKING_ROUNDS
 * rounds are complete; compared is 0 if fewer than two are left.
 *
 * A configuration is `apart` when it is worse than the best one with an error of
 * 5 % divided by the number of such decisions (Bonferroni). The best one and
 * those that are not apart therefore have the truly best one among them with at
 * least 95 % confidence (the subset of Gupta and Hsu), whichever came out first.
 *
 * rank: [configurations]. Returns 0 or -ENOMEM.
 */
SB_MUST_CHECK int sb_ranking_make(struct sb_ranking *ranking, struct sb_rank *rank,
				  const struct sb_rounds *in, uint64_t seed);

/*
 * of / to, both [rounds] as above. The interval is the bootstrap's percentile
 * interval of the mean logarithm, widened for few rounds as Hesterberg (The
 * American Statistician 69, 2015) does: the plain one is too narrow by
 * sqrt((n - 1) / n), and takes the normal distribution's tails for Student's.
 */
struct sb_ratio sb_ranking_ratio(const double *of, const double *to, uint32_t rounds,
				 uint64_t seed);

/*
 * What ranks configuration c, which is compared: its geometric mean over the
 * rounds in which all that are compared have a value, with its interval as above.
 */
struct sb_ratio sb_ranking_mean(const struct sb_rounds *in, const struct sb_rank *rank, uint32_t c,
				uint64_t seed);

/*
 * The effect of one option alone: out[l * rounds + r] is the geometric mean over
 * the configurations of level l, NaN unless all that have include[c] have a
 * value in that round. level: [configurations].
 */
void sb_ranking_fold(double *out, uint32_t levels, const uint32_t *level, const bool *include,
		     const struct sb_rounds *in);

/* P(T <= t) for so many degrees of freedom, at least 1. */
double sb_student_below(double t, uint32_t freedom);

/* The t > 0 that lies above that share of the distribution. */
double sb_student_quantile(double share, uint32_t freedom);

#endif
