/*
 * trace.c - trace.json: what the workers did, in the Trace Event Format (the
 * JSON that Chrome's tracing began with), for ui.perfetto.dev and speedscope.
 *
 * A series is a process, a worker a thread of it. On a worker's line lie slices
 * without gaps: busy, search, parked; on those of busy the steps. All else are
 * moments. An arrow goes from a wake to the search that it began, and from a
 * victim to its thief.
 *
 * What the readers of the format demand, beyond its text:
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

#include "core/process.h"
#include "results/record/record.h"

/* Where an event is. */
struct spot {
	uint64_t at_ns;
	uint32_t worker;
	uint32_t i;
};

/* A wake, and when it was received. */
struct wake {
	uint64_t id;
	uint64_t sent_ns;
	uint64_t received_ns; /* 0: that is not in the trace */
	uint64_t arrow;
};

/* What is being written. */
struct writer {
	FILE *out;
	const char *comma; /* before the next event */
	uint64_t start_ns; /* of the trace */
	uint64_t arrows;   /* so far, in all series */

	/* Of the series. */
	uint32_t process;
	const struct sb_traced *traced;
	uint32_t spots;
	struct spot *spot;
	uint32_t wakes;
	struct wake *wake;	      /* by id */
	enum sb_trace_kind *activity; /* of each worker, now */
};

/* ---- pieces of JSON ---- */

static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* Those above are not exact as a double. */
#define EXACT_MAX (UINT64_C(1) << 53)

static void put_pid(FILE *out, sb_pid pid)
{
	fprintf(out, pid < EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", pid);
}

/* Microseconds, to the nanosecond. */
static void put_us(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000,
		(unsigned int)(ns % 1000));
}

/* Room for SB_WORKERS_MAX of them, and readable. */
#define TID(process, worker) ((process)*10000 + (worker) + 1)

static void begin_event(struct writer *w, const char *phase, const char *name,
			uint32_t worker, uint64_t at_ns)
{
	fprintf(w->out,
		"%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32,
		w->comma, phase, w->process, TID(w->process, worker));
	put_us(w->out, "ts", at_ns - w->start_ns);
	fputs(",\"name\":", w->out);
	put_text(w->out, name);
	w->comma = ",";
}

/* ---- slices ---- */

static const struct sb_trace_event *event_at(const struct writer *w,
					     const struct spot *spot)
{
	return &w->traced->worker[spot->worker].event[spot->i];
}

static const char *const activity_name[] = {
	[SB_TRACE_BUSY] = "busy",
	[SB_TRACE_SEARCH] = "search",
	[SB_TRACE_PARK] = "parked",
};

/* The step's end; NULL: it is not in the trace. */
static const struct sb_trace_event *
find_step_end(const struct sb_traced_worker *worker, uint32_t i)
{
	for (; i < worker->events; i++) {
		if (worker->event[i].kind == SB_TRACE_STEP_END)
			return &worker->event[i];
	}
	return NULL;
}

/* What the worker is at ends, and something else begins. REST is shown as
 * nothing. */
static void change_activity(struct writer *w, uint32_t worker, uint64_t at_ns,
			    enum sb_trace_kind to)
{
	enum sb_trace_kind *now = &w->activity[worker];

	if (*now != SB_TRACE_REST) {
		begin_event(w, "E", activity_name[*now], worker, at_ns);
		fputs(",\"cat\":\"activity\"}", w->out);
	}
	if (to != SB_TRACE_REST) {
		begin_event(w, "B", activity_name[to], worker, at_ns);
		fputs(",\"cat\":\"activity\"}", w->out);
	}
	*now = to;
}

static void put_outcome(FILE *out, int32_t status)
{
	static const char *const name[] = {
		[SB_CONTINUE] = "ready",
		[SB_YIELD] = "yield",
		[SB_IDLE] = "idle",
		[SB_DONE] = "done",
	};

	if (status >= 0 && status <= SB_DONE)
		fprintf(out, "\"%s\"", name[status]);
	else
		fprintf(out, "\"error\",\"error\":%" PRId32, status);
}

