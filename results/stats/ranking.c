#include "results/stats/ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "results/stats/statistics.h"

#define RESAMPLINGS 10000
#define ERROR_LEVEL 0.05

static bool is_there(double value)
{
	return value > 0 && isfinite(value);
}

/* ---- Student's t ---- */

/* The finite series for whole degrees of freedom: Abramowitz and Stegun, 26.7.3
 * and 26.7.4. */
double sb_student_below(double t, uint32_t freedom)
{
	const double angle = atan(fabs(t) / sqrt(freedom));
	const double cosine = cos(angle);
	const bool odd = freedom % 2;
	double term = odd ? cosine : 1;
	double sum = 0;
	double within;

	for (uint32_t i = odd ? 3 : 2; i <= freedom; i += 2) {
		sum += term;
		term *= cosine * cosine * (i - 1) / i;
	}
	within = sin(angle) * sum;
	if (odd)
		within = 2 / M_PI * (angle + within);
	within = fmin(1, within); /* but for rounding */
	return t < 0 ? (1 - within) / 2 : (1 + within) / 2;
}

/* By bisection. */
double sb_student_quantile(double share, uint32_t freedom)
{
	double low = 0;
	double high = 1000;

	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (sb_student_below(middle, freedom) < share)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---- intervals ---- */

static double mean_of(const double *value, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += value[i];
	return sum / n;
}

static double resampled_mean(struct sb_rng *rng, const double *value, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += value[sb_rng_below(rng, n)];
	return sum / n;
}

/* The share left out on each side, so that 95 % are left in on average. */
static double tail_of(uint32_t n)
{
	const double t = sb_student_quantile(1 - ERROR_LEVEL / 2, n - 1);

	return erfc(t * sqrt((double)n / (n - 1)) / sqrt(2)) / 2;
}

/* log: [n], the logarithms. */
static struct sb_ratio interval_of(const double *log, uint32_t n, uint64_t seed)
{
	struct sb_ratio ratio = { n, NAN, NAN, NAN };
	double *mean = calloc(RESAMPLINGS, sizeof(*mean));
	struct sb_rng rng;
	uint32_t skip;

	if (!mean || n < SB_RANKING_ROUNDS) {
		free(mean);
		return ratio;
	}
	sb_rng_seed(&rng, seed);
	for (int i = 0; i < RESAMPLINGS; i++)
		mean[i] = resampled_mean(&rng, log, n);
	sb_sort(mean, RESAMPLINGS);
	skip = (uint32_t)(tail_of(n) * RESAMPLINGS);
	ratio.ratio = exp(mean_of(log, n));
	ratio.low = exp(mean[skip]);
	ratio.high = exp(mean[RESAMPLINGS - 1 - skip]);
	free(mean);
	return ratio;
}

struct sb_ratio sb_ranking_ratio(const double *of, const double *to, uint32_t rounds, uint64_t seed)
{
	double *difference = calloc(rounds + 1, sizeof(*difference));
	struct sb_ratio ratio;
	uint32_t n = 0;

	for (uint32_t r = 0; difference && r < rounds; r++) {
		if (is_there(of[r]) && is_there(to[r]))
			difference[n++] = log(of[r] / to[r]);
	}
	ratio = interval_of(difference, n, seed);
	free(difference);
	return ratio;
}

/* ---- who is compared, and in which rounds ---- */

struct table {
	const struct sb_rounds *in;
	uint32_t configurations;
	struct sb_rank *rank;

	/* Logarithms of complete rounds: log[r * configurations + c]. */
	double *log;
	uint32_t rounds;
};

static double at(const struct table *t, uint32_t c, uint32_t r)
{
	return t->in->value[c * t->in->rounds + r];
}

static uint32_t count_values(const struct table *t, uint32_t c)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < t->in->rounds; r++)
		n += is_there(at(t, c, r));
	return n;
}

static bool is_complete(const struct table *t, uint32_t r)
{
	for (uint32_t c = 0; c < t->configurations; c++) {
		if (t->rank[c].compared && !is_there(at(t, c, r)))
			return false;
	}
	return true;
}

static uint32_t count_complete(const struct table *t)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < t->in->rounds; r++)
		n += is_complete(t, r);
	return n;
}

/* Among equals the last, so that it does not depend on chance. False: nobody is
 * left. */
static bool leave_out_fewest(struct table *t)
{
	uint32_t fewest = UINT32_MAX;
	uint32_t who = 0;

	for (uint32_t c = 0; c < t->configurations; c++) {
		const uint32_t n = count_values(t, c);

		if (t->rank[c].compared && n <= fewest) {
			fewest = n;
			who = c;
		}
	}
	if (fewest == UINT32_MAX)
		return false;
	t->rank[who].compared = false;
	return true;
}

static uint32_t choose_compared(struct table *t)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < t->configurations; c++)
		t->rank[c].compared = count_values(t, c) >= SB_RANKING_ROUNDS;
	while (count_complete(t) < SB_RANKING_ROUNDS && leave_out_fewest(t))
		continue;
	for (uint32_t c = 0; c < t->configurations; c++)
		n += t->rank[c].compared;
	/* One by itself is not the best of anything. */
	for (uint32_t c = 0; c < t->configurations && n < 2; c++)
		t->rank[c].compared = false;
	return n < 2 ? 0 : n;
}

static void take_logarithms(struct table *t)
{
	t->rounds = 0;
	for (uint32_t r = 0; r < t->in->rounds; r++) {
		double *row = &t->log[t->rounds * t->configurations];

		if (!is_complete(t, r))
			continue;
		for (uint32_t c = 0; c < t->configurations; c++)
			row[c] = t->rank[c].compared ? log(at(t, c, r)) : 0;
		t->rounds++;
	}
}

