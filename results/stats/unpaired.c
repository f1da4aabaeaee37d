#include "results/stats/unpaired.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

struct ranked {
	double value;
	bool is_b;
};

/* All values, sorted; twice the mean rank of each (whole, also of ties). */
struct ranks {
	uint32_t n, n_b;
	struct ranked *item;
	uint32_t *twice;
	uint32_t sum_b;	 /* of twice */
	double ties_sum; /* of t^3 - t over groups of t equal ones */
};

static int compare_ranked(const void *a, const void *b)
{
	const double x = ((const struct ranked *)a)->value;
	const double y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

static void rank_group(struct ranks *ranks, uint32_t from, uint32_t to)
{
	const double t = to - from;

	for (uint32_t i = from; i < to; i++) {
		ranks->twice[i] = from + 1 + to;
		if (ranks->item[i].is_b)
			ranks->sum_b += ranks->twice[i];
	}
	ranks->ties_sum += t * t * t - t;
}

static int ranks_make(struct ranks *ranks, const double *a, uint32_t n_a, const double *b,
		      uint32_t n_b)
{
	const uint32_t n = n_a + n_b;

	*ranks = (struct ranks){ .n = n,
				 .n_b = n_b,
				 .item = calloc(n, sizeof(*ranks->item)),
				 .twice = calloc(n, sizeof(*ranks->twice)) };
	if (!ranks->item || !ranks->twice)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		ranks->item[i] = i < n_a ? (struct ranked){ a[i], false }
					 : (struct ranked){ b[i - n_a], true };
	qsort(ranks->item, n, sizeof(*ranks->item), compare_ranked);
	for (uint32_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && ranks->item[j].value == ranks->item[i].value;)
			j++;
		rank_group(ranks, i, j);
	}
	return 0;
}

static void ranks_free(struct ranks *ranks)
{
	free(ranks->item);
	free(ranks->twice);
}

/* ---- distributions ---- */

/*
 * The sums of `choose` of n numbers, all choices alike: share[s] of them is s.
 * Dynamic programming over the numbers: a table of how many are chosen, by sum.
 * For the caller to free; NULL: no memory.
 */
static double *sum_shares(const uint32_t *number, uint32_t n, uint32_t choose, uint32_t *sums)
{
	uint32_t all = 1;
	double *ways;
	double total = 0;

	for (uint32_t i = 0; i < n; i++)
		all += number[i];
	ways = calloc((size_t)(choose + 1) * all, sizeof(*ways));
	if (!ways)
		return NULL;
	ways[0] = 1;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1 < choose ? i + 1 : choose; k > 0; k--) {
			for (uint32_t s = number[i]; s < all; s++)
				ways[(size_t)k * all + s] +=
					ways[(size_t)(k - 1) * all + s - number[i]];
		}
	}
	memmove(ways, ways + (size_t)choose * all, all * sizeof(*ways));
	for (uint32_t s = 0; s < all; s++)
		total += ways[s];
	for (uint32_t s = 0; s < all; s++)
		ways[s] /= total;
	*sums = all;
	return ways;
}