static void put_step(struct writer *w, const struct spot *spot)
{
	const struct sb_trace_event *step = event_at(w, spot);
	const struct sb_trace_event *end =
		find_step_end(&w->traced->worker[spot->worker], spot->i + 1);

	if (!end)
		return;
	begin_event(w, "X", step->name, spot->worker, step->at_ns);
	put_us(w->out, "dur", end->at_ns - step->at_ns);
	fputs(",\"cat\":\"step\",\"args\":{\"pid\":", w->out);
	put_pid(w->out, step->value);
	fputs(",\"wants\":", w->out);
	put_outcome(w->out, end->other);
	fputs("}}", w->out);
}

/* ---- arrows ---- */

static void put_arrow(struct writer *w, const char *name, bool is_end,
		      uint32_t worker, uint64_t at_ns, uint64_t arrow)
{
	begin_event(w, is_end ? "f" : "s", name, worker, at_ns);
	fprintf(w->out, ",\"cat\":\"%s\",\"id\":%" PRIu64 "%s}", name, arrow,
		is_end ? ",\"bp\":\"e\"" : "");
}

static int compare_wakes(const void *a, const void *b)
{
	const uint64_t x = ((const struct wake *)a)->id;
	const uint64_t y = ((const struct wake *)b)->id;

	return (x > y) - (x < y);
}

/* NULL: it was nobody's, or has been dropped. */
static struct wake *find_wake(const struct writer *w, uint64_t id)
{
	const struct wake key = { .id = id };

	return w->wakes ? bsearch(&key, w->wake, w->wakes, sizeof(key),
				  compare_wakes)
			: NULL;
}

/* One that is sent and received within the trace, in that order. */
static struct wake *find_arrow(const struct writer *w, uint64_t id)
{
	struct wake *wake = find_wake(w, id);

	return wake && wake->received_ns >= wake->sent_ns ? wake : NULL;
}

static int match_wakes(struct writer *w)
{
	w->wakes = 0;
	for (uint32_t i = 0; i < w->spots; i++)
		w->wakes += event_at(w, &w->spot[i])->kind == SB_TRACE_WAKE;
	w->wake = calloc((size_t)w->wakes + 1, sizeof(*w->wake));
	if (!w->wake)
		return -ENOMEM;
	w->wakes = 0;
	for (uint32_t i = 0; i < w->spots; i++) {
		const struct sb_trace_event *event = event_at(w, &w->spot[i]);

		if (event->kind == SB_TRACE_WAKE)
			w->wake[w->wakes++] =
				(struct wake){ .id = event->value,
					       .sent_ns = event->at_ns,
					       .arrow = ++w->arrows };
	}
	qsort(w->wake, w->wakes, sizeof(*w->wake), compare_wakes);
	for (uint32_t i = 0; i < w->spots; i++) {
		const struct sb_trace_event *event = event_at(w, &w->spot[i]);
		struct wake *wake = event->kind == SB_TRACE_SEARCH
					    ? find_wake(w, event->value)
					    : NULL;

		if (wake)
			wake->received_ns = event->at_ns;
	}
	return 0;
}

/* ---- moments ---- */

static void begin_moment(struct writer *w, const char *name, uint32_t worker,
			 uint64_t at_ns)
{
	begin_event(w, "i", name, worker, at_ns);
	fputs(",\"s\":\"t\"", w->out);
}

static void put_wake(struct writer *w, const struct spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const struct wake *arrow = find_arrow(w, event->value);

	begin_moment(w, "wake", spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"worker\":%" PRId32 "}}", event->other);
	if (arrow)
		put_arrow(w, "wake", false, spot->worker, event->at_ns,
			  arrow->arrow);
}

