/*
 * distribution.h - distributions of times, for service and for what lies
 * between arrivals, from text.
 *
 *	T, fixed:T              always T
 *	exp:T                   exponential with mean T
 *	uniform:A:B             uniform between A and B
 *	bimodal:P:A:B           A with probability P, else B
 *	modes:P:A,P:B,...       each with its probability; they add up to 1
 *	lognormal:MEAN:SD       of the times, not of their logarithms
 *	pareto:MIN:ALPHA        P(X > x) = (MIN / x)^ALPHA, ALPHA > 1
 *	pareto:MIN:ALPHA:MAX    the same, cut off: given that X <= MAX
 *	file:PATH               lines "TIME" or "TIME WEIGHT"; # begins a comment
 *	T+any of the above      later by T
 *	NAME                    one of sb_distribution_named
 *
 * All have their mean and variance in closed form. For pareto without MAX and with
 * ALPHA <= 2 the variance, and so the SCV, is infinite.
 *
 * Samples are made by the inverse of the distribution function from the upper 53
 * bits of xorshift64*, whose lowest bits alone are weak (as linear recurrences
 * they fail tests of matrix rank); the upper ones pass. The largest exponential
 * sample is then 36.7 means, which is exceeded once in 10^16. A ziggurat would
 * save 10 ns of logarithm in a thread that does nothing else. Only lognormal
 * has no inverse that the C library knows; it takes Marsaglia's polar method.
 */
#ifndef SB_WORKLOADS_LOAD_DISTRIBUTION_H
#define SB_WORKLOADS_LOAD_DISTRIBUTION_H

#include "core/platform/platform.h"

enum sb_distribution_kind {
	SB_DISTRIBUTION_MODES, /* finitely many values; fixed and file, too */
	SB_DISTRIBUTION_EXP,
	SB_DISTRIBUTION_UNIFORM,
	SB_DISTRIBUTION_LOGNORMAL,
	SB_DISTRIBUTION_PARETO,
};

/* A value of MODES; up_to: probability of this one and those before it. */
struct sb_mode {
	double value_ns;
	double up_to;
};

struct sb_distribution {
	enum sb_distribution_kind kind;
	double mean_ns; /* of the whole, offset included */
	double scv;	/* squared coefficient of variation; may be infinite */
	double offset_ns;
	/* exp: mean. uniform: from, to. lognormal: mean and standard deviation
	 * of the logarithm. pareto: least, shape, largest (or infinite). */
	double a, b, c;
	struct sb_mode *mode; /* [modes] */
	uint32_t modes;
};

/* Distributions that papers and systems name. */
struct sb_named_distribution {
	const char *name;
	const char *text;
	const char *source;
};

extern const struct sb_named_distribution sb_distribution_named[]; /* NULL */

/*
 * Returns 0, or -errno with one line that says what is wrong and what was
 * expected in why. To be freed with sb_distribution_fini only after 0.
 */
#define SB_WHY_BYTES 240
SB_MUST_CHECK int sb_distribution_init(struct sb_distribution *d, const char *text, char *why);
void sb_distribution_fini(struct sb_distribution *d);

/* One sample, in nanoseconds. */
double sb_distribution_sample(const struct sb_distribution *d, struct sb_rng *rng);

/* Probability that a sample is at most x_ns; for tests and pictures. */
double sb_distribution_cdf(const struct sb_distribution *d, double x_ns);

/* A file with more times, or a longer line, is a mistake. */
#define SB_TIMES	    (1u << 24)
#define SB_TIMES_LINE_BYTES 4096

/* Values of a file, in its order. */
struct sb_times {
	double *ns;
	double *weight;
	uint32_t count;
};

/* Reads lines "TIME" or "TIME WEIGHT". As sb_distribution_init. */
SB_MUST_CHECK int sb_times_read(struct sb_times *times, const char *path, char *why);
void sb_times_fini(struct sb_times *times);

/* Uniform in [0, 1), from the upper 53 bits. */
static inline double sb_rng_unit(struct sb_rng *rng)
{
	return (double)(sb_rng_next(rng) >> 11) * 0x1p-53;
}

/* Exponential with mean 1. */
double sb_rng_exponential(struct sb_rng *rng);

#endif
