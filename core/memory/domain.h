/* domain.h - a domain of the reclamation, for reclaim.c and helper.c. */
#ifndef SB_CORE_MEMORY_DOMAIN_H
#define SB_CORE_MEMORY_DOMAIN_H

#include "core/memory/reclaim.h"
#include "core/platform/platform.h"

/* While the helper sleeps, a reader that leaves wakes it at most that often, for its chores. */
#define SB_CHORES_NS UINT64_C(1000000000)

/* Where the driver is with the calls that it has taken. */
enum sb_stage {
	SB_STAGE_NOTHING,
	SB_STAGE_FIRST_SIDE,
	SB_STAGE_SECOND_SIDE,
	SB_STAGE_READERS,
};

struct sb_reclaim {
	struct sb_period period;

	/* Visitors. */
	alignas(SB_LINE) _Atomic(uint32_t) side;
	_Atomic(uint32_t) inside[2];

	/* Threads that defer, and have no stripe of their own. */
	alignas(SB_LINE) _Atomic(struct sb_deferred *) newest;
	_Atomic(uint32_t) sleeps; /* the helper has no deadline of its own: no reader is online */

	/* The helper. */
	alignas(SB_LINE) struct sb_parker parker;
	struct sb_thread thread;
	_Atomic(uint32_t) ends;
	_Atomic(struct sb_deferred *) errands;
	struct sb_reclaim_look look;
	uint64_t next_chores_ns;     /* that it needs itself */
	_Atomic(uint64_t) chores_ns; /* from then on a reader that leaves wakes it */

	alignas(SB_LINE) _Atomic(uint64_t) driven_ns; /* when a reader drove last */
	_Atomic(uint64_t) left_ns;		      /* when one went offline */
	uint32_t readers;

	/* The driver: the thread that has the role. */
	alignas(SB_LINE) _Atomic(uint32_t) role;
	_Atomic(enum sb_stage) stage;
	struct sb_deferred *taken;  /* deferred calls of this period, newest first in each stripe */
	_Atomic(uint64_t) watch_ns; /* when the readers are to be watched next */

	struct sb_reader reader[];
};

/* Advances the current period, or begins one; does nothing if another thread has the role.
 * reader: the caller's own, which is quiescent; or NULL. spins: checks of the readers, with a pause
 * between. now_ns: 0: does not watch. */
void sb_domain_drive(struct sb_reclaim *reclaim, struct sb_reader *reader, int spins,
		     uint64_t now_ns);

/* Something is deferred, or a period is under way. */
bool sb_domain_is_pending(struct sb_reclaim *reclaim);

bool sb_domain_is_anything_deferred(struct sb_reclaim *reclaim);

/* Calls deferred calls, given newest first, in the order of their coming. */
void sb_domain_run_calls(struct sb_deferred *newest);

/* The body of the helper thread. */
void *sb_domain_help(void *reclaim);

#endif
