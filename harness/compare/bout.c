#include "harness/compare/bout.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/terminal/status.h"
#include "results/json/read.h"
#include "results/record/series.h"

/* A workload of which more than that part is invalid has no verdict. */
#define INVALID_MAX 0.2

/* ---- what a metric's values say ---- */

static void keep_interval(struct sb_gate_test *test, const struct sb_estimated *estimated)
{
	test->change = expm1(estimated->value);
	test->low = expm1(estimated->low);
	test->high = expm1(estimated->high);
}

/* The normal distribution's, from the quartiles: one bad value is not noise. */
static double deviation_of(double *value, uint32_t n)
{
	const struct sb_spread spread = sb_spread_of(value, n);

	return (spread.q3 - spread.q1) / 1.349;
}

/* A look at the logarithms of ratios of one metric. */
static int look_at(struct sb_gate_test *test, double *unit, uint32_t n, double share)
{
	struct sb_estimated estimated;
	struct sb_evidence evidence;
	int rc = sb_signed_rank_estimate(&estimated, unit, n, SB_PAIRED_LEVEL);

	if (rc)
		return rc;
	keep_interval(test, &estimated);
	test->values = n;
	for (uint32_t i = 0; i < n; i++)
		unit[i] = sb_bout_worsening(test, unit[i]);
	rc = sb_evidence_of(&evidence, unit, n, test->rule.limit);
	if (rc)
		return rc;
	test->deviation = deviation_of(unit, n);
	test->chance = sb_sequential_chance(&test->rule, sb_bout_worsening(test, estimated.value),
					    test->deviation, n);
	sb_sequential_look(&test->rule, &evidence, share);
	return 0;
}

static void say_undecided(struct sb_gate_test *test, const char *why)
{
	snprintf(test->why, sizeof(test->why), "%s", why);
}

/*
 * Of events the values are made here, from what is counted: a baseline may be older
 * than the metric. And a run without any is one with fewer than one: as if it had half
 * of one, which has a logarithm.
 */
static void take_events(double *value, const struct sb_pairs *pairs, enum sb_side_id side,
			enum sb_metric_id count)
{
	const struct sb_record *record = pairs->result[side].series->record;

	for (uint32_t i = 0; i < pairs->pairs; i++) {
		const double n = record[i].value[count];

		/* NaN: it was not counted. */
		if (pairs->pair[i].is_valid)
			*value++ = (n < 0.5 ? 0.5 : n) / record[i].value[SB_METRIC_operations];
	}
}

static int look_at_pairs(struct sb_bout *bout, uint32_t i, double share)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static double unit[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct sb_gate_test *test = &bout->test[i];
	const enum sb_metric_id metric = bout->job->limits->limit[i].metric;
	const struct sb_pair_values values = sb_pairs_values(&bout->pairs, metric, a, b, block);
	enum sb_metric_id count;
	enum sb_pair_scale scale;
	uint32_t units;

	if (test->rule.verdict != SB_GATE_UNDECIDED)
		return 0;
	if (sb_limit_event(metric, &count)) {
		take_events(a, &bout->pairs, SB_SIDE_A, count);
		take_events(b, &bout->pairs, SB_SIDE_B, count);
	}
	units = sb_paired_units(unit, &scale, &values);
	if (!units)
		say_undecided(test, "no run measured it");
	else if (scale != SB_PAIR_RATIO)
		say_undecided(test, "it is 0 in a run, and 0 has no ratio");
	if (!units || scale != SB_PAIR_RATIO)
		return 0;
	test->why[0] = '\0';
	test->base = sb_spread_of(a, values.pairs).median;
	test->candidate = sb_spread_of(b, values.pairs).median;
	return look_at(test, unit, units, share);
}

/* ---- while pairs come in ---- */

static bool is_all_clear(const struct sb_bout *bout)
{
	for (uint32_t i = 0; i < bout->job->limits->n; i++) {
		if (bout->test[i].rule.verdict == SB_GATE_UNDECIDED)
			return false;
	}
	return true;
}

/* Fewer values say too little about noise, and a smaller chance is not worth the
 * time that is left. */
#define CHANCE_VALUES 12
#define CHANCE_LEAST  0.25

static bool will_stay_undecided(const struct sb_gate_test *test)
{
	return test->rule.verdict == SB_GATE_UNDECIDED && test->values >= CHANCE_VALUES &&
	       test->chance < CHANCE_LEAST;
}

/* One that will stay undecided is enough: then the gate will, unless another has
 * regressed, and that one is given its time. */
static bool is_hopeless(const struct sb_bout *bout)
{
	bool found = false;

	for (uint32_t i = 0; i < bout->job->limits->n; i++) {
		const struct sb_gate_test *test = &bout->test[i];
		const double change = sb_bout_worsening(test, test->change);

		if (will_stay_undecided(test))
			found = true;
		else if (test->rule.verdict == SB_GATE_UNDECIDED && change > test->limit)
			return false;
	}
	return found;
}

