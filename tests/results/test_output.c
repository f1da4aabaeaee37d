/*
 * test_output.c - CSV and JSON of a result made up by hand are read back, by their own rules.
 */
#include "tests/results/results.h"

/* ---- CSV ---- */

/* Splits one RFC 4180 record in place; returns the number of fields. */
static int split(char *line, char **field, int max)
{
	int n = 0;

	for (char *c = line;; n++) {
		char *out = c;

		assert_true(n < max);
		field[n] = out;
		if (*c == '"') {
			for (c++; *c != '"' || *++c == '"';)
				*out++ = *c++;
		} else {
			out = c += strcspn(c, ",\n");
		}
		if (*c != ',') {
			*out = '\0';
			return n + 1;
		}
		*out = '\0';
		c++;
	}
}

/* Metrics grow in number; twice as many as there are leaves room for the rest. */
#define COLUMNS_MAX (2 * SB_METRICS)

static void runs_csv_reads_back(void **state)
{
	struct sb_result *result = make_result(".");
	const int columns = 18 + (int)sb_metrics(); /* one is an option's */
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	char *head[COLUMNS_MAX] = { NULL };
	char *field[COLUMNS_MAX] = { NULL };
	static const char *const verdicts[REPETITIONS] = { "valid", "suspect", "invalid", "valid" };
	static const char *const reasons[REPETITIONS] = { "", "3 of the time; a <second>, too",
							  "wrong \"answer\", 1 < 2", "" };
	char expected[16];
	char *line;
	char *rest;

	(void)state;
	assert_int_equal(sb_write_runs_csv(result, out), 0);
	fclose(out);
	rest = text;
	line = strsep(&rest, "\n");
	assert_memory_equal(line,
			    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_"
			    "per_second,label,error_occurred,error_message,",
			    114);
	CHECK_EQ(split(line, head, COLUMNS_MAX), columns);
	assert_string_equal(head[15], "ns_per_op");
	assert_string_equal(head[columns - 2], "setting_membind");
	assert_string_equal(head[columns - 1], "topology");
	for (int r = 0; r < REPETITIONS; r++) {
		line = strsep(&rest, "\n");
		CHECK_EQ(split(line, field, COLUMNS_MAX), columns);
		assert_string_equal(field[0], "pingpong/workers:2");
		assert_string_equal(field[7], "pairs=1, \"x\"");
		assert_string_equal(field[13], verdicts[r]);
		assert_string_equal(field[14], reasons[r]);
		assert_string_equal(field[columns - 1], "native");
		if (r == INVALID) {
			assert_string_equal(field[2], "");
			assert_string_equal(field[8], "true");
			assert_string_equal(field[9], "wrong \"answer\", 1 < 2");
			assert_string_equal(field[15], "");
		} else {
			snprintf(expected, sizeof(expected), "%d", 10 * (r + 1));
			assert_string_equal(field[2], expected);
			assert_string_equal(field[8], "");
			assert_string_equal(field[9], "");
		}
	}
	assert_string_equal(rest, "");
	free(text);
	free_result(result);
}

static void json_is_a_google_benchmark_file(void **state)
{
	struct sb_result *result = make_result(".");
	json_t *json = write_and_parse(result, sb_write_json);
	json_t *rows = json_object_get(json, "benchmarks");
	json_t *context = json_object_get(json, "context");
	json_t *own = json_object_get(json, "sched_bench");
	json_t *invalid = json_object_get(own, "invalid");

	(void)state;
	CHECK_EQ(json_integer_value(json_object_get(context, "json_schema_version")), 1);
	CHECK_EQ(json_array_size(rows), REPETITIONS - 1);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		json_t *values = json_object_get(row, "sched_bench");

		assert_true(json_is_number(json_object_get(row, "real_time")));
		assert_true(json_is_number(json_object_get(row, "cpu_time")));
		assert_string_equal(json_string_value(json_object_get(row, "time_unit")), "ns");
		assert_string_equal(json_string_value(json_object_get(row, "name")),
				    "pingpong/workers:2");
		assert_true(json_is_number(json_object_get(values, "ready_to_running_ns_mean")));
		/* Of four samples there is no such percentile. */
		assert_null(json_object_get(values, "ready_to_running_ns_p99"));
		assert_string_equal(json_string_value(json_object_get(values, "valid")),
				    i == SUSPECT ? "suspect" : "valid");
		assert_int_equal(json_object_get(values, "reason") != NULL, i == SUSPECT);
		/* Not measured: absent, not 0. */
		assert_null(json_object_get(values, "send_to_step_ns_p99"));
	}
	CHECK_EQ(json_array_size(invalid), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(invalid, 0), "reason")),
		"wrong \"answer\", 1 < 2");
	assert_null(json_object_get(json_array_get(invalid, 0), "ns_per_op"));
	json_decref(json);
	json = write_and_parse(result, sb_write_meta);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(json, "machine"), "cpu_model")),
		"<script>alert('x')</script>");
	json_decref(json);
	free_result(result);
}

