/*
 * check.h - what most checks of an answer come down to: a number is what it
 * must be, and if it is not, both are said.
 */
#ifndef SB_WORKLOADS_LIB_CHECK_H
#define SB_WORKLOADS_LIB_CHECK_H

#include <inttypes.h>
#include <stdio.h>

#include "core/platform/base.h"

/* what: "processes have run", say. Returns whether the two are equal. */
static inline bool sb_expect(char *why, size_t why_bytes, const char *what, uint64_t got,
			     uint64_t expected)
{
	if (got != expected)
		snprintf(why, why_bytes, "%" PRIu64 " %s, expected %" PRIu64, got, what, expected);
	return got == expected;
}

/* The same for one of many: "receiver 3". */
struct sb_of {
	const char *name;
	uint64_t index;
};

#define SB_OF(name, index) ((struct sb_of){ name, index })

static inline bool sb_expect_of(char *why, size_t why_bytes, struct sb_of of, const char *what,
				uint64_t got, uint64_t expected)
{
	if (got != expected)
		snprintf(why, why_bytes, "%s %" PRIu64 ": %" PRIu64 " %s, expected %" PRIu64,
			 of.name, of.index, got, what, expected);
	return got == expected;
}

#endif
