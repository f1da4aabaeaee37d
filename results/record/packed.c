#include "results/record/packed.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t count_buckets(const struct sb_hist_counts *hist)
{
	uint32_t buckets = 0;

	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
		buckets += hist->bucket[i] > 0;
	return buckets;
}

int sb_hist_pack(const struct sb_hist_counts *hist, struct sb_packed_hist *out)
{
	uint32_t at = 0;

	*out = (struct sb_packed_hist){ .count = hist->count,
					.sum = hist->sum,
					.max = hist->max,
					.buckets = count_buckets(hist) };
	if (!out->buckets)
		return 0;
	out->bucket = calloc(out->buckets, sizeof(*out->bucket));
	if (!out->bucket)
		return -ENOMEM;
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		if (hist->bucket[i])
			out->bucket[at++] = (struct sb_packed_bucket){ hist->bucket[i], i };
	}
	return 0;
}

void sb_packed_free(struct sb_packed_hist *packed)
{
	free(packed->bucket);
	*packed = (struct sb_packed_hist){ .buckets = 0 };
}

void sb_packed_add(const struct sb_packed_hist *packed, struct sb_hist_counts *sum)
{
	sum->count += packed->count;
	sum->sum += packed->sum;
	sum->max = sb_max_u64(sum->max, packed->max);
	for (uint32_t i = 0; i < packed->buckets; i++)
		sum->bucket[packed->bucket[i].index] += packed->bucket[i].count;
}