/* By what was swept, and by what differs. */
static void names_tell_series_apart(void **state)
{
	static const struct {
		const char *workload, *setting, *text;
		bool swept;
	} all[] = { { "skynet", "batch", "16", true },
		    { "skynet", "leaves", "9", false },
		    { "yield", "leaves", "9", false },
		    { "yield", "leaves", "9", false },
		    { "hog", "workers", "1", true } };
	static const char *const expected[] = { "skynet/batch:16/workers:1",
						"skynet/leaves:9/workers:1", "yield/workers:1",
						"yield/workers:1", "hog/workers:1" };
	struct sb_result result = { .directory = NULL };
	char name[SB_NAME_BYTES];
	char longest[2 * SB_NAME_BYTES];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	result.all_series = SB_ARRAY_SIZE(all);
	result.series = calloc(result.all_series, sizeof(*result.series));
	for (uint32_t i = 0; i < result.all_series; i++) {
		struct sb_setting setting = {
			.name = (char *)(uintptr_t)all[i].setting,
			.text = (char *)(uintptr_t)all[i].text,
			.swept = all[i].swept,
		};

		result.series[i].workload = strdup(all[i].workload);
		result.series[i].placement.workers = 1;
		CHECK_EQ(sb_series_add_setting(&result.series[i], &setting), 0);
	}
	for (uint32_t i = 0; i < result.all_series; i++) {
		sb_series_name(name, &result, &result.series[i]);
		assert_string_equal(name, expected[i]);
	}
	free(result.series[0].workload);
	result.series[0].workload = strdup(longest);
	sb_series_name(name, &result, &result.series[0]);
	CHECK_EQ(strlen(name), SB_NAME_BYTES - 1);
	sb_result_free(&result);
}

static void directory_is_complete(void **state)
{
	static const char *const names[] = {
		"runs.csv",  "workers.csv", "yields.csv", "steals.csv",
		"spins.csv", "latency.csv", "memory.csv", "report.html"
	};
	char directory[] = "/tmp/sb-test-XXXXXX";
	struct sb_result *result;
	const char *failed;
	char *text;

	(void)state;
	assert_non_null(mkdtemp(directory));
	result = make_result(directory);
	CHECK_EQ(sb_write_csv_files(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	for (size_t i = 0; i < SB_ARRAY_SIZE(names); i++)
		free(read_file(directory, names[i]));
	text = read_file(directory, "report.html");
	assert_null(strstr(text, "<script>alert"));
	assert_non_null(strstr(text, "&lt;script&gt;"));
	assert_non_null(strstr(text, "1 &lt; 2"));
	assert_non_null(strstr(text, ">3 of the time; a &lt;second&gt;, too</td>"));
	free(text);
	text = read_file(directory, "yields.csv");
	assert_non_null(strstr(text, ",0,0,7,,20,native\n"));
	assert_non_null(strstr(text, ",0,0,248,sleep,5,native\n"));
	assert_non_null(strstr(text, ",0,1,248,sleep,6,native\n"));
	assert_non_null(strstr(text, ",0,1,256+,,300,native\n"));
	assert_null(strstr(text, ",send,"));
	free(text);
	text = read_file(directory, "steals.csv");
	assert_non_null(strstr(text, ",0,1,cache,10,3,7,2,5,native\n"));
	free(text);
	/* A machine without packages: an empty cell, not -1. */
	text = read_file(directory, "workers.csv");
	assert_non_null(strstr(text, ",1,5,1,1,0,0,,101,"));
	free(text);
	/* Of the second worker it is not known where its memory lies. */
	text = read_file(directory, "memory.csv");
	assert_non_null(strstr(text, ",0,0,local,arena,12,3,native\n"));
	assert_non_null(strstr(text, ",1,0,local,arena,,,native\n"));
	free(text);
	free_result(result);
	remove_tree(directory);
}

static void binding_is_what_became_of_it(void **state)
{
	struct sb_result *result = make_result(".");
	struct sb_series *series = result->series;
	char *text;

	(void)state;
	assert_string_equal(sb_series_binding(series, result), "local");
	series->memory.bind_error = -EPERM;
	assert_string_equal(sb_series_binding(series, result), "refused");
	result->series->placement.nodes = 2;
	text = summarize(result);
	assert_non_null(strstr(text, "pingpong: 80.0 % of the workers' memory is on their own "
				     "nodes (binding: refused)\n"));
	free(text);
	series->memory = (struct sb_memory){ .is_bound = false };
	assert_string_equal(sb_series_binding(series, result), "none");
	free_result(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_csv_reads_back),
		cmocka_unit_test(json_is_a_google_benchmark_file),
		cmocka_unit_test(names_tell_series_apart),
		cmocka_unit_test(directory_is_complete),
		cmocka_unit_test(binding_is_what_became_of_it),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
