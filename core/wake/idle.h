/*
 * idle.h - who is searching for work and who sleeps, and whom to wake.
 *
 * Two rules make up the protocol; core/worker/spin.c and core/scheduler.c keep them.
 *
 *   publish   make work visible in a queue; sb_fence_store_load; then, if
 *             nobody searches and somebody sleeps, wake one (sb_idle_claim)
 *   sleep     announce (sb_idle_announce); sb_fence_store_load; look at every
 *             queue once more; only then park
 *
 * Without the fences both sides may read the old value of the other's word
 * (the store-buffering litmus test), and work and sleeper miss each other:
 *
 *   publisher                          sleeper
 *   push work            (buffered)    sleepers++           (buffered)
 *   read sleepers == 0                 read queues: empty
 *   return                             park for ever
 *
 * The waker turns the sleeper into a searcher in the same CAS that takes it
 * off the sleepers, so publishers between the wake and the moment the sleeper
 * really runs see a searcher and wake no second one. In return, the last
 * searcher to find work looks whether more is visible and wakes the next.
 *
 * A worker that has just run out of work may look for more without being counted as
 * a searcher, if nobody sleeps; so may one that the bound on searchers refuses, once. To
 * the others it is one at work: if it finds several processes it wakes somebody for the
 * rest, as that one would.
 *
 * Representation: `counts` = { searching:32 | sleeping:32 } is a semaphore of
 * sleepers, and `asleep` a set of bits that says which. Invariant: the bits set
 * are never fewer than the sleepers counted plus the claims that have not yet
 * taken their bit (announce sets the bit first and counts second; a claim
 * lowers the count first and takes a bit second). So a thread that has lowered the
 * count always finds a bit, and each claim wakes exactly one.
 *
 * Searchers come and go all the time, and a load of `counts` would often have to fetch it
 * from another CPU. So publishers load `ask` first, which hardly ever changes:
 * { version:63 | whether to look at counts }. Invariant: it says so while nobody
 * searches and somebody sleeps, from the moment that those who bring that about
 * have raised it, which they do before they look at the queues once more. A publisher that
 * looks in vain lowers it, unless somebody has raised it since.
 *
 * Any number of workers; nothing here depends on 64.
 */
#ifndef SB_CORE_WAKE_IDLE_H
#define SB_CORE_WAKE_IDLE_H

#include "core/platform/atomic.h"
#include "core/platform/base.h"

#define SB_IDLE_NONE UINT32_MAX

struct sb_idle {
	alignas(SB_LINE) _Atomic(uint64_t) counts;
	alignas(SB_LINE) _Atomic(uint64_t) ask;

	/* Constant after init. */
	alignas(SB_LINE) uint32_t workers;
	uint32_t searchers_max; /* 0: half of the awake workers */
	_Atomic(uint64_t) *asleep;
};

/* Everybody is awake and nobody searches. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_idle_init(struct sb_idle *idle, uint32_t workers, uint32_t searchers_max);
void sb_idle_fini(struct sb_idle *idle);

/* Becomes a searcher if the bound allows one more. The bound is soft: a worker
 * that retracts, because it saw work, searches whatever the bound says. */
bool sb_idle_search_begin(struct sb_idle *idle);

/* Is a searcher no more, having found work. True: it was the last one. */
bool sb_idle_search_end(struct sb_idle *idle);

/* Counts worker among the sleepers and, if it was one, not as a searcher. */
void sb_idle_announce(struct sb_idle *idle, uint32_t worker, bool searching);

/*
 * After an announce: worker saw work and wants to search instead of sleep.
 * Returns
 *   worker        it is a searcher now
 *   SB_IDLE_NONE  every sleeper counted is claimed, but it is not settled yet
 *                 which: ask sb_idle_is_announced, and retract again if so
 *   another id    a waker has taken this worker's bit, so it is counted as a
 *                 searcher; and the caller must unpark that other one
 */
uint32_t sb_idle_retract(struct sb_idle *idle, uint32_t worker);

/*
 * Whether worker is still among the sleepers. Only this says so: a token may be
 * stale, and a claim takes any bit. A worker whose bit somebody else has
 * cleared is counted as a searcher.
 */
bool sb_idle_is_announced(struct sb_idle *idle, uint32_t worker);

/*
 * If nobody searches and somebody sleeps, turns one sleeper into a searcher
 * and returns its id, which the caller must unpark; else SB_IDLE_NONE. Looks
 * at `near` first. Any thread; call it after sb_fence_store_load.
 */
uint32_t sb_idle_claim(struct sb_idle *idle, uint32_t near);

/* The same for a worker that searches. */
uint32_t sb_idle_claim_anyway(struct sb_idle *idle, uint32_t near);

static inline uint32_t sb_idle_sleeping(uint64_t counts)
{
	return (uint32_t)counts;
}

static inline uint32_t sb_idle_searching(uint64_t counts)
{
	return (uint32_t)(counts >> 32);
}

/* Whether nobody searches and somebody sleeps. */
bool sb_idle_look(struct sb_idle *idle);

/* The same; the common case of a publish: one load says that nobody need be woken. */
static inline bool sb_idle_wake_wanted(struct sb_idle *idle)
{
	return (sb_load_rlx(&idle->ask) & 1) && sb_idle_look(idle);
}

#endif
