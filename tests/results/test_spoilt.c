/*
 * test_spoilt.c - result files that are spoilt in one place, too large, or no results are refused in one line.
 */
#include "tests/results/read.h"

/* ---- spoilt files ---- */

/* The value at that place is replaced by another; how that is answered. */
static const struct {
	const char *where;
	const char *value; /* NULL: it is taken out */
	const char *reason;
} spoilt[] = {
	{ "sched_bench", NULL, "Google Benchmark file of another program" },
	{ "sched_bench", "[]", "Google Benchmark file of another program" },
	{ "benchmarks", NULL, "not a result of sched-bench" },
	{ "benchmarks", "{}", "not a result of sched-bench" },
	{ "benchmarks", "[]", "no more than the file has" },
	{ "sched_bench/schema", "2", "schema 2; this sched-bench reads up to 1" },
	{ "sched_bench/schema", "0", "sched_bench.schema: expected" },
	{ "sched_bench/schema", "\"1\"", "sched_bench.schema: expected" },
	{ "sched_bench/schema", NULL, "sched_bench.schema: expected" },
	{ "sched_bench/histogram_layout/linear_bits", "7", "histogram_layout" },
	{ "sched_bench/meta", "[]", "meta: expected an object" },
	{ "sched_bench/meta/run/date", "1", "meta: expected texts" },
	{ "sched_bench/series", "{}", "series: expected an array" },
	{ "sched_bench/series", "[]", "expected as many rows" },
	{ "sched_bench/invalid", "[]", "no more than the file has" },
	{ "sched_bench/invalid", NULL, "invalid: expected an array" },
	{ "sched_bench/invalid/0/valid", "\"suspect\"",
	  "sched_bench.invalid[0].valid: expected \"invalid\"" },
	{ "sched_bench/series/0/workload", "7", "series[0].workload: expected a text" },
	{ "sched_bench/series/0/workload", "\"\"", "series[0].workload: expected a name" },
	{ "sched_bench/series/0/label", NULL, "series[0].label: expected" },
	{ "sched_bench/series/0/answer", "[]", "series[0].answer: expected" },
	{ "sched_bench/series/0/rows", "3", "expected as many rows" },
	{ "sched_bench/series/0/rows", "4000000000", "no more than the file" },
	{ "sched_bench/series/0/rows", "-1", "series[0].rows: expected" },
	{ "sched_bench/series/0/emulated", "0", "true or false" },
	{ "sched_bench/series/0/settings/0/name", NULL, "settings[0].name" },
	{ "sched_bench/series/0/settings/1/number", "\"1\"", "a number" },
	{ "sched_bench/series/0/placement/workers", "[]",
	  "series[0].placement.workers: expected 1 to 4000" },
	{ "sched_bench/series/0/placement/workers", "2", "placement.workers: expected an array" },
	{ "sched_bench/series/0/placement/workers/1/core", "-2",
	  "placement.workers[1].core: expected an integer from -1" },
	{ "sched_bench/series/0/placement/workers/1", "{}",
	  "placement.workers[1].os_cpu: expected" },
	{ "sched_bench/series/0/placement/nodes", "3", "array of 3, not of 2" },
	{ "sched_bench/series/0/placement/nodes", "4000000000", "nodes" },
	{ "sched_bench/series/0/placement/node_distance", "[1]",
	  "node_distance: expected an array of 4" },
	{ "sched_bench/series/0/placement/node_distance/0", "-1",
	  "node_distance: expected an integer" },
	{ "sched_bench/series/0/memory/held_bytes", "-1", "held_bytes" },
	{ "sched_bench/series/0/memory/bind_error", "1", "bind_error" },
	{ "sched_bench/series/0/residence", "[]", "array of 2, not of 0" },
	{ "sched_bench/series/0/residence/1/arena", "1", "an object" },
	{ "sched_bench/series/0/waiting/0/queued_ns", NULL,
	  "series[0].waiting[0].queued_ns: expected a number of ns" },
	{ "sched_bench/series/0/waiting/0/queued_ns", "1e300", "expected a number of ns" },
	{ "sched_bench/series/0/waiting/0/ns/cache", NULL,
	  "series[0].waiting[0].cache: expected a number of ns" },
	{ "sched_bench/series/0/waiting/0/ns/cache", "-1.5", "expected a number of ns" },
	{ ROW, NULL, "benchmarks[0].sched_bench.series: expected" },
	{ ROW "/series", "3", "series: expected an integer from 0 to 2" },
	{ ROW "/series", "2", "row: expected a row that its series has" },
	{ ROW "/row", "4", "row: expected an integer from 0 to 3" },
	{ ROW "/row", "1", "row: expected each row once" },
	{ ROW "/repetition", "-1", "repetition: expected" },
	{ ROW "/valid", "\"fine\"", "valid: expected \"valid\" or \"suspect\"" },
	{ ROW "/valid", "\"invalid\"", "valid: expected \"valid\" or" },
	{ "benchmarks/1/sched_bench/reason", "1", "reason: expected a text" },
	{ ROW "/ns_per_op", "\"fast\"", "ns_per_op: expected a number" },
	{ ROW "/workers", "[]", "workers: expected an array of 2, not of 0" },
	{ ROW "/workers/0", "[]", "workers[0].: expected an object" },
	{ ROW "/workers/0/recorded", "1", "workers[0].recorded: expected" },
	{ ROW "/workers/1/read_ns", "-1", "workers[1].read_ns: expected" },
	{ ROW "/workers/1/counters", NULL, "workers[1].counters: expected" },
	{ ROW "/workers/1/counters/steps", "-5", "workers[1].steps: expected" },
	{ ROW "/workers/1/counters/steps", "1.5", "workers[1].steps" },
	{ ROW "/workers/1/yields_by_command", "[]",
	  "workers[1].yields_by_command.: expected an object" },
	{ ROW "/workers/1/yields_by_command/sleep", "-1",
	  "workers[1].yields_by_command.sleep: expected an integer" },
	{ ROW "/workers/1/yields_by_command/256+", "\"7\"",
	  "yields_by_command.256+: expected an integer" },
	{ ROW "/workers/1/os", NULL, "workers[1].os: expected an object" },
	{ ROW "/workers/1/os/vol_ctxsw", "\"\"", "vol_ctxsw: expected a number" },
	{ ROW "/steals_thief_by_victim", "[]", "attempts: expected an array" },
	{ ROW "/steals_thief_by_victim/items", "[[1,2]]",
	  "steals_thief_by_victim.items: expected an array of 2, not of 1" },
	{ ROW "/steals_thief_by_victim/items/1", "[1]",
	  "items: expected as many rows and columns" },
	{ ROW "/steals_thief_by_victim/lost/0/0", "-1", "lost: expected" },
	{ ROW "/histograms", NULL, "histograms: expected an object" },
	{ ROW "/histograms/step_time/buckets", "{}",
	  "histograms.step_time.buckets: expected an array" },
	{ ROW "/histograms/step_time/buckets/0", "[1]", "pairs of index" },
	{ ROW "/histograms/step_time/buckets/0/0", "2368",
	  "bucket's index: expected an integer from 0 to 2367" },
	{ ROW "/histograms/step_time/buckets/0/0", "-1", "bucket's index" },
	{ ROW "/histograms/step_time/buckets/0/1", "-1", "bucket's count" },
	{ ROW "/histograms/step_time/buckets/0/1", "9223372036854775807",
	  "count: expected the sum of its buckets" },
	{ ROW "/histograms/step_time/buckets/0/0", "2367", "each bucket once" },
	{ ROW "/histograms/step_time/count", "1", "the sum of its buckets" },
	{ ROW "/histograms/step_time/sum", NULL, "step_time.sum: expected" },
	{ ROW "/histograms/step_time/max", "-1", "step_time.max: expected" },
	{ ROW "/requests", "[]", "requests: expected an object" },
	{ ROW "/requests/intended", "5", "completed: expected no more than" },
	{ ROW "/requests/asked_ns", "true", "asked_ns: expected a number" },
	{ ROW "/exemplars/fault_ns", "[]", "fault_ns: expected a number" },
	{ ROW "/exemplars/stops", "[1]", "stops: expected" },
	{ ROW "/exemplars/send_to_step", "{}", "exemplars.send_to_step: expected an array" },
	{ ROW "/exemplars/send_to_step/0", "7", "exemplars.send_to_step[0]" },
	{ ROW "/exemplars/send_to_step/0/worker", "7", "send_to_step[0].worker: expected one" },
	{ ROW "/exemplars/send_to_step/0/faults", "4294967296", "faults: expected an integer" },
	{ ROW "/exemplars/send_to_step/0/wait_ns", "901", "wait_ns: expected no more" },
	{ ROW "/exemplars/send_to_step/1/name", "7", "name: expected a text" },
	{ ROW "/timeseries", "[]", "timeseries.end_ns: expected an array of 1 to 256" },
	{ ROW "/timeseries/end_ns/1", "1", "timeseries.end_ns: expected each later" },
	{ ROW "/timeseries/latency", "\"x\"", "timeseries.latency: expected the name" },
	{ ROW "/timeseries/steps", "[1]", "timeseries.steps: expected an array of 8" },
	{ ROW "/timeseries/wakes/0", "-1", "timeseries.wakes: expected an integer" },
	{ ROW "/timeseries/depth_own/0", "\"x\"", "timeseries.depth_own: expected a number" },
	{ ROW "/requests/histograms/wait/count", "0",
	  "requests.histograms.wait.count: expected the sum" },
};

