#include "results/stats/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"

/* ---- sorted numbers ---- */

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

void sb_sort(double *value, uint32_t n)
{
	qsort(value, n, sizeof(*value), compare_doubles);
}

double sb_median_of_sorted(const double *sorted, uint32_t n)
{
	return 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

double sb_quantile_of(const double *sorted, uint32_t n, double q)
{
	const double position = q * (n - 1);
	const uint32_t below = (uint32_t)position;
	const uint32_t above = below + 1 < n ? below + 1 : below;

	return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

struct sb_spread sb_spread_of(double *value, uint32_t n)
{
	if (!n)
		return (struct sb_spread){ 0, NAN, NAN, NAN, NAN, NAN };
	sb_sort(value, n);
	return (struct sb_spread){
		.n = n,
		.median = sb_quantile_of(value, n, 0.5),
		.min = value[0],
		.max = value[n - 1],
		.q1 = sb_quantile_of(value, n, 0.25),
		.q3 = sb_quantile_of(value, n, 0.75),
	};
}

/* ---- numbers in the order of their time ---- */

/* Pairs that rise less pairs that fall; *ties: pairs that do neither. */
static int64_t kendall_score(const double *value, uint32_t n, uint64_t *ties)
{
	int64_t score = 0;

	*ties = 0;
	for (uint32_t j = 1; j < n; j++) {
		for (uint32_t i = 0; i < j; i++) {
			score += compare_doubles(&value[j], &value[i]);
			*ties += value[j] == value[i];
		}
	}
	return score;
}

/*
 * The chance that |score| is at least that in a random order. A score is
 * pairs - 2 x inversions, and the number of orders of n values with k
 * inversions follows from that for n - 1 values.
 */
static double exact_p(int64_t score, uint32_t n)
{
	enum { PAIRS = SB_TREND_EXACT * (SB_TREND_EXACT - 1) / 2 };
	const uint32_t pairs = n * (n - 1) / 2;
	const uint32_t few = (uint32_t)(((int64_t)pairs - llabs(score)) / 2);
	double share[PAIRS + 1] = { 1 };
	double tail = 0;

	for (uint32_t m = 2; m <= n; m++) {
		double next[PAIRS + 1] = { 0 };

		for (uint32_t k = 0; k <= m * (m - 1) / 2; k++) {
			for (uint32_t d = 0; d < m && d <= k; d++)
				next[k] += share[k - d] / m;
		}
		memcpy(share, next, sizeof(share));
	}
	for (uint32_t k = 0; k <= few; k++)
		tail += share[k];
	return fmin(1, 2 * tail);
}

/* Ties make the score vary less; leaving that out keeps p on the safe side. */
static double normal_p(int64_t score, uint32_t n)
{
	const double variance = n * (n - 1.0) * (2.0 * n + 5) / 18;
	const double z = fmax(0, (double)llabs(score) - 1) / sqrt(variance);

	return erfc(z / sqrt(2));
}

static double sen_slope(const double *value, uint32_t n)
{
	const uint32_t pairs = n * (n - 1) / 2;
	double *slope = malloc(pairs * sizeof(*slope));
	double median;
	uint32_t k = 0;

	if (!slope)
		return 0;
	for (uint32_t j = 1; j < n; j++) {
		for (uint32_t i = 0; i < j; i++)
			slope[k++] = (value[j] - value[i]) / (j - i);
	}
	sb_sort(slope, pairs);
	median = sb_median_of_sorted(slope, pairs);
	free(slope);
	return median;
}

struct sb_trend sb_trend_of(const double *value, uint32_t n)
{
	struct sb_trend trend = { .p = 1 };
	uint64_t ties;
	int64_t score;

	if (n < 3)
		return trend;
	score = kendall_score(value, n, &ties);
	trend.p = n <= SB_TREND_EXACT && !ties ? exact_p(score, n) : normal_p(score, n);
	trend.drift = sen_slope(value, n) * (n - 1);
	return trend;
}

bool sb_is_at_rest(const double *value, uint32_t n)
{
	double half[2][SB_REST_VALUES];
	double median[2];

	if (n < 2 * SB_REST_VALUES)
		return false;
	memcpy(half, &value[n - 2 * SB_REST_VALUES], sizeof(half));
	for (int h = 0; h < 2; h++) {
		sb_sort(half[h], SB_REST_VALUES);
		median[h] = sb_median_of_sorted(half[h], SB_REST_VALUES);
	}
	return fabs(median[1] - median[0]) < SB_REST_PART * median[0];
}

/* ---- a step ---- */

/* Mean ranks of equal values; O(n x n) is little for what repetitions cost. */
static void rank_values(const double *value, uint32_t n, double *rank)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t below = 0;
		uint32_t equal = 0;

		for (uint32_t j = 0; j < n; j++) {
			below += value[j] < value[i];
			equal += value[j] == value[i];
		}
		rank[i] = below + 0.5 * (equal + 1);
	}
}