/* What the victim has at that time went to make room, or it had left. */
static bool is_within(const struct sb_traced_worker *worker, uint64_t at_ns)
{
	return worker->events && worker->event[0].at_ns < at_ns &&
	       at_ns < worker->event[worker->events - 1].at_ns;
}

static void put_steal(struct writer *w, const struct spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const uint32_t victim = (uint32_t)event->other;
	const bool known = is_within(&w->traced->worker[victim], event->at_ns);

	if (known) {
		begin_moment(w, "stolen", victim, event->at_ns);
		fprintf(w->out, ",\"args\":{\"thief\":%" PRIu32 "}}",
			spot->worker);
		put_arrow(w, "steal", false, victim, event->at_ns, ++w->arrows);
	}
	begin_moment(w, "steal", spot->worker, event->at_ns);
	fprintf(w->out,
		",\"args\":{\"victim\":%" PRIu32 ",\"items\":%" PRIu64
		",\"queue\":\"%s\"}}",
		victim, event->value,
		event->kind == SB_TRACE_STEAL ? "deque" : "inject");
	if (known)
		put_arrow(w, "steal", true, spot->worker, event->at_ns,
			  w->arrows);
}

static void put_items(struct writer *w, const struct spot *spot,
		      const char *name)
{
	const struct sb_trace_event *event = event_at(w, spot);

	begin_moment(w, name, spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"items\":%" PRIu64 "}}", event->value);
}

static void put_activity(struct writer *w, const struct spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const struct wake *arrow = event->kind == SB_TRACE_SEARCH
					   ? find_arrow(w, event->value)
					   : NULL;

	change_activity(w, spot->worker, event->at_ns, event->kind);
	if (arrow)
		put_arrow(w, "wake", true, spot->worker, event->at_ns,
			  arrow->arrow);
}

static void put_event(struct writer *w, const struct spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);

	switch ((enum sb_trace_kind)event->kind) {
	case SB_TRACE_BUSY:
	case SB_TRACE_SEARCH:
	case SB_TRACE_PARK:
	case SB_TRACE_REST:
		put_activity(w, spot);
		break;
	case SB_TRACE_STEP:
		put_step(w, spot);
		break;
	case SB_TRACE_STEAL:
	case SB_TRACE_REMOTE:
		put_steal(w, spot);
		break;
	case SB_TRACE_LOST:
		begin_moment(w, "steal lost", spot->worker, event->at_ns);
		fprintf(w->out, ",\"args\":{\"victim\":%" PRId32 "}}",
			event->other);
		break;
	case SB_TRACE_INJECT:
		put_items(w, spot, "take inject");
		break;
	case SB_TRACE_GLOBAL:
		put_items(w, spot, "take global");
		break;
	case SB_TRACE_WAKE:
		put_wake(w, spot);
		break;
	case SB_TRACE_TICK:
		begin_moment(w, "tick", spot->worker, event->at_ns);
		fputc('}', w->out);
		break;
	case SB_TRACE_STEP_END:
	case SB_TRACE_KINDS:
		break;
	}
}

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

static void begin_worker(struct writer *w, uint32_t i)
{
	const struct sb_traced_worker *worker = &w->traced->worker[i];

	if (worker->event->kind > SB_TRACE_REST)
		change_activity(w, i, worker->event->at_ns,
				first_activity(worker));
}

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = a;
	const struct spot *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

static int sort_events(struct writer *w)
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
			w->spot[n++] =
				(struct spot){ worker->event[e].at_ns, i, e };
	}
	qsort(w->spot, n, sizeof(*w->spot), compare_spots);
	return 0;
}

static int rest_all(struct writer *w)
{
	w->activity = calloc(w->traced->workers, sizeof(*w->activity));
	if (!w->activity)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->traced->workers; i++)
		w->activity[i] = SB_TRACE_REST;
	return 0;
}

