/*
 * Why slow events were slow.
 *
 * Property: each cause is named for an event that has it, in its own words, also where causes
 *   that rank lower explain the same time; less than half is the cause if nothing explains
 *   more, and less than a fifth is none. Of several repetitions the slowest come first.
 * Method: events made by hand.
 */
#include <math.h>
#include <string.h>

#include "results/ledger/exemplars.h"
#include "results/record/series.h"
#include "tests/test.h"

#define MS UINT64_C(1000000)

/* A wait of 4 ms for worker 1, which had other steps to run. */
static struct sb_exemplar waited(void)
{
	return (struct sb_exemplar){ .begin_ns = 1000 * MS,
				     .took_ns = 4 * MS,
				     .wait_ns = 4 * MS,
				     .pid = 5,
				     .worker = 1,
				     .last_worker = SB_WORKER_NONE,
				     .looked_ns = 5 * MS,
				     .cpu_ns = 5 * MS };
}

static const struct sb_exemplars nothing = { .fault_ns = 1000 };

static void expect_of(const struct sb_exemplars *all, const struct sb_exemplar *e,
		      enum sb_cause cause, const char *words)
{
	char text[SB_CAUSE_BYTES];

	CHECK_EQ(sb_exemplar_explain(text, all, e), cause);
	assert_string_equal(text, words);
}

static void expect(const struct sb_exemplar *e, enum sb_cause cause, const char *words)
{
	expect_of(&nothing, e, cause, words);
}

static void steps_in_front(void **state)
{
	struct sb_exemplar e = waited();

	(void)state;
	expect(&e, SB_CAUSE_BUSY, "worker 1 had other steps to run for 4.00 ms");
	e.front_ns = MS;
	e.front_steps = 1;
	expect(&e, SB_CAUSE_BUSY,
	       "worker 1 had other steps to run for 4.00 ms, the longest known for 1.00 ms");
	e.front_ns = 3 * MS;
	e.front_pid = 77;
	expect(&e, SB_CAUSE_STEP, "waited 3.00 ms behind pid 77's step on worker 1");
	e.visible_ns = 3 * MS;
	e.has_sleeper = 1;
	e.sleeper = 0;
	e.last_worker = 0;
	expect(&e, SB_CAUSE_STEP,
	       "waited 3.00 ms behind pid 77's step on worker 1; not visible until the step ended; "
	       "worker 0 was parked; it came from worker 0");
	e.front_steps = 9;
	e.has_sleeper = 0;
	e.last_worker = 1;
	expect(&e, SB_CAUSE_STEPS,
	       "waited 3.00 ms until a run of 9 steps on worker 1 ended, the last of them pid "
	       "77's; not visible "
	       "until the step ended");
	e = waited();
	e.front_ns = 4 * MS;
	e.front_steps = 1;
	e.front_pid = e.pid;
	expect(&e, SB_CAUSE_STEP, "waited 4.00 ms until its own process's step ended");
}

static void the_worker_was_idle(void **state)
{
	struct sb_exemplar e = waited();

	(void)state;
	e.idle_ns = 3 * MS;
	expect(&e, SB_CAUSE_SEARCH, "worker 1 searched for 3.00 ms of 4.00 ms until it found work");
	e.was_parked = 1;
	expect(&e, SB_CAUSE_ASLEEP,
	       "worker 1 was parked; it took 3.00 ms of 4.00 ms until it was at work");
}

static void the_system(void **state)
{
	struct sb_exemplars stopped = nothing;
	const uint64_t begin_ns = waited().begin_ns;
	struct sb_thief thief[] = {
		{ begin_ns, 1, 11, "sh" },
		{ begin_ns + MS, 1, 12, "cc" },
		{ begin_ns + 2 * MS, 0, 13, "another's" },
		{ begin_ns + 50 * MS, 1, 14, "later" },
	};
	struct sb_exemplar e = waited();

	(void)state;
	e.wait_ns = 0;
	expect(&e, SB_CAUSE_OWN_STEP, "its own step took 4.00 ms");
	e.faults = 3000;
	expect(&e, SB_CAUSE_FAULTS, "page faults: 3000 in 5.00 ms on worker 1, about 3.00 ms");
	e.cpu_ns = MS;
	e.gave_up = 1;
	expect(&e, SB_CAUSE_BLOCKED,
	       "the thread of worker 1 was blocked in a step for 4.00 ms of 4.00 ms");
	e.delay_ns = 3 * MS;
	e.preempted = 2;
	expect(&e, SB_CAUSE_PREEMPTED,
	       "the thread of worker 1 waited for a CPU for 3.00 ms of 4.00 ms, preempted 2 times");
	/* The last that took this worker's CPU by the end. */
	stopped.thief = thief;
	stopped.thieves = SB_ARRAY_SIZE(thief);
	expect_of(&stopped, &e, SB_CAUSE_PREEMPTED,
		  "the thread of worker 1 waited for a CPU for 3.00 ms of 4.00 ms, preempted 2 "
		  "times, last by cc (thread 12)");
	e.late_ns = 3 * MS;
	expect(&e, SB_CAUSE_GENERATOR, "the generator was 3.00 ms late, of 4.00 ms");
	stopped.stops = 2;
	stopped.stop[0] = (struct sb_stop){ 0, 900 * MS };
	stopped.stop[1] = (struct sb_stop){ 900 * MS, 1003 * MS };
	expect_of(&stopped, &e, SB_CAUSE_STOPPED, "the process was stopped for 3.00 ms of 4.00 ms");
}

