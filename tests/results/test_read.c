/*
 * A result, read back from its file.
 *
 * Property: what is read is what was written: written again it is the same file,
 *   byte for byte, and so are the files made from it. Whatever else a file
 *   holds, the answer is a result that can be written, or one line that says
 *   what is wrong.
 * Method: a result made up by hand in which nothing is left at its default;
 *   files spoilt on purpose, one value each; and files damaged at random: cut
 *   off anywhere, bytes changed, values replaced by others of the file's own
 *   (seeded: SB_SEED). The sanitizers of MODE=asan look on.
 */
#include "results/text/escape.h"
#include "tests/results/read.h"

/* ---- what is written is read ---- */

static char *csv_text(const struct sb_result *result)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(sb_write_runs_csv(result, out), 0);
	sb_write_summary(result, out, true, 0);
	fclose(out);
	return text;
}

static bool same_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

/* Not by way of the writer. */
static void check_hists(const struct sb_packed_hist *a, const struct sb_packed_hist *b)
{
	for (uint32_t h = 0; h < SB_RECORD_HISTS; h++) {
		CHECK_EQ(a[h].count, b[h].count);
		CHECK_EQ(a[h].sum, b[h].sum);
		CHECK_EQ(a[h].max, b[h].max);
		CHECK_EQ(a[h].buckets, b[h].buckets);
		assert_memory_equal(a[h].bucket, b[h].bucket, a[h].buckets * sizeof(*a[h].bucket));
	}
}

static void check_point(const struct sb_point *a, const struct sb_point *b)
{
	CHECK_EQ(a->end_ns, b->end_ns);
	CHECK_EQ(a->timed, b->timed);
	assert_memory_equal(a->count, b->count, sizeof(a->count));
	for (int k = 0; k < SB_POINT_KERNELS; k++)
		assert_true(same_number(a->kernel[k], b->kernel[k]));
	for (int d = 0; d < SB_POINT_DEPTHS; d++)
		assert_true(same_number(a->depth[d], b->depth[d]));
	for (int q = 0; q < SB_POINT_QUANTILES; q++)
		assert_true(same_number(a->quantile[q], b->quantile[q]));
}

static void check_record(const struct sb_record *a, const struct sb_record *b, uint32_t workers)
{
	CHECK_EQ(a->repetition, b->repetition);
	CHECK_EQ(a->verdict, b->verdict);
	assert_string_equal(a->reason, b->reason);
	for (uint32_t m = 0; m < sb_metrics(); m++)
		assert_true(same_number(a->value[m], b->value[m]));
	if (!sb_record_has_numbers(a)) {
		assert_null(b->worker);
		return;
	}
	check_hists(a->packed, b->packed);
	for (uint32_t w = 0; w < workers; w++) {
		struct sb_worker_reading reading = a->worker[w];

		assert_memory_equal(reading.steals, b->worker[w].steals,
				    workers * sizeof(*reading.steals));
		assert_memory_equal(reading.counter, b->worker[w].counter, sizeof(reading.counter));
		assert_memory_equal(reading.yields, b->worker[w].yields, sizeof(reading.yields));
		CHECK_EQ(reading.recorded, b->worker[w].recorded);
		CHECK_EQ(reading.read_ns, b->worker[w].read_ns);
		CHECK_EQ(reading.account_ns, b->worker[w].account_ns);
		for (uint32_t c = 0; c < SB_OS_COUNTS; c++)
			assert_true(same_number(a->os[w].value[c], b->os[w].value[c]));
	}
	assert_true(a->timeseries != b->timeseries);
	CHECK_EQ(a->timeseries->points, b->timeseries->points);
	CHECK_EQ(a->timeseries->latency, b->timeseries->latency);
	CHECK_EQ(a->timeseries->has_requests, b->timeseries->has_requests);
	for (uint32_t i = 0; i < a->timeseries->points; i++)
		check_point(&a->timeseries->point[i], &b->timeseries->point[i]);
	CHECK_EQ(a->requests->is_open, b->requests->is_open);
	CHECK_EQ(a->requests->intended, b->requests->intended);
	CHECK_EQ(a->requests->wall_ns, b->requests->wall_ns);
	assert_true(a->requests->asked_ns == b->requests->asked_ns);
	assert_true(isnan(b->requests->in_system));
	assert_true(b->requests->in_system_expected == 1e300);
}

