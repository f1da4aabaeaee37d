/*
 * test.h - what the tests share: cmocka, the seed, and a few loops.
 *
 * Every random choice comes from sb_test_seed(), which SB_SEED sets; it is
 * printed, so that a failure can be repeated.
 */
#ifndef SB_TESTS_TEST_H
#define SB_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The name of cmocka 2.0, which deprecates the older one. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#include "core/platform/platform.h"

/* Whether this build has jemalloc's arenas. */
#ifdef SB_ALLOC_LIBC
#define SB_HAS_ARENAS false
#else
#define SB_HAS_ARENAS true
#endif

static inline uint64_t sb_test_seed(void)
{
	static uint64_t seed;

	if (!seed) {
		const char *given = getenv("SB_SEED");

		seed = given ? strtoull(given, NULL, 0) : sb_clock_ns() | 1;
		fprintf(stderr, "# SB_SEED=%llu\n", (unsigned long long)seed);
	}
	return seed;
}

/* Sanitizers make everything slower; tests do a fraction of their work. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SB_TEST_SLOW 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SB_TEST_SLOW 1
#endif
#endif
#ifdef SB_TEST_SLOW
#define SB_SCALE(n) ((n) / 8)
#else
#define SB_SCALE(n) (n)
#endif

/* On another thread than the test's own, cmocka would end the program and say
 * nothing; so this says it first. */
static inline void sb_check_eq(const char *file, int line, const char *text, long long actual,
			       long long expected)
{
	if (actual != expected)
		fprintf(stderr, "# %s:%d: %s is %lld, expected %lld\n", file, line, text, actual,
			expected);
	_assert_int_equal((LargestIntegralType)actual, (LargestIntegralType)expected, file, line);
}

/* True, or the test fails and says both values. */
#define CHECK_EQ(actual, expected)                                                                 \
	sb_check_eq(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))

#endif
