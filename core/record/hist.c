#include "core/hist.h"

uint64_t sb_hist_bucket_low(uint32_t index)
{
	uint32_t shift;

	if (index < 2 * SB_HIST_HALF)
		return index;
	shift = index / SB_HIST_HALF - 1;
	return (uint64_t)(index - shift * SB_HIST_HALF) << shift;
}

uint64_t sb_hist_bucket_width(uint32_t index)
{
	if (index < 2 * SB_HIST_HALF)
		return 1;
	return UINT64_C(1) << (index / SB_HIST_HALF - 1);
}

static uint64_t bucket_middle(uint32_t index)
{
	return sb_hist_bucket_low(index) + (sb_hist_bucket_width(index) - 1) / 2;
}

void sb_hist_read(struct sb_hist *hist, struct sb_hist_counts *out)
{
	out->sum += sb_counter_read(&hist->sum);
	out->max = sb_max_u64(out->max, sb_counter_read(&hist->max));
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		const uint64_t n = sb_counter_read(&hist->bucket[i]);

		out->bucket[i] += n;
		out->count += n;
	}
}

void sb_hist_merge(struct sb_hist_counts *a, const struct sb_hist_counts *b)
{
	a->count += b->count;
	a->sum += b->sum;
	a->max = sb_max_u64(a->max, b->max);
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
		a->bucket[i] += b->bucket[i];
}

void sb_hist_subtract(struct sb_hist_counts *a, const struct sb_hist_counts *b)
{
	a->count -= b->count;
	a->sum -= b->sum;
	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++)
		a->bucket[i] -= b->bucket[i];
}

uint64_t sb_hist_quantile(const struct sb_hist_counts *counts, double q)
{
	const double wanted = q * (double)counts->count;
	uint64_t seen = 0;

	for (uint32_t i = 0; i < SB_HIST_BUCKETS; i++) {
		seen += counts->bucket[i];
		if (counts->bucket[i] && (double)seen >= wanted)
			return seen < counts->count
				       ? bucket_middle(i)
				       : sb_min_u64(bucket_middle(i), sb_hist_max(counts));
	}
	return 0;
}

uint64_t sb_hist_max(const struct sb_hist_counts *counts)
{
	uint32_t top = SB_HIST_BUCKETS - 1;

	while (top && !counts->bucket[top])
		top--;
	if (sb_hist_index(counts->max) == top)
		return counts->max;
	return sb_hist_bucket_low(top) + sb_hist_bucket_width(top) - 1;
}

double sb_hist_mean(const struct sb_hist_counts *counts)
{
	return counts->count ? (double)counts->sum / (double)counts->count : 0;
}
