#include "results/shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "results/statistics.h"

void sb_shift_free(struct sb_shift *shift)
{
	free(shift->sorted);
	free(shift->at_most);
	*shift = (struct sb_shift){ .all = 0 };
}

/*
 * How often, in all orders of m and n numbers, so many pairs are inverted: the
 * coefficients of the Gaussian binomial, of which factor i is
 * (1 - q^(m + i)) / (1 - q^i). Multiplied by i / (m + i) each time, they stay
 * probabilities.
 */
static void count_inversions(double *chance, uint32_t all, uint32_t m,
			     uint32_t n)
{
	chance[0] = 1;
	for (uint32_t i = 1; i <= n; i++) {
		for (uint32_t u = all + 1; u-- > m + i;)
			chance[u] -= chance[u - m - i];
		for (uint32_t u = i; u <= all; u++)
			chance[u] += chance[u - i];
		for (uint32_t u = 0; u <= all; u++)
			chance[u] *= (double)i / (double)(m + i);
	}
	for (uint32_t u = 1; u <= all; u++)
		chance[u] += chance[u - 1];
}

int sb_shift_make(struct sb_shift *shift, const double *from, uint32_t m,
		  const double *to, uint32_t n)
{
	SB_CHECK(m, >=, 1);
	SB_CHECK(n, >=, 1);
	SB_CHECK(m, <=, SB_SHIFT_MAX);
	SB_CHECK(n, <=, SB_SHIFT_MAX);
	shift->all = m * n;
	shift->sorted = calloc(shift->all, sizeof(*shift->sorted));
	shift->at_most = calloc(shift->all + 1, sizeof(*shift->at_most));
	if (!shift->sorted || !shift->at_most) {
		sb_shift_free(shift);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m; i++) {
		for (uint32_t j = 0; j < n; j++)
			shift->sorted[i * n + j] = to[j] - from[i];
	}
	sb_sort(shift->sorted, shift->all);
	count_inversions(shift->at_most, shift->all, m, n);
	return 0;
}

double sb_shift_estimate(const struct sb_shift *shift)
{
	return sb_median_of_sorted(shift->sorted, shift->all);
}

double sb_shift_p_above(const struct sb_shift *shift, double limit)
{
	uint32_t others = 0;

	while (others < shift->all && shift->sorted[others] <= limit)
		others++;
	return fmin(1, shift->at_most[others]);
}

double sb_shift_p_below(const struct sb_shift *shift, double limit)
{
	uint32_t others = 0;

	while (others < shift->all &&
	       shift->sorted[shift->all - 1 - others] >= limit)
		others++;
	return fmin(1, shift->at_most[others]);
}

void sb_shift_interval(const struct sb_shift *shift, double level, double *low,
		       double *high)
{
	uint32_t end = 0;

	while (shift->at_most[end] <= level / 2)
		end++;
	*low = end ? shift->sorted[end - 1] : (double)-INFINITY;
	*high = end ? shift->sorted[shift->all - end] : (double)INFINITY;
}
