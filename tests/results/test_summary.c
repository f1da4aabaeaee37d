/* test_summary.c - the summary on a terminal: widths, doubts, and steals by distance. */
#include "core/worker/distance.h"
#include "results/files/answer.h"
#include "tests/results/results.h"

/* How wide it is without colours, which are taken out. */
static int width_of(char *text)
{
	int widest = 0;
	int width = 0;
	char *out = text;

	for (const char *c = text; *c; c++) {
		if (*c == '\033') {
			c += strcspn(c, "m");
			continue;
		}
		width = *c == '\n' ? 0 : width + 1;
		widest = width > widest ? width : widest;
		*out++ = *c;
	}
	*out = '\0';
	return widest;
}

static void take_blanks_out(char *text)
{
	char *out = text;

	for (const char *c = text; *c; c++) {
		if (*c != ' ' && *c != '\n')
			*out++ = *c;
	}
	*out = '\0';
}

/* Nothing is lost: each title is there, and long lines whole. */
static void a_summary_fits_its_terminal(void **state)
{
	static const char *const parts[] = {
		"op/s",	 "send99", "wakes",
		"valid", "1+2/4",  "repetition3:suspect(aclockthatwassteppedbyalotwhileitran)",
	};
	struct sb_result *result = make_result(".");

	(void)state;
	sb_record_suspect(&result->series->record[3],
			  "a clock that was stepped by a lot while it ran");
	for (int columns = 40; columns < 150; columns++) {
		char *text = summarize_wide(result, columns);

		assert_uint_in_range(width_of(text), columns / 2, columns);
		take_blanks_out(text);
		for (size_t i = 0; i < SB_ARRAY_SIZE(parts); i++) {
			if (!strstr(text, parts[i]))
				fail_msg("%d: %s is not in %s", columns, parts[i], text);
		}
		free(text);
	}
	free_result(result);
}

/* Each that is not valid is named, but not a screen full of suspects. */
static void summary_names_doubts(void **state)
{
	struct sb_result *result = make_result(".");
	struct sb_series *series = result->series;
	char *text = summarize(result);

	(void)state;
	assert_non_null(strstr(text, "  2+1/4  "));
	assert_non_null(
		strstr(text, "pingpong, repetition 1: suspect (3 of the time; a <second>, too)\n"));
	assert_non_null(strstr(text, "pingpong, repetition 2: invalid (wrong "));
	assert_null(strstr(text, "more"));
	free(text);
	for (int r = 0; r < REPETITIONS; r++)
		series->record[r].verdict = SB_SUSPECT;
	text = summarize(result);
	assert_non_null(strstr(text, "pingpong, repetition 2: suspect"));
	assert_null(strstr(text, "repetition 3"));
	assert_non_null(strstr(text, "pingpong: 1 more are suspect\n"));
	free(text);
	free_result(result);
}

static const struct sb_measured a_second = {
	.rounds = 1, .operations = 1000, .wall_ns = 500000000, .elapsed_ns = 1000000000, .cpu_ns = 1
};

/* per operation, per second, success and items; NaN: an empty cell */
static void check_rates(const struct sb_record *record, enum sb_metric_id first,
			const double expected[4])
{
	for (int i = 0; i < 4; i++) {
		const double value = record->value[first + i];

		if (isnan(expected[i]) ? !isnan(value) : fabs(value - expected[i]) > 1e-9)
			fail_msg("%s: %g, expected %g", sb_metric[first + i].name, value,
				 expected[i]);
	}
}

/*
 * Two on a core, one that shares their cache, one on their node that steals nothing,
 * one on another node whom nobody tries. A distance without a pair is not there, and
 * what has not been tried has no success.
 */
