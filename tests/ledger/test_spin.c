/*
 * The spin ledger.
 *
 * Property: parks, CPU time, latency and regret at each threshold are those that the gaps add up to;
 *   the best threshold is the longest gap that is cheaper than a wake; a worker that finds enough
 *   others searching parks at once; arrivals during wakes make fewer gaps; without timed sleeps there is no ledger.
 * Method: gaps made by hand, of which the costs can be added up; bound: the width of a bucket.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/ledger/spin.h"
#include "results/record/series.h"
#include "tests/test.h"

enum { SHORT_NS = 1000, LONG_NS = 1000000, EACH = 100, OPERATIONS = 1000, WAKE_NS = 5000 };
enum { SLEEP_CPU_NS = 3000, CALL_NS = 1000, WAKE_CPU_NS = SLEEP_CPU_NS + CALL_NS };
enum { YIELD_NS = 500, LOOK_NS = 50, TIGHT = 4, YIELDS = 12 };

static void add(struct sb_hist_counts *hist, uint64_t value, uint64_t n)
{
	hist->bucket[sb_hist_index(value)] += n;
	hist->count += n;
	hist->sum += n * value;
}

/* So many short and as many long gaps, shared evenly by the workers; all but the short ones parked,
 * each after all of its spins. */
static void fill(struct sb_record *record, uint32_t workers)
{
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	record->worker = calloc(workers, sizeof(*record->worker));
	add(&record->hist[SB_HIST_gap_global], SHORT_NS, EACH);
	add(&record->hist[SB_HIST_gap_steal], LONG_NS, EACH);
	add(&record->hist[SB_HIST_wake_to_running], WAKE_NS, EACH);
	add(&record->hist[SB_HIST_spins_blocked], TIGHT + YIELDS, EACH);
	for (uint32_t w = 0; w < workers; w++) {
		uint64_t *counter = record->worker[w].counter;

		counter[SB_COUNTER_idle_episodes] = 2 * EACH / workers;
		counter[SB_COUNTER_blocks] = EACH / workers;
		counter[SB_COUNTER_timed_sleeps] = 2;
		counter[SB_COUNTER_sleep_cpu_ns] = 2 * SLEEP_CPU_NS;
		counter[SB_COUNTER_timed_calls] = 3;
		counter[SB_COUNTER_call_ns] = 3 * CALL_NS;
		counter[SB_COUNTER_asides] = 10;
		counter[SB_COUNTER_aside_ns] = 10 * YIELD_NS;
		counter[SB_COUNTER_spin_ns] =
			EACH / workers * ((2 + TIGHT) * LOOK_NS + YIELDS * YIELD_NS);
		counter[SB_COUNTER_blocked_ns] = EACH / workers * LONG_NS;
	}
	record->value[SB_METRIC_operations] = OPERATIONS;
	record->value[SB_METRIC_cpu_s] = 1e-9 * OPERATIONS * 10000;
	CHECK_EQ(sb_record_pack(record), 0);
}

static struct sb_result *make(uint32_t workers, const char *searchers)
{
	struct sb_result *result = calloc(1, sizeof(*result));
	struct sb_place *places = calloc(workers, sizeof(*places));

	result->all_series = 1;
	result->series = calloc(1, sizeof(*result->series));
	result->series->workload = strdup("gaps");
	result->series->record = calloc(1, sizeof(struct sb_record));
	result->series->records = 1;
	CHECK_EQ(sb_placement_copy(&result->series->placement,
				   &(struct sb_placement){ .workers = workers, .place = places }),
		 0);
	free(places);
	fill(result->series->record, workers);
	CHECK_EQ(sb_result_add_fact(result, "options", "spin-tight", "4"), 0);
	CHECK_EQ(sb_result_add_fact(result, "options", "spin-yield", "12"), 0);
	CHECK_EQ(sb_result_add_fact(result, "options", "searchers", searchers), 0);
	return result;
}

static void destroy(struct sb_result *result)
{
	sb_result_free(result);
	free(result);
}

static struct sb_spin_ledger *ledger_of(const struct sb_result *result)
{
	const char *why;
	struct sb_spin_ledger *ledger = sb_spin_ledger_make(result->series, result, &why);

	assert_non_null(ledger);
	return ledger;
}

