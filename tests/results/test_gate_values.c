/*
 * test_gate_values.c - gates in virtual time: the file of a baseline, and which differences
 * regress.
 *
 * Method: values made by hand, on both sides of each rule.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "harness/compare/limits.h"
#include "results/gate/values.h"
#include "tests/test.h"

/* 100 to 107, moved and stretched. */
static struct sb_gate_row row_of(double start, double step)
{
	struct sb_gate_row row = { .workload = (char *)(uintptr_t) "skynet on laptop",
				   .metric = SB_METRIC_ns_per_op,
				   .sets = 1 };

	for (int i = 0; i < SB_GATE_SEEDS; i++)
		row.value[i] = start + step * i;
	return row;
}

/* And a second set from there. */
static struct sb_gate_row rows_of(double start, double second)
{
	struct sb_gate_row row = row_of(start, 1);

	row.sets = 2;
	for (int i = 0; i < SB_GATE_SEEDS; i++)
		row.value[SB_GATE_SEEDS + i] = second + i;
	return row;
}

static struct sb_gate_test test_of(struct sb_gate_row base, struct sb_gate_row now, bool is_fall,
				   double limit, double least)
{
	struct sb_gate_test test = { .values = 0 };

	sb_gate_compare(&test, &base, &now, 0);
	sb_gate_set_limit(&test, is_fall, limit, least);
	sb_gate_confirm(&test, &base, &now, least);
	return test;
}

/* How the description of a test ends, behind the change and its range. */
static void check_words(struct sb_gate_test test, const char *expected)
{
	char words[SB_GATE_WHY_BYTES + 400];
	const char *behind;

	test.workload = (char *)(uintptr_t) "w";
	test.metric = "m";
	sb_gate_describe(&test, words, sizeof(words));
	behind = strstr(words, ") ");
	assert_non_null(behind);
	assert_string_equal(behind + 2, expected);
}

static void the_same_values_are_no_difference(void **state)
{
	const struct sb_gate_test test = test_of(row_of(100, 1), row_of(100, 1), false, 0.03, 0);

	(void)state;
	CHECK_EQ(test.difference, SB_GATE_NONE);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
	assert_true(test.change == 0);
	assert_true(test.base == 103.5);
}

/* 20 % more in the median, but the best seed is no worse than the worst before. */
static void what_seeds_do_is_fine(void **state)
{
	const struct sb_gate_test test = test_of(row_of(100, 1), row_of(107, 5), false, 0.03, 0);

	(void)state;
	assert_true(test.change > 0.19);
	CHECK_EQ(test.difference, SB_GATE_LUCK);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
	check_words(test,
		    "is beyond the limit of +3 %, but fine: other seeds alone differ as much");
}

static void beyond_all_seeds_and_the_limit_regresses(void **state)
{
	struct sb_gate_test test = test_of(row_of(100, 1), row_of(107.5, 1), false, 0.03, 0);

	(void)state;
	CHECK_EQ(test.difference, SB_GATE_CLEAR);
	CHECK_EQ(test.rule.verdict, SB_GATE_REGRESSED);
	assert_true(test.low > 0 && test.low < test.change && test.change < test.high);
	check_words(test, "is beyond the limit of +3 %");
	sb_gate_set_limit(&test, false, 0.08, 0);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
	check_words(test, "is within the limit of +8 %");
	sb_gate_set_limit(&test, false, INFINITY, 0);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
	check_words(test, "has no limit");
	sb_gate_set_limit(&test, true, 0.03, 0);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
}

static void a_fall_regresses_by_a_limit_for_falls(void **state)
{
	struct sb_gate_test test = test_of(row_of(100, 1), row_of(50, 1), true, 0.25, 0);

	(void)state;
	CHECK_EQ(test.rule.verdict, SB_GATE_REGRESSED);
	sb_gate_set_limit(&test, false, 0.25, 0);
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
}

