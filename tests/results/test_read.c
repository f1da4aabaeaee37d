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
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/commands.h"
#include "core/scheduler.h"
#include "results/convert/convert.h"
#include "results/files/csv.h"
#include "results/files/file.h"
#include "results/files/summary.h"
#include "results/json/read.h"
#include "results/json/write.h"
#include "results/page/report.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "tests/test.h"

#define WHY_BYTES 400

/* ---- a result with everything in it ---- */

static uint64_t next_random(void)
{
	static uint64_t state;

	if (!state)
		state = sb_test_seed();
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void fill_hist(struct sb_hist_counts *hist, uint32_t values)
{
	for (uint32_t i = 0; i < values; i++) {
		const uint64_t value = next_random() >> (next_random() % 64);

		hist->bucket[sb_hist_index(value)]++;
		hist->count++;
		hist->sum += value >> 8;
	}
}

static void fill_worker(struct sb_worker_reading *worker, uint32_t workers)
{
	*worker = (struct sb_worker_reading){
		.recorded = true,
		.read_ns = 1 + next_random() % 1000000,
		.account_ns = 1 + next_random() % 1000000,
		.steals = calloc(workers, sizeof(*worker->steals)),
	};
	for (uint32_t c = 0; c < SB_COUNTERS; c++)
		worker->counter[c] = 1 + next_random() % 100000;
	for (uint32_t i = 0; i < SB_YIELD_COUNTS; i++)
		worker->yields[i] = i % 3 ? next_random() % 100000 : 0;
	worker->yields[SB_COMMAND_SLEEP] = 5;
	worker->yields[SB_COMMAND_ARRAY] = 7;
	for (uint32_t v = 0; v < workers; v++)
		worker->steals[v] = (struct sb_steal_counts){ next_random() % 100, 2 + v, 3,
							      next_random() % 9, 5 };
}

static struct sb_requests *make_requests(struct sb_hist_counts *hist)
{
	struct sb_requests *requests = calloc(1, sizeof(*requests));

	*requests = (struct sb_requests){
		.is_open = true,
		.intended = 1000,
		.submitted = 990,
		.completed = 980,
		.on_time = 970,
		.late_ns = 1000,
		.schedule_ns = 1000000,
		.sending_ns = 1000500,
		.wall_ns = 1000900,
		.asked_ns = 1.0 / 3,
		.asked_mean_ns = 1e-300,
		.observed_ns = 12345.5,
		.in_system = NAN,
		.in_system_error = -0.25,
		.in_system_unknown = 2,
		.in_system_expected = 1e300,
		.hist = hist,
	};
	fill_hist(&requests->hist[SB_REQUEST_sojourn], 50);
	fill_hist(&requests->hist[SB_REQUEST_wait], 40);
	fill_hist(&requests->hist[SB_REQUEST_service], 30);
	fill_hist(&requests->hist[SB_REQUEST_lateness], 1);
	return requests;
}

/* Numbers of all sizes, and some that were not measured. */
static double make_number(uint32_t i)
{
	return i % 7 == 3 ? (double)NAN
			  : (double)(int64_t)next_random() /
				    (double)(UINT64_C(1) << next_random() % 63);
}

static void fill_record(struct sb_record *record, uint32_t r, uint32_t workers)
{
	record->repetition = r;
	record->worker = calloc(workers, sizeof(*record->worker));
	record->hist = calloc(SB_RECORD_HISTS, sizeof(*record->hist));
	record->os = calloc(workers, sizeof(*record->os));
	record->requests = make_requests(&record->hist[SB_RECORD_REQUEST]);
	for (uint32_t m = 0; m < SB_METRICS; m++)
		record->value[m] = make_number(m);
	for (uint32_t w = 0; w < workers; w++) {
		fill_worker(&record->worker[w], workers);
		for (uint32_t c = 0; c < SB_OS_COUNTS; c++)
			record->os[w].value[c] = make_number(c + w);
	}
	for (uint32_t h = 0; h < SB_RECORD_REQUEST; h++)
		fill_hist(&record->hist[h], h * 2);
	record->hist[SB_HIST_step_time].bucket[SB_HIST_BUCKETS - 1]++;
	record->hist[SB_HIST_step_time].count++;
	CHECK_EQ(sb_record_pack(record), 0);
}

/* Four repetitions: valid, suspect, invalid, valid. */
static void fill_series(struct sb_series *series, uint32_t workers, struct sb_place *place)
{
	int os_node[] = { 1, 0 };
	uint32_t distance[] = { 10, 21, 21, 10 };
	const struct sb_placement placement = { workers, place, 2, os_node, distance };

	CHECK_EQ(sb_placement_copy(&series->placement, &placement), 0);
	series->operation = strdup("message");
	series->records = 4;
	series->record = calloc(series->records, sizeof(*series->record));
	for (uint32_t r = 0; r < series->records; r++)
		fill_record(&series->record[r], r + 7, workers);
	sb_record_suspect(&series->record[1], "3 %% of \"it\"; a <b>");
	sb_record_suspect(&series->record[1], "and another, too");
	sb_record_invalidate(&series->record[2], "it hung");
	series->memory = (struct sb_memory){ 1, 2, 3, true, -EPERM, 4, 5 };
	series->residence = calloc(workers, sizeof(*series->residence));
	for (uint32_t w = 0; w < workers; w++)
		series->residence[w] =
			(struct sb_residence){ w ? -ENOSYS : 0,
					       { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, w } } };
}