static void put_events(struct writer *w)
{
	for (uint32_t i = 0; i < w->spots; i++) {
		if (w->spot[i].i == 0)
			begin_worker(w, w->spot[i].worker);
		put_event(w, &w->spot[i]);
	}
}

/* What a viewer shows for a process or a thread. */
static void put_name(struct writer *w, const char *kind, uint32_t worker,
		     const char *name)
{
	begin_event(w, "M", kind, worker, w->start_ns);
	fputs(",\"args\":{\"name\":", w->out);
	put_text(w->out, name);
	fputs("}}", w->out);
}

static void put_names(struct writer *w, const struct sb_series *series)
{
	char *name;

	if (asprintf(&name, "%s%s%s%s", series->workload,
		     *series->label ? " " : "", series->label,
		     series->emulated ? " (emulated)" : "") >= 0) {
		put_name(w, "process_name", 0, name);
		free(name);
	}
	for (uint32_t i = 0; i < w->traced->workers; i++) {
		const int cpu = series->placement.place[i].os_cpu;
		char text[64];

		if (cpu < 0)
			snprintf(text, sizeof(text), "worker %" PRIu32, i);
		else
			snprintf(text, sizeof(text),
				 "worker %" PRIu32 " (CPU %d)", i, cpu);
		put_name(w, "thread_name", i, text);
		begin_event(w, "M", "thread_sort_index", i, w->start_ns);
		fprintf(w->out, ",\"args\":{\"sort_index\":%" PRIu32 "}}", i);
	}
}

static int put_series(struct writer *w, const struct sb_series *series,
		      uint32_t process)
{
	int rc;

	w->process = process;
	w->traced = series->traced;
	w->wake = NULL;
	w->activity = NULL;
	rc = sort_events(w);
	if (!rc)
		rc = match_wakes(w);
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

static void put_worker_summary(FILE *out, const struct sb_series *series,
			       uint32_t process, uint32_t i)
{
	const struct sb_traced_worker *worker = &series->traced->worker[i];

	fprintf(out,
		"%s\n{\"tid\":%" PRIu32 ",\"worker\":%" PRIu32
		",\"events\":%" PRIu32 ",\"dropped_events\":%" PRIu64
		",\"steps\":%" PRIu64 ",\"stolen_items\":[",
		i ? "," : "", TID(process, i), i, worker->events,
		worker->dropped, worker->reading.counter[SB_COUNTER_steps]);
	for (uint32_t v = 0; v < series->traced->workers; v++)
		fprintf(out, "%s%" PRIu64, v ? "," : "",
			worker->reading.steals[v].items);
	fputs("]}", out);
}

static void put_summary(FILE *out, const struct sb_series *series,
			uint32_t process)
{
	const struct sb_traced *traced = series->traced;

	fprintf(out, "{\"pid\":%" PRIu32 ",\"workload\":", process);
	put_text(out, series->workload);
	fputs(",\"label\":", out);
	put_text(out, series->label);
	fputs(",\"operation\":", out);
	put_text(out, series->operation);
	fprintf(out, ",\"emulated\":%s,\"operations\":%" PRIu64,
		series->emulated ? "true" : "false", traced->operations);
	/* What tracing itself costs. */
	if (traced->operations)
		put_number(out, "ns_per_op_traced",
			   (double)traced->wall_ns /
				   (double)traced->operations);
	put_number(out, "ns_per_op_measured",
		   sb_series_spread(series, SB_METRIC_ns_per_op).median);
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
		const char *value =
			sb_result_fact(result, facts[i].group, facts[i].key);

		if (!*value)
			continue;
		fprintf(out, "%s\n\"%s\":", comma, facts[i].name);
		put_text(out, value);
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
				start = sb_min_u64(
					start,
					traced->worker[i].event[0].at_ns);
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
	struct writer w = { .out = out,
			    .comma = "",
			    .start_ns = find_start(result) };
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