/* Replaces what is there, or takes it out. */
static void put_at(json_t *json, const char *where, const char *value)
{
	char parent_path[120];
	const char *slash = strrchr(where, '/');
	const char *key = slash ? slash + 1 : where;
	json_t *parent = json;
	json_t *new = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;

	assert_true(!value || new);
	if (!at(json, where))
		fail_msg("there is no %s", where);
	if (slash) {
		snprintf(parent_path, sizeof(parent_path), "%.*s", (int)(slash - where), where);
		parent = at(json, parent_path);
	}
	if (!new)
		CHECK_EQ(json_object_del(parent, key), 0);
	else if (json_is_array(parent))
		CHECK_EQ(json_array_set_new(parent, strtoul(key, NULL, 10), new), 0);
	else
		CHECK_EQ(json_object_set_new(parent, key, new), 0);
}

static void what_is_spoilt_is_said(void **state)
{
	struct text text = make_text();

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(spoilt); i++) {
		json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
		char *changed;

		put_at(json, spoilt[i].where, spoilt[i].value);
		changed = json_dumps(json, JSON_COMPACT);
		refused(changed, strlen(changed), -EINVAL, spoilt[i].reason);
		free(changed);
		json_decref(json);
	}
	free(text.at);
}

static void long_texts_are_refused(void **state)
{
	struct text text = make_text();
	json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
	char reason[SB_REASON_BYTES + 3];
	char *changed;

	(void)state;
	memset(reason, 'x', sizeof(reason));
	reason[0] = reason[sizeof(reason) - 2] = '"';
	reason[sizeof(reason) - 1] = '\0';
	put_at(json, "benchmarks/1/sched_bench/reason", reason);
	changed = json_dumps(json, JSON_COMPACT);
	refused(changed, strlen(changed), -EINVAL, "a shorter text");
	free(changed);
	json_decref(json);
	free(text.at);
}

