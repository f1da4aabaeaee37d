/*
 * ranking.h - which of several configurations is best.
 *
 * Repetitions are blocks: in each round every configuration has run once, so what made a
 * round slow made it slow for all. One model holds for all rows that have numbers:
 *
 *     ln y(c, r) = estimate(c) + round(r), by least squares, the rounds' sum being 0
 *
 * No row is dropped because another one is missing. Pure functions on arrays.
 */
#ifndef SB_RESULTS_STATS_RANKING_H
#define SB_RESULTS_STATS_RANKING_H

#include "core/platform/base.h"

/* With fewer numbers, or fewer rounds in common with the leader, a configuration is not
 * judged. */
#define SB_RANKING_ROUNDS 3

/* What is known of a configuration. */
enum sb_mark {
	SB_MARK_OPEN,  /* not judged, and may be the best */
	SB_MARK_BEST,  /* all others are worse */
	SB_MARK_ALIKE, /* may be the best */
	SB_MARK_WORSE, /* than the leader, with an error of 5 % for all of these together */
};

struct sb_rank {
	uint32_t n;	  /* numbers */
	double estimate;  /* NaN: it has no numbers */
	double low, high; /* 95 % interval of the estimate, within these rounds; NaN: too few */
	double above;	  /* mean ln ratio to the leader over the rounds of both; NaN: not judged */
	double bound;	  /* the least that `above` may be; worse: it is more than 0 */
	enum sb_mark mark;
};

struct sb_ranking {
	uint32_t leader; /* the least estimate of those that have enough numbers */
	uint32_t judged; /* have enough numbers; 0: there is no leader */
	uint32_t marked[SB_MARK_WORSE + 1]; /* how many have each mark */
};

/* value[c * rounds + r] is what configuration c had in round r: lower is better,
 * NaN or not above 0 is missing. */
struct sb_rounds {
	const double *value;
	uint32_t configurations;
	uint32_t rounds;
};

/*
 * A configuration is worse if the mean logarithm of its ratios to the leader, over the
 * rounds that both have, is above 0 by a one-sided t test with an error of 5 % divided by
 * the number of others (Bonferroni). Those that are not worse therefore have the truly best
 * one among them with at least 95 % confidence (the subset of Gupta and Hsu). By itself, a
 * configuration is not marked.
 *
 * rank: [configurations]. Returns 0 or -ENOMEM.
 */
SB_MUST_CHECK int sb_ranking_make(struct sb_ranking *ranking, struct sb_rank *rank,
				  const struct sb_rounds *in);

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