static void look(struct sb_bout *bout, double share)
{
	bout->looked = share;
	for (uint32_t i = 0; i < bout->job->limits->n && !bout->rc; i++) {
		if (look_at_pairs(bout, i, share))
			bout->rc = sb_fail_memory();
	}
}

/* Two programs can be compared if they were built and placed alike. */
static int check_sides(const struct sb_bout *bout)
{
	static const char *const key[] = { "build_mode", "topology" };
	const struct sb_result *side = bout->pairs.result;

	for (size_t i = 0; i < SB_ARRAY_SIZE(key); i++) {
		const char *a = sb_result_fact(&side[SB_SIDE_A], "run", key[i]);
		const char *b = sb_result_fact(&side[SB_SIDE_B], "run", key[i]);

		if (*a && *b && strcmp(a, b) != 0)
			return sb_fail(
				SB_EXIT_USAGE,
				"the baseline's %s is %s, the candidate's %s; expected the same",
				key[i], a, b);
	}
	return 0;
}

static bool after_pair(void *arg)
{
	struct sb_bout *bout = arg;
	const uint32_t blocks = bout->pairs.pairs / SB_BOUT_BLOCK;

	if (bout->pairs.pairs == 1)
		bout->rc = check_sides(bout);
	if (bout->pairs.pairs % SB_BOUT_BLOCK)
		return !bout->rc;
	for (int i = 0; i < SB_LOOKS && !bout->rc; i++) {
		if (sb_look[i] == blocks)
			look(bout, (double)blocks / SB_LOOK_LAST);
	}
	bout->is_hopeless = is_hopeless(bout);
	return !bout->rc && !is_all_clear(bout) && !bout->is_hopeless;
}

void sb_bout_before_run(void *arg, uint32_t pair, enum sb_side_id side)
{
	struct sb_bout *bout = arg;
	char phase[SB_PROGRESS_TEXT];

	(void)pair;
	snprintf(phase, sizeof(phase), "%sblock %" PRIu32 " of at most %d, %s", bout->setup->prefix,
		 bout->pairs.pairs / SB_BOUT_BLOCK + 1, SB_LOOK_LAST,
		 side == SB_SIDE_A ? "baseline" : "candidate");
	sb_progress_phase(&bout->setup->progress, bout->job->workload, phase);
}

/* ---- afterwards ---- */

static const char *first_reason(const struct sb_bout *bout)
{
	for (uint32_t i = 0; i < bout->pairs.pairs; i++) {
		for (int side = 0; side < SB_SIDES; side++) {
			const struct sb_record *record =
				&bout->pairs.result[side].series->record[i];

			if (record->verdict == SB_INVALID)
				return record->reason;
		}
	}
	return "";
}

void sb_bout_sum_up(struct sb_bout *bout)
{
	static double a[SB_PAIRS_MAX];
	static double b[SB_PAIRS_MAX];
	static uint32_t block[SB_PAIRS_MAX];
	struct sb_gate_workload *w = bout->workload;
	const struct sb_pair_values cpu =
		sb_pairs_values(&bout->pairs, SB_METRIC_cpu_ns_per_op, a, b, block);

	w->pairs = bout->pairs.pairs;
	w->invalid = bout->pairs.pairs - bout->pairs.valid;
	w->suspect = bout->pairs.suspect;
	w->is_kept_awake = bout->pairs.is_kept_awake;
	w->elapsed_s = 1e-9 * (double)bout->pairs.elapsed_ns;
	w->ratio = sb_spread_of(b, cpu.pairs).median / sb_spread_of(a, cpu.pairs).median;
	snprintf(w->reason, sizeof(w->reason), "%s", first_reason(bout));
}

/* The remedy when it cannot decide, by the noise's effect on the metric. */
static const char *other_way(const struct sb_bout *bout, uint32_t i)
{
	const enum sb_metric_id metric = bout->job->limits->limit[i].metric;
	enum sb_metric_id count;

	if (metric == SB_METRIC_ns_per_op || metric == SB_METRIC_ops_per_s)
		return "CPU time (--limit cpu_ns_per_op=+3%), instruction counts (--counts) or a "
		       "quieter machine decide";
	if (sb_limit_event(metric, &count))
		return "a quieter machine or a wider --limit decide";
	return "instruction counts (--counts), a quieter machine or a wider --limit decide";
}

