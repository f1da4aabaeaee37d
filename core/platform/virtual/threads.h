/*
 * threads.h - virtual threads, as core/platform/platform.h describes threads: what its types
 * are made of, and what is inline. Included by platform.h alone.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_THREADS_H
#define SB_CORE_PLATFORM_VIRTUAL_THREADS_H

#include "core/platform/virtual/engine.h"

struct sb_thread {
	struct sb_virtual_thread *handle;
};

/* Either kind costs the same. */
struct sb_parker {
	_Atomic(uint32_t) state;
	enum sb_parking parking;
	struct sb_virtual_queue waiting;
};

struct sb_gate {
	bool is_locked;
	struct sb_virtual_queue locking, waiting;
};

static inline void sb_cpu_pause(void)
{
	sb_virtual_charge(sb_virtual_costs()->pause_ps);
}

/* Both may be anything's: marks that cost nothing in real time. */
#define sb_straight(kind)	sb_virtual_straight(kind)
#define sb_touch(object, bytes) sb_virtual_touch(object, bytes, SB_SITE())

static inline bool sb_cpu_works(uint64_t ns)
{
	if (sb_virtual_runs())
		sb_virtual_compute(ns * 1000);
	return sb_virtual_runs();
}

struct sb_thread_own;

static inline struct sb_thread_own *sb_thread_own(void)
{
	return sb_virtual_own();
}

#endif