/* ---- no results at all ---- */

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{ "", "empty" },
		{ "workload,label\n", "not JSON: line 1, column 8" },
		{ "{\n\"a\": 1,\n\"a\": 2}", "not JSON: line 3" },
		{ "[]", "not a result of sched-bench" },
		{ "{\"benchmarks\": 1e999}", "not JSON" },
		{ "{\"a\": \"\\u0000\"}", "not JSON" },
		{ "{\"a\": \x1b[31m}", "not JSON" },
		{ "{\"a\": 99999999999999999999}", "not JSON" },
		{ "{\"benchmarks\": [], \"context\": {}}",
		  "Google Benchmark file of another program" },
	};

	(void)state;
	for (size_t i = 0; i < SB_ARRAY_SIZE(cases); i++)
		refused(cases[i].text, strlen(cases[i].text), -EINVAL, cases[i].reason);
}

static void what_is_no_file_is_refused(void **state)
{
	struct sb_result result;
	char why[WHY_BYTES];

	(void)state;
	(void)unlink(path);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), -ENOENT);
	check_why(why);
	/* A directory without a result. */
	CHECK_EQ(sb_result_read(&result, work, why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "result.json: No such file"));
	/* Nobody writes into it. */
	CHECK_EQ(mkfifo(path, 0666), 0);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "not a file"));
	(void)unlink(path);
}

/* A text of so many times the same. */
static struct text repeat(const char *part, size_t times)
{
	const size_t length = strlen(part);
	struct text text = { malloc(length * times), length * times };

	assert_non_null(text.at);
	for (size_t i = 0; i < times; i++)
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
		memcpy(text.at + i * length, part, length);
	return text;
}

/* Each is refused before it takes memory. */
static void the_huge_are_refused(void **state)
{
	struct text text;
	struct sb_result result;
	char why[WHY_BYTES];

	(void)state;
	text = repeat("[", 1000000);
	refused(text.at, text.bytes, -EINVAL, "maximum parsing depth");
	free(text.at);
	text = repeat("{},", 12000000);
	refused(text.at, text.bytes, -EFBIG, "more than 4 GiB of memory");
	free(text.at);
	/* A hole. */
	save("", 0);
	CHECK_EQ(truncate(path, (off_t)SB_READ_FILE_BYTES + 1), 0);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), -EFBIG);
	assert_non_null(strstr(why, "expected up to 1 GiB"));
	(void)unlink(path);
}

/* Small in the file, and large in memory: a matrix of zeros for each row. */
static void huge_rows_are_refused(void **state)
{
	struct text text = make_text();
	json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
	json_t *rows = json_object_get(json, "benchmarks");
	json_t *series = at(json, "sched_bench/series/0");
	json_t *places = at(series, "placement/workers");
	char *changed;

	(void)state;
	json_object_del(series, "residence");
	while (json_array_size(places) < SB_WORKERS_MAX)
		json_array_append(places, json_array_get(places, 0));
	while (json_array_size(rows) < 14)
		json_array_append_new(rows, json_object());
	json_object_set_new(series, "rows", json_integer(14));
	changed = json_dumps(json, JSON_COMPACT);
	refused(changed, strlen(changed), -EFBIG, "its rows take more than 8 GiB of memory");
	free(changed);
	json_decref(json);
	free(text.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_spoilt_is_said),
		cmocka_unit_test(long_texts_are_refused),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(the_huge_are_refused),
		cmocka_unit_test(huge_rows_are_refused),
	};

	return cmocka_run_group_tests(tests, make_work, remove_work);
}
