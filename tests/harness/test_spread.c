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

#include "results/files/answer.h"
#include "results/record/series.h"
#include "results/record/validity.h"
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
				      .record = record };
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

/* A fork without a reading, and one without numbers, are in neither state. */
static void what_was_not_read_is_in_no_state(void **state)
{
	double line[FORKS] = { 190, NAN, 45, 46, 190, 188, 47, 190, 191 };
	struct sb_result result = make_result(line, cost);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_moves_a_cpu_is_the_headline),
		cmocka_unit_test(a_factor_of_less_than_two_is_one_state),
		cmocka_unit_test(what_was_not_read_is_in_no_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
