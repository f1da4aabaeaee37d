/* paired.h - random pairs, for the tests of comparisons. */
#ifndef SB_TESTS_PAIRED_H
#define SB_TESTS_PAIRED_H

#include <errno.h>
#include <math.h>
#include <string.h>

#include "harness/terminal/shell_words.h"
#include "results/compare/findings.h"
#include "results/stats/unpaired.h"
#include "tests/test.h"

static inline double p_of(const double *value, uint32_t n, double limit)
{
	double p;

	CHECK_EQ(sb_signed_rank_p(&p, value, n, limit), 0);
	return p;
}

/* ---- two results ---- */

static inline struct sb_unpaired unpaired(const double *a, uint32_t n_a, const double *b,
					  uint32_t n_b, double level)
{
	struct sb_unpaired out;

	CHECK_EQ(sb_unpaired_compare(&out, a, n_a, b, n_b, level), 0);
	return out;
}

static struct sb_rng rng;

#endif