static void add_setting(struct sb_series *series, const char *name, const char *text, double number,
			bool swept)
{
	char name_copy[40];
	char text_copy[40];
	const struct sb_setting setting = { name_copy, text_copy, number, swept };

	snprintf(name_copy, sizeof(name_copy), "%s", name);
	snprintf(text_copy, sizeof(text_copy), "%s", text);
	CHECK_EQ(sb_series_add_setting(series, &setting), 0);
}

static const struct {
	const char *group, *key, *value;
} facts[] = {
	{ "machine", "host_name", "m\"1\",\n<tag>" },
	{ "machine", "pus", "2" },
	{ "machine", "governor", "powersave" },
	{ "run", "date", "2026-01-01T00:00:00+00:00" },
	{ "options", "membind", "local" },
	{ "run", "late", "\xc3\xa9t\xc3\xa9 \xff" },
	{ "profile", "name", "a & b" },
};

static void fill_result(struct sb_result *result)
{
	struct sb_place two[] = { { 0, 0, 0, 0, 0, -1 }, { 5, 1, 1, 0, 0, -1 } };
	struct sb_place three[] = { { -1, 0, 0, 0, 0, 0 },
				    { -1, 1, 0, 0, 0, 0 },
				    { -1, 2, 1, 1, 1, 1 } };

	*result = (struct sb_result){ .directory = strdup(".") };
	result->all_series = 3;
	result->series = calloc(3, sizeof(*result->series));
	for (size_t i = 0; i < SB_ARRAY_SIZE(facts); i++)
		CHECK_EQ(sb_result_add_fact(result, facts[i].group, facts[i].key, facts[i].value),
			 0);
	fill_series(&result->series[0], 2, two);
	fill_series(&result->series[1], 3, three);
	result->series[0].workload = strdup("pingpong");
	result->series[0].answer = strdup("2.5 k/s, \"or so\"");
	add_setting(&result->series[0], "pairs", "1", 1, false);
	add_setting(&result->series[0], "spin-yield", "4,096", 4096, true);
	result->series[1].workload = strdup("skynet");
	result->series[1].emulated = true;
	add_setting(&result->series[1], "placement", "compact", NAN, true);
	/* Nothing is recorded, nothing was measured. */
	for (uint32_t w = 0; w < 3; w++) {
		struct sb_worker_reading *worker = &result->series[1].record[0].worker[w];

		worker->recorded = false;
		memset(worker->steals, 0, 3 * sizeof(*worker->steals));
	}
	result->series[2].workload = strdup("none");
	result->series[2].operation = strdup("x");
	result->series[2].label = strdup("");
	CHECK_EQ(sb_placement_copy(&result->series[2].placement,
				   &(struct sb_placement){ .workers = 1, .place = two }),
		 0);
}

/* ---- writing and reading ---- */

struct text {
	char *at;
	size_t bytes;
};

static struct text write_text(const struct sb_result *result)
{
	struct text text = { NULL, 0 };
	FILE *out = open_memstream(&text.at, &text.bytes);

	CHECK_EQ(sb_write_json(result, out), 0);
	fclose(out);
	return text;
}

static struct text make_text(void)
{
	struct sb_result result;
	struct text text;

	fill_result(&result);
	text = write_text(&result);
	sb_result_free(&result);
	return text;
}

static char work[] = "/tmp/sb-test-XXXXXX";
static char path[sizeof(work) + 16];

static int make_work(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/result.json", mkdtemp(work));
	return 0;
}

static int remove_work(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", work);
	return system(command);
}

static void save(const char *text, size_t bytes)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	CHECK_EQ(write(fd, text, bytes), bytes);
	close(fd);
}

