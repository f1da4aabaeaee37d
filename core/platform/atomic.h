/*
 * atomic.h - C11 atomics with the memory order in the name. This is the only
 * file that spells memory_order_*, so a search for a wrapper's name is the
 * audit of every access with that order.
 *
 * ThreadSanitizer understands ordered operations but not stand-alone fences.
 * The one place that needs store-load order (a Dekker pair: each side writes
 * its own word and then reads the other's) uses sb_fence_store_load(), which
 * becomes a sequentially consistent read-modify-write of a word common to both
 * sides when SB_TSAN is 1. Each of the two is sufficient by itself: of two
 * read-modify-writes of one word the later one synchronizes with the earlier.
 */
#ifndef SB_CORE_PLATFORM_ATOMIC_H
#define SB_CORE_PLATFORM_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/platform/base.h"

#ifndef SB_TSAN
#define SB_TSAN 0
#endif

#if SB_VIRTUAL
#include "core/platform/virtual/atomic.h"
#else

#define sb_load_rlx(p)	   atomic_load_explicit(p, memory_order_relaxed)
#define sb_load_acq(p)	   atomic_load_explicit(p, memory_order_acquire)
#define sb_store_rlx(p, v) atomic_store_explicit(p, v, memory_order_relaxed)
#define sb_store_rel(p, v) atomic_store_explicit(p, v, memory_order_release)

#define sb_xchg_acq_rel(p, v) atomic_exchange_explicit(p, v, memory_order_acq_rel)
#define sb_xchg_acq(p, v)     atomic_exchange_explicit(p, v, memory_order_acquire)
#define sb_xchg_rel(p, v)     atomic_exchange_explicit(p, v, memory_order_release)

#define sb_add_rlx(p, v)     atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define sb_add_acq_rel(p, v) atomic_fetch_add_explicit(p, v, memory_order_acq_rel)
#define sb_sub_acq_rel(p, v) atomic_fetch_sub_explicit(p, v, memory_order_acq_rel)
#define sb_or_acq_rel(p, v)  atomic_fetch_or_explicit(p, v, memory_order_acq_rel)
#define sb_and_acq_rel(p, v) atomic_fetch_and_explicit(p, v, memory_order_acq_rel)

/* Both update *expected when they fail; weak may fail without a reason. */
#define sb_cas_acq_rel(p, expected, v)                                                             \
	atomic_compare_exchange_strong_explicit(p, expected, v, memory_order_acq_rel,              \
						memory_order_relaxed)
#define sb_cas_weak_acq_rel(p, expected, v)                                                        \
	atomic_compare_exchange_weak_explicit(p, expected, v, memory_order_acq_rel,                \
					      memory_order_relaxed)
#define sb_cas_weak_acq_rel_acq(p, expected, v)                                                    \
	atomic_compare_exchange_weak_explicit(p, expected, v, memory_order_acq_rel,                \
					      memory_order_acquire)

/* For published algorithms whose proofs ask for it. */
#define sb_cas_seq_cst(p, expected, v)                                                             \
	atomic_compare_exchange_strong_explicit(p, expected, v, memory_order_seq_cst,              \
						memory_order_relaxed)

/*
 * Full fence between a store before it and a load after it. word: an atomic
 * integer that the other side of the pair passes, too.
 *
 * On x86-64 a locked operation on the own stack is a full fence and costs 2 ns
 * where clang's choice for the C11 fence, mfence, costs 17 ns.
 */
#if SB_TSAN
#define sb_fence_store_load(word) ((void)atomic_fetch_add_explicit(word, 0, memory_order_seq_cst))
#elif defined(__x86_64__)
#define sb_fence_store_load(word)                                                                  \
	((void)sizeof(word), ({                                                                    \
		 __asm__ __volatile__("lock; orl $0, (%%rsp)" ::: "memory", "cc");                 \
	 }))
#else
#define sb_fence_store_load(word) ((void)sizeof(word), atomic_thread_fence(memory_order_seq_cst))
#endif

/*
 * The same, directly behind a read-modify-write with acquire and release, which
 * is a full fence on x86-64 already.
 */
#if SB_TSAN || !defined(__x86_64__)
#define sb_fence_after_rmw(word) sb_fence_store_load(word)
#else
#define sb_fence_after_rmw(word) ((void)sizeof(word), atomic_signal_fence(memory_order_seq_cst))
#endif

/*
 * Brings the line at address into the caches, to be written: one that another core
 * has written last then comes at once as the only copy. A hint; any address will do.
 * Compilers for plain x86-64 fetch a copy to be read, which has to be asked for again.
 */
static inline void sb_prefetch_write(const void *address)
{
#if defined(__x86_64__)
	__asm__ __volatile__("prefetchw %0" ::"m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

/* The same for an object that begins on a line and is likely to have two; or NULL. */
static inline void sb_prefetch_object(const void *object)
{
	sb_prefetch_write(object);
	sb_prefetch_write((const void *)((uintptr_t)object + SB_FETCHED));
}

#endif /* SB_VIRTUAL */

/*
 * The cheap half of an asymmetric pair of full fences: it only keeps the
 * compiler from moving the load behind it before the store in front of it. The
 * other side calls sb_fence_heavy() of core/platform/platform.h, which makes every
 * running thread of the program pass a full fence. Used only where
 * sb_fence_heavy_works().
 */
static inline void sb_fence_light(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * A counter with one writer. Plain add for its owner, readable by anyone, and
 * never reset: readers subtract two readings. In virtual time it is free.
 */
typedef _Atomic(uint64_t) sb_counter;

static inline void sb_counter_add(sb_counter *c, uint64_t n)
{
	const uint64_t old = atomic_load_explicit(c, memory_order_relaxed);

	atomic_store_explicit(c, old + n, memory_order_relaxed);
}

static inline uint64_t sb_counter_read(sb_counter *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

/* The same for counters that belong together; see core/record/account.h. */
static inline void sb_counter_add_rel(sb_counter *c, uint64_t n)
{
	const uint64_t old = atomic_load_explicit(c, memory_order_relaxed);

	atomic_store_explicit(c, old + n, memory_order_release);
}

static inline uint64_t sb_counter_read_acq(sb_counter *c)
{
	return atomic_load_explicit(c, memory_order_acquire);
}

#endif
