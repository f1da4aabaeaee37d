#include "results/stats/sequential.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "results/stats/paired.h"

/* The first is the first that can rule anything out. */
const uint32_t sb_look[SB_LOOKS] = { 8, 12, 18, 27, 40, SB_LOOK_LAST };

const char *sb_gate_verdict_name(enum sb_gate_verdict verdict)
{
	static const char *const name[SB_GATE_VERDICTS] = {
		[SB_GATE_FINE] = "fine",
		[SB_GATE_REGRESSED] = "regressed",
		[SB_GATE_UNDECIDED] = "undecided",
	};

	return name[verdict];
}

/* Whether p is small enough for what may be spent now. */
static bool spend(double *spent, double error, double share, double p, double p_least)
{
	const double level = error * share - *spent;

	if (p_least > level)
		return false;
	*spent = error * share;
	return p <= level;
}

void sb_sequential_look(struct sb_sequential *test, const struct sb_evidence *evidence,
			double share)
{
	bool is_worse;
	bool is_within;

	if (test->verdict != SB_GATE_UNDECIDED || isnan(evidence->estimate))
		return;
	is_worse =
		spend(&test->alpha_spent, test->alpha, share, evidence->p_worse, evidence->p_least);
	is_within =
		spend(&test->beta_spent, test->beta, share, evidence->p_within, evidence->p_least);
	if (is_worse && evidence->estimate > test->limit)
		test->verdict = SB_GATE_REGRESSED;
	else if (is_within)
		test->verdict = SB_GATE_FINE;
}

int sb_evidence_of(struct sb_evidence *out, const double *value, uint32_t n, double limit)
{
	struct sb_estimated estimated;
	double *turned = malloc((n + 1) * sizeof(*turned));
	int rc = turned ? sb_signed_rank_estimate(&estimated, value, n, SB_PAIRED_LEVEL) : -ENOMEM;

	for (uint32_t i = 0; i < n && turned; i++)
		turned[i] = -value[i];
	rc = rc ? rc : sb_signed_rank_p(&out->p_worse, value, n, 0);
	rc = rc ? rc : sb_signed_rank_p(&out->p_within, turned, n, -limit);
	free(turned);
	if (rc)
		return rc;
	out->estimate = estimated.value;
	out->p_least = ldexp(1, -(int)n);
	return 0;
}

/* The signed ranks' efficiency for normal values, 3 / pi. */
#define EFFICIENCY 0.955

uint32_t sb_sequential_forecast(double limit, double beta, double deviation)
{
	for (int i = 0; i < SB_LOOKS; i++) {
		const double n = sb_look[i];
		const double level = beta * (n - (i ? sb_look[i - 1] : 0)) / SB_LOOK_LAST;
		const double far =
			sb_normal_quantile(1 - level) + sb_normal_quantile(SB_PAIRED_POWER);

		if (deviation * far <= limit * sqrt(n * EFFICIENCY))
			return sb_look[i];
	}
	return 0;
}

static double normal_below(double z)
{
	return erfc(-z / M_SQRT2) / 2;
}

/* The error that may be spent between the last two looks. */
static double last_level(double error)
{
	return error * (SB_LOOK_LAST - sb_look[SB_LOOKS - 2]) / SB_LOOK_LAST;
}

double sb_sequential_chance(const struct sb_sequential *test, double estimate, double deviation,
			    uint32_t n)
{
	const double rest = n < SB_LOOK_LAST ? SB_LOOK_LAST - n : 0;
	const double done = estimate * n / SB_LOOK_LAST;
	const double error = deviation / sqrt(SB_LOOK_LAST * EFFICIENCY);
	/* How far what is to come may move the last estimate. */
	const double moves = deviation * sqrt(rest) / SB_LOOK_LAST;
	const double fine_below =
		test->limit - error * sb_normal_quantile(1 - last_level(test->beta));
	const double worse_above =
		fmax(test->limit, error * sb_normal_quantile(1 - last_level(test->alpha)));

	if (!(moves > 0))
		return 1;
	return fmax(normal_below((fine_below - done) / moves),
		    normal_below((estimate - worse_above) / moves));
}

/* ---- rates ---- */

/* The chance of at most k of n, each with the chance p. */
static double binomial_at_most(uint32_t k, uint32_t n, double p)
{
	double sum = 0;

	for (uint32_t i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) +
			   (n - i) * log1p(-p));
	return fmin(1, sum);
}

/* The p with which at most k of n have that chance, which falls with p. */
static double solve(uint32_t k, uint32_t n, double chance)
{
	double low = 0;
	double high = 1;

	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (binomial_at_most(k, n, middle) > chance)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct sb_rate sb_rate_of(uint32_t k, uint32_t n)
{
	return (struct sb_rate){
		.low = k ? solve(k - 1, n, 1 - 0.025) : 0,
		.high = k < n ? solve(k, n, 0.025) : 1,
	};
}
