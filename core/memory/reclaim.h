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
 *   driver    the thread that holds a try-lock, "the role": a reader at a quiescent state
 *             or when it goes offline, or the helper. The driver takes the deferred
 *             calls, begins a period, and runs the calls once all readers have been
 *             quiescent in that period and all visitors from before it have left. A
 *             driver never waits: the next one continues. A driver that is an online
 *             reader, or the helper, also watches the readers once a millisecond.
 *   helper    one thread of the domain, which drives while no reader does, because all
 *             run long steps or are offline, and runs errands that take long. It rests
 *             otherwise: where every processor has a worker, its wakeups preempt one.
 *
 * Readers that drive are Fraser's scheme (Practical lock-freedom, 2004, section 5.2.3), as in
 * crossbeam-epoch.
 *
 * Why that is enough: a thread that defers has removed the memory from all places
 * where it can be found. The driver takes the deferred calls (acquire) before it
 * stores the new period (release). A reader that stores the period as seen has
 * loaded it (acquire), so that its later look-ups do not find what was removed
 * before; and what it did before happens before the driver's load of `seen`.
 * A reader that comes back online, and a visitor that enters, stores first and
 * looks things up after a full fence; the driver fences between the period and
 * its look at them. So either the driver sees them, or they see the removal:
 *
 *   reader                              driver
 *   seen = period                       period = period + 1
 *   fence                               fence
 *   look-up                             seen?
 *
 * Invariant: while a call is deferred or a period is current, the helper is awake, or a
 * reader is online, which drives at its next tick or when it goes offline. Both sides store
 * first and check after a full fence:
 *
 *   reader that leaves                  helper that goes to sleep
 *   seen = OFFLINE                      sleeps = 1
 *   fence                               fence
 *   sleeps? then drive, or wake it      pending, or online? then stay awake
 *
 * Visitors are counted, in two counts that take turns as in SRCU (McKenney,
 * Sleepable Read-Copy Update, 2006): one that has read which count is current
 * may raise it long after that has changed, so a driver requires both counts to have been
 * zero, one after the other, before it runs a call.
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

/* Read by every reader and visitor, written by the driver. */
struct sb_period {
	alignas(SB_LINE) _Atomic(uint64_t) now;
	_Atomic(uint64_t) drive_ns; /* when a reader is to drive next */
};

/* Functions that the domain calls besides those that are deferred. Each may be NULL. */
struct sb_reclaim_look {
	/*
	 * Watches all online readers except number `own` (all, if that is the count of readers). Called by
	 * one thread at a time: an online reader, or the helper; at least every millisecond while a
	 * reader drives or one is offline. When all were online and none drives any more, the first
	 * call is up to 40 ms late. Returns the time at which it has to be called again, which may be
	 * 50 us late; UINT64_MAX: none.
	 */
	uint64_t (*watch)(void *arg, uint32_t own, uint64_t now_ns);
	/* Called by the helper thread whenever it is awake, and at least once a second while readers
	 * come online. Returns the time at which it has to be called again. */
	uint64_t (*chores)(void *arg, uint64_t now_ns);
	void *arg;
	const char *thread_prefix; /* of the helper thread's name, PREFIX-watch */
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

/* Calls function(deferred) on a thread that drives, after every section that has already begun
 * has ended. The function must not wait, nor take milliseconds. Lock-free; may wake the helper. A
 * thread with a stripe of its own (sb_thread_own()->stripe) writes no line that others write. */
void sb_reclaim_defer(struct sb_reclaim *reclaim, struct sb_deferred *deferred,
		      void (*function)(struct sb_deferred *deferred));

/* Calls function(errand) on the helper thread, soon, and without a period. Any thread. */
void sb_reclaim_errand(struct sb_reclaim *reclaim, struct sb_deferred *errand,
		       void (*function)(struct sb_deferred *errand));

/* Waits until every call deferred before, and every errand, has returned. Not a reader that is
 * online, nor in a section. */
void sb_reclaim_barrier(struct sb_reclaim *reclaim);

/* ---- driving: the reader's thread, at a quiescent state ---- */

/* Advances the current period, or begins one, and runs calls: some microseconds, more with more
 * readers. Does nothing if another thread has the role. To be called from sb_period.drive_ns on.
 * reader: the caller's; NULL: the caller has gone offline. */
void sb_reclaim_drive(struct sb_reclaim *reclaim, struct sb_reader *reader, uint64_t now_ns);

/* Takes the reader offline, and preserves the invariant above: drives, or wakes the helper. */
void sb_reclaim_leave(struct sb_reclaim *reclaim, struct sb_reader *reader, uint64_t now_ns);

/* ---- the helper ---- */

/* Whether it sleeps until it is woken, and looks at nothing meanwhile. Any
 * thread, after a full fence behind what it would have to see. */
bool sb_reclaim_sleeps(struct sb_reclaim *reclaim);

/* No reader has gone offline within the last millisecond. */
bool sb_reclaim_is_quiet(struct sb_reclaim *reclaim, uint64_t now_ns);

/* Makes it look at once; while it waits for readers it looks every 50 us and cannot be woken.
 * Any thread. */
void sb_reclaim_wake(struct sb_reclaim *reclaim);

/* Whether the period under way waits for that reader to be quiescent. In watch. */
bool sb_reclaim_waits_for(struct sb_reclaim *reclaim, uint32_t reader);

/*
 * What liburcu's uninstrumented table orders is told to ThreadSanitizer by hand:
 * release before entering it, acquire after. No-ops in other builds.
 */
void sb_tsan_release(const void *address);
void sb_tsan_acquire(const void *address);

#endif