static void check_waiting(const struct sb_waiting *a, const struct sb_waiting *b)
{
	assert_int_equal(!a, !b);
	if (!a || !b)
		return;
	CHECK_EQ(a->places, 2);
	CHECK_EQ(a->place[0].fetches[1], 6);
	CHECK_EQ(b->places, a->places);
	for (uint32_t i = 0; i < a->places; i++) {
		assert_string_equal(a->place[i].file, b->place[i].file);
		assert_string_equal(a->place[i].function, b->place[i].function);
		assert_memory_equal(a->place[i].fetches, b->place[i].fetches,
				    sizeof(a->place[i].fetches));
		assert_true(sb_waiting_ns(&a->place[i]) == sb_waiting_ns(&b->place[i]));
	}
}

static void check_series(const struct sb_series *a, const struct sb_series *b)
{
	const uint32_t workers = a->placement.workers;

	assert_string_equal(a->workload, b->workload);
	assert_string_equal(a->operation, b->operation);
	assert_string_equal(a->label, b->label);
	assert_int_equal(!a->answer, !b->answer);
	if (a->answer)
		assert_string_equal(a->answer, b->answer);
	CHECK_EQ(a->reality, b->reality);
	check_waiting(a->waiting, b->waiting);
	CHECK_EQ(workers, b->placement.workers);
	assert_memory_equal(a->placement.place, b->placement.place,
			    workers * sizeof(*a->placement.place));
	CHECK_EQ(a->placement.nodes, b->placement.nodes);
	assert_int_equal(!a->placement.os_node, !b->placement.os_node);
	if (a->placement.os_node) {
		assert_memory_equal(a->placement.os_node, b->placement.os_node, 2 * sizeof(int));
		assert_memory_equal(a->placement.node_distance, b->placement.node_distance,
				    4 * sizeof(uint32_t));
	}
	CHECK_EQ(a->memory.mapped_bytes, b->memory.mapped_bytes);
	CHECK_EQ(a->memory.used_bytes, b->memory.used_bytes);
	CHECK_EQ(a->memory.bind_error, b->memory.bind_error);
	assert_int_equal(!a->residence, !b->residence);
	for (uint32_t w = 0; a->residence && w < workers; w++) {
		assert_int_equal(a->residence[w].error, b->residence[w].error);
		assert_memory_equal(a->residence[w].kind, b->residence[w].kind,
				    sizeof(a->residence[w].kind));
	}
	CHECK_EQ(a->settings, b->settings);
	for (uint32_t i = 0; i < a->settings; i++) {
		assert_string_equal(a->setting[i].name, b->setting[i].name);
		assert_string_equal(a->setting[i].text, b->setting[i].text);
		CHECK_EQ(a->setting[i].swept, b->setting[i].swept);
		assert_true(same_number(a->setting[i].number, b->setting[i].number));
	}
	CHECK_EQ(a->records, b->records);
	for (uint32_t r = 0; r < a->records; r++)
		check_record(&a->record[r], &b->record[r], workers);
}

static void what_is_written_is_read(void **state)
{
	struct sb_result written;
	struct sb_result read;
	char why[WHY_BYTES] = "";
	struct text once;
	struct text twice;
	char *csv[2];

	(void)state;
	fill_result(&written);
	once = write_text(&written);
	save(once.at, once.bytes);
	/* The directory does as well as the file. */
	CHECK_EQ(sb_result_read(&read, work, why, sizeof(why)), 0);
	assert_string_equal(read.directory, work);
	twice = write_text(&read);
	CHECK_EQ(once.bytes, twice.bytes);
	assert_memory_equal(once.at, twice.at, once.bytes);
	CHECK_EQ(read.all_series, written.all_series);
	for (uint32_t i = 0; i < read.all_series; i++)
		check_series(&written.series[i], &read.series[i]);
	CHECK_EQ(read.facts, written.facts);
	for (uint32_t i = 0; i < read.facts; i++) {
		assert_string_equal(read.fact[i].group, written.fact[i].group);
		assert_string_equal(read.fact[i].key, written.fact[i].key);
		assert_string_equal(read.fact[i].value, written.fact[i].value);
	}
	csv[0] = csv_text(&written);
	csv[1] = csv_text(&read);
	assert_string_equal(csv[0], csv[1]);
	free(csv[0]);
	free(csv[1]);
	sb_result_free(&read);
	CHECK_EQ(sb_result_read(&read, path, why, sizeof(why)), 0);
	assert_string_equal(read.directory, work);
	sb_result_free(&read);
	sb_result_free(&written);
	free(once.at);
	free(twice.at);
}