/* How far, over all splits, the ranks before it are from being any ranks, in
 * standard deviations; *split: how many are before the furthest one. */
static double furthest_split(const double *rank, uint32_t n, uint32_t *split)
{
	double furthest = 0;
	double sum = 0;

	*split = 0;
	for (uint32_t t = 1; t <= n - SB_STEP_SIDE; t++) {
		double far;

		sum += rank[t - 1];
		far = fabs(sum - 0.5 * t * (n + 1)) / sqrt(t * (double)(n - t) * (n + 1) / 12);
		if (t < SB_STEP_SIDE || far <= furthest)
			continue;
		furthest = far;
		*split = t;
	}
	return furthest;
}

static void shuffle(double *value, uint32_t n, struct sb_rng *rng)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t other = sb_rng_below(rng, i + 1);
		const double t = value[i];

		value[i] = value[other];
		value[other] = t;
	}
}

/* Always the same orders, so that a verdict can be had again. */
#define STEP_ORDERS 1999
#define STEP_SEED   1

struct sb_step_change sb_step_of(const double *value, uint32_t n)
{
	struct sb_step_change step = { .p = 1 };
	double *rank = malloc((n + 1) * sizeof(*rank));
	uint32_t as_far = 0;
	struct sb_rng rng;
	uint32_t unused;
	double far;

	if (rank && n >= 2 * SB_STEP_SIDE) {
		rank_values(value, n, rank);
		far = furthest_split(rank, n, &step.before);
		sb_rng_seed(&rng, STEP_SEED);
		for (int i = 0; i < STEP_ORDERS; i++) {
			shuffle(rank, n, &rng);
			as_far += furthest_split(rank, n, &unused) >= far * (1 - 1e-9);
		}
		step.p = (as_far + 1.0) / (STEP_ORDERS + 1.0);
	}
	free(rank);
	return step;
}

/* ---- the median's confidence ---- */

struct sb_interval sb_median_interval(const double *sorted, uint32_t n)
{
	/* Of n fair coins, the chance of k heads, k heads or fewer. */
	double chance = pow(0.5, n);
	double below = chance;
	uint32_t k = 0;

	SB_CHECK(n, <=, SB_INTERVAL_MAX);
	if (n < SB_INTERVAL_LEAST)
		return (struct sb_interval){ NAN, NAN };
	while (true) {
		chance *= (double)(n - k) / (k + 1);
		if (below + chance > 0.025)
			break;
		below += chance;
		k++;
	}
	return (struct sb_interval){ sorted[k], sorted[n - 1 - k] };
}

struct sb_median sb_median_of(double *value, uint32_t n, bool are_independent)
{
	const struct sb_spread spread = sb_spread_of(value, n);
	struct sb_interval interval = { NAN, NAN };

	if (are_independent && n <= SB_INTERVAL_MAX)
		interval = sb_median_interval(value, n);
	if (isnan(interval.low))
		return (struct sb_median){ n, false, spread.median, spread.min, spread.max };
	return (struct sb_median){ n, true, spread.median, interval.low, interval.high };
}

/* ---- forks ---- */

uint32_t sb_fork_medians(double *value, const uint32_t *fork, uint32_t n)
{
	uint32_t medians = 0;
	uint32_t end;

	for (uint32_t i = 0; i < n; i = end) {
		uint32_t numbers = 0;

		for (end = i; end < n && fork[end] == fork[i]; end++) {
			if (!isnan(value[end]))
				value[i + numbers++] = value[end];
		}
		if (numbers >= 2 || numbers == end - i)
			value[medians++] = sb_spread_of(&value[i], numbers).median;
	}
	return medians;
}

uint32_t sb_next_look(uint32_t n)
{
	static const uint32_t looks[] = { 9, 15, 25, 41, SB_LOOK_FORKS_MAX };

	for (size_t i = 0; i < SB_ARRAY_SIZE(looks); i++) {
		if (looks[i] > n)
			return looks[i];
	}
	return 0;
}
