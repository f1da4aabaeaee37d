/*
 * reclaim.h - when memory that other threads may still be reading can be used
 * again. liburcu's QSBR flavour; with core/pidmap.c its only user.
 *
 * A worker is registered for its life. Everything between two quiescent states
 * of it is one read-side section: a process it has looked up stays a process
 * for so long. A worker is offline while it is parked, so it delays nobody.
 *
 * Any other thread is registered at its first call and is online only within
 * sb_rcu_foreign_enter/exit, so a foreign thread that goes its own way delays
 * nobody either. Pairs may nest. On a worker (of another scheduler) they do
 * nothing: it is online already.
 */
#ifndef SB_CORE_RECLAIM_H
#define SB_CORE_RECLAIM_H

#include "core/base.h"

/* The caller's memory for one deferred call. */
struct sb_rcu_head {
	struct sb_rcu_head *older; /* of those that wait */
	void (*function)(struct sb_rcu_head *head);
};

void sb_rcu_worker_register(void);
void sb_rcu_worker_unregister(void);
void sb_rcu_quiescent(void);
void sb_rcu_offline(void);
void sb_rcu_online(void);

void sb_rcu_foreign_enter(void);
void sb_rcu_foreign_exit(void);

/* Whether the caller, no worker, is between the two: waiting there for a process
 * would keep stop, by force, from ending it. */
bool sb_rcu_foreign_inside(void);

/*
 * Calls function(head) on the helper thread after every read-side section that has
 * already begun has ended. Any thread; after sb_rcu_prepare.
 */
void sb_rcu_defer(struct sb_rcu_head *head,
		  void (*function)(struct sb_rcu_head *head));

/* Starts the helper thread from the calling, unpinned thread: it inherits its
 * affinity mask. Idempotent. */
void sb_rcu_prepare(void);

/* Waits until every deferred call made before has returned. Not a worker. */
void sb_rcu_barrier(void);

/* Waits for a grace period. For a worker that is a quiescent state. */
void sb_rcu_synchronize(void);

/*
 * What liburcu's uninstrumented code orders is told to ThreadSanitizer by hand:
 * release before entering it, acquire after. No-ops in other builds.
 */
void sb_rcu_tsan_release(const void *address);
void sb_rcu_tsan_acquire(const void *address);

#endif
