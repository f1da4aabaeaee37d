/*
 * packed.h - a histogram without its empty buckets: some hundred bytes instead of
 * 19 KiB. A result keeps those of all its rows.
 */
#ifndef SB_RESULTS_RECORD_PACKED_H
#define SB_RESULTS_RECORD_PACKED_H

#include "core/hist.h"

struct sb_packed_bucket {
	uint64_t count; /* not 0 */
	uint32_t index;
};

struct sb_packed_hist {
	uint64_t count;
	uint64_t sum;
	uint64_t max; /* 0: not known */
	uint32_t buckets;
	struct sb_packed_bucket *bucket; /* [buckets], by index */
};

/* Returns 0 or -ENOMEM. out: for sb_packed_free. */
SB_MUST_CHECK int sb_hist_pack(const struct sb_hist_counts *hist, struct sb_packed_hist *out);

void sb_packed_free(struct sb_packed_hist *packed);

/* sum += packed. */
void sb_packed_add(const struct sb_packed_hist *packed, struct sb_hist_counts *sum);

#endif