/* One printable line with the file's name. */
static void check_why(const char *why)
{
	assert_non_null(strstr(why, path));
	for (const char *c = why; *c; c++)
		assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
}

/* All that there is no file of. */
static void convert(const struct sb_result *result)
{
	for (const struct sb_converter *c = sb_converters; c->name; c++) {
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_non_null(out);
		if (c->write && c->write != sb_convert_trace)
			CHECK_EQ(c->write(result, out), 0);
		fclose(out);
		/* A text has no 0, and no number that is none. */
		CHECK_EQ(strlen(text), bytes);
		assert_null(strcasestr(text, " nan"));
		free(text);
	}
}

/* Everything that is made from a result, into files. */
static void write_everything(struct sb_result *result)
{
	const char *failed;
	char *summary = NULL;
	size_t bytes;
	FILE *out = open_memstream(&summary, &bytes);

	sb_write_summary(result, out, false, 0);
	fclose(out);
	free(summary);
	CHECK_EQ(sb_write_csv_files(result, &failed), 0);
	CHECK_EQ(sb_write_report(result), 0);
	convert(result);
}

/* What is in the file is refused for this, or else is a result whose writing
 * ends and is the same when it is read again. */
static int read_whatever(const char *text, size_t bytes, bool everything)
{
	struct sb_result result;
	char why[WHY_BYTES] = "";
	struct text once;
	struct text twice;
	int rc;

	save(text, bytes);
	rc = sb_result_read(&result, path, why, sizeof(why));
	if (rc) {
		assert_true(rc < 0);
		check_why(why);
		return rc;
	}
	assert_string_equal(why, "");
	once = write_text(&result);
	if (everything)
		write_everything(&result);
	sb_result_free(&result);
	save(once.at, once.bytes);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), 0);
	twice = write_text(&result);
	CHECK_EQ(once.bytes, twice.bytes);
	assert_memory_equal(once.at, twice.at, once.bytes);
	sb_result_free(&result);
	free(once.at);
	free(twice.at);
	return 0;
}

static void refused(const char *text, size_t bytes, int rc, const char *reason)
{
	struct sb_result result;
	char why[WHY_BYTES] = "";

	save(text, bytes);
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), rc);
	check_why(why);
	if (!strstr(why, reason))
		fail_msg("'%s' does not say '%s'", why, reason);
}

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
		CHECK_EQ(a[h].buckets, b[h].buckets);
		assert_memory_equal(a[h].bucket, b[h].bucket, a[h].buckets * sizeof(*a[h].bucket));
	}
}

static void check_record(const struct sb_record *a, const struct sb_record *b, uint32_t workers)
{
	CHECK_EQ(a->repetition, b->repetition);
	CHECK_EQ(a->verdict, b->verdict);
	assert_string_equal(a->reason, b->reason);
	for (uint32_t m = 0; m < SB_METRICS; m++)
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
	CHECK_EQ(a->requests->is_open, b->requests->is_open);
	CHECK_EQ(a->requests->intended, b->requests->intended);
	CHECK_EQ(a->requests->wall_ns, b->requests->wall_ns);
	assert_true(a->requests->asked_ns == b->requests->asked_ns);
	assert_true(isnan(b->requests->in_system));
	assert_true(b->requests->in_system_expected == 1e300);
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
	CHECK_EQ(a->emulated, b->emulated);
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
	if (a->residence)
		assert_memory_equal(a->residence, b->residence, workers * sizeof(*a->residence));
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
	assert_string_equal(copy, "?? ?");
	free(copy);
}

/* ---- other versions' files ---- */

static json_t *at(json_t *value, const char *where)
{
	char copy[120];
	char *rest = copy;
	char *key;

	snprintf(copy, sizeof(copy), "%s", where);
	while (value && (key = strsep(&rest, "/")))
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
	return value;
}

