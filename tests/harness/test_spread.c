/*
 * test_spread.c - what a run says when the host changes between its forks, and when two runs differ.
 *
 * Property: forks in two states of the host have no single number; runs in different states are not
 *   compared.
 * Method: made-up forks with fixed seeds, whose times follow from the state of the host.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/comparison.h"
#include "results/files/answer.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/stats/unpaired.h"
#include "tests/test.h"

#define FORKS	    9
#define REPETITIONS 3
#define ROWS	    (FORKS * REPETITIONS)

/* A result of one series, for sb_result_free. line, cost: of each fork. */
static struct sb_result make_result(const double *line, const double *cost)
{
	struct sb_series *series = calloc(1, sizeof(*series));
	struct sb_record *record = calloc(ROWS, sizeof(*record));

	assert_true(series && record);
	for (uint32_t r = 0; r < ROWS; r++) {
		for (int m = 0; m < SB_METRICS; m++)
			record[r].value[m] = NAN;
		record[r].repetition = r;
		record[r].fork = r / REPETITIONS;
		record[r].value[SB_METRIC_line_transfer_ns] = line[r / REPETITIONS];
		record[r].value[SB_METRIC_ns_per_op] =
			cost[r / REPETITIONS] * (1 + 0.001 * (r % REPETITIONS));
	}
	*series = (struct sb_series){ .workload = strdup("fan-in"),
				      .label = strdup("senders=4"),
				      .records = ROWS,
				      .record = record,
				      .placement = { .workers = 2 } };
	return (struct sb_result){ .all_series = 1, .series = series };
}

static const double moved[FORKS] = { 45, 44, 46, 45, 190, 188, 195, 190, 191 };
static const double near[FORKS] = { 35, 64, 45, 50, 60, 36, 40, 45, 48 };
static const double cost[FORKS] = { 56, 55, 57, 56, 107, 106, 108, 107, 109 };

static void a_host_that_moves_a_cpu_is_the_headline(void **state)
{
	struct sb_result result = make_result(moved, cost);
	const char *answer;

	(void)state;
	sb_judge_series(result.series);
	CHECK_EQ(sb_series_count(result.series, SB_SUSPECT), ROWS);
	/* What the host explains is not said again. */
	assert_null(strstr(result.series->record[0].reason, "stationary"));
	assert_string_equal(result.series->record[5].reason,
			    "the host changed between fork 4 and 5 (cache line 45 ns -> 190 ns): "
			    "ns_per_op is 56.1 ns in 4 forks, 107 ns in 5");
	CHECK_EQ(sb_answer_from_rows(&result), 0);
	answer = sb_answer_of(&result);
	assert_string_equal(
		answer, "fan-in: the host changed between fork 4 and 5 (cache line 45 ns -> "
			"190 ns): ns_per_op is 56.1 ns in 4 forks, 107 ns in 5; 9 forks x 3, 0 of "
			"27 repetitions valid.\n");
	sb_result_free(&result);
}

/* All of them are near readings, of one state. */
static void a_factor_of_less_than_two_is_one_state(void **state)
{
	struct sb_result result = make_result(near, cost);

	(void)state;
	CHECK_EQ(sb_series_host_change(result.series, SB_METRIC_ns_per_op).changes, 0);
	sb_judge_series(result.series);
	assert_non_null(strstr(result.series->record[0].reason, "not stationary"));
	CHECK_EQ(sb_answer_from_rows(&result), 0);
	assert_non_null(strstr(sb_answer_of(&result), "fan-in: ns_per_op 106 ns ["));
	sb_result_free(&result);
}

/* Work that the state does not slow down has one number. */
static void a_state_that_changes_nothing_is_none(void **state)
{
	const double even[FORKS] = { 20.1, 24, 20.2, 20.1, 24.6, 20.5, 23.7, 24.6, 24.5 };
	struct sb_result result = make_result(moved, even);

	(void)state;
	CHECK_EQ(sb_series_host_change(result.series, SB_METRIC_ns_per_op).changes, 0);
	sb_judge_series(result.series);
	CHECK_EQ(sb_series_count(result.series, SB_SUSPECT), 0);
	sb_result_free(&result);
}

/* A fork without a reading, and one without numbers, are in neither state. */
static void what_was_not_read_is_in_no_state(void **state)
{
	double line[FORKS] = { 190, NAN, 45, 46, 190, 188, 47, 190, 191 };
	static const double mixed[FORKS] = { 107, 55, 56, 57, 106, 108, 55, 107, 109 };
	struct sb_result result = make_result(line, mixed);
	struct sb_host_change change;

	(void)state;
	for (uint32_t r = 0; r < REPETITIONS; r++)
		sb_record_invalidate(&result.series->record[8 * REPETITIONS + r], "lost");
	change = sb_series_host_change(result.series, SB_METRIC_ns_per_op);
	CHECK_EQ(change.changes, 4);
	CHECK_EQ(change.fork[0], 1);
	CHECK_EQ(change.fork[1], 3);
	CHECK_EQ(change.forks[0], 4);
	CHECK_EQ(change.forks[1], 3);
	assert_true(change.line_ns[0] > 180 && change.line_ns[1] < 50);
	sb_judge_series(result.series);
	assert_non_null(strstr(result.series->record[0].reason,
			       "the host changed 4 times, first between fork 1 and 3 ("));
	assert_string_equal(result.series->record[ROWS - 1].reason, "lost");
	for (uint32_t r = 0; r < ROWS; r++)
		result.series->record[r].value[SB_METRIC_line_transfer_ns] = NAN;
	CHECK_EQ(sb_series_host_change(result.series, SB_METRIC_ns_per_op).changes, 0);
	sb_result_free(&result);
}

