/*
 * check.h - what most checks of an answer come down to: a number is what it
 * must be, and if it is not, both are said.
 */
#ifndef SB_WORKLOADS_CHECK_H
#define SB_WORKLOADS_CHECK_H

#include <inttypes.h>
#include <stdio.h>

#include "core/base.h"

/* what: "processes have run", say. Returns whether the two are equal. */
static inline bool sb_expect(char *why, size_t why_bytes, const char *what,
			     uint64_t got, uint64_t expected)
{
	if (got != expected)
		snprintf(why, why_bytes, "%" PRIu64 " %s, expected %" PRIu64,
			 got, what, expected);
	return got == expected;
}

/* The same for the member of a group: "receiver 3". */
static inline bool sb_expect_of(char *why, size_t why_bytes, const char *member,
				uint64_t index, const char *what, uint64_t got,
				uint64_t expected)
{
	if (got != expected)
		snprintf(why, why_bytes,
			 "%s %" PRIu64 ": %" PRIu64 " %s, expected %" PRIu64,
			 member, index, got, what, expected);
	return got == expected;
}

#endif
