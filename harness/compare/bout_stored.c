/* bout_stored.c - a workload against a stored result, unpaired. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/compare/bout.h"
#include "harness/terminal/status.h"
#include "results/json/read.h"
#include "results/record/series.h"
#include "results/stats/unpaired.h"

static uint32_t take_values(double *out, const struct sb_series *series, enum sb_metric_id metric)
{
	uint32_t all;
	double *value = sb_series_values(series, metric, &all);
	uint32_t n = 0;

	for (uint32_t i = 0; i < all && n < SB_GATE_VALUES_MAX; i++) {
		if (value[i] > 0)
			out[n++] = value[i];
	}
	free(value);
	return n;
}

/* How likely it is that all values of one side come first. */
static double least_chance(uint32_t m, uint32_t n)
{
	return exp(lgamma(m + 1.0) + lgamma(n + 1.0) - lgamma(m + n + 1.0));
}

/* Whether b has moved by the limit: as if it had been divided by that. */
static int compare_at_limit(struct sb_unpaired *out, const struct sb_gate_test *test,
			    const double *a, uint32_t m, const double *b, uint32_t n)
{
	const double factor = exp(sb_bout_worsening(test, test->rule.limit));
	double at_limit[SB_GATE_VALUES_MAX];

	for (uint32_t i = 0; i < n; i++)
		at_limit[i] = b[i] / factor;
	return sb_unpaired_compare(out, a, m, at_limit, n, SB_PAIRED_LEVEL);
}

static int compare_samples(struct sb_gate_test *test, const double *a, uint32_t m, const double *b,
			   uint32_t n)
{
	const bool fall = test->is_fall;
	struct sb_unpaired zero;
	struct sb_unpaired limit;
	struct sb_evidence evidence;

	if (sb_unpaired_compare(&zero, a, m, b, n, SB_PAIRED_LEVEL) ||
	    compare_at_limit(&limit, test, a, m, b, n))
		return sb_fail_memory();
	evidence = (struct sb_evidence){
		.estimate = sb_bout_worsening(test, log(zero.estimate)),
		.p_worse = fall ? zero.p_below : zero.p_above,
		.p_within = fall ? limit.p_above : limit.p_below,
		.p_least = least_chance(m, n),
	};
	test->base = zero.a;
	test->candidate = zero.b;
	test->change = zero.estimate - 1;
	test->low = zero.low - 1;
	test->high = zero.high - 1;
	test->values = n;
	sb_sequential_look(&test->rule, &evidence, 1);
	return 0;
}

static int look_at_stored(struct sb_bout *bout, uint32_t i, const struct sb_series *stored)
{
	const enum sb_metric_id metric = bout->job->limits->limit[i].metric;
	struct sb_gate_test *test = &bout->test[i];
	double from[SB_GATE_VALUES_MAX];
	double to[SB_GATE_VALUES_MAX];
	const uint32_t m = take_values(from, stored, metric);
	uint32_t n = 0;
	int rc;

	/* Both sides are the candidate. */
	for (int side = 0; side < SB_SIDES; side++)
		n += take_values(to + n, bout->pairs.result[side].series, metric);
	if (m < SB_GATE_VALUES_MIN || n < SB_GATE_VALUES_MIN) {
		snprintf(test->why, sizeof(test->why),
			 "the baseline has %" PRIu32 " values and the candidate %" PRIu32
			 "; expected at least %d each",
			 m, n, SB_GATE_VALUES_MIN);
		return 0;
	}
	rc = compare_samples(test, from, m, to, n);
	if (!rc && test->rule.verdict == SB_GATE_UNDECIDED)
		snprintf(test->why, sizeof(test->why),
			 "%" PRIu32 " values against %" PRIu32
			 " are too few at this noise; pairs with a program or a revision see more",
			 n, m);
	return rc;
}

int sb_bout_run_stored(struct sb_bout *bout, const struct sb_result *stored)
{
	struct sb_gate_setup *setup = bout->setup;
	struct sb_bout_words words;
	const struct sb_side side = { setup->candidate, sb_bout_words(bout, &words, SB_SIDE_B),
				      setup->limit_ns };
	int rc;

	/* It was read before, and may be another one by now. */
	if (bout->job->series >= stored->all_series)
		return sb_fail(SB_EXIT_USAGE, "--baseline: it has changed");
	bout->pairs = (struct sb_pairs){
		.side = { side, side },
		.most = SB_BOUT_STORED / 2,
		.time_ns = sb_bout_time(bout),
		.has_warm_up = true,
		.keep_awake = SB_AWAKE_NO, /* nor was the baseline */
		.seed = setup->seed,
		.scratch = setup->scratch,
		.saved = setup->saved,
		.first_series = SB_SIDES * (uint32_t)(bout->job - setup->job),
		.failures = setup->failures,
		.before = sb_bout_before_run,
		.arg = bout,
	};
	rc = sb_pairs_run(&bout->pairs);
	if (!rc)
		sb_bout_sum_up(bout);
	for (uint32_t i = 0; i < bout->job->limits->n && !rc; i++)
		rc = look_at_stored(bout, i, &stored->series[bout->job->series]);
	if (!rc)
		sb_bout_reject_invalid(bout);
	sb_pairs_free(&bout->pairs);
	return rc;
}
