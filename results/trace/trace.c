/*
 * trace.c - trace.json: what the workers did, in the Trace Event Format (the
 * JSON that Chrome's tracing began with), for ui.perfetto.dev and speedscope.
 *
 * A series is a process, a worker a thread of it. On a worker's line lie slices
 * without gaps: busy, search, parked; on those of busy the steps. All else are
 * moments. An arrow goes from a wake to the search that it began, and from a
 * victim to its thief.
 *
 * The demands of the format's readers, beyond its text:
 *   - they add ts and dur as doubles, or cut both off, so a slice that ends where
 *     the next one begins may end behind that: what touches is written as a
 *     begin and an end, "B" and "E", whose times are the same text; steps, which
 *     never touch (core/trace.h), as "X";
 *   - Perfetto binds an arrow's end to the last slice that began on that line, so
 *     each arrow begins at a moment, which is one of no length;
 *   - it takes a thread's name by its tid alone, so no two series share one;
 *   - pid and tid 0 are the idle process; speedscope wants a ts on every event;
 *   - numbers are doubles: times count from the beginning of the trace, and a
 *     PID beyond 2^53 is text.
 *
 * The file is written line by line, one event in each, in the order of time: of
 * all that there is, only the order is made in memory.
 */
#include "results/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/record.h"
#include "results/record/series.h"
#include "results/trace/trace_writer.h"

/* ---- a series ---- */

/*
 * What the worker was at where its events begin, if the event that said so went
 * to make room. There are steps in busy alone, and only a search ends a sleep.
 */
static enum sb_trace_kind first_activity(const struct sb_traced_worker *worker)
{
	for (uint32_t i = 0; i < worker->events; i++) {
		switch (worker->event[i].kind) {
		case SB_TRACE_STEP:
		case SB_TRACE_STEP_END:
			return SB_TRACE_BUSY;
		case SB_TRACE_SEARCH:
			return SB_TRACE_PARK;
		case SB_TRACE_BUSY:
		case SB_TRACE_PARK:
		case SB_TRACE_REST:
			return SB_TRACE_SEARCH;
		default:
			break;
		}
	}
	return SB_TRACE_REST;
}

static void begin_worker(struct sb_trace_writer *w, uint32_t i)
{
	const struct sb_traced_worker *worker = &w->traced->worker[i];

	if (worker->event->kind > SB_TRACE_REST)
		sb_trace_change_activity(w, i, worker->event->at_ns, first_activity(worker));
}

static int compare_spots(const void *a, const void *b)
{
	const struct sb_trace_spot *x = a;
	const struct sb_trace_spot *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

static int sort_events(struct sb_trace_writer *w)
{
	uint32_t n = 0;

	w->spots = 0;
	for (uint32_t i = 0; i < w->traced->workers; i++)
		w->spots += w->traced->worker[i].events;
	w->spot = calloc((size_t)w->spots + 1, sizeof(*w->spot));
	if (!w->spot)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->traced->workers; i++) {
		const struct sb_traced_worker *worker = &w->traced->worker[i];

		for (uint32_t e = 0; e < worker->events; e++)
			w->spot[n++] = (struct sb_trace_spot){ worker->event[e].at_ns, i, e };
	}
	qsort(w->spot, n, sizeof(*w->spot), compare_spots);
	return 0;
}

static int rest_all(struct sb_trace_writer *w)
{
	w->activity = calloc(w->traced->workers, sizeof(*w->activity));
	if (!w->activity)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->traced->workers; i++)
		w->activity[i] = SB_TRACE_REST;
	return 0;
}

/* Of workers whose traces end before they left: all at once, later than any event. */
static void rest(struct sb_trace_writer *w)
{
	const uint64_t end = w->spots ? w->spot[w->spots - 1].at_ns + 1 : 0;

	for (uint32_t i = 0; i < w->traced->workers; i++)
		sb_trace_change_activity(w, i, end, SB_TRACE_REST);
}

static void put_events(struct sb_trace_writer *w)
{
	for (uint32_t i = 0; i < w->spots; i++) {
		if (w->spot[i].i == 0)
			begin_worker(w, w->spot[i].worker);
		sb_trace_put_event(w, &w->spot[i]);
	}
	rest(w);
}

/* The name that a viewer shows for a process or a thread. */
static void put_name(struct sb_trace_writer *w, const char *kind, uint32_t worker, const char *name)
{
	sb_trace_begin_event(w, "M", kind, worker, w->start_ns);
	fputs(",\"args\":{\"name\":", w->out);
	sb_trace_put_text(w->out, name);
	fputs("}}", w->out);
}

static void put_names(struct sb_trace_writer *w, const struct sb_series *series)
{
	char *name;

	if (asprintf(&name, "%s%s%s%s", series->workload, *series->label ? " " : "", series->label,
		     sb_series_topology_mark(series)) >= 0) {
		put_name(w, "process_name", 0, name);
		free(name);
	}
	for (uint32_t i = 0; i < w->traced->workers; i++) {
		const int cpu = series->placement.place[i].os_cpu;
		char text[64];

		if (cpu < 0)
			snprintf(text, sizeof(text), "worker %" PRIu32, i);
		else
			snprintf(text, sizeof(text), "worker %" PRIu32 " (CPU %d)", i, cpu);
		put_name(w, "thread_name", i, text);
		sb_trace_begin_event(w, "M", "thread_sort_index", i, w->start_ns);
		fprintf(w->out, ",\"args\":{\"sort_index\":%" PRIu32 "}}", i);
	}
}