static void steals_have_rates_by_distance(void **state)
{
	struct sb_place place[] = { { 0, 0, 0, 0, 0, 0 },
				    { 1, 1, 0, 0, 0, 0 },
				    { 2, 2, 1, 0, 0, 0 },
				    { 3, 3, 2, 1, 0, 0 },
				    { 4, 4, 3, 2, 1, 1 } };
	struct sb_placement placement = { .workers = 5, .place = place };
	struct sb_worker_reading worker[5] = { { .recorded = true } };
	struct sb_steal_counts steals[5][5] = { { { 0 } } };
	struct sb_record record = { .worker = worker };

	(void)state;
	record.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist));
	for (int w = 0; w < 5; w++)
		worker[w].steals = steals[w];
	steals[0][1] = (struct sb_steal_counts){
		.attempts = 10, .successes = 4, .items = 12, .lost = 1, .empty = 5
	};
	steals[1][0] = (struct sb_steal_counts){
		.attempts = 10, .successes = 6, .items = 8, .lost = 1, .empty = 3
	};
	steals[2][0] = (struct sb_steal_counts){
		.attempts = 80, .successes = 20, .items = 100, .lost = 10, .empty = 50
	};
	steals[3][0] = (struct sb_steal_counts){
		.attempts = 100, .successes = 0, .items = 0, .lost = 0, .empty = 100
	};
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ 0.03, 60, 15, 4 });
	check_rates(&record, SB_METRIC_steals_smt_per_op, (double[]){ 0.01, 20, 50, 2 });
	check_rates(&record, SB_METRIC_steals_cache_per_op, (double[]){ 0.02, 40, 25, 5 });
	check_rates(&record, SB_METRIC_steals_node_per_op, (double[]){ 0, 0, 0, NAN });
	check_rates(&record, SB_METRIC_steals_remote_per_op, (double[]){ 0, 0, NAN, NAN });
	placement.workers = 1;
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ NAN, NAN, NAN, NAN });
	check_rates(&record, SB_METRIC_steals_smt_per_op, (double[]){ NAN, NAN, NAN, NAN });
	placement.workers = 5;
	worker[0].recorded = false;
	sb_record_compute(&record, &a_second, &placement);
	check_rates(&record, SB_METRIC_steals_per_op, (double[]){ NAN, NAN, NAN, NAN });
	free(record.hist);
}

static void parks_and_wakes_are_rates(void **state)
{
	struct sb_place place[] = { { 0 }, { 1, 1, 0, 0, 0, 0 } };
	struct sb_placement placement = { .workers = 2, .place = place };
	struct sb_worker_reading worker[2] = { { .steals = NULL } };
	struct sb_record record = { .worker = worker };

	(void)state;
	record.hist = calloc(SB_RECORD_HISTS, sizeof(*record.hist));
	worker[0].counter[SB_COUNTER_blocks] = 5;
	worker[1].counter[SB_COUNTER_blocks] = 15;
	worker[1].counter[SB_COUNTER_wakes] = 4;
	sb_record_compute(&record, &a_second, &placement);
	assert_true(fabs(record.value[SB_METRIC_parks_per_op] - 0.02) < 1e-9);
	assert_true(fabs(record.value[SB_METRIC_wakes_per_op] - 0.004) < 1e-9);
	free(record.hist);
}

/* Each built-in command, and all others together. */
static void yields_are_metrics(void **state)
{
	struct sb_result *result = make_result(".");
	const double *value = result->series->record[0].value;
	struct sb_worker_reading later = { .steals = NULL };
	struct sb_worker_reading before = { .steals = NULL };

	(void)state;
	CHECK_EQ(value[SB_METRIC_yields_sleep], 11);
	CHECK_EQ(value[SB_METRIC_yields_timer_start], 0);
	CHECK_EQ(value[SB_METRIC_yields_other], 320);
	later.yields[SB_COMMAND_ARRAY] = 9;
	before.yields[SB_COMMAND_ARRAY] = 4;
	sb_reading_subtract(&later, &before, 0);
	CHECK_EQ(later.yields[SB_COMMAND_ARRAY], 5);
	free_result(result);
}

