/* steal.h - whom a worker steals from, and how. */
#ifndef SB_CORE_WORKER_STEAL_H
#define SB_CORE_WORKER_STEAL_H

#include "core/platform/base.h"

struct sb_process;
struct sb_worker;

/*
 * The workers a thief looks at, in rings of growing distance; within a ring it
 * begins anywhere. All in one ring: the order is random. Of a ring of more than 256 a round
 * looks at a part that is spread evenly over it.
 */
struct sb_victims {
	uint32_t *worker; /* [workers - 1], nearest ring first */
	uint32_t rings;
	uint32_t *ring_end; /* [rings] */
	uint32_t reach;	    /* rings to look at in this round */
	uint32_t last;	    /* who gave last, or SB_WORKER_NONE */
	uint32_t crowd;	    /* meetings with other thieves lately, less successes; see steal.c */
};

/* Makes the worker's rings of victims from the placement. Returns 0 or
 * -ENOMEM. */
int sb_victims_init(struct sb_worker *worker);
void sb_victims_fini(struct sb_worker *worker);

/* An idle episode begins: the nearest victims first, again. */
void sb_steal_begin(struct sb_worker *worker);

/* One look at the victims within reach. The rest of what was taken is on the
 * own deque. NULL: nothing; the next look reaches further. */
struct sb_process *sb_steal_round(struct sb_worker *worker);

#endif
