/*
 * values.h - the random numbers that Savina's sorts are given, and the right
 * answer for them. Only for numbers of sb_savina_random_next.
 */
#ifndef SB_WORKLOADS_LIB_VALUES_H
#define SB_WORKLOADS_LIB_VALUES_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/lib/savina.h"

static inline void sb_savina_values_draw(uint64_t *value, uint64_t n, uint64_t seed)
{
	struct sb_savina_random random;

	sb_savina_random_seed(&random, seed);
	for (uint64_t i = 0; i < n; i++)
		value[i] = sb_savina_random_next(&random);
}

/* By counting: another way than any of the workloads'. Returns 0 or -ENOMEM. */
static inline int sb_savina_values_sort(uint64_t *value, uint64_t n)
{
	uint32_t *count = calloc(65536, sizeof(*count));
	uint64_t sorted = 0;

	if (!count)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		count[value[i]]++;
	for (uint32_t v = 0; v < 65536; v++) {
		while (count[v]--)
			value[sorted++] = v;
	}
	free(count);
	return 0;
}

/* Whether all values are as expected: then they are sorted, and a permutation
 * of the input. */
static inline bool sb_savina_values_check(const uint64_t *value, const uint64_t *expected,
					  uint64_t n, char *why, size_t why_bytes)
{
	for (uint64_t i = 0; i < n; i++) {
		if (value[i] == expected[i])
			continue;
		snprintf(why, why_bytes, "number %" PRIu64 " is %" PRIu64 ", expected %" PRIu64, i,
			 value[i], expected[i]);
		return false;
	}
	return true;
}

#endif
