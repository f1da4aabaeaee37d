/*
 * front.h - which of several configurations are best in two objectives at once: the
 * Pareto front, and the compromise between both, by the estimates of ranking.h. Pure
 * functions on arrays.
 */
#ifndef SB_RESULTS_STATS_FRONT_H
#define SB_RESULTS_STATS_FRONT_H

#include "results/stats/ranking.h"

#define SB_FRONT_OBJECTIVES 2

struct sb_front_member {
	/* No other configuration is as good in both objectives and better in one. */
	bool is_on_front;
	double excess; /* factor above the leader, in the objective where that is larger */
};

struct sb_front {
	/* Of those that are judged in both objectives, the least excess: it gives up least in
	 * whichever objective it gives up more. UINT32_MAX: none is judged. */
	uint32_t compromise;
};

/* ranking, rank: of each objective, lower is better. member, rank: [configurations]. Returns 0 or
 * -ENOMEM. */
SB_MUST_CHECK int sb_front_make(struct sb_front *front, struct sb_front_member *member,
				const struct sb_ranking *const ranking[SB_FRONT_OBJECTIVES],
				const struct sb_rank *const rank[SB_FRONT_OBJECTIVES],
				uint32_t configurations);

#endif