/* A bucket is 1/64 of its value wide. */
static void near(double value, double expected)
{
	if (fabs(value - expected) > expected / 64 + 1e-9)
		fail_msg("%g, expected about %g", value, expected);
}

static const struct sb_spin_point *at(const struct sb_spin_ledger *ledger, double threshold_ns)
{
	uint32_t i = 0;

	while (ledger->point[i].threshold_ns < threshold_ns)
		i++;
	return &ledger->point[i];
}

static void costs_are_those_of_the_gaps(void **state)
{
	struct sb_result *result = make(1, "auto");
	struct sb_spin_ledger *ledger = ledger_of(result);
	const struct sb_spin_point *none = &ledger->point[0];
	const struct sb_spin_point *some = at(ledger, 10000);
	const struct sb_spin_point *all = at(ledger, 2 * LONG_NS);

	(void)state;
	near(ledger->wake_cpu_ns, WAKE_CPU_NS);
	near(none->parks, 2.0 * EACH / OPERATIONS);
	near(none->cpu_ns, 2.0 * EACH * WAKE_CPU_NS / OPERATIONS);
	near(none->latency_ns_mean, 2.0 * EACH * WAKE_NS / OPERATIONS);
	near(none->latency_ns_p99, WAKE_NS);
	near(some->parks, 1.0 * EACH / OPERATIONS);
	near(some->cpu_ns, EACH * (SHORT_NS + some->threshold_ns + WAKE_CPU_NS) / OPERATIONS);
	near(all->parks, 0);
	near(all->cpu_ns, 1.0 * EACH * (SHORT_NS + LONG_NS) / OPERATIONS);
	near(all->latency_ns_p99, 0);
	free(ledger);
	destroy(result);
}

/* CPU time and latency count alike, so a wake costs both; of the long gaps each costs that, of the
 * short ones their time. */
static void the_best_threshold_is_just_beyond_the_short_gaps(void **state)
{
	struct sb_result *result = make(1, "auto");
	struct sb_spin_ledger *ledger = ledger_of(result);
	const struct sb_spin_point *best = &ledger->point[ledger->best[SB_SPIN_PRICE]];
	const double least = EACH * (SHORT_NS + WAKE_CPU_NS + WAKE_NS);
	char text[SB_SPIN_FINDING_BYTES];

	(void)state;
	assert_true(best->threshold_ns >= SHORT_NS && best->threshold_ns < 1.3 * SHORT_NS);
	near(1 + best->regret[SB_SPIN_PRICE],
	     (EACH * (SHORT_NS + best->threshold_ns + WAKE_CPU_NS + WAKE_NS)) / least);
	near(1 + ledger->point[0].regret[SB_SPIN_PRICE],
	     2.0 * EACH * (WAKE_CPU_NS + WAKE_NS) / least);
	sb_spin_ledger_describe(ledger, text);
	assert_non_null(strstr(text, "Spinning for 1."));
	assert_non_null(strstr(text, "less CPU time"));
	free(ledger);
	destroy(result);
}

/* One arrival in the time of a wake; half of the episodes parked. If all did, each idle time would
 * be followed by twice the work of one without a wake. */
static void arrivals_during_wakes_leave_fewer_gaps(void **state)
{
	struct sb_result *result = make(1, "auto");
	struct sb_spin_ledger *ledger;

	(void)state;
	result->series->record->value[SB_METRIC_offered_per_s] = 1e9 / WAKE_NS;
	ledger = ledger_of(result);
	near(ledger->point[0].parks, 1.5 / 2 * 2 * EACH / OPERATIONS);
	near(at(ledger, 10000)->parks, 1.0 * EACH / OPERATIONS);
	near(at(ledger, 2 * LONG_NS)->cpu_ns, 1.5 * EACH * (SHORT_NS + LONG_NS) / OPERATIONS);
	free(ledger);
	destroy(result);
}

static void so_many_spins_take_so_long(void **state)
{
	struct sb_result *result = make(1, "auto");
	struct sb_spin_ledger *ledger = ledger_of(result);
	const double ns = TIGHT * LOOK_NS + YIELDS * YIELD_NS;

	(void)state;
	near(ledger->now.threshold_ns, ns);
	near(ledger->now.parks, 1.0 * EACH / OPERATIONS);
	near(at(ledger, 2 * ns)->spins,
	     TIGHT + (at(ledger, 2 * ns)->threshold_ns - TIGHT * LOOK_NS) / YIELD_NS);
	free(ledger);
	destroy(result);
}

