/*
 * The steal ledger's words and sums.
 *
 * Property: shares are of what was stolen, missed time of the waits that it is of, a thief's failed time
 *   is shared out by its attempts, and what a move costs is against steps that are not after one;
 *   ping-pong and missed time are told where they are much, and nothing is told of a good run; a
 *   result of an earlier version has no ledger.
 * Method: a result made by hand, of which all can be added up.
 */
#include "results/ledger/steal.h"
#include "results/record/packed.h"
#include "tests/results/results.h"

/* Of each repetition: so many of 200 stolen processes in 1000 steps have come back. */
static struct sb_result *make(uint64_t returned, uint64_t held_ns)
{
	struct sb_result *result = make_result("none");

	for (uint32_t r = 0; r < REPETITIONS; r++) {
		struct sb_worker_reading *worker = result->series->record[r].worker;

		worker[0].counter[SB_COUNTER_steps] = 500;
		worker[1].counter[SB_COUNTER_steps] = 500;
		worker[0].counter[SB_COUNTER_missed_held_ns] = held_ns;
		worker[0].counter[SB_COUNTER_timed_steps] = 30;
		worker[0].counter[SB_COUNTER_timed_step_ns] = 10 * 500 + 20 * 100;
		worker[0].counter[SB_COUNTER_steal_failed_ns] = 700;
		worker[0].steals[1] = (struct sb_steal_counts){ .attempts = 110,
								.successes = 100,
								.items = 200,
								.empty = 10,
								.took_ns = 1000,
								.returned = returned,
								.moved_steps = 10,
								.moved_step_ns = 10 * 500 };
	}
	return result;
}

/* As if one had been timed, which took so long. */
static void add_hist(struct sb_result *result, enum sb_hist_id id, uint64_t ns)
{
	static struct sb_hist_counts hist;

	memset(&hist, 0, sizeof(hist));
	hist.bucket[sb_hist_index(ns)] = 1;
	hist.count = 1;
	hist.sum = ns;
	for (uint32_t r = 0; r < REPETITIONS; r++)
		CHECK_EQ(sb_hist_pack(&hist, &result->series->record[r].packed[id]), 0);
}

static char *told(const struct sb_result *result)
{
	static char text[1000];
	FILE *out = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	sb_put_steal_finding(out, result, result->series);
	fclose(out);
	return text;
}

static void sums_and_shares(void **state)
{
	struct sb_result *result = make(50, 0);
	struct sb_steal_ledger ledger;
	const double n = REPETITIONS - 1; /* one is invalid */

	(void)state;
	assert_true(sb_series_steal_ledger(result->series, &ledger));
	CHECK_EQ(ledger.all.pairs, 2);
	CHECK_EQ(ledger.all.sum.returned, 50 * n);
	assert_true(fabs(ledger.all.failed_ns - 700 * n) < 1e-6);
	assert_true(fabs(ledger.stayed_ns - 100) < 1e-6);
	assert_true(fabs(sb_steal_move_ns(&ledger, &ledger.all) - 400) < 1e-6);
	assert_true(isnan(ledger.missed_p50));
	free_result(result);
}

static void ping_pong_is_told(void **state)
{
	struct sb_result *result = make(150, 0);

	(void)state;
	assert_non_null(strstr(told(result), "75 % went back"));
	free_result(result);
}

static void what_a_step_held_is_told(void **state)
{
	struct sb_result *result = make(0, 1000000);

	(void)state;
	add_hist(result, SB_HIST_send_to_step, 1000000);
	add_hist(result, SB_HIST_missed, 1000000);
	assert_non_null(strstr(told(result), "a worker was idle for 100 % of the time that steps "
					     "held messages (median 1.00 ms)"));
	free_result(result);
}

static void of_a_good_run_nothing_is_told(void **state)
{
	struct sb_result *result = make(9, 0);

	(void)state;
	assert_string_equal(told(result), "");
	free_result(result);
}

static void earlier_results_have_none(void **state)
{
	struct sb_result *result = make_result("none");
	struct sb_steal_ledger ledger;

	(void)state;
	assert_false(sb_series_steal_ledger(result->series, &ledger));
	assert_false(sb_result_has_steal_ledger(result));
	assert_string_equal(told(result), "");
	free_result(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_shares),
		cmocka_unit_test(ping_pong_is_told),
		cmocka_unit_test(what_a_step_held_is_told),
		cmocka_unit_test(of_a_good_run_nothing_is_told),
		cmocka_unit_test(earlier_results_have_none),
	};

	return cmocka_run_group_tests_name("steal_ledger", tests, NULL, NULL);
}