static int put_series(struct sb_trace_writer *w, const struct sb_series *series, uint32_t process)
{
	int rc;

	w->process = process;
	w->traced = series->traced;
	w->wake = NULL;
	w->activity = NULL;
	rc = sort_events(w);
	if (!rc)
		rc = sb_trace_match_wakes(w);
	if (!rc)
		rc = rest_all(w);
	if (!rc) {
		put_names(w, series);
		put_events(w);
	}
	free(w->spot);
	free(w->wake);
	free(w->activity);
	return rc;
}

/* ---- what is known about all of it ---- */

static void put_number(FILE *out, const char *key, double value)
{
	if (isfinite(value))
		fprintf(out, ",\"%s\":%.17g", key, value);
}

static void put_worker_summary(FILE *out, const struct sb_series *series, uint32_t process,
			       uint32_t i)
{
	const struct sb_traced_worker *worker = &series->traced->worker[i];

	fprintf(out,
		"%s\n{\"tid\":%" PRIu32 ",\"worker\":%" PRIu32 ",\"events\":%" PRIu32
		",\"dropped_events\":%" PRIu64 ",\"steps\":%" PRIu64 ",\"stolen_items\":[",
		i ? "," : "", SB_TRACE_TID(process, i), i, worker->events, worker->dropped,
		worker->reading.counter[SB_COUNTER_steps]);
	for (uint32_t v = 0; v < series->traced->workers; v++)
		fprintf(out, "%s%" PRIu64, v ? "," : "", worker->reading.steals[v].items);
	fputs("]}", out);
}

static void put_summary(FILE *out, const struct sb_series *series, uint32_t process)
{
	const struct sb_traced *traced = series->traced;

	fprintf(out, "{\"pid\":%" PRIu32 ",\"workload\":", process);
	sb_trace_put_text(out, series->workload);
	fputs(",\"label\":", out);
	sb_trace_put_text(out, series->label);
	fputs(",\"operation\":", out);
	sb_trace_put_text(out, series->operation);
	fprintf(out, ",\"emulated\":%s,\"operations\":%" PRIu64,
		series->reality == SB_EMULATED ? "true" : "false", traced->operations);
	/* The cost of tracing itself. */
	if (traced->operations)
		put_number(out, "ns_per_op_traced",
			   (double)traced->wall_ns / (double)traced->operations);
	put_number(out, "ns_per_op_measured", sb_series_spread(series, SB_METRIC_ns_per_op).median);
	fputs(",\"workers\":[", out);
	for (uint32_t i = 0; i < traced->workers; i++)
		put_worker_summary(out, series, process, i);
	fputs("]}", out);
}

static void put_facts(FILE *out, const struct sb_result *result)
{
	static const struct {
		const char *name, *group, *key;
	} facts[] = {
		{ "machine", "machine", "cpu_model" },
		{ "host_name", "machine", "host_name" },
		{ "version", "run", "version" },
		{ "git_revision", "run", "git_revision" },
		{ "date", "run", "date" },
		{ "command_line", "run", "command_line" },
		{ "topology", "run", "topology" },
	};

	const char *comma = "";

	for (size_t i = 0; i < SB_ARRAY_SIZE(facts); i++) {
		const char *value = sb_result_fact(result, facts[i].group, facts[i].key);

		if (!*value)
			continue;
		fprintf(out, "%s\n\"%s\":", comma, facts[i].name);
		sb_trace_put_text(out, value);
		comma = ",";
	}
}

/* The earliest event of all; UINT64_MAX: there is none. */
static uint64_t find_start(const struct sb_result *result)
{
	uint64_t start = UINT64_MAX;

	for (uint32_t s = 0; s < result->all_series; s++) {
		const struct sb_traced *traced = result->series[s].traced;

		for (uint32_t i = 0; traced && i < traced->workers; i++) {
			if (traced->worker[i].events)
				start = sb_min_u64(start, traced->worker[i].event[0].at_ns);
		}
	}
	return start;
}

static void put_head(FILE *out, const struct sb_result *result)
{
	const char *comma = "";

	fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{", out);
	put_facts(out, result);
	fputs("},\n\"sched_bench\":{\"series\":[\n", out);
	for (uint32_t s = 0; s < result->all_series; s++) {
		if (!result->series[s].traced)
			continue;
		fputs(comma, out);
		put_summary(out, &result->series[s], s + 1);
		comma = ",\n";
	}
	fputs("]},\n\"traceEvents\":[", out);
}

int sb_write_trace(const struct sb_result *result, FILE *out)
{
	struct sb_trace_writer w = { .out = out, .comma = "", .start_ns = find_start(result) };
	int rc = w.start_ns == UINT64_MAX ? -ENODATA : 0;

	if (!rc)
		put_head(out, result);
	for (uint32_t s = 0; s < result->all_series && !rc; s++) {
		if (result->series[s].traced)
			rc = put_series(&w, &result->series[s], s + 1);
	}
	fputs("\n]}\n", out);
	return rc;
}
