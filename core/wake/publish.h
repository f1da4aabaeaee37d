/*
 * publish.h - from a process that has become Ready to a queue, and to a worker
 * that is woken for it. worker is the caller's own, or NULL: a foreign thread's.
 */
#ifndef SB_CORE_WAKE_PUBLISH_H
#define SB_CORE_WAKE_PUBLISH_H

#include "core/platform/base.h"

struct sb_process;
struct sb_scheduler;
struct sb_worker;

/* What a worker has done without telling those who sleep, because it is likely
 * to see to it itself at once. See sb_tell_untold() in core/worker/take.h. */
struct sb_untold {
	struct sb_process *process; /* only compared; NULL: several */
	uint32_t what;		    /* enum sb_untold_what, or-ed */
};

enum sb_untold_what {
	SB_UNTOLD_WORK = 1,  /* put `process` on its own deque */
	SB_UNTOLD_TIMER = 2, /* started a timer */
};

/* Queues a process that has just become Ready, and wakes somebody for it. */
void sb_route_ready(struct sb_scheduler *scheduler, struct sb_worker *worker,
		    struct sb_process *process);

/* Queues a process on the hot end of the worker's own deque, or behind those that
 * continue, and wakes nobody. */
void sb_route_local(struct sb_worker *worker, struct sb_process *process, bool behind);

/*
 * Queues a Running process that is to run again on the worker's own deque, and
 * tells nobody: the worker's step is over, and it takes the process back in a
 * moment. If it takes another one first, next_process() tells.
 */
void sb_route_requeue(struct sb_worker *worker, struct sb_process *process, bool behind);

/* Queues a new process of the worker's own, and wakes somebody for it. With a fence
 * between all that the caller has stored before, and loads after it. */
void sb_route_new(struct sb_worker *worker, struct sb_process *process);

/* Wakes a worker that an idle claim has returned. */
void sb_route_unpark(struct sb_scheduler *scheduler, struct sb_worker *worker, uint32_t id);

/* Work has become visible: wakes a sleeper if that is called for. near: whom
 * to wake by preference. */
void sb_route_publish(struct sb_scheduler *scheduler, struct sb_worker *worker, uint32_t near);

/*
 * After a foreign thread has appended a process to the global queue, which has at most
 * `length` then: whether a worker has to be woken, by sb_route_publish and
 * sb_route_backlog. With the fence of the first. The caller may hold the queue's lock.
 */
bool sb_route_append_wakes(struct sb_scheduler *scheduler, uint32_t length);

/*
 * After the worker has stolen n processes, and queued all but one of them. If they are many it wakes
 * a sleeper though others search. So sleepers wake in a tree; each by the last searcher, one
 * behind the other, 256 of them took a millisecond, which was most of a round of skynet (virtual
 * time, two sockets of 64 cores).
 */
void sb_route_stolen(struct sb_worker *worker, uint32_t n);

/*
 * After a publish: what has become visible is the last of so many in the global
 * queue. If they have piled up there, wakes a sleeper though others search: these
 * may be descheduled, in favour of the caller, even.
 */
void sb_route_backlog(struct sb_scheduler *scheduler, struct sb_worker *worker, uint32_t length);

#endif
