#include "results/stats/paired.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the normal distribution ---- */

static double normal_below(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

double sb_normal_quantile(double share)
{
	double low = -40;
	double high = 40;

	for (int i = 0; i < 80; i++) {
		const double middle = (low + high) / 2;

		if (normal_below(middle) < share)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

/* ---- the distribution of signed ranks ---- */

/*
 * Of the sum of those of the ranks 1 to n that a fair coin each chooses: the
 * chance that it is at most s. It is also how many of the n (n + 1) / 2 means of
 * two values (Walsh averages) are on one side of their centre.
 */
struct rank_sums {
	uint32_t n;
	double *at_most; /* [n * (n + 1) / 2 + 1]; NULL: n is too large */
};

static void add_up(struct rank_sums *sums)
{
	double *share = sums->at_most;
	uint32_t most = 0;

	share[0] = 1;
	for (uint32_t rank = 1; rank <= sums->n; rank++) {
		most += rank;
		for (uint32_t s = most + 1; s-- > 0;)
			share[s] = 0.5 * share[s] + (s >= rank ? 0.5 * share[s - rank] : 0);
	}
	for (uint32_t s = 1; s <= most; s++)
		share[s] += share[s - 1];
}

static int rank_sums_make(struct rank_sums *sums, uint32_t n)
{
	*sums = (struct rank_sums){ .n = n };
	if (n > SB_SIGNED_RANK_EXACT)
		return 0;
	sums->at_most = calloc(n * (n + 1) / 2 + 1, sizeof(*sums->at_most));
	if (!sums->at_most)
		return -ENOMEM;
	add_up(sums);
	return 0;
}

static double rank_sums_at_most(const struct rank_sums *sums, uint32_t s)
{
	const double n = sums->n;

	if (sums->at_most)
		return fmin(1, sums->at_most[s]);
	return normal_below((s + 0.5 - n * (n + 1) / 4) / sqrt(n * (n + 1) * (2 * n + 1) / 24));
}

/* Which of the sorted means, from either end, the interval ends at: the first is
 * 1; 0: not even that one is far enough out. */
static uint32_t find_end(const struct rank_sums *sums, double level)
{
	uint32_t end = 0;

	while (rank_sums_at_most(sums, end) <= level / 2)
		end++;
	return end;
}

uint32_t sb_paired_units_needed(double level)
{
	uint32_t n = 1;

	while (n < SB_SIGNED_RANK_MAX && ldexp(1, -(int)n) > level / 2)
		n++;
	return n;
}

/* ---- means of two ---- */

static uint32_t count_means(uint32_t n)
{
	return n * (n + 1) / 2;
}

static void fill_means(double *mean, const double *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j <= i; j++)
			*mean++ = 0.5 * (value[i] + value[j]);
	}
}

static int check_count(uint32_t n)
{
	if (!n)
		return -EINVAL;
	return n > SB_SIGNED_RANK_MAX ? -E2BIG : 0;
}

int sb_signed_rank_estimate(struct sb_estimated *out, const double *value, uint32_t n, double level)
{
	const uint32_t means = count_means(n);
	struct rank_sums sums;
	uint32_t end;
	double *mean;
	int rc = check_count(n);

	rc = rc ? rc : rank_sums_make(&sums, n);
	if (rc)
		return rc;
	mean = malloc(means * sizeof(*mean));
	if (!mean) {
		free(sums.at_most);
		return -ENOMEM;
	}
	fill_means(mean, value, n);
	sb_sort(mean, means);
	end = find_end(&sums, level);
	*out = (struct sb_estimated){ sb_median_of_sorted(mean, means), -INFINITY, INFINITY };
	if (end) {
		out->low = mean[end - 1];
		out->high = mean[means - end];
	}
	free(mean);
	free(sums.at_most);
	return 0;
}

int sb_signed_rank_p(double *p, const double *value, uint32_t n, double limit)
{
	struct rank_sums sums;
	uint32_t not_above = 0;
	int rc = check_count(n);

	rc = rc ? rc : rank_sums_make(&sums, n);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j <= i; j++)
			not_above += 0.5 * (value[i] + value[j]) <= limit;
	}
	*p = rank_sums_at_most(&sums, not_above);
	free(sums.at_most);
	return 0;
}

/* ---- pairs ---- */

static bool is_complete(const struct sb_pair_values *in, uint32_t i)
{
	return isfinite(in->a[i]) && isfinite(in->b[i]);
}

static enum sb_pair_scale choose_scale(const struct sb_pair_values *in)
{
	for (uint32_t i = 0; i < in->pairs; i++) {
		if (is_complete(in, i) && (in->a[i] <= 0 || in->b[i] <= 0))
			return SB_PAIR_DIFFERENCE;
	}
	return SB_PAIR_RATIO;
}

/*
 * A multiple of 2^-40, of which sums and halves are exact: what is equal, or makes
 * up for each other, is so in spite of rounding, and no interval ends 1e-17 beside
 * no difference.
 */
static double log_ratio(double b, double a)
{
	return ldexp(nearbyint(ldexp(log(b / a), 40)), -40);
}