#define ROW "benchmarks/0/sched_bench"

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
	changed = json_dumps(json, JSON_COMPACT);
	save(changed, strlen(changed));
	CHECK_EQ(sb_result_read(&result, path, why, sizeof(why)), 0);
	assert_true(isnan(result.series[0].record[0].value[SB_METRIC_ns_per_op]));
	CHECK_EQ(result.series[0].record[0].worker[0].counter[SB_COUNTER_steps], 0);
	CHECK_EQ(result.series[0].record[0].packed[SB_HIST_step_time].count, 0);
	assert_true(isnan(result.series[0].record[0].os[1].value[0]));
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

	for (int m = 0; m < SB_METRICS; m++) {
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
	{ ROW "/requests", "[]", "requests: expected an object" },
	{ ROW "/requests/intended", "5", "completed: expected no more than" },
	{ ROW "/requests/asked_ns", "true", "asked_ns: expected a number" },
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

/* ---- damage at random ---- */

static void whatever_is_cut_off_is_truncated(void **state)
{
	struct text text = make_text();
	const size_t step = text.bytes / SB_SCALE(400) + 1;

	(void)state;
	for (size_t bytes = 1 + next_random() % step; bytes < text.bytes - 1; bytes += step)
		refused(text.at, bytes, -EINVAL, "truncated: it ends at line");
	/* Without the last line's end it is whole. */
	refused(text.at, text.bytes - 2, -EINVAL, "truncated");
	CHECK_EQ(read_whatever(text.at, text.bytes - 1, false), 0);
	free(text.at);
}

/* How many times of all what is damaged can still be read. */
static void say_how_many(uint32_t read, uint32_t all)
{
	fprintf(stderr, "# %u of %u were still results\n", read, all);
	assert_true(read > 0 && read < all);
}

static void changed_bytes_do_no_harm(void **state)
{
	struct text text = make_text();
	char *copy = malloc(text.bytes);
	const uint32_t times = SB_SCALE(600);
	uint32_t read = 0;

	(void)state;
	for (uint32_t i = 0; i < times; i++) {
		const uint32_t changes = 1 + (uint32_t)(next_random() % 3);

		memcpy(copy, text.at, text.bytes);
		for (uint32_t c = 0; c < changes; c++) {
			char *byte = &copy[next_random() % text.bytes];

			*byte = next_random() % 2 ? (char)next_random()
						  : "0123456789-.e\"{}[],:"[next_random() % 20];
		}
		read += !read_whatever(copy, text.bytes, i % 64 == 0);
	}
	say_how_many(read, times);
	free(copy);
	free(text.at);
}

/* All values of a document, in a list; they are the document's. */
struct values {
	json_t **at;
	size_t n;
};

/* NOLINTNEXTLINE(misc-no-recursion): a result is not deep. */
static void gather(json_t *value, struct values *values)
{
	const char *key;
	json_t *part;
	size_t i;

	values->at = realloc(values->at, (values->n + 1) * sizeof(json_t *));
	values->at[values->n++] = value;
	json_object_foreach(value, key, part) gather(part, values);
	json_array_foreach(value, i, part) gather(part, values);
}

static json_t *some_value(const struct values *values)
{
	static const char *const odd[] = {
		"0",   "-1",   "9223372036854775807", "1e308", "\"\"", "null", "[]", "{}", "true",
		"0.5", "4000", "[[0,0],[0,0]]",
	};

	if (next_random() % 2)
		return json_loads(odd[next_random() % SB_ARRAY_SIZE(odd)], JSON_DECODE_ANY, NULL);
	return json_deep_copy(values->at[next_random() % values->n]);
}

/* Puts some value into some place of an object or array; or takes one out. */
static void swap_one(const struct values *values)
{
	json_t *parent = values->at[next_random() % values->n];
	const size_t size =
		json_is_object(parent) ? json_object_size(parent) : json_array_size(parent);
	size_t which = size ? next_random() % size : 0;
	json_t *value = some_value(values);
	const char *key = NULL;
	json_t *old;

	if (json_is_array(parent) && size) {
		if (next_random() % 4)
			json_array_set(parent, which, value);
		else
			json_array_append(parent, value);
	} else if (size) {
		json_object_foreach(parent, key, old) if (!which--) break;
		if (next_random() % 4)
			json_object_set(parent, key, value);
	}
	json_decref(value);
}

static void swapped_values_do_no_harm(void **state)
{
	struct text text = make_text();
	const uint32_t times = SB_SCALE(200);
	uint32_t read = 0;

	(void)state;
	for (uint32_t i = 0; i < times; i++) {
		json_t *json = json_loadb(text.at, text.bytes, 0, NULL);
		struct values values = { NULL, 0 };
		char *changed;

		gather(json, &values);
		swap_one(&values);
		free(values.at);
		changed = json_dumps(json, JSON_COMPACT);
		read += !read_whatever(changed, strlen(changed), i % 64 == 0);
		free(changed);
		json_decref(json);
	}
	say_how_many(read, times);
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
		cmocka_unit_test(what_is_spoilt_is_said),
		cmocka_unit_test(long_texts_are_refused),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(the_huge_are_refused),
		cmocka_unit_test(huge_rows_are_refused),
		cmocka_unit_test(whatever_is_cut_off_is_truncated),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(swapped_values_do_no_harm),
	};

	return cmocka_run_group_tests(tests, make_work, remove_work);
}