/* What is counted over a longer time than the event is not all its own. */
static void what_is_counted_elsewhere(void **state)
{
	struct sb_exemplar e = waited();

	(void)state;
	e.looked_ns = 1000 * MS;
	e.cpu_ns = 990 * MS;
	e.delay_ns = 10 * MS;
	expect(&e, SB_CAUSE_BUSY, "worker 1 had other steps to run for 4.00 ms");
	e.delay_ns = 40 * MS;
	expect(&e, SB_CAUSE_PREEMPTED,
	       "the thread of worker 1 waited for a CPU for 2.56 ms of 4.00 ms");
}

static void little_is_known(void **state)
{
	struct sb_exemplar e = waited();

	(void)state;
	e.idle_ns = 4 * MS;
	e.late_ns = 3 * MS / 2;
	expect(&e, SB_CAUSE_SEARCH, "worker 1 searched for 4.00 ms of 4.00 ms until it found work");
	e.idle_ns = 0;
	e.wait_ns = MS / 2;
	e.took_ns = 10 * MS;
	e.late_ns = 0;
	expect(&e, SB_CAUSE_OWN_STEP, "its own step took 9.50 ms of 10.0 ms");
	e = (struct sb_exemplar){ .took_ns = MS, .last_worker = SB_WORKER_NONE };
	e.wait_ns = MS;
	e.idle_ns = MS - MS / 10;
	e.was_parked = 1;
	expect(&e, SB_CAUSE_ASLEEP,
	       "worker 0 was parked; it took 900 us of 1.00 ms until it was at work");
}

/* ---- of a series ---- */

static struct sb_exemplars *make(uint64_t a_ns, uint64_t b_ns)
{
	struct sb_exemplars *all = calloc(1, sizeof(*all));
	struct sb_exemplar_list *list = &all->of[SB_EXEMPLAR_send_to_step];

	list->n = 2;
	list->exemplar = calloc(2, sizeof(*list->exemplar));
	list->exemplar[0].took_ns = a_ns;
	list->exemplar[1].took_ns = b_ns;
	return all;
}

static void the_slowest_of_all_repetitions(void **state)
{
	struct sb_series series = { .records = 3 };
	struct sb_exemplar_spot *spot;
	uint32_t n;

	(void)state;
	series.record = calloc(3, sizeof(*series.record));
	for (uint32_t r = 0; r < 3; r++)
		series.record[r].repetition = r;
	series.record[0].exemplars = make(50, 10);
	series.record[1].exemplars = make(900, 800);
	series.record[2].exemplars = make(70, 60);
	sb_record_invalidate(&series.record[1], "it hung");
	/* Of a search the answer alone counts, and what is invalid says why. */
	series.answer = (char *)(uintptr_t) "5 k/s";
	series.answer_row = 3;
	CHECK_EQ(sb_series_main_exemplars(&series, "sojourn_ns_p99"), SB_EXEMPLAR_send_to_step);
	spot = sb_series_slowest(&series, SB_EXEMPLAR_send_to_step, &n);
	CHECK_EQ(n, 2);
	CHECK_EQ(spot[0].exemplar->took_ns, 900);
	CHECK_EQ(spot[0].record->repetition, 1);
	CHECK_EQ(spot[1].exemplar->took_ns, 800);
	CHECK_EQ(spot[2].exemplar->took_ns, 70);
	CHECK_EQ(spot[3].exemplar->took_ns, 60);
	free(spot);
	assert_null(sb_series_slowest(&series, SB_EXEMPLAR_sojourn, &n));
	CHECK_EQ(n, 0);
	for (uint32_t r = 0; r < 3; r++)
		sb_exemplars_free(series.record[r].exemplars);
	free(series.record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_in_front),  cmocka_unit_test(the_worker_was_idle),
		cmocka_unit_test(the_system),	   cmocka_unit_test(what_is_counted_elsewhere),
		cmocka_unit_test(little_is_known), cmocka_unit_test(the_slowest_of_all_repetitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
