/*
 * sequential.h - whether something has become worse than a limit allows, asked
 * again and again while values come in, with an error that is stated for all of
 * that.
 *
 * A worsening is the logarithm of a ratio, above 0 where B is worse than A. At a
 * look it is
 *	regressed  if the estimate is beyond the limit, and a worsening of 0 is
 *		   ruled out
 *	fine       if a worsening as large as the limit is ruled out
 *	undecided  otherwise; after the last look that is the answer
 * and the first answer is final.
 *
 * At a look there may be spent error * share, less what earlier looks have spent;
 * share is the look's part of the most values there can be, and 1 at the last. A
 * look that has so few values that it could not reject anything spends nothing.
 * What the looks spend adds up to the error, and so the chance of a false answer
 * at any of them is below that, whatever their dependence (Bonferroni) and the
 * noise. This is the linear one of the spending functions of Lan and DeMets
 * (Biometrika 70, 1983) without the gain from the looks' joint distribution, for
 * which that would have to be normal; O'Brien and Fleming's spends next to nothing
 * before the end, and what is clear early would not end early.
 */
#ifndef SB_RESULTS_STATS_SEQUENTIAL_H
#define SB_RESULTS_STATS_SEQUENTIAL_H

#include "core/platform/base.h"

enum sb_gate_verdict { SB_GATE_FINE, SB_GATE_REGRESSED, SB_GATE_UNDECIDED, SB_GATE_VERDICTS };

/* "fine" and so on. */
const char *sb_gate_verdict_name(enum sb_gate_verdict verdict);

/* The evidence of values. */
struct sb_evidence {
	double estimate; /* of the worsening; NaN: there are no values */
	double p_worse;	 /* how likely they are if it is 0 or less */
	double p_within; /* how likely they are if it is the limit or more */
	double p_least;	 /* the least that so few values can have */
};

struct sb_sequential {
	double limit; /* above 0 */
	/* Chances of being wrong, in all looks: regressed without a change, fine
	 * at the limit. */
	double alpha, beta;
	double alpha_spent, beta_spent;
	enum sb_gate_verdict verdict; /* at first undecided */
};

/* 0 < share <= 1. */
void sb_sequential_look(struct sb_sequential *test, const struct sb_evidence *evidence,
			double share);

/* Of n values, each a worsening by itself, by Wilcoxon's signed ranks. Returns 0
 * or -errno. */
SB_MUST_CHECK int sb_evidence_of(struct sb_evidence *out, const double *value, uint32_t n,
				 double limit);

/* Values at which there is a look; the last number is the most there can be. */
#define SB_LOOKS 6
extern const uint32_t sb_look[SB_LOOKS];
#define SB_LOOK_LAST 60

/*
 * At which look a worsening of 0 will be fine in most cases, if values have that
 * standard deviation: how many values. 0: at none. A forecast by the normal
 * distribution, no more.
 */
uint32_t sb_sequential_forecast(double limit, double beta, double deviation);

/*
 * How likely the last look is to be clear, after n values with that estimate and
 * standard deviation: fine, if what is still to come has not become worse, or
 * regressed, if that is as what has come. A forecast, too: it may end a test early,
 * which adds nothing to either error.
 */
double sb_sequential_chance(const struct sb_sequential *test, double estimate, double deviation,
			    uint32_t n);

/*
 * The exact 95 % interval of a rate that n trials showed k times: Clopper and
 * Pearson, Biometrika 26, 1934. n >= 1.
 */
struct sb_rate {
	double low, high;
};
struct sb_rate sb_rate_of(uint32_t k, uint32_t n);

#endif