static void a_change_below_the_least_is_fine(void **state)
{
	const struct sb_gate_test test = test_of(row_of(0, 0), row_of(0.009, 0), false, 0.25, 0.01);

	(void)state;
	CHECK_EQ(test.rule.verdict, SB_GATE_FINE);
	check_words(test, "is beyond the limit of +25 %, but fine: the absolute change is below "
			  "0.01");
	CHECK_EQ(test_of(row_of(0, 0), row_of(0.011, 0), false, 0.25, 0.01).rule.verdict,
		 SB_GATE_REGRESSED);
}

/* Both sets, each beyond all seeds and the limit, in the same direction. */
static void a_second_set_confirms(void **state)
{
	const struct {
		double base, now; /* the second sets; the first ones are at 100 and 120 */
		enum sb_gate_verdict verdict;
	} cases[] = {
		{ 90, 110, SB_GATE_REGRESSED }, /* higher than all before, lower than before */
		{ 100, 105, SB_GATE_FINE },	/* not beyond all seeds */
		{ 100, 107.5, SB_GATE_FINE },	/* not beyond the limit */
		{ 100, 80, SB_GATE_FINE },	/* the other direction */
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++) {
		const struct sb_gate_test test = test_of(rows_of(100, cases[i].base),
							 rows_of(120, cases[i].now), false, 0.1, 0);
		const bool regressed = cases[i].verdict == SB_GATE_REGRESSED;

		CHECK_EQ(test.rule.verdict, cases[i].verdict);
		CHECK_EQ(test.difference, regressed ? SB_GATE_CLEAR : SB_GATE_LUCK);
		CHECK_EQ(test.values, 2 * SB_GATE_SEEDS);
		check_words(test, regressed
					  ? "is beyond the limit of +10 %"
					  : "is beyond the limit of +10 %, but fine: a second set "
					    "of seeds does not confirm it");
	}
}

/* Where a side has one set, that decides; and what is fine in the first needs no second. */
static void one_set_decides_where_there_is_no_second(void **state)
{
	(void)state;
	CHECK_EQ(test_of(row_of(100, 1), rows_of(120, 100), false, 0.1, 0).rule.verdict,
		 SB_GATE_REGRESSED);
	CHECK_EQ(test_of(rows_of(100, 100), row_of(120, 1), false, 0.1, 0).values, SB_GATE_SEEDS);
	CHECK_EQ(test_of(rows_of(100, 100), rows_of(100, 200), false, 0.1, 0).rule.verdict,
		 SB_GATE_FINE);
}

/* ---- the file ---- */

static int read_text(struct sb_gate_values *out, const char *text, char *why, size_t bytes)
{
	char path[] = "/tmp/sb-gate-values-XXXXXX";
	const int fd = mkstemp(path);
	int rc;

	assert_true(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = sb_gate_values_read(out, path, why, bytes);
	unlink(path);
	return rc;
}

static char *text_of(const struct sb_gate_values *values)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	sb_gate_values_write(values, out);
	fclose(out);
	return text;
}