/* Facts of one group are together, and there once. */
static void a_fact_has_one_place(void **state)
{
	struct sb_result result = { .directory = NULL };

	(void)state;
	CHECK_EQ(sb_result_add_fact(&result, "a", "x", "1"), 0);
	CHECK_EQ(sb_result_add_fact(&result, "b", "x", "2"), 0);
	CHECK_EQ(sb_result_add_fact(&result, "a", "y", "3"), 0);
	CHECK_EQ(sb_result_add_fact(&result, "a", "x", "4"), 0);
	CHECK_EQ(result.facts, 3);
	assert_string_equal(result.fact[0].value, "4");
	assert_string_equal(result.fact[1].value, "3");
	assert_string_equal(result.fact[2].value, "2");
	sb_result_free(&result);
}

/* A text of a file is shown in terminals. */
static void texts_are_tame(void **state)
{
	char *copy = sb_text_copy("a\x1b[2J\r\x7f\tb\n\xc3\xa9");

	(void)state;
	assert_string_equal(copy, "a?[2J??\tb\n\xc3\xa9");
	free(copy);
	copy = sb_text_copy("\xc3\xa9 \xff");
	assert_string_equal(copy, "\xc3\xa9 ?");
	free(copy);
}

/* Names that only a later version knows, and names that it does not have any
 * more. */
static void names_come_and_go(void **state)
{
	struct text text = make_text();
	json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
	struct sb_result result;
	char why[WHY_BYTES] = "";
	json_t *row = at(json, ROW);
	char *changed;

	(void)state;
	json_object_set_new(row, "new_metric", json_integer(1));
	json_object_set_new(json, "new_part", json_array());
	json_object_set_new(at(row, "workers/0/counters"), "new_counter",
			    json_string("even of another type"));
	json_object_set_new(at(row, "histograms"), "new_hist", json_null());
	json_object_del(row, "ns_per_op");
	json_object_del(row, "operations");
	json_object_del(row, "wall_s");
	json_object_del(at(row, "workers/0/counters"), "steps");
	json_object_del(at(row, "histograms"), "step_time");
	json_object_del(at(row, "workers/1/os"), "vol_ctxsw");
	json_object_del(at(row, "timeseries"), "run_delay_ns");
	changed = json_dumps(json, JSON_COMPACT);
	save(changed, strlen(changed));
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), 0);
	assert_true(isnan(result.series[0].record[0].value[SB_METRIC_ns_per_op]));
	CHECK_EQ(result.series[0].record[0].worker[0].counter[SB_COUNTER_steps], 0);
	CHECK_EQ(result.series[0].record[0].packed[SB_HIST_step_time].count, 0);
	assert_true(isnan(result.series[0].record[0].os[1].value[0]));
	assert_true(isnan(result.series[0].record[0].timeseries->point[0].kernel[0]));
	sb_result_free(&result);
	CHECK_EQ(read_whatever(changed, strlen(changed), true), 0);
	free(changed);
	json_decref(json);
	free(text.at);
}

/* Takes out what versions before yields by command and rates of steals did not have. */
static void make_earlier(json_t *row)
{
	json_t *workers = json_object_get(row, "workers");

	for (enum sb_metric_id m = 0; m < sb_metrics(); m++) {
		const char *name = sb_metric[m].name;

		if (!strncmp(name, "yields_", 7) || !strncmp(name, "steals_", 7))
			json_object_del(row, name);
	}
	for (size_t w = 0; w < json_array_size(workers); w++)
		CHECK_EQ(json_object_del(json_array_get(workers, w), "yields_by_command"), 0);
}

/* It is read, those are not measured, and it is written as it was. */
static void an_earlier_result_stays_as_it_is(void **state)
{
	struct text text = make_text();
	json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
	json_t *rows = json_object_get(json, "benchmarks");
	struct sb_result result;
	char why[WHY_BYTES] = "";
	const double *value;
	struct text again;
	json_t *written;
	char *changed;

	(void)state;
	for (size_t i = 0; i < json_array_size(rows); i++)
		make_earlier(json_object_get(json_array_get(rows, i), "sched_bench"));
	changed = json_dumps(json, JSON_COMPACT);
	save(changed, strlen(changed));
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), 0);
	value = result.series[0].record[0].value;
	assert_true(isnan(value[SB_METRIC_yields_sleep]));
	assert_true(isnan(value[SB_METRIC_steals_smt_success_pct]));
	CHECK_EQ(result.series[0].record[0].worker[0].yields[SB_COMMAND_SLEEP], 0);
	again = write_text(&result);
	written = json_loadb(again.at, again.bytes, 0, NULL);
	assert_true(json_equal(written, json));
	json_decref(written);
	json_decref(json);
	sb_result_free(&result);
	free(changed);
	free(again.at);
	free(text.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_fact_has_one_place),
		cmocka_unit_test(texts_are_tame),
		cmocka_unit_test(names_come_and_go),
		cmocka_unit_test(an_earlier_result_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, make_work, remove_work);
}
