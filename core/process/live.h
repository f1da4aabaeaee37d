/* live.h - how many processes are alive. worker is the caller's own, or NULL. */
#ifndef SB_CORE_PROCESS_LIVE_H
#define SB_CORE_PROCESS_LIVE_H

#include "core/platform/atomic.h"

struct sb_scheduler;
struct sb_worker;

/* Live processes that a worker has reserved ahead; see live.c. */
struct sb_credit {
	_Atomic(uint32_t) n;	   /* the owner's, and a collector's */
	_Atomic(uint32_t) touched; /* the owner is about to change n */
};

/* Waits until no process is alive, and nobody is about to make one. False: the time
 * is out. See sb_caller_may_wait. */
bool sb_live_wait_none(struct sb_scheduler *scheduler, uint64_t timeout_ns);

void sb_live_init(struct sb_scheduler *scheduler);

/* Reserves one live process, or refuses: as many as processes_max are alive, or
 * about to be. */
bool sb_live_reserve(struct sb_worker *worker);

/* The same for foreign threads. The first, under their lock, may fail though fewer
 * are alive; then the second, under no lock, decides. */
bool sb_live_reserve_foreign(struct sb_scheduler *scheduler);
bool sb_live_reserve_exactly(struct sb_scheduler *scheduler);

/* Undoes that: there will be no process. */
void sb_live_unreserve(struct sb_scheduler *scheduler, struct sb_worker *worker);

/* A process of this worker has completed. */
void sb_live_complete(struct sb_worker *worker);

/* Gives n reservations back, of which the last was needed until then. */
void sb_live_release(struct sb_scheduler *scheduler, uint64_t n, uint64_t since_ns);

/* Gives back what the worker has reserved ahead; it has had no work since then. */
void sb_worker_release_credit(struct sb_worker *worker, uint64_t since_ns);

#endif
