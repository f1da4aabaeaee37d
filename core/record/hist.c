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
			return bucket_middle(i);
	}
	return 0;
}

uint64_t sb_hist_max(const struct sb_hist_counts *counts)
{
	for (uint32_t i = SB_HIST_BUCKETS; i > 0; i--) {
		if (counts->bucket[i - 1])
			return sb_hist_bucket_low(i - 1) + sb_hist_bucket_width(i - 1) - 1;
	}
	return 0;
}

double sb_hist_mean(const struct sb_hist_counts *counts)
{
	return counts->count ? (double)counts->sum / (double)counts->count : 0;
}
