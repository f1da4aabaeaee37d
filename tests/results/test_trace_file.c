/*
 * trace.json of events made by hand, and what is read of it for the timeline.
 *
 * Property: what is written is JSON whatever the names are; a wake has an arrow
 *   if it is sent and received within the trace, and not otherwise; what a worker
 *   was at before its oldest event is what it must have been; a PID that is not
 *   exact as a double is text. What is read back is what was written, and a file
 *   that is not ours, or is damaged anywhere, gives an error or less, no crash.
 * Method: two series of two workers; the lines of the file; the file cut off
 *   and changed at each place.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "core/process.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"
#include "results/trace/timeline.h"
#include "results/trace/trace.h"
#include "tests/tree.h"

#define HOSTILE "a\"b\\c\n\x01</script>"

/* Each is {when, value, name, other, kind}; see core/trace.h. */
#define ACTIVITY(at, kind, wake)                                                                   \
	{                                                                                          \
		(at), (wake), NULL, 0, (kind)                                                      \
	}
#define STEP(at, pid)                                                                              \
	{                                                                                          \
		(at), (pid), HOSTILE, 0, SB_TRACE_STEP                                             \
	}
#define MOMENT(at, kind, other, value)                                                             \
	{                                                                                          \
		(at), (value), NULL, (other), (kind)                                               \
	}
#define STEP_END(at, pid, status)                                                                  \
	{                                                                                          \
		(at), (pid), HOSTILE, (status), SB_TRACE_STEP_END                                  \
	}

/* Worker 1 steals from worker 0, sleeps, and is woken by it: wake 7; wake 8 is
 * not received, and of wake 9, which ends a sleep, the sender has lost the event. */
static struct sb_trace_event first[] = {
	ACTIVITY(1000, SB_TRACE_BUSY, 0),
	STEP(1010, SB_PID_CHOSEN),
	MOMENT(5020, SB_TRACE_WAKE, 1, 7),
	STEP_END(5100, SB_PID_CHOSEN, SB_YIELD),
	MOMENT(5150, SB_TRACE_WAKE, 1, 8),
	MOMENT(5160, SB_TRACE_TICK, 0, 0),
	STEP(5200, 3),
	STEP_END(5300, 3, -EPROTO),
	ACTIVITY(9000, SB_TRACE_SEARCH, 0),
	ACTIVITY(9100, SB_TRACE_REST, 0),
};

/* Its oldest events are gone: it was busy. */
static struct sb_trace_event second[] = {
	STEP_END(1005, 4, SB_IDLE),	   ACTIVITY(1020, SB_TRACE_SEARCH, 9),
	MOMENT(1030, SB_TRACE_LOST, 0, 0), MOMENT(1040, SB_TRACE_STEAL, 0, 12),
	ACTIVITY(1050, SB_TRACE_BUSY, 0),  STEP(1060, 5),
	STEP_END(1061, 5, SB_DONE),	   ACTIVITY(1070, SB_TRACE_SEARCH, 0),
	ACTIVITY(1080, SB_TRACE_PARK, 0),  ACTIVITY(6000, SB_TRACE_SEARCH, 7),
	ACTIVITY(6100, SB_TRACE_REST, 0),
};

/* This one, alone, slept. */
static struct sb_trace_event third[] = {
	MOMENT(500, SB_TRACE_INJECT, 0, 2),
	ACTIVITY(600, SB_TRACE_SEARCH, 0),
	ACTIVITY(700, SB_TRACE_REST, 0),
};

static struct sb_traced *make_traced(struct sb_trace_event *a, uint32_t as,
				     struct sb_trace_event *b, uint32_t bs)
{
	struct sb_trace_event *events[] = { a, b };
	const uint32_t count[] = { as, bs };
	struct sb_traced *traced = calloc(1, sizeof(*traced));

	traced->workers = b ? 2 : 1;
	traced->worker = calloc(traced->workers, sizeof(*traced->worker));
	for (uint32_t w = 0; w < traced->workers; w++) {
		struct sb_traced_worker *worker = &traced->worker[w];
		const size_t bytes = count[w] * sizeof(*worker->event);

		worker->events = count[w];
		worker->event = malloc(bytes);
		memcpy(worker->event, events[w], bytes);
		worker->reading.steals = calloc(2, sizeof(struct sb_steal_counts));
	}
	return traced;
}

static void make_series(struct sb_series *series, uint32_t workers)
{
	struct sb_place place[] = { { .os_cpu = 3 }, { .os_cpu = -1 } };
	const struct sb_placement placement = { .workers = workers, .place = place };

	*series = (struct sb_series){ .workload = strdup(HOSTILE),
				      .operation = strdup("x"),
				      .label = strdup(HOSTILE) };
	CHECK_EQ(sb_placement_copy(&series->placement, &placement), 0);
}