/* ---- comparisons ---- */

#define SETS SB_SCALE(1000)

static struct sb_rng rng;

static double uniform(void)
{
	return ((double)(sb_rng_next(&rng) >> 11) + 0.5) * 0x1p-53;
}

/* Nine forks, the first of which is that process of a machine whose state changes after every ten. */
static struct sb_result run_from(uint32_t process)
{
	double line[FORKS];
	double ns[FORKS];
	struct sb_result result;

	for (uint32_t i = 0; i < FORKS; i++) {
		const bool is_far = (process + i) / 10 % 2;

		line[i] = (is_far ? 180 : 40) * (1 + 0.2 * uniform());
		ns[i] = (is_far ? 107 : 56) *
			exp(0.007 * sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform()));
	}
	result = make_result(line, ns);
	CHECK_EQ(sb_result_add_fact(&result, "run", "date", "2026-11-29T10:00:00+00:00"), 0);
	CHECK_EQ(sb_result_add_fact(&result, "machine", "boot_id", "b"), 0);
	CHECK_EQ(sb_result_add_fact(&result, "options", "duration", "130ms"), 0);
	return result;
}

static const struct sb_finding *compare(struct sb_comparison *c, const struct sb_result *a,
					const struct sb_result *b, const struct sb_spreads *spreads)
{
	static const enum sb_metric_id metric = SB_METRIC_ns_per_op;

	*c = (struct sb_comparison){ .result = { a, b },
				     .runs = { 1, 1 },
				     .metric = &metric,
				     .metrics = 1,
				     .spreads = spreads };
	CHECK_EQ(sb_comparison_make(c), 0);
	CHECK_EQ(c->findings.n, 1);
	return c->findings.finding;
}

static bool differs(const struct sb_series *a, const struct sb_series *b)
{
	uint32_t n[2];
	double *value[] = { sb_series_values(a, SB_METRIC_ns_per_op, &n[0]),
			    sb_series_values(b, SB_METRIC_ns_per_op, &n[1]) };
	struct sb_unpaired out;

	CHECK_EQ(sb_unpaired_compare(&out, value[0], n[0], value[1], n[1], SB_PAIRED_LEVEL), 0);
	free(value[0]);
	free(value[1]);
	return out.sign != 0;
}

static void states_of_the_host_are_no_difference(void **state)
{
	struct sb_run_spread spread = {
		.metric = SB_METRIC_ns_per_op, .runs = 12, .span_s = 1800, .sd = 0.003
	};
	struct sb_spreads spreads = { .boot_id = "b", .n = 1, .spread = &spread };
	int alone = 0;
	int judged = 0;
	int alarms = 0;

	(void)state;
	sb_rng_seed(&rng, 1);
	for (int i = 0; i < SETS; i++) {
		const uint32_t first = sb_rng_below(&rng, 20);
		struct sb_result a = run_from(first);
		struct sb_result b = run_from(first + FORKS + sb_rng_below(&rng, 200));
		struct sb_comparison c;
		const struct sb_finding *f;

		assert_true(sb_spread_what(&a, a.series, spread.what));
		f = compare(&c, &a, &b, &spreads);
		alone += differs(a.series, b.series);
		judged += !f->is_open;
		alarms += f->sign != 0;
		/* Both in one state, all the time, or they are not compared. */
		assert_true(f->is_open ? isnan(f->estimate) : fabs(f->estimate - 1) < 0.1);
		sb_comparison_free(&c);
		sb_result_free(&a);
		sb_result_free(&b);
	}
	fprintf(stderr, "# of %d: %d alarms without the state, %d with it, %d judged\n", SETS,
		alone, alarms, judged);
	assert_in_range(alone, SETS / 5, SETS);
	assert_in_range(judged, SETS / 1000, SETS / 10);
	assert_in_range(alarms, 0, SETS / 100);
}

static void other_work_has_another_name(void **state)
{
	struct sb_result result = run_from(0);
	char what[SB_SPREAD_BYTES];
	char *label = calloc(1, SB_SPREAD_BYTES + 1);

	(void)state;
	assert_true(sb_spread_what(&result, result.series, what));
	assert_string_equal(what, "fan-in (senders=4), workers 2, forks 9, repetitions 3, duration "
				  "130ms");
	CHECK_EQ(sb_result_add_fact(&result, "options", "load", "50%"), 0);
	assert_true(sb_spread_what(&result, result.series, what));
	assert_string_equal(what, "fan-in (senders=4), workers 2, forks 9, repetitions 3, duration "
				  "130ms, load 50%");
	assert_non_null(label);
	memset(label, 'x', SB_SPREAD_BYTES);
	free(result.series->label);
	result.series->label = label;
	assert_false(sb_spread_what(&result, result.series, what));
	sb_result_free(&result);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_moves_a_cpu_is_the_headline),
		cmocka_unit_test(a_factor_of_less_than_two_is_one_state),
		cmocka_unit_test(a_state_that_changes_nothing_is_none),
		cmocka_unit_test(what_was_not_read_is_in_no_state),
		cmocka_unit_test(states_of_the_host_are_no_difference),
		cmocka_unit_test(other_work_has_another_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
