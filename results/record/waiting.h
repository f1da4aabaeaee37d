/*
 * waiting.h - where the code of a virtual run has waited for cache lines: the profile of waiting.
 */
#ifndef SB_RESULTS_RECORD_WAITING_H
#define SB_RESULTS_RECORD_WAITING_H

#include <stdint.h>

#include "core/platform/base.h"

/* From where a line came: the nearest thing that the two CPUs share, or memory. */
#define SB_WAITING_WAYS 6
extern const char *const sb_waiting_way[SB_WAITING_WAYS];

/* The accesses of a function of the scheduler or the workload. */
struct sb_waiting_place {
	char *file;
	char *function;
	uint64_t fetches[SB_WAITING_WAYS];
	double fetch_ns[SB_WAITING_WAYS];
	double queued_ns; /* until accesses of others to the same line had ended */
};

struct sb_waiting {
	uint32_t places;
	struct sb_waiting_place *place; /* [places], in the order of files and functions */
};

/* Adds it, or adds to the last place if that is the same. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_waiting_add(struct sb_waiting *waiting, const struct sb_waiting_place *place,
				 const char *file, const char *function);

double sb_waiting_ns(const struct sb_waiting_place *place);

/* NULL is allowed. */
void sb_waiting_free(struct sb_waiting *waiting);

#endif