static void make_result(struct sb_result *result)
{
	*result = (struct sb_result){ .all_series = 3 };
	result->series = calloc(3, sizeof(*result->series));
	make_series(&result->series[0], 2);
	make_series(&result->series[1], 2); /* not traced */
	make_series(&result->series[2], 1);
	CHECK_EQ(sb_result_add_fact(result, "run", "command_line", HOSTILE), 0);
	result->series[0].traced =
		make_traced(first, SB_ARRAY_SIZE(first), second, SB_ARRAY_SIZE(second));
	result->series[2].traced = make_traced(third, SB_ARRAY_SIZE(third), NULL, 0);
}

/* The caller frees it. */
static char *write_trace(void)
{
	struct sb_result result;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	make_result(&result);
	CHECK_EQ(sb_write_trace(&result, out), 0);
	fclose(out);
	sb_result_free(&result);
	return text;
}

static bool is(const json_t *event, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(event, key));

	return value && !strcmp(value, text);
}

/* How many events have these; the last of them in *found, if not NULL. */
static uint32_t count(const json_t *document, const char *phase, const char *name,
		      const json_t **found)
{
	const json_t *events = json_object_get(document, "traceEvents");
	uint32_t n = 0;

	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);

		if (!is(event, "ph", phase) || !is(event, "name", name))
			continue;
		n++;
		if (found)
			*found = event;
	}
	return n;
}

static double number(const json_t *event, const char *key)
{
	return json_number_value(json_object_get(event, key));
}

static void what_is_written_is_json(void **state)
{
	char *text = write_trace();
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const json_t *event = NULL;
	char *told;

	(void)state;
	assert_non_null(document);
	/* A fact tells a terminal nothing. */
	told = sb_text_copy(HOSTILE);
	assert_true(is(json_object_get(document, "otherData"), "command_line", told));
	free(told);
	/* Steps whose begin and end are there: three. */
	CHECK_EQ(count(document, "X", HOSTILE, &event), 3);
	CHECK_EQ(count(document, "i", "tick", NULL), 1);
	CHECK_EQ(count(document, "i", "steal lost", NULL), 1);
	CHECK_EQ(count(document, "i", "take inject", &event), 1);
	CHECK_EQ(number(event, "pid"), 3);
	/* Times count from the first event of all. */
	CHECK_EQ(number(event, "ts"), 0);
	json_decref(document);
	free(text);
}

static void a_step_has_its_process_and_outcome(void **state)
{
	char *text = write_trace();

	(void)state;
	assert_non_null(strstr(text, "\"dur\":4.090,\"cat\":\"step\",\"args\":{\"pid\":"
				     "\"9223372036854775808\",\"wants\":\"yield\"}"));
	assert_non_null(strstr(text, "\"dur\":0.100,\"cat\":\"step\",\"args\":{\"pid\":3,\"wants\":"
				     "\"error\",\"error\":"));
	assert_non_null(strstr(
		text, "\"dur\":0.001,\"cat\":\"step\",\"args\":{\"pid\":5,\"wants\":\"done\"}"));
	free(text);
}

static void arrows_have_two_ends(void **state)
{
	char *text = write_trace();
	json_t *document = json_loads(text, 0, NULL);
	const json_t *from = NULL;
	const json_t *to = NULL;

	(void)state;
	CHECK_EQ(count(document, "i", "wake", NULL), 2);
	CHECK_EQ(count(document, "s", "wake", &from), 1);
	CHECK_EQ(count(document, "f", "wake", &to), 1);
	CHECK_EQ(number(from, "id"), number(to, "id"));
	CHECK_EQ(number(from, "tid"), 10001);
	CHECK_EQ(number(to, "tid"), 10002);
	assert_true(number(from, "ts") == 4.520);
	assert_true(number(to, "ts") == 5.500);
	CHECK_EQ(count(document, "s", "steal", &from), 1);
	CHECK_EQ(count(document, "f", "steal", &to), 1);
	CHECK_EQ(number(from, "tid"), 10001);
	CHECK_EQ(number(to, "tid"), 10002);
	assert_true(number(from, "ts") == 0.540);
	json_decref(document);
	free(text);
}

/* ---- read back ---- */

static char root[] = "/tmp/sched-bench-trace-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	tree_make(root);
	return 0;
}

static int remove_root(void **state)
{
	(void)state;
	tree_remove(root);
	return 0;
}