static double normal_above(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

/* ---- the test ---- */

static int test_exactly(struct sb_unpaired *out, const struct ranks *ranks)
{
	uint32_t sums;
	double *share = sum_shares(ranks->twice, ranks->n, ranks->n_b, &sums);

	if (!share)
		return -ENOMEM;
	out->p_above = out->p_below = 0;
	for (uint32_t s = 0; s < sums; s++) {
		out->p_above += s >= ranks->sum_b ? share[s] : 0;
		out->p_below += s <= ranks->sum_b ? share[s] : 0;
	}
	free(share);
	return 0;
}

/* Mann and Whitney's U of B: pairs in which B is above, and half of the ties. */
static double u_of(const struct ranks *ranks)
{
	return 0.5 * ranks->sum_b - 0.5 * ranks->n_b * (ranks->n_b + 1.0);
}

static void test_normally(struct sb_unpaired *out, const struct ranks *ranks)
{
	const double n = ranks->n;
	const double product = ranks->n_b * (n - ranks->n_b);
	const double deviation = sqrt(product / 12 * (n + 1 - ranks->ties_sum / (n * (n - 1))));
	const double excess = u_of(ranks) - product / 2;

	/* All are equal. */
	if (deviation <= 0) {
		out->p_above = out->p_below = 1;
		return;
	}
	out->p_above = normal_above((excess - 0.5) / deviation);
	out->p_below = normal_above((-excess - 0.5) / deviation);
}

static int test(struct sb_unpaired *out, const double *a, uint32_t n_a, const double *b,
		uint32_t n_b)
{
	struct ranks ranks;
	int rc = ranks_make(&ranks, a, n_a, b, n_b);

	if (!rc && ranks.n <= SB_UNPAIRED_EXACT)
		rc = test_exactly(out, &ranks);
	else if (!rc)
		test_normally(out, &ranks);
	if (!rc) {
		out->superiority = u_of(&ranks) / ((double)n_a * n_b);
		out->p_above = fmin(1, out->p_above);
		out->p_below = fmin(1, out->p_below);
		out->p = fmin(1, 2 * fmin(out->p_above, out->p_below));
	}
	ranks_free(&ranks);
	return rc;
}

/* ---- the shift ---- */

/* Which of the sorted differences, from either end, the interval ends at: the
 * first is 1; 0: there are too few. The k-th is the end as long as fewer than k
 * are on one side with no more than half of the level. */
static int find_end(uint32_t n_a, uint32_t n_b, double level, uint32_t *end)
{
	uint32_t rank[SB_UNPAIRED_EXACT];
	const uint32_t n = n_a + n_b;
	const uint32_t least = n_b * (n_b + 1) / 2;
	double below = 0;
	double *share;
	uint32_t sums;

	for (uint32_t i = 0; i < n; i++)
		rank[i] = i + 1;
	share = sum_shares(rank, n, n_b, &sums);
	if (!share)
		return -ENOMEM;
	*end = 0;
	for (uint32_t s = least; s < sums; s++) {
		below += share[s];
		if (below > level / 2)
			break;
		(*end)++;
	}
	free(share);
	return 0;
}

static uint32_t find_end_normally(uint32_t n_a, uint32_t n_b, double level)
{
	const double product = (double)n_a * n_b;
	const double end =
		product / 2 + 0.5 -
		sb_normal_quantile(1 - level / 2) * sqrt(product * (n_a + (double)n_b + 1) / 12);

	return end >= 1 ? (uint32_t)end : 0;
}

static void fill_differences(double *out, const double *a, uint32_t n_a, const double *b,
			     uint32_t n_b, enum sb_pair_scale scale)
{
	for (uint32_t i = 0; i < n_a; i++) {
		for (uint32_t j = 0; j < n_b; j++)
			*out++ = sb_paired_contrast(a[i], b[j], scale);
	}
}

static int shift(struct sb_estimated *out, const double *a, uint32_t n_a, const double *b,
		 uint32_t n_b, const struct sb_unpaired *of)
{
	const uint32_t all = n_a * n_b;
	double *difference = malloc(all * sizeof(*difference));
	uint32_t end = 0;
	int rc = difference ? 0 : -ENOMEM;

	if (!rc && n_a + n_b <= SB_UNPAIRED_EXACT)
		rc = find_end(n_a, n_b, of->level, &end);
	else if (!rc)
		end = find_end_normally(n_a, n_b, of->level);
	if (!rc) {
		fill_differences(difference, a, n_a, b, n_b, of->scale);
		sb_sort(difference, all);
		*out = (struct sb_estimated){
			sb_median_of_sorted(difference, all),
			end ? difference[end - 1] : -INFINITY,
			end ? difference[all - end] : INFINITY,
		};
	}
	free(difference);
	return rc;
}

static double median_of(const double *value, uint32_t n, double *room)
{
	memcpy(room, value, n * sizeof(*room));
	return sb_spread_of(room, n).median;
}

static int fill_medians(struct sb_unpaired *out, const double *a, uint32_t n_a, const double *b,
			uint32_t n_b)
{
	double *room = malloc((n_a + n_b) * sizeof(*room));

	if (!room)
		return -ENOMEM;
	out->a = median_of(a, n_a, room);
	out->b = median_of(b, n_b, room);
	free(room);
	return 0;
}

static enum sb_pair_scale choose_scale(const double *a, uint32_t n_a, const double *b, uint32_t n_b)
{
	for (uint32_t i = 0; i < n_a + n_b; i++) {
		if ((i < n_a ? a[i] : b[i - n_a]) <= 0)
			return SB_PAIR_DIFFERENCE;
	}
	return SB_PAIR_RATIO;
}

int sb_unpaired_compare(struct sb_unpaired *out, const double *a, uint32_t n_a, const double *b,
			uint32_t n_b, double level)
{
	struct sb_estimated estimated = { NAN, NAN, NAN };
	int rc;

	if (!n_a || !n_b)
		return -EINVAL;
	if (n_a > SB_UNPAIRED_MAX || n_b > SB_UNPAIRED_MAX)
		return -E2BIG;
	*out = (struct sb_unpaired){ .level = level, .scale = choose_scale(a, n_a, b, n_b) };
	rc = fill_medians(out, a, n_a, b, n_b);
	rc = rc ? rc : test(out, a, n_a, b, n_b);
	rc = rc ? rc : shift(&estimated, a, n_a, b, n_b, out);
	if (rc)
		return rc;
	out->sign = (estimated.low > 0) - (estimated.high < 0);
	out->detectable = sb_paired_detectable(&estimated, out->scale, level);
	sb_paired_put_back(&estimated, out->scale);
	out->estimate = estimated.value;
	out->low = estimated.low;
	out->high = estimated.high;
	return 0;
}
