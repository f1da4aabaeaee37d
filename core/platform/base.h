/*
 * base.h - what every file of the project may assume: line size, branch
 * hints, container_of, and the two kinds of assertion.
 *
 * SB_CHECK stays on in every build and is for cheap checks on slow paths;
 * SB_ASSERT is compiled, and so type-checked, everywhere but evaluated only
 * where SB_DEBUG is 1.
 */
#ifndef SB_CORE_PLATFORM_BASE_H
#define SB_CORE_PLATFORM_BASE_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SB_DEBUG
#define SB_DEBUG 0
#endif

/* Threads are fibers in virtual time; see core/platform/virtual/. */
#ifndef SB_VIRTUAL
#define SB_VIRTUAL 0
#endif

/*
 * Distance that keeps two writers apart. Two 64-byte lines, because the
 * adjacent-line prefetcher of x86 servers moves lines in pairs.
 */
#define SB_LINE 128

/* The least number of bytes that one prefetch brings. */
#define SB_FETCHED 64

#define SB_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SB_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define SB_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define sb_container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* A function whose constants are known only at its calls. */
#define SB_INLINE static inline __attribute__((always_inline))

/* A function that is not to grow its caller. */
#define SB_NOINLINE __attribute__((noinline))

/* A function that is called rarely from where it matters: not inlined there. */
#define SB_COLD __attribute__((cold, noinline))

#define SB_MUST_CHECK	__attribute__((warn_unused_result))
#define SB_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Reports the failed condition and both values, then aborts: exit by signal. Callers: any
 * thread. */
__attribute__((noreturn)) void sb_check_failed(const char *file, int line, const char *text,
					       unsigned long long left, unsigned long long right);

#define SB_CHECK(left, op, right)                                                                  \
	do {                                                                                       \
		const unsigned long long sb_left_ = (unsigned long long)(left);                    \
		const unsigned long long sb_right_ = (unsigned long long)(right);                  \
		if (SB_UNLIKELY(!(sb_left_ op sb_right_)))                                         \
			sb_check_failed(__FILE__, __LINE__, #left " " #op " " #right, sb_left_,    \
					sb_right_);                                                \
	} while (0)

#define SB_ASSERT(left, op, right)                                                                 \
	do {                                                                                       \
		if (SB_DEBUG)                                                                      \
			SB_CHECK(left, op, right);                                                 \
	} while (0)

/*
 * A race window: the tests' builds may delay the thread here, so that what
 * takes a preemption at the wrong instant happens all the time.
 */
#ifdef SB_TEST_DELAYS
void sb_test_delay(void);
#define SB_WINDOW() sb_test_delay()
#else
#define SB_WINDOW() ((void)0)
#endif

/* The smaller, and the larger, of two. Callers: any thread. */
static inline uint64_t sb_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t sb_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#ifdef __cplusplus
}
#endif

#endif