/* Of two workers, one may search. When the other runs out it does so for as much of the time as it
 * would, but for what it is refused itself: p = (1 - p) spun. */
static void who_is_refused_parks_at_once(void **state)
{
	struct sb_result *result = make(2, "auto");
	struct sb_spin_ledger *ledger = ledger_of(result);
	const struct sb_spin_point *all = at(ledger, 2 * LONG_NS);
	const struct sb_worker_reading *w = result->series->record->worker;
	const double time =
		2.0 * (double)(w->counter[SB_COUNTER_blocked_ns] + w->counter[SB_COUNTER_spin_ns]);
	const double spun = 1.0 * EACH * (SHORT_NS + LONG_NS) / time;

	(void)state;
	near(all->parks, spun / (1 + spun) * 2 * EACH / OPERATIONS);
	free(ledger);
	destroy(result);
	result = make(2, "all");
	ledger = ledger_of(result);
	near(at(ledger, 2 * LONG_NS)->parks, 0);
	free(ledger);
	destroy(result);
}

static void without_timed_sleeps_there_is_none(void **state)
{
	struct sb_result *result = make(1, "auto");
	const char *why;

	(void)state;
	assert_true(sb_result_has_spin_ledger(result));
	result->series->record->worker->counter[SB_COUNTER_timed_sleeps] = 0;
	assert_false(sb_result_has_spin_ledger(result));
	assert_null(sb_spin_ledger_make(result->series, result, &why));
	assert_non_null(strstr(why, "no sleep was timed"));
	destroy(result);
}

/* Workers that wait for a CPU spin by the clock, and use none: no CPU time is predicted that is below 0. */
static void preempted_workers_have_none(void **state)
{
	struct sb_result *result = make(1, "auto");
	struct sb_record *record = result->series->record;
	uint64_t *counter = record->worker->counter;
	struct sb_spin_ledger *ledger;
	const char *why;

	(void)state;
	/* 100 ms by the clock, of which the thread had its CPU for 96: that part counts. */
	counter[SB_COUNTER_spin_ns] = 100000000;
	record->value[SB_METRIC_thread_cpu_ms] = 96;
	record->value[SB_METRIC_cpu_s] = 0.2;
	ledger = ledger_of(result);
	near(ledger->now.cpu_ns, (96e6 + EACH * WAKE_CPU_NS) / OPERATIONS);
	free(ledger);
	record->value[SB_METRIC_thread_cpu_ms] = 30;
	assert_null(sb_spin_ledger_make(result->series, result, &why));
	assert_ptr_equal(why, sb_spin_preempted);
	/* Nobody knows it of the threads, but the process has used less than it would have spun. */
	record->value[SB_METRIC_thread_cpu_ms] = NAN;
	record->value[SB_METRIC_cpu_s] = 0.05;
	assert_null(sb_spin_ledger_make(result->series, result, &why));
	assert_ptr_equal(why, sb_spin_preempted);
	destroy(result);
}

/* Sleeps were timed, but none of the calls that ended them: no spin_ledger.csv with a head alone. */
static void without_timed_calls_there_is_none(void **state)
{
	struct sb_result *result = make(1, "auto");
	const char *why;

	(void)state;
	result->series->record->worker->counter[SB_COUNTER_timed_calls] = 0;
	assert_null(sb_spin_ledger_make(result->series, result, &why));
	assert_false(sb_result_has_spin_ledger(result));
	destroy(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_those_of_the_gaps),
		cmocka_unit_test(the_best_threshold_is_just_beyond_the_short_gaps),
		cmocka_unit_test(arrivals_during_wakes_leave_fewer_gaps),
		cmocka_unit_test(so_many_spins_take_so_long),
		cmocka_unit_test(who_is_refused_parks_at_once),
		cmocka_unit_test(without_timed_sleeps_there_is_none),
		cmocka_unit_test(without_timed_calls_there_is_none),
		cmocka_unit_test(preempted_workers_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