/* Numbers of all sizes; a value that is not there leaves its row out. */
static void what_is_written_is_read(void **state)
{
	static const double value[SB_GATE_SEEDS_ALL] = {
		0, 1.0 / 3, 123456789, 2.5e-9, 1e15, 100, 99999, -4, 8, 9, 10, 11, 12, 13, 14, 15
	};
	static const double once[SB_GATE_SEEDS_ALL] = { 1, 2, 3, 4, 5, 6, 7, 8, NAN, 9 };
	static const double none[SB_GATE_SEEDS_ALL] = { 1, 2, 3, NAN, 5, 6, 7, 8 };
	struct sb_gate_values values = { .rows = 0 };
	struct sb_gate_values again;
	char why[300] = "";
	char *text;
	char *second;

	(void)state;
	CHECK_EQ(sb_gate_values_add(&values, "skynet on laptop", SB_METRIC_ns_per_op, value), 0);
	CHECK_EQ(sb_gate_values_add(&values, "service 50 % on chiplets", SB_METRIC_sojourn_ns_p99_9,
				    once),
		 0);
	CHECK_EQ(sb_gate_values_add(&values, "storm on laptop", SB_METRIC_ns_per_op, none), 0);
	CHECK_EQ(values.rows, 2);
	text = text_of(&values);
	CHECK_EQ(read_text(&again, text, why, sizeof(why)), 0);
	CHECK_EQ(again.rows, 2);
	for (uint32_t i = 0; i < again.rows; i++) {
		CHECK_EQ(again.row[i].metric, values.row[i].metric);
		assert_string_equal(again.row[i].workload, values.row[i].workload);
		CHECK_EQ(again.row[i].sets, i ? 1 : 2);
		assert_memory_equal(again.row[i].value, values.row[i].value,
				    again.row[i].sets * SB_GATE_SEEDS * sizeof(double));
	}
	assert_true(fabs(again.row[0].value[1] - 0.3333) < 1e-12);
	second = text_of(&again);
	assert_string_equal(text, second);
	assert_null(sb_gate_values_find(&again, "storm on laptop", SB_METRIC_ns_per_op));
	assert_non_null(sb_gate_values_find(&again, "skynet on laptop", SB_METRIC_ns_per_op));
	free(text);
	free(second);
	sb_gate_values_free(&values);
	sb_gate_values_free(&again);
}

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} bad[] = {
		{ "", "line 1" },
		{ "a,b,c\n", "line 1" },
		{ "workload,metric,seed 1\nskynet on laptop,ns_per_op,1,2,3\n", "line 2" },
		{ "workload,metric,seed 1\nskynet,ns_per_op,1,2,3,4,5,6,7,8,9\n", "line 2" },
		{ "workload,metric,seed 1\nskynet,ns_per_op,1,2,3,4,5,6,7,x\n", "line 2" },
		{ "workload,metric,seed 1\nskynet,ns_per_op,1,2,3,4,5,6,7,nan\n", "line 2" },
		{ "workload,metric,seed 1\n,ns_per_op,1,2,3,4,5,6,7,8\n", "line 2" },
	};
	struct sb_gate_values values;
	char why[300];

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(bad); i++) {
		CHECK_EQ(read_text(&values, bad[i].text, why, sizeof(why)), -EINVAL);
		assert_non_null(strstr(why, bad[i].why));
		sb_gate_values_free(&values);
	}
	CHECK_EQ(sb_gate_values_read(&values, "/nonexistent.csv", why, sizeof(why)), -ENOENT);
	/* A metric of another version. */
	CHECK_EQ(read_text(&values, "workload,metric,seed 1\nskynet,future,1,2,3,4,5,6,7,8\n", why,
			   sizeof(why)),
		 -EINVAL);
	assert_non_null(strstr(why, "has no row of a metric that this version knows"));
	sb_gate_values_free(&values);
	/* And what some editors put in front. */
	CHECK_EQ(read_text(&values,
			   "\xef\xbb\xbfworkload,metric,seed 1\nskynet,future,1,2,3,4,5,6,7,8\n"
			   "skynet,ns_per_op,1,2,3,4,5,6,7,8\n",
			   why, sizeof(why)),
		 0);
	CHECK_EQ(values.rows, 1);
	CHECK_EQ(values.skipped, 1);
	sb_gate_values_free(&values);
}

static void the_default_limits_are_complete(void **state)
{
	struct sb_limits limits;
	uint32_t unlimited = 0;

	(void)state;
	CHECK_EQ(sb_limits_of_virtual(&limits), 0);
	for (uint32_t i = 0; i < limits.n; i++)
		unlimited += isinf(limits.limit[i].part);
	CHECK_EQ(unlimited, 3);
	CHECK_EQ(limits.n, 10 + 24 + 3);
	assert_true(sb_limit_least(SB_METRIC_wakes_per_op) > 0);
	assert_true(sb_limit_least(SB_METRIC_ns_per_op) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_values_are_no_difference),
		cmocka_unit_test(what_seeds_do_is_fine),
		cmocka_unit_test(beyond_all_seeds_and_the_limit_regresses),
		cmocka_unit_test(a_fall_regresses_by_a_limit_for_falls),
		cmocka_unit_test(a_change_below_the_least_is_fine),
		cmocka_unit_test(a_second_set_confirms),
		cmocka_unit_test(one_set_decides_where_there_is_no_second),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(the_default_limits_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