/* ---- the ranking ---- */

static uint32_t least(const struct table *t, const double *sum, uint32_t but)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t c = 0; c < t->configurations; c++) {
		if (t->rank[c].compared && c != but && (best == UINT32_MAX || sum[c] < sum[best]))
			best = c;
	}
	return best;
}

static void add_round(const struct table *t, double *sum, uint32_t r)
{
	for (uint32_t c = 0; c < t->configurations; c++)
		sum[c] += t->log[r * t->configurations + c];
}

static void find_best(const struct table *t, struct sb_ranking *ranking, double *sum)
{
	memset(sum, 0, t->configurations * sizeof(*sum));
	for (uint32_t r = 0; r < t->rounds; r++)
		add_round(t, sum, r);
	ranking->best = least(t, sum, UINT32_MAX);
	ranking->second = least(t, sum, ranking->best);
}

static void resample(const struct table *t, double *sum, uint64_t seed)
{
	struct sb_rng rng;

	sb_rng_seed(&rng, seed);
	for (int i = 0; i < RESAMPLINGS; i++) {
		memset(sum, 0, t->configurations * sizeof(*sum));
		for (uint32_t r = 0; r < t->rounds; r++)
			add_round(t, sum, sb_rng_below(&rng, t->rounds));
		t->rank[least(t, sum, UINT32_MAX)].p_best += 1.0 / RESAMPLINGS;
	}
}

/* That c is worse than the best by nothing but chance. */
static double p_value_of(const struct table *t, uint32_t c, uint32_t best)
{
	const uint32_t n = t->rounds;
	double sum = 0;
	double squares = 0;
	double mean;
	double error;

	for (uint32_t r = 0; r < n; r++) {
		const double *row = &t->log[r * t->configurations];

		sum += row[c] - row[best];
	}
	mean = sum / n;
	for (uint32_t r = 0; r < n; r++) {
		const double *row = &t->log[r * t->configurations];
		const double off = row[c] - row[best] - mean;

		squares += off * off;
	}
	error = sqrt(squares / (n - 1) / n);
	/* Some metrics do not vary. */
	if (error == 0)
		return mean > 0 ? 0 : 1;
	return sb_student_below(-mean / error, n - 1);
}

static void judge(const struct table *t, const struct sb_ranking *ranking)
{
	for (uint32_t c = 0; c < t->configurations; c++) {
		struct sb_rank *rank = &t->rank[c];

		if (!rank->compared || c == ranking->best)
			continue;
		rank->p_value = p_value_of(t, c, ranking->best);
		rank->apart = rank->p_value < ERROR_LEVEL / (ranking->compared - 1);
	}
}

static void rank_compared(struct table *t, struct sb_ranking *ranking, double *sum, uint64_t seed)
{
	take_logarithms(t);
	ranking->rounds = t->rounds;
	find_best(t, ranking, sum);
	resample(t, sum, seed);
	judge(t, ranking);
}

int sb_ranking_make(struct sb_ranking *ranking, struct sb_rank *rank, const struct sb_rounds *in,
		    uint64_t seed)
{
	const size_t cells = (size_t)in->configurations * in->rounds;
	struct table table = { .in = in,
			       .configurations = in->configurations,
			       .rank = rank,
			       .log = calloc(cells + 1, sizeof(double)) };
	double *sum = calloc(in->configurations + 1, sizeof(*sum));
	const int rc = table.log && sum ? 0 : -ENOMEM;

	*ranking = (struct sb_ranking){ .compared = 0 };
	for (uint32_t c = 0; c < in->configurations; c++)
		rank[c] = (struct sb_rank){ .p_value = 1 };
	if (table.log && sum) {
		ranking->compared = choose_compared(&table);
		if (ranking->compared)
			rank_compared(&table, ranking, sum, seed);
	}
	free(table.log);
	free(sum);
	return rc;
}

struct sb_ratio sb_ranking_mean(const struct sb_rounds *in, const struct sb_rank *rank, uint32_t c,
				uint64_t seed)
{
	const struct table table = {
		.in = in,
		.configurations = in->configurations,
		.rank = (struct sb_rank *)(uintptr_t)rank,
	};
	double *own = calloc(in->rounds + 1, sizeof(*own));
	struct sb_ratio mean = { 0, NAN, NAN, NAN };
	uint32_t n = 0;

	for (uint32_t r = 0; own && r < in->rounds; r++) {
		if (is_complete(&table, r))
			own[n++] = log(at(&table, c, r));
	}
	if (own)
		mean = interval_of(own, n, seed);
	free(own);
	return mean;
}

/* ---- main effects ---- */

/* Of level l in round r. */
static double fold_cell(uint32_t l, uint32_t r, const uint32_t *level, const bool *include,
			const struct sb_rounds *in)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t c = 0; c < in->configurations; c++) {
		const double value = in->value[c * in->rounds + r];

		if (!include[c] || level[c] != l)
			continue;
		if (!is_there(value))
			return NAN;
		sum += log(value);
		n++;
	}
	return n ? exp(sum / n) : (double)NAN;
}

void sb_ranking_fold(double *out, uint32_t levels, const uint32_t *level, const bool *include,
		     const struct sb_rounds *in)
{
	for (uint32_t l = 0; l < levels; l++) {
		for (uint32_t r = 0; r < in->rounds; r++)
			out[l * in->rounds + r] = fold_cell(l, r, level, include, in);
	}
}