/* The remedy depends on the kind of noise. */
static void explain(const struct sb_bout *bout, uint32_t i)
{
	struct sb_gate_test *test = &bout->test[i];
	const uint32_t needed =
		sb_sequential_forecast(test->rule.limit, test->rule.beta, test->deviation);
	const bool is_full = bout->pairs.pairs >= SB_BOUT_PAIRS_MAX;

	if (*test->why || test->rule.verdict != SB_GATE_UNDECIDED)
		return;
	if (bout->is_hopeless && !will_stay_undecided(test))
		snprintf(test->why, sizeof(test->why),
			 "ended after %" PRIu32 " blocks, as another metric will not be clear; "
			 "without that one (--limit) this one may be",
			 test->values);
	else if (bout->is_hopeless)
		snprintf(test->why, sizeof(test->why),
			 "ended after %" PRIu32
			 " blocks: at a noise of %.1f %% a verdict within %d is unlikely; %s",
			 test->values, 100 * test->deviation, SB_LOOK_LAST, other_way(bout, i));
	else
		snprintf(test->why, sizeof(test->why),
			 "%" PRIu32 " blocks at a noise of %.1f %% are too few; %s", test->values,
			 100 * test->deviation,
			 is_full || !needed ? other_way(bout, i) : "a longer --budget decides");
}

void sb_bout_reject_invalid(struct sb_bout *bout)
{
	const struct sb_gate_workload *w = bout->workload;
	char why[SB_GATE_WHY_BYTES];

	if (w->pairs && w->invalid <= INVALID_MAX * w->pairs)
		return;
	if (w->pairs)
		snprintf(why, sizeof(why), "%" PRIu32 " of %" PRIu32 " pairs are invalid: %.250s",
			 w->invalid, w->pairs, w->reason);
	else
		snprintf(why, sizeof(why), "there was no time for a pair");
	for (uint32_t i = 0; i < bout->job->limits->n; i++) {
		bout->test[i].rule.verdict = SB_GATE_UNDECIDED;
		say_undecided(&bout->test[i], why);
	}
}

static void finish_bout(struct sb_bout *bout)
{
	sb_bout_sum_up(bout);
	/* Between looks the time was up: what is left of the errors is spent. Not so
	 * where the values themselves have said that it is the end. */
	if (bout->looked < 1 && !bout->is_hopeless && bout->pairs.valid && !is_all_clear(bout))
		look(bout, 1);
	for (uint32_t i = 0; i < bout->job->limits->n; i++)
		explain(bout, i);
	sb_bout_reject_invalid(bout);
	if (bout->pairs.is_interrupted) {
		for (uint32_t i = 0; i < bout->job->limits->n; i++) {
			if (bout->test[i].rule.verdict == SB_GATE_UNDECIDED)
				say_undecided(&bout->test[i], "interrupted");
		}
	}
}

/* ---- pairs ---- */

char *const *sb_bout_words(const struct sb_bout *bout, struct sb_bout_words *out,
			   enum sb_side_id side)
{
	const struct sb_words *own = &bout->setup->side[side].words;
	uint32_t n = bout->job->words;

	memcpy(out->word, bout->job->word, n * sizeof(*out->word));
	for (uint32_t i = 0; i < own->n; i++)
		out->word[n++] = own->word[i];
	if (side == SB_SIDE_B && bout->setup->slowdown) {
		snprintf(out->slowdown, sizeof(out->slowdown), "--slowdown=%s",
			 bout->setup->slowdown);
		out->word[n++] = out->slowdown;
	}
	out->word[n] = NULL;
	return out->word;
}

/* The rest of the budget is shared by the remaining workloads. */
uint64_t sb_bout_time(const struct sb_bout *bout)
{
	const uint32_t left = bout->setup->jobs - (uint32_t)(bout->job - bout->setup->job);
	const uint64_t time_ns = bout->left_ns / left;

	return time_ns ? time_ns : 1;
}

static enum sb_awake_when awake_when(const struct sb_gate_setup *setup)
{
	return (enum sb_awake_when)setup->options->value[SB_OPT_keep_awake].alternative;
}

int sb_bout_run(struct sb_bout *bout)
{
	struct sb_gate_setup *setup = bout->setup;
	struct sb_bout_words words[SB_SIDES];
	const char *program = setup->baseline.path ? setup->baseline.path : setup->candidate;
	int rc;

	bout->pairs = (struct sb_pairs){
		.side = { { program, sb_bout_words(bout, &words[0], SB_SIDE_A), setup->limit_ns },
			  { setup->candidate, sb_bout_words(bout, &words[1], SB_SIDE_B),
			    setup->limit_ns } },
		.most = SB_BOUT_PAIRS_MAX,
		.time_ns = sb_bout_time(bout),
		.has_warm_up = true,
		.keep_awake = awake_when(setup),
		.seed = setup->seed,
		.scratch = setup->scratch,
		.saved = setup->saved,
		.first_series = SB_SIDES * (uint32_t)(bout->job - setup->job),
		.failures = setup->failures,
		.before = sb_bout_before_run,
		.after = after_pair,
		.arg = bout,
	};
	rc = sb_pairs_run(&bout->pairs);
	rc = rc ? rc : bout->rc;
	if (!rc) {
		finish_bout(bout);
		rc = bout->rc;
	}
	sb_pairs_free(&bout->pairs);
	return rc;
}
