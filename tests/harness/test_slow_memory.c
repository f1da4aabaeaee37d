/*
 * What reading memory costs beside repetitions, and the rule about it.
 *
 * Property: a reading is a time, or NaN where there can be none; a repetition is suspect if both its
 *   readings and its work are slower than those of undisturbed repetitions of its series, if there are
 *   any, and not if only one of them is.
 * Method: made-up series; readings on this machine, of which no value is asserted.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/system/memory_probe.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "tests/test.h"

static void a_reading_is_a_time(void **state)
{
	struct sb_memory_probe probe;

	(void)state;
	sb_memory_probe_open(&probe, -1);
	assert_true(sb_memory_probe_ns(&probe) > 0);
	assert_true(isfinite(sb_memory_probe_ns(&probe)));
	/* No thread can run there. */
	probe.os_cpu = INT_MAX;
	assert_true(isnan(sb_memory_probe_ns(&probe)));
	sb_memory_probe_close(&probe);
	probe = (struct sb_memory_probe){ .os_cpu = -1 };
	assert_true(isnan(sb_memory_probe_ns(&probe)));
}

/* ---- the rule ---- */

enum { MANY = 12 };

static const double noise[MANY] = { 100, 103, 99, 101, 102, 98, 101, 100, 103, 99, 100, 102 };

static struct sb_series make_series(struct sb_record *record, uint32_t n)
{
	for (uint32_t r = 0; r < n; r++) {
		record[r] = (struct sb_record){ .repetition = r, .verdict = SB_VALID };
		for (int m = 0; m < SB_METRICS; m++)
			record[r].value[m] = NAN;
		record[r].value[SB_METRIC_ns_per_op] = noise[r];
	}
	return (struct sb_series){ .records = n, .record = record };
}

/* The reading of the memory and the time per operation of a row. */
struct slow {
	double line_ns, cost;
};

/* The first rows are undisturbed, and the others as given. Returns which of these are suspect, as bits. */
static uint32_t suspects(enum sb_metric_id metric, const struct slow *slow, uint32_t n)
{
	struct sb_record record[MANY];
	struct sb_series series = make_series(record, MANY);
	uint32_t bits = 0;

	for (uint32_t r = 0; r < MANY; r++) {
		const bool is_slow = r >= MANY - n;

		record[r].value[SB_METRIC_memory_line_ns] =
			is_slow ? slow[r - (MANY - n)].line_ns : 1.7 + 0.01 * (r % 3);
		record[r].value[metric] = is_slow ? slow[r - (MANY - n)].cost : noise[r];
	}
	sb_judge_series(&series);
	for (uint32_t r = 0; r < MANY; r++) {
		if (!strstr(record[r].reason, "memory was slower"))
			continue;
		assert_true(r >= MANY - n);
		bits |= 1U << (r - (MANY - n));
	}
	return bits;
}

/* Only where the work is slower, too. */
static void slow_memory_that_harms_is_suspect(void **state)
{
	static const struct slow slow[] = { { 2.6, 130 }, { 2.6, 131 }, { 2.6, 132 },
					    { 2.6, 133 }, { 2.6, 134 }, { 2.6, 102 } };
	static const struct slow as_fast[] = {
		{ 2.6, 101 }, { 2.6, 130 }, { 2.6, 98 }, { 2.6, 100 }
	};
	static const struct slow elsewhere[] = { { 1.7, 130 }, { 1.7, 131 }, { 1.7, 132 } };
	static const struct slow most[] = {
		{ 2.6, 130 }, { 2.6, 130 }, { 2.6, 130 }, { 2.6, 130 },
		{ 2.6, 130 }, { 2.6, 130 }, { 2.6, 130 }, { 2.6, 130 }
	};
	struct sb_record record[MANY];
	struct sb_series series;

	(void)state;
	CHECK_EQ(suspects(SB_METRIC_ns_per_op, slow, 6), 31);
	CHECK_EQ(suspects(SB_METRIC_ns_per_op, as_fast, 4), 0);
	CHECK_EQ(suspects(SB_METRIC_ns_per_op, elsewhere, 3), 0);
	/* A third of the repetitions is undisturbed. */
	CHECK_EQ(suspects(SB_METRIC_ns_per_op, most, 8), 255);
	/* In an open loop the time per operation is that between two requests. */
	CHECK_EQ(suspects(SB_METRIC_service_ns_mean, slow, 6), 31);
	/* Too few, and rows without readings. */
	series = make_series(record, 5);
	for (uint32_t r = 0; r < 5; r++)
		record[r].value[SB_METRIC_memory_line_ns] = r < 4 ? 1.7 : 2.6;
	record[4].value[SB_METRIC_ns_per_op] = 130;
	sb_judge_series(&series);
	CHECK_EQ(sb_series_count(&series, SB_VALID), 5);
	/* A row is judged once more when the rows of all forks are there. */
	series = make_series(record, MANY);
	for (uint32_t r = 0; r < MANY; r++)
		record[r].value[SB_METRIC_memory_line_ns] = r % 4 == 1 ? 2.6 : 1.7;
	for (uint32_t r = 1; r < MANY; r += 4)
		record[r].value[SB_METRIC_ns_per_op] = 130;
	sb_judge_series(&series);
	sb_judge_series(&series);
	assert_string_equal(record[1].reason,
			    "memory was slower than in other repetitions, and so was the work: "
			    "memory_line_ns is 2.6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_is_a_time),
		cmocka_unit_test(slow_memory_that_harms_is_suspect),
	};

	return cmocka_run_group_tests_name("slow_memory", tests, NULL, NULL);
}
