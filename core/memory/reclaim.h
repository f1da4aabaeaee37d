/*
 * reclaim.h - when memory that other threads may still be reading can be used
 * again: quiescent-state-based reclamation (McKenney and Slingwine,
 * Read-Copy Update, PDCS 1998; Desnoyers et al., User-Level Implementations of
 * Read-Copy Update, IEEE TPDS 23(2), 2012, section 4.1), one domain for each
 * scheduler, so that schedulers do not wait for each other.
 *
 * Roles
 *   reader    one for each worker. All that a worker does between two quiescent
 *             states is one read-side section, but for the code of a step: while
 *             a worker is in that, the watcher may pass a quiescent state on its
 *             behalf (core/message/handover.h). A reader is offline while its worker is
 *             parked.
 *   visitor   any other thread, in a section between sb_reclaim_enter and
 *             sb_reclaim_exit. Sections may nest.
 *   helper    one thread of the domain's own. It takes what was deferred, begins
 *             a period, waits until all readers have been quiescent in that
 *             period and all visitors that may have come before it have left,
 *             and runs the deferred calls.
 *
 * Why that is enough: a thread that defers has removed the memory from all places
 * where it can be found. The helper takes the deferred calls (acquire) before it
 * stores the new period (release). A reader that stores the period as seen has
 * loaded it (acquire), so that its later look-ups do not find what was removed
 * before; and what it did before happens before the helper's load of `seen`.
 * A reader that comes back online, and a visitor that enters, stores first and
 * looks things up after a full fence; the helper fences between the period and
 * its look at them. So either the helper sees them, or they see the removal:
 *
 *   reader                              helper
 *   seen = period                       period = period + 1
 *   fence                               fence
 *   look-up                             seen?
 *
 * Visitors are counted, in two counts that take turns as in SRCU (McKenney,
 * Sleepable Read-Copy Update, 2006): one that has read which count is current
 * may raise it long after that has changed, so the helper waits for both counts
 * in turn before it runs anything.
 *
 * Model: tests/models/reclaim.pml.
 */
#ifndef SB_CORE_MEMORY_RECLAIM_H
#define SB_CORE_MEMORY_RECLAIM_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

struct sb_reclaim;

/* The caller's memory for one deferred call. */
struct sb_deferred {
	struct sb_deferred *older; /* of those that wait */
	void (*function)(struct sb_deferred *deferred);
};

#define SB_READER_OFFLINE UINT64_MAX

struct sb_reader {
	alignas(SB_LINE) _Atomic(uint64_t) seen; /* a period, or offline */
	/* A stripe: its thread's, of what all threads share otherwise. */
	alignas(SB_LINE) _Atomic(struct sb_deferred *) newest; /* that it has deferred */
	_Atomic(uint32_t) inside[2];			       /* its sections as a visitor */
};

/* Read by every reader and visitor. */
struct sb_period {
	alignas(SB_LINE) _Atomic(uint64_t) now;
};

/*
 * The helper calls look at least every millisecond while a reader is online or
 * a call is deferred: for whatever else has to be done now and then. It returns
 * the time of the next look that it needs; UINT64_MAX: none. While the helper waits for readers,
 * that look may be 50 us late.
 */
struct sb_reclaim_look {
	uint64_t (*look)(void *arg, uint64_t now_ns); /* or NULL */
	void *arg;
};

/*
 * Makes a domain, with its helper thread, which is not pinned: it inherits the
 * caller's affinity mask. Its readers are offline. Returns 0, -ENOMEM, or the
 * error of the thread's creation (-EAGAIN).
 */
SB_MUST_CHECK int sb_reclaim_create(struct sb_reclaim **reclaim, uint32_t readers,
				    const struct sb_reclaim_look *look);

/* Runs what is deferred, and ends the helper. All readers are offline. NULL is
 * allowed. */
void sb_reclaim_destroy(struct sb_reclaim *reclaim);

/* ---- stripes: what all threads write otherwise, one for each reader, and one for the others ---- */

uint32_t sb_reclaim_stripes(const struct sb_reclaim *reclaim);

/* The calling thread's, below sb_reclaim_stripes(). */
uint32_t sb_reclaim_stripe(const struct sb_reclaim *reclaim);

/* ---- readers: the worker's thread only ---- */

struct sb_reader *sb_reclaim_reader(struct sb_reclaim *reclaim, uint32_t i);
struct sb_period *sb_reclaim_period(struct sb_reclaim *reclaim);

/* Whether it was online a moment ago. Any thread; what the reader's thread did
 * before it came online has happened then. */
bool sb_reclaim_is_online(struct sb_reclaim *reclaim, uint32_t i);

static inline void sb_reader_quiescent(struct sb_reader *reader, struct sb_period *period)
{
	sb_store_rel(&reader->seen, sb_load_acq(&period->now));
}

static inline void sb_reader_offline(struct sb_reader *reader)
{
	sb_store_rel(&reader->seen, SB_READER_OFFLINE);
}

static inline void sb_reader_online(struct sb_reader *reader, struct sb_period *period)
{
	sb_store_rel(&reader->seen, sb_load_acq(&period->now));
	sb_fence_store_load(&reader->seen);
}

/* ---- visitors: any thread; a section is short, and blocks for nobody ---- */

/* Returns what exit needs. */
uint32_t sb_reclaim_enter(struct sb_reclaim *reclaim);
void sb_reclaim_exit(struct sb_reclaim *reclaim, uint32_t side);

/* Whether the calling thread is in a section of any domain. */
bool sb_reclaim_inside(void);

/* Waits until all visitors that are in a section now have left it; not for
 * readers. Not in a section. */
void sb_reclaim_wait_visitors(struct sb_reclaim *reclaim);

/* ---- deferring: any thread ---- */

/* Calls function(deferred) on the helper thread after every section that has
 * already begun has ended. Lock-free; it may wake the helper. A thread with a stripe of its own
 * (sb_thread_own()->stripe) writes no line that others write. */
void sb_reclaim_defer(struct sb_reclaim *reclaim, struct sb_deferred *deferred,
		      void (*function)(struct sb_deferred *deferred));

/* Waits until every call deferred before has returned. Not a reader that is
 * online, nor in a section. */
void sb_reclaim_barrier(struct sb_reclaim *reclaim);

/* ---- the helper ---- */

/* Whether it sleeps until it is woken, and looks at nothing meanwhile. Any
 * thread, after a full fence behind what it would have to see. */
bool sb_reclaim_sleeps(struct sb_reclaim *reclaim);

/* Makes it look at once; while it waits for readers it looks every 50 us and cannot be woken.
 * Any thread. */
void sb_reclaim_wake(struct sb_reclaim *reclaim);

/* Whether it waits for that reader to be quiescent. In look. */
bool sb_reclaim_waits_for(struct sb_reclaim *reclaim, uint32_t reader);

/*
 * What liburcu's uninstrumented table orders is told to ThreadSanitizer by hand:
 * release before entering it, acquire after. No-ops in other builds.
 */
void sb_tsan_release(const void *address);
void sb_tsan_acquire(const void *address);

#endif
