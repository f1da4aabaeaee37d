/*
 * atomic.h - the operations of core/platform/atomic.h in virtual time: each is charged,
 * others may run before it, and then it takes place at once, for all CPUs. Included by
 * core/platform/atomic.h alone.
 *
 * Each operation evaluates the value to store before it charges the access: compilers
 * evaluate arguments in different orders, and no result may depend on that.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_ATOMIC_H
#define SB_CORE_PLATFORM_VIRTUAL_ATOMIC_H

#include <stdatomic.h>

#include "core/platform/virtual/engine.h"

/* p, once it has been charged; or where the caller's own latest store to it waits. */
static inline void *sb_virtual_read(const volatile void *p, struct sb_site *site)
{
	sb_virtual_access(p, SB_ACCESS_READ, site);
	if (SB_UNLIKELY(sb_virtual_delays_stores))
		p = sb_virtual_latest(p);
	return (void *)(uintptr_t)p;
}

static inline void *sb_virtual_write(const volatile void *p, struct sb_site *site)
{
	sb_virtual_access(p, SB_ACCESS_WRITE, site);
	return (void *)(uintptr_t)p;
}

static inline void *sb_virtual_rmw(const volatile void *p, struct sb_site *site)
{
	sb_virtual_access(p, SB_ACCESS_RMW, site);
	if (SB_UNLIKELY(sb_virtual_delays_stores))
		sb_virtual_drain();
	return (void *)(uintptr_t)p;
}

/* The type of what is at p, without _Atomic. */
#define SB_VIRTUAL_VALUE(p) __typeof__((void)0, *(p))

#define SB_VIRTUAL_LOAD(p) atomic_load((__typeof__(p))sb_virtual_read(p, SB_SITE()))

#define SB_VIRTUAL_STORE(p, v)                                                                     \
	({                                                                                         \
		SB_VIRTUAL_VALUE(p) sb_stored_ = (v);                                              \
		__typeof__(p) sb_at_ = (__typeof__(p))sb_virtual_write(p, SB_SITE());              \
		if (SB_LIKELY(!sb_virtual_delays_stores) ||                                        \
		    !sb_virtual_delay(sb_at_, &sb_stored_, sizeof(sb_stored_)))                    \
			atomic_store(sb_at_, sb_stored_);                                          \
	})

#define SB_VIRTUAL_RMW(operation, p, v)                                                            \
	({                                                                                         \
		SB_VIRTUAL_VALUE(p) sb_operand_ = (v);                                             \
		operation((__typeof__(p))sb_virtual_rmw(p, SB_SITE()), sb_operand_);               \
	})

#define SB_VIRTUAL_CAS(p, expected, v)                                                             \
	({                                                                                         \
		SB_VIRTUAL_VALUE(p) sb_desired_ = (v);                                             \
		atomic_compare_exchange_strong((__typeof__(p))sb_virtual_rmw(p, SB_SITE()),        \
					       expected, sb_desired_);                             \
	})

#define sb_load_rlx(p)	   SB_VIRTUAL_LOAD(p)
#define sb_load_acq(p)	   SB_VIRTUAL_LOAD(p)
#define sb_store_rlx(p, v) SB_VIRTUAL_STORE(p, v)
#define sb_store_rel(p, v) SB_VIRTUAL_STORE(p, v)

#define sb_xchg_acq_rel(p, v) SB_VIRTUAL_RMW(atomic_exchange, p, v)
#define sb_xchg_acq(p, v)     SB_VIRTUAL_RMW(atomic_exchange, p, v)
#define sb_xchg_rel(p, v)     SB_VIRTUAL_RMW(atomic_exchange, p, v)

#define sb_add_rlx(p, v)     SB_VIRTUAL_RMW(atomic_fetch_add, p, v)
#define sb_add_acq_rel(p, v) SB_VIRTUAL_RMW(atomic_fetch_add, p, v)
#define sb_sub_acq_rel(p, v) SB_VIRTUAL_RMW(atomic_fetch_sub, p, v)
#define sb_or_acq_rel(p, v)  SB_VIRTUAL_RMW(atomic_fetch_or, p, v)
#define sb_and_acq_rel(p, v) SB_VIRTUAL_RMW(atomic_fetch_and, p, v)

#define sb_cas_acq_rel(p, expected, v)		SB_VIRTUAL_CAS(p, expected, v)
#define sb_cas_weak_acq_rel(p, expected, v)	SB_VIRTUAL_CAS(p, expected, v)
#define sb_cas_weak_acq_rel_acq(p, expected, v) SB_VIRTUAL_CAS(p, expected, v)
#define sb_cas_seq_cst(p, expected, v)		SB_VIRTUAL_CAS(p, expected, v)

#define sb_prefetch_write(address) sb_virtual_prefetch(address, SB_SITE())
#define sb_prefetch_object(object)                                                                 \
	({                                                                                         \
		const char *sb_object_ = (const void *)(object);                                   \
		sb_virtual_prefetch(sb_object_, SB_SITE());                                        \
		sb_virtual_prefetch(sb_object_ + SB_FETCHED, SB_SITE());                           \
	})

#define sb_fence_store_load(word) ((void)sizeof(word), sb_virtual_fence())
#define sb_fence_after_rmw(word)  ((void)sizeof(word))

#endif
