/*
 * explore.h - schedules that look for mistakes, instead of what operations cost.
 *
 * The engine continues the CPU that is furthest behind, as ever; but the time that an operation
 * on shared memory takes is drawn:
 *
 *   RANDOM   Any thread may come next at each operation, and now and then one of them is late
 *            by many operations of the others.
 *   PREEMPT  A thread runs until it waits, spins or yields, but
 *            for `depth` operations, drawn before, at which it is interrupted and all others go
 *            first. So a mistake that needs few switches at the right places is likely to show.
 *            After Burckhardt, Kothari, Musuvathi and Nagarakatte, A randomized scheduler with
 *            probabilistic guarantees of finding bugs, ASPLOS 2010 (PCT), but for its
 *            priorities: a coin decides whether a thread that is woken goes first.
 *
 * With `stores`, what a thread stores waits in a buffer of its own, as on x86: others see it
 * when the thread comes to a fence or a read-modify-write, blocks, or a coin lets the oldest
 * store go. So a fence that is missing between a store and a load shows. Stores to other memory
 * than the region's do not wait, and let those before them go.
 *
 * One seed is one schedule. Within sb_virtual_run; one thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_EXPLORE_H
#define SB_CORE_PLATFORM_VIRTUAL_EXPLORE_H

#include "core/platform/platform.h"

enum sb_explore_kind { SB_EXPLORE_NOT, SB_EXPLORE_RANDOM, SB_EXPLORE_PREEMPT };

#define SB_EXPLORE_DEPTH_MAX 16

struct sb_explore {
	enum sb_explore_kind kind;
	uint32_t depth; /* of PREEMPT, at most SB_EXPLORE_DEPTH_MAX */
	bool stores;	/* wait */
	bool shows;	/* each operation on standard error, a column for each thread */
};

/* Where the seed decides the kind, too: all of them, in turn. */
static inline struct sb_explore sb_explore_of_seed(uint64_t seed)
{
	const bool random = seed % 2;

	return (struct sb_explore){ .kind = random ? SB_EXPLORE_RANDOM : SB_EXPLORE_PREEMPT,
				    .depth = random ? 0 : 1 + (uint32_t)(seed / 4 % 4),
				    .stores = seed / 2 % 2 };
}

/* The run's look-ahead. With PREEMPT a thread runs for so long, unless it is interrupted or
 * waits. */
static inline uint64_t sb_explore_lookahead_ps(const struct sb_explore *explore)
{
	return explore->kind == SB_EXPLORE_PREEMPT ? UINT64_C(1000000) : 0;
}

/* What a thread has stored and others do not see yet, the oldest first. */
#define SB_PENDING_MAX 8
struct sb_pending {
	uint32_t stores;
	struct sb_pending_store {
		volatile void *address;
		uint32_t bytes;
		uint64_t value; /* in its first bytes */
	} store[SB_PENDING_MAX];
};

void sb_pending_add(struct sb_pending *pending, volatile void *address, const void *value,
		    uint32_t bytes);

/* The newest store to that address; NULL: none waits. */
const void *sb_pending_find(const struct sb_pending *pending, const volatile void *address);

void sb_pending_let_go(struct sb_pending *pending);
void sb_pending_let_all_go(struct sb_pending *pending);

struct sb_explorer {
	struct sb_explore explore;
	struct sb_rng rng;
	uint64_t operations;			  /* so far */
	uint64_t read_ps;			  /* the latest time that a thread was told */
	uint64_t interrupt[SB_EXPLORE_DEPTH_MAX]; /* at these */
};

/* A schedule that has not begun. */
void sb_explorer_init(struct sb_explorer *explorer, const struct sb_explore *explore,
		      uint64_t seed);

/* How long the next operation on shared memory takes. */
uint64_t sb_explorer_operation_ps(struct sb_explorer *explorer);

/* Whether the oldest pending store goes before that. */
bool sb_explorer_lets_go(struct sb_explorer *explorer);

/* How long it takes from a wake until the woken thread runs. */
uint64_t sb_explorer_wake_ps(struct sb_explorer *explorer);

#endif