static int put_and_read(const char *text, size_t bytes, struct sb_timeline *timeline,
			uint32_t series)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/trace.json", root);
	unlink(path); /* emptied and written anew, it would go to the disk */
	tree_put_bytes(root, "/trace.json", text, bytes);
	return sb_timeline_read(timeline, path, series);
}

static uint64_t time_in(const struct sb_timeline *timeline, uint32_t worker,
			enum sb_timeline_kind kind, uint32_t *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < timeline->slices; i++) {
		const struct sb_timeline_slice *slice = &timeline->slice[i];

		if (slice->worker != worker || slice->kind != kind)
			continue;
		sum += slice->end_ns - slice->begin_ns;
		++*n;
	}
	return sum;
}

static void check_times(const struct sb_timeline *timeline, uint32_t worker,
			enum sb_timeline_kind kind, uint32_t slices, uint64_t ns)
{
	uint32_t n;

	CHECK_EQ(time_in(timeline, worker, kind, &n), ns);
	CHECK_EQ(n, slices);
}

static void what_is_read_was_written(void **state)
{
	char *text = write_trace();
	struct sb_timeline t;
	int rc;

	(void)state;
	rc = put_and_read(text, strlen(text), &t, 0);
	CHECK_EQ(rc, 0);
	CHECK_EQ(t.workers, 2);
	check_times(&t, 0, SB_TIMELINE_BUSY, 1, 8000);
	check_times(&t, 0, SB_TIMELINE_SEARCH, 1, 100);
	check_times(&t, 0, SB_TIMELINE_STEP, 2, 4190);
	/* From its oldest event to the search: busy, for a step had ended. */
	check_times(&t, 1, SB_TIMELINE_BUSY, 2, 15 + 20);
	check_times(&t, 1, SB_TIMELINE_SEARCH, 3, 30 + 10 + 100);
	check_times(&t, 1, SB_TIMELINE_PARKED, 1, 4920);
	check_times(&t, 1, SB_TIMELINE_STEAL, 1, 0);
	check_times(&t, 1, SB_TIMELINE_WAKE, 2, 0);
	sb_timeline_free(&t);
	rc = put_and_read(text, strlen(text), &t, 1);
	CHECK_EQ(rc, -ENODATA);
	rc = put_and_read(text, strlen(text), &t, 2);
	CHECK_EQ(rc, 0);
	CHECK_EQ(t.workers, 1);
	/* Nothing but a search ends a sleep. */
	check_times(&t, 0, SB_TIMELINE_PARKED, 1, 100);
	sb_timeline_free(&t);
	CHECK_EQ(sb_timeline_read(&t, "/nowhere/trace.json", 0), -ENOENT);
	free(text);
}

/* Sums of times must not wrap around. */
static void times_have_a_limit(void **state)
{
	static const char text[] =
		"{\"ph\":\"M\",\"pid\":1,\"tid\":7,\"name\":\"thread_name\"}\n"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1e300,\"dur\":1e300}\n";
	struct sb_timeline t;

	(void)state;
	CHECK_EQ(put_and_read(text, strlen(text), &t, 0), 0);
	CHECK_EQ(t.slices, 1);
	CHECK_EQ(t.slice->begin_ns, UINT64_C(1000000000000000));
	CHECK_EQ(t.slice->end_ns, 2 * t.slice->begin_ns);
	sb_timeline_free(&t);
}

static void damaged_files_do_no_harm(void **state)
{
	char *text = write_trace();
	const size_t bytes = strlen(text);
	uint32_t errors = 0;

	(void)state;
	for (size_t i = 0; i < bytes; i += 7) {
		const char was = text[i];
		struct sb_timeline t;
		int rc;

		rc = put_and_read(text, i, &t, 0); /* cut off */
		assert_true(rc <= 0);
		if (!rc)
			sb_timeline_free(&t);
		text[i] = was == '9' ? '-' : '9';
		rc = put_and_read(text, bytes, &t, 0);
		assert_true(rc <= 0);
		errors += rc != 0;
		if (!rc)
			sb_timeline_free(&t);
		text[i] = was;
	}
	assert_true(errors > 10);
	free(text);
}

static void nothing_traced_is_said(void **state)
{
	struct sb_result result = { .all_series = 1 };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	result.series = calloc(1, sizeof(*result.series));
	make_series(&result.series[0], 1);
	CHECK_EQ(sb_write_trace(&result, out), -ENODATA);
	fclose(out);
	free(text);
	sb_result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_json),
		cmocka_unit_test(a_step_has_its_process_and_outcome),
		cmocka_unit_test(arrows_have_two_ends),
		cmocka_unit_test(what_is_read_was_written),
		cmocka_unit_test(times_have_a_limit),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(nothing_traced_is_said),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