double sb_paired_contrast(double a, double b, enum sb_pair_scale scale)
{
	return scale == SB_PAIR_RATIO ? log_ratio(b, a) : b - a;
}

uint32_t sb_paired_units(double *unit, enum sb_pair_scale *scale, const struct sb_pair_values *in)
{
	uint32_t units = 0;
	uint32_t of_block = 0; /* pairs of the latest unit */
	uint32_t block = 0;

	*scale = choose_scale(in);
	for (uint32_t i = 0; i < in->pairs; i++) {
		if (!is_complete(in, i))
			continue;
		if (!units || in->block[i] != block) {
			block = in->block[i];
			of_block = 0;
			unit[units++] = 0;
		}
		of_block++;
		unit[units - 1] +=
			(sb_paired_contrast(in->a[i], in->b[i], *scale) - unit[units - 1]) /
			of_block;
	}
	return units;
}

/* ---- what is said of them ---- */

static const struct sb_paired nothing = {
	.a = NAN,
	.b = NAN,
	.estimate = NAN,
	.low = NAN,
	.high = NAN,
	.detectable = NAN,
	.p = NAN,
	.p_above = NAN,
	.p_below = NAN,
};

/* The medians of both sides; value: room for one side's. */
static void fill_medians(struct sb_paired *out, const struct sb_pair_values *in, double *value)
{
	const double *const side[] = { in->a, in->b };
	double *const median[] = { &out->a, &out->b };

	for (int s = 0; s < 2; s++) {
		out->pairs = 0;
		for (uint32_t i = 0; i < in->pairs; i++) {
			if (is_complete(in, i))
				value[out->pairs++] = side[s][i];
		}
		*median[s] = sb_spread_of(value, out->pairs).median;
	}
	out->missing = in->pairs - out->pairs;
}

/* Of the test and the interval, on the scale of the units. */
static int test_units(struct sb_paired *out, struct sb_estimated *estimated, double *unit)
{
	int rc = sb_signed_rank_estimate(estimated, unit, out->units, out->level);

	rc = rc ? rc : sb_signed_rank_p(&out->p_above, unit, out->units, 0);
	for (uint32_t i = 0; i < out->units; i++)
		unit[i] = -unit[i];
	rc = rc ? rc : sb_signed_rank_p(&out->p_below, unit, out->units, 0);
	out->p = fmin(1, 2 * fmin(out->p_above, out->p_below));
	return rc;
}

double sb_paired_detectable(const struct sb_estimated *estimated, enum sb_pair_scale scale,
			    double level)
{
	const double half = (estimated->high - estimated->low) / 2;
	const double least = half * (1 + sb_normal_quantile(SB_PAIRED_POWER) /
						 sb_normal_quantile(1 - level / 2));

	if (!isfinite(half))
		return NAN;
	return scale == SB_PAIR_RATIO ? exp(least) : least;
}

void sb_paired_put_back(struct sb_estimated *estimated, enum sb_pair_scale scale)
{
	if (scale == SB_PAIR_DIFFERENCE)
		return;
	estimated->value = exp(estimated->value);
	estimated->low = exp(estimated->low);
	estimated->high = exp(estimated->high);
}

static void fill_estimate(struct sb_paired *out, const struct sb_estimated *estimated)
{
	struct sb_estimated in_units = *estimated;

	sb_paired_put_back(&in_units, out->scale);
	out->estimate = in_units.value;
	out->low = in_units.low;
	out->high = in_units.high;
	out->detectable = sb_paired_detectable(estimated, out->scale, out->level);
}

int sb_paired_compare(struct sb_paired *out, const struct sb_pair_values *in, double level)
{
	double *unit = malloc((in->pairs + 1) * sizeof(*unit));
	struct sb_estimated estimated;
	int rc = 0;

	if (!unit)
		return -ENOMEM;
	*out = nothing;
	out->level = level;
	fill_medians(out, in, unit);
	out->units = sb_paired_units(unit, &out->scale, in);
	if (out->units)
		rc = test_units(out, &estimated, unit);
	if (out->units && !rc)
		fill_estimate(out, &estimated);
	free(unit);
	return rc;
}

int sb_paired_sign(const struct sb_paired *paired)
{
	if (!paired->units || paired->p > paired->level)
		return 0;
	return paired->p_above < paired->p_below ? 1 : -1;
}

/* ---- several tests at once ---- */

void sb_holm_adjust(double *p, uint32_t n)
{
	bool is_done[SB_HOLM_MAX] = { false };
	double at_least = 0;
	uint32_t tests = 0;

	SB_CHECK(n, <=, SB_HOLM_MAX);
	for (uint32_t i = 0; i < n; i++) {
		is_done[i] = isnan(p[i]);
		tests += !is_done[i];
	}
	for (; tests; tests--) {
		uint32_t least = UINT32_MAX;

		for (uint32_t i = 0; i < n; i++) {
			if (!is_done[i] && (least == UINT32_MAX || p[i] < p[least]))
				least = i;
		}
		is_done[least] = true;
		at_least = fmax(at_least, fmin(1, p[least] * tests));
		p[least] = at_least;
	}
}
