/*
 * front.h - which of several configurations are best in two objectives at once: the
 * Pareto front, how sure it is, and the compromise between both.
 *
 * Rounds are compared and resampled as in ranking.h. Pure functions on arrays; the same
 * seed gives the same answer.
 */
#ifndef SB_RESULTS_STATS_FRONT_H
#define SB_RESULTS_STATS_FRONT_H

#include "results/stats/ranking.h"

#define SB_FRONT_OBJECTIVES 2

struct sb_front_member {
	/* By the estimates, no other configuration is as good in both objectives and
	 * better in one. */
	bool is_on_front;
	double p_front; /* share of the resamplings in which that is so */
	double excess;	/* factor above the best one, in the objective where that is larger */
};

struct sb_front {
	struct sb_ranking ranking[SB_FRONT_OBJECTIVES]; /* over the same rounds */
	/* The least excess: of all, it gives up least in whichever objective it gives up
	 * more. Only if any are compared. */
	uint32_t compromise;
};

/* Of n values each, drops those that the other objective lacks. */
void sb_front_pair(double *a, double *b, size_t n);

/*
 * in: the same configurations and rounds, of each objective, lower is better, after
 * sb_front_pair. member, rank: [configurations]. Returns 0 or -ENOMEM.
 */
SB_MUST_CHECK int sb_front_make(struct sb_front *front, struct sb_front_member *member,
				struct sb_rank *const rank[SB_FRONT_OBJECTIVES],
				const struct sb_rounds in[SB_FRONT_OBJECTIVES], uint64_t seed);

#endif