/* Two on a core, one on another node: means of the three measured repetitions. */
static void steals_are_told_by_distance(void **state)
{
	struct sb_place three[] = { { 0, 0, 0, 0, 0, 0 },
				    { 1, 1, 0, 0, 0, 0 },
				    { 2, 2, 1, 1, 1, 1 } };
	struct sb_distance_steals steals[SB_DISTANCES];
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result_at(directory, three, 3);
	result->series->record[0].worker[2].steals[0] =
		(struct sb_steal_counts){ .attempts = 6000, .successes = 30, .items = 90 };
	CHECK_EQ(sb_series_distances(result->series, steals), 2);
	CHECK_EQ(steals[SB_DISTANCE_SMT].pairs, 2);
	CHECK_EQ(steals[SB_DISTANCE_REMOTE].pairs, 4);
	CHECK_EQ(steals[SB_DISTANCE_NODE].pairs, 0);
	assert_true(steals[SB_DISTANCE_SMT].items == 7);
	assert_true(steals[SB_DISTANCE_REMOTE].successes == 10);
	text = summarize(result);
	assert_non_null(strstr(text, "\nworkload   distance    tried   steals   stolen\n"
				     "pingpong   smt            10        3        7\n"
				     "pingpong   remote     2.00 k       10       30\n\n"));
	free(text);
	CHECK_EQ(sb_write_report(result), 0);
	text = read_file(directory, "report.html");
	assert_non_null(strstr(text, ">smt</td><td class=\"n\" data-value=\"2\">2</td>"
				     "<td class=\"n\" data-value=\"10\">10</td>"));
	assert_non_null(strstr(text, ">remote</td><td class=\"n\" data-value=\"4\">4</td>"
				     "<td class=\"n\" data-value=\"2000\">2.00 k</td>"));
	free(text);
	for (uint32_t r = 0; r < REPETITIONS; r++)
		sb_record_invalidate(&result->series->record[r], "no");
	CHECK_EQ(sb_series_distances(result->series, steals), 0);
	free_result(result);
	remove_tree(directory);
}

/* The exit status is that of an invalid repetition, whichever is the first to be suspect. */
static void the_answer_says_why_one_is_invalid(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	sb_record_suspect(&result->series->record[0], "the first");
	CHECK_EQ(sb_answer_from_rows(result), 0);
	assert_non_null(strstr(sb_answer_of(result), "(invalid: wrong \"answer\", 1 < 2)"));
	free_result(result);
	remove_tree(directory);
}

/* Where all are equally far, there is nothing to tell. */
static void one_distance_is_not_told(void **state)
{
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	text = summarize(result);
	assert_null(strstr(text, "distance"));
	free(text);
	CHECK_EQ(sb_write_report(result), 0);
	text = read_file(directory, "report.html");
	assert_null(strstr(text, "distance"));
	free(text);
	free_result(result);
	remove_tree(directory);
}

/* No file may be taken for a measurement of that machine. line: the beginning of the summary's. */
static void check_outputs_say(enum sb_reality reality, const char *line)
{
	/* Those that have rows here. */
	static const char *const names[] = { "runs.csv",   "workers.csv", "yields.csv",
					     "steals.csv", "latency.csv", "memory.csv",
					     "report.html" };
	const char *word = sb_reality_name(reality);
	char directory[] = "/tmp/sb-test-XXXXXX";
	char name[64];
	struct sb_result *result;
	const char *failed;
	char *text;
	json_t *json;

	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	result->series->reality = reality;
	CHECK_EQ(sb_write_csv_files(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++) {
		text = read_file(directory, names[i]);
		assert_non_null(strstr(text, word));
		assert_null(strstr(text, "native"));
		free(text);
	}
	text = summarize(result);
	assert_non_null(strstr(text, line));
	free(text);
	snprintf(name, sizeof(name), "pingpong/workers:2/%s", word);
	json = write_and_parse(result, sb_write_json);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json, "context"), "topology")),
		word);
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(json, "benchmarks"), 0), "name")),
		name);
	json_decref(json);
	free_result(result);
	remove_tree(directory);
}

static void every_output_says_emulated(void **state)
{
	(void)state;
	check_outputs_say(SB_EMULATED, "\nemulated: profile");
}

static void every_output_says_virtual(void **state)
{
	(void)state;
	check_outputs_say(SB_SIMULATED, "virtual: predicted, not measured");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_summary_fits_its_terminal),
		cmocka_unit_test(summary_names_doubts),
		cmocka_unit_test(steals_have_rates_by_distance),
		cmocka_unit_test(parks_and_wakes_are_rates),
		cmocka_unit_test(yields_are_metrics),
		cmocka_unit_test(steals_are_told_by_distance),
		cmocka_unit_test(the_answer_says_why_one_is_invalid),
		cmocka_unit_test(one_distance_is_not_told),
		cmocka_unit_test(every_output_says_emulated),
		cmocka_unit_test(every_output_says_virtual),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
