#include "harness/run/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/platform/platform.h"
#include "harness/kernel/stops.h"
#include "harness/kernel/switches.h"
#include "harness/output/actors.h"
#include "harness/run/config.h"
#include "harness/run/load.h"
#include "harness/terminal/status.h"
#include "results/record/series.h"
#include "workloads/load/quantity.h"

bool sb_trace_bound_parse(const char *text, struct sb_trace_bound *bound)
{
	const size_t length = strcspn(text, ">");
	double ns;

	if (!text[length] || !sb_quantity_time(text + length + 1, &ns))
		return false;
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++) {
		const char *name = sb_exemplar_kind_name((enum sb_exemplar_kind)kind);

		*bound = (struct sb_trace_bound){ (enum sb_exemplar_kind)kind, (uint64_t)ns };
		if (strlen(name) == length && !strncmp(name, text, length))
			return true;
	}
	return false;
}

static const char expected[] = "expected a latency above a time with its unit (sojourn>5ms), of"
#define X(name) " " #name
#include "core/exemplars.def"
#undef X
	;

int sb_tracing_check(const struct sb_options *options)
{
	const struct sb_config config = sb_config_of(options);
	struct sb_trace_bound bound;
	const char *text = options->value[SB_OPT_trace_on].text;

	if (sb_opt_records(options) && options->chosens > 1)
		return sb_option_refuse(options, SB_OPT_record_actors, "expected one workload");
	if (!*text)
		return 0;
	if (!sb_trace_bound_parse(text, &bound))
		return sb_option_refuse(options, SB_OPT_trace_on, expected);
	if (bound.kind == SB_EXEMPLAR_sojourn && !sb_load_is_taken(options))
		return sb_option_refuse(options, SB_OPT_trace_on,
					"none of the chosen workloads takes requests");
	if (config.sample_every && config.exemplars)
		return 0;
	return sb_option_refuse(
		options, SB_OPT_trace_on,
		"expected none with --record off, --record counters or --exemplars 0");
}

static int copy_events(struct sb_traced_worker *to, const struct sb_trace *trace)
{
	to->events = sb_trace_kept(trace);
	to->dropped = sb_trace_dropped(trace);
	to->event = calloc((size_t)to->events + 1, sizeof(*to->event));
	for (uint32_t i = 0; to->event && i < to->events; i++)
		to->event[i] = *sb_trace_at(trace, i);
	return to->event ? 0 : -1;
}

static int collect_worker(struct sb_scheduler *s, uint32_t worker, struct sb_traced_worker *to,
			  const struct sb_worker_reading *before)
{
	const uint32_t workers = sb_scheduler_workers(s);

	to->reading.steals = calloc(workers, sizeof(*to->reading.steals));
	if (!to->reading.steals || copy_events(to, sb_scheduler_read_trace(s, worker)))
		return -1;
	sb_scheduler_read(s, worker, &to->reading);
	sb_reading_subtract(&to->reading, before, workers);
	return 0;
}

/*
 * The traces of a stopped scheduler's workers since its last start.
 * before: their readings [workers] from before that. NULL: no memory.
 */
static struct sb_traced *collect_traces(struct sb_scheduler *s,
					const struct sb_worker_reading *before)
{
	const uint32_t workers = sb_scheduler_workers(s);
	struct sb_traced *traced = calloc(1, sizeof(*traced));
	int rc = 0;

	if (!traced)
		return NULL;
	traced->workers = workers;
	traced->worker = calloc(workers, sizeof(*traced->worker));
	for (uint32_t i = 0; traced->worker && i < workers && !rc; i++)
		rc = collect_worker(s, i, &traced->worker[i], &before[i]);
	if (traced->worker && !rc)
		return traced;
	sb_traced_free(traced);
	return NULL;
}

/* ---- marks ---- */

struct mark {
	uint32_t worker;
	struct sb_trace_event event;
};

struct marks {
	struct mark *mark; /* with room for two of each exemplar */
	size_t n;
};

static bool covers(const struct sb_traced_worker *worker, uint64_t at_ns)
{
	return worker->events && worker->event[0].at_ns < at_ns &&
	       at_ns < worker->event[worker->events - 1].at_ns;
}

/* The first event that is later. */
static uint32_t find_later(const struct sb_traced_worker *worker, uint64_t at_ns)
{
	uint32_t low = 0;
	uint32_t high = worker->events;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (worker->event[middle].at_ns > at_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The process whose step that worker was in; 0: it was in none. */
static sb_pid running_at(const struct sb_traced_worker *worker, uint64_t at_ns)
{
	for (uint32_t i = find_later(worker, at_ns); i-- > 0;) {
		if (worker->event[i].kind == SB_TRACE_STEP)
			return worker->event[i].value;
		if (worker->event[i].kind == SB_TRACE_STEP_END)
			return 0;
	}
	return 0;
}

/* The worker in whose step it was sent: the only one that was in a step then, or the one that ran
 * it next, behind that step. SB_WORKER_NONE: it cannot be told. */
static uint32_t find_sender(const struct sb_traced *traced, const struct sb_exemplar *e)
{
	uint32_t found = SB_WORKER_NONE;
	uint32_t n = 0;

	for (uint32_t i = 0; i < traced->workers; i++) {
		const struct sb_traced_worker *worker = &traced->worker[i];
		const sb_pid pid =
			covers(worker, e->begin_ns) ? running_at(worker, e->begin_ns) : 0;

		if (pid && pid == e->front_pid && i == e->worker)
			return i;
		if (pid) {
			found = i;
			n++;
		}
	}
	return n == 1 ? found : SB_WORKER_NONE;
}

static void add_mark(struct marks *marks, uint32_t worker, const struct sb_trace_event *event)
{
	marks->mark[marks->n++] = (struct mark){ worker, *event };
}

static void mark_one(struct marks *marks, const struct sb_traced *traced,
		     enum sb_exemplar_kind kind, uint32_t i)
{
	const struct sb_exemplar *e = &traced->exemplars->of[kind].exemplar[i];
	const bool is_sent = kind == SB_EXEMPLAR_send_to_step || kind == SB_EXEMPLAR_submit_to_step;
	const uint32_t sender = is_sent ? find_sender(traced, e) : SB_WORKER_NONE;
	struct sb_trace_event event = {
		.at_ns = e->begin_ns, .value = i, .other = (int32_t)kind, .kind = SB_TRACE_SENT
	};

	if (!covers(&traced->worker[e->worker], e->begin_ns + e->wait_ns))
		return;
	if (sender != SB_WORKER_NONE)
		add_mark(marks, sender, &event);
	event.at_ns = e->begin_ns + e->wait_ns;
	event.kind = sender == SB_WORKER_NONE ? SB_TRACE_SLOW : SB_TRACE_SLOW_SENT;
	add_mark(marks, e->worker, &event);
}

static int by_time(const void *a, const void *b)
{
	const struct sb_trace_event *x = a;
	const struct sb_trace_event *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* The marks of one worker, between its events. */
static int insert(struct sb_traced_worker *worker, uint32_t i, const struct marks *marks)
{
	struct sb_trace_event *event =
		realloc(worker->event, (worker->events + marks->n + 1) * sizeof(*event));

	if (!event)
		return -1;
	worker->event = event;
	for (size_t m = 0; m < marks->n; m++) {
		if (marks->mark[m].worker == i)
			event[worker->events++] = marks->mark[m].event;
	}
	qsort(event, worker->events, sizeof(*event), by_time);
	return 0;
}

/* Adds what the trace covers of its exemplars: where each went on, and, if that can be told, the
 * step in which it was sent. Returns 0 or -1 without memory. */
static int mark(struct sb_traced *traced)
{
	struct marks marks = { .n = 0 };
	size_t room = 0;
	int rc = 0;

	if (!traced->exemplars)
		return 0;
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++)
		room += 2 * (size_t)traced->exemplars->of[kind].n;
	marks.mark = calloc(room, sizeof(*marks.mark));
	if (!marks.mark)
		return -1;
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++) {
		for (uint32_t i = 0; i < traced->exemplars->of[kind].n; i++)
			mark_one(&marks, traced, (enum sb_exemplar_kind)kind, i);
	}
	for (uint32_t i = 0; i < traced->workers && !rc; i++)
		rc = insert(&traced->worker[i], i, &marks);
	free(marks.mark);
	return rc;
}

/* ---- exemplars ---- */

void sb_exemplars_begin(struct sb_measurement *m)
{
	sb_scheduler_forget_exemplars(m->run.scheduler);
	m->exemplars_since_ns = sb_clock_ns();
}

/* The slowest first; of equal ones in the order in which they began. */
static int by_slowness(const void *a, const void *b)
{
	const struct sb_exemplar *x = a;
	const struct sb_exemplar *y = b;

	if (x->took_ns != y->took_ns)
		return x->took_ns > y->took_ns ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->worker > y->worker) - (x->worker < y->worker);
}

/* Of all workers, in no order; returns how many. */
static uint32_t gather(const struct sb_measurement *m, enum sb_exemplar_kind kind,
		       struct sb_exemplar *out)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < m->workers; i++) {
		uint32_t n;
		const struct sb_exemplar *from =
			sb_scheduler_read_exemplars(m->run.scheduler, i, kind, &n);

		if (out && n)
			memcpy(&out[all], from, n * sizeof(*out));
		all += n;
	}
	return all;
}

static int collect_kind(const struct sb_measurement *m, enum sb_exemplar_kind kind,
			struct sb_exemplar_list *list)
{
	const uint32_t all = gather(m, kind, NULL);
	const uint32_t most = (uint32_t)sb_opt(m->options, SB_OPT_exemplars);
	struct sb_exemplar *exemplar = all ? calloc(all, sizeof(*exemplar)) : NULL;

	if (!exemplar)
		return all ? -1 : 0;
	gather(m, kind, exemplar);
	qsort(exemplar, all, sizeof(*exemplar), by_slowness);
	list->n = all < most ? all : most;
	/* A row keeps what it needs. */
	list->exemplar = malloc(list->n * sizeof(*exemplar));
	for (uint32_t i = 0; list->exemplar && i < list->n; i++) {
		list->exemplar[i] = exemplar[i];
		list->exemplar[i].begin_ns =
			sb_clock_passed(m->exemplars_since_ns, exemplar[i].begin_ns);
	}
	free(exemplar);
	return list->exemplar ? 0 : -1;
}

static void collect_stops(const struct sb_measurement *m, struct sb_exemplars *to)
{
	to->stops = m->stops.stops;
	for (uint32_t i = 0; i < to->stops; i++)
		to->stop[i] = (struct sb_stop){
			sb_clock_passed(m->exemplars_since_ns, m->stops.stop[i].begin_ns),
			sb_clock_passed(m->exemplars_since_ns, m->stops.stop[i].end_ns)
		};
}

/* Those before the repetition are of no use. */
static void collect_thieves(const struct sb_measurement *m, struct sb_exemplars *to)
{
	if (m->switches)
		to->thief = sb_switches_take(m->switches, &to->thieves);
	for (uint32_t i = 0; i < to->thieves; i++)
		to->thief[i].at_ns = sb_clock_passed(m->exemplars_since_ns, to->thief[i].at_ns);
}

/* All or nothing. */
struct sb_exemplars *sb_exemplars_collect(const struct sb_measurement *m)
{
	struct sb_exemplars *exemplars = calloc(1, sizeof(*exemplars));
	bool has_any = false;

	if (!exemplars)
		return NULL;
	exemplars->fault_ns = m->fault_ns;
	collect_stops(m, exemplars);
	collect_thieves(m, exemplars);
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++) {
		if (collect_kind(m, (enum sb_exemplar_kind)kind, &exemplars->of[kind])) {
			exemplars->of[kind].n = 0;
			has_any = false;
			break;
		}
		has_any |= exemplars->of[kind].n > 0;
	}
	if (has_any)
		return exemplars;
	sb_exemplars_free(exemplars);
	return NULL;
}

/* ---- the round that is traced ---- */

static struct sb_switches *open_switches(const struct sb_measurement *m)
{
	int *thread_id = sb_worker_thread_ids(m);
	struct sb_switches *switches =
		thread_id ? sb_switches_open("", thread_id, m->workers) : NULL;

	free(thread_id);
	return switches;
}

/* One round, with the load of the repetitions. The workers have just started,
 * but for their memory nothing is cold. */
static bool run_traced_round(struct sb_measurement *m)
{
	sb_measurement_clear_requests(m);
	m->run.relax_ns = 0;
	m->run.duration_ns = sb_opt(m->options, SB_OPT_duration);
	m->load.seed += SB_GENERATORS_MAX;
	return sb_round_run(m, &m->measured) && sb_measurement_ground_holds(m);
}

/* With --trace-on as many as fill the time of a repetition, until one has what is looked for. */
static bool run_traced(struct sb_measurement *m)
{
	const char *bound = m->options->value[SB_OPT_trace_on].text;
	const uint64_t end = sb_clock_ns() + sb_opt(m->options, SB_OPT_duration);
	bool ok;

	m->measured = (struct sb_measured){ 0 };
	sb_stops_begin(&m->stops);
	m->exemplars_since_ns = 0;
	do {
		ok = run_traced_round(m);
	} while (ok && *bound && !sb_scheduler_trace_has_ended(m->run.scheduler) &&
		 sb_clock_ns() < end);
	if (ok && *bound && !sb_scheduler_trace_has_ended(m->run.scheduler))
		sb_note("%s: --trace-on %s: nothing did; the trace is of the end",
			m->run.workload->name, bound);
	return ok;
}

/* Unless an option says: of a worker. */
#define RECORDED_EVENTS (1 << 20)

static int set_up_trace(struct sb_measurement *m)
{
	struct sb_scheduler *s = m->run.scheduler;
	struct sb_trace_bound bound;
	const bool records = sb_opt_records(m->options);
	uint32_t events = (uint32_t)sb_opt(m->options, SB_OPT_trace_events);
	int rc;

	/* All that happens must be in it, not only the end. */
	if (records && !sb_option_is_said(m->options, SB_OPT_trace_events))
		events = RECORDED_EVENTS;
	rc = sb_scheduler_trace(s, events);
	rc = rc ? rc : sb_scheduler_trace_sends(s, records);
	if (!rc && sb_trace_bound_parse(m->options->value[SB_OPT_trace_on].text, &bound))
		rc = sb_scheduler_trace_until(s, &bound);
	sb_scheduler_forget_exemplars(s);
	return rc ? rc : sb_scheduler_start(s, NULL);
}

/* Without --trace the recording is all that is wanted. */
static bool keep_actors(struct sb_measurement *m, struct sb_series *series)
{
	const char *file = m->options->value[SB_OPT_record_actors].text;
	bool ok = true;

	if (*file)
		ok = !sb_actors_record(series->traced, m->run.workload->name, m->look_ns, file,
				       m->why, sizeof(m->why));
	if (!sb_opt_traces(m->options)) {
		sb_traced_free(series->traced);
		series->traced = NULL;
	}
	return ok;
}

static bool collect(struct sb_measurement *m, struct sb_series *series,
		    const struct sb_worker_reading *before)
{
	series->traced = collect_traces(m->run.scheduler, before);
	if (!series->traced) {
		snprintf(m->why, sizeof(m->why), "no memory");
		return false;
	}
	series->traced->operations = m->measured.operations;
	series->traced->wall_ns = m->measured.wall_ns;
	series->traced->exemplars = sb_exemplars_collect(m);
	if (mark(series->traced))
		sb_note("%s: no memory for the marks of the trace", m->run.workload->name);
	return keep_actors(m, series);
}

/* The scheduler is stopped, and is so again. before: room for readings. */
static bool make_trace(struct sb_measurement *m, struct sb_series *series,
		       struct sb_worker_reading *before)
{
	bool ok;
	int rc;

	sb_readings_take(m, before);
	rc = set_up_trace(m);
	if (rc) {
		snprintf(m->why, sizeof(m->why), "the workers cannot be started again: %s",
			 strerror(-rc));
		return false;
	}
	m->switches = open_switches(m);
	ok = run_traced(m);
	sb_measurement_stop(m);
	ok = ok && collect(m, series, before);
	sb_switches_close(m->switches);
	m->switches = NULL;
	return ok;
}

void sb_tracing_run(struct sb_measurement *m, struct sb_series *series)
{
	const bool records = sb_opt_records(m->options);
	struct sb_worker_reading *before;

	if (!sb_opt_traces_round(m->options) || *m->why)
		return;
	before = sb_readings_make(m->workers, m->workers);
	if (!before)
		snprintf(m->why, sizeof(m->why), "no memory");
	if (!before || !make_trace(m, series, before)) {
		sb_note("%s: no %s: %s", m->run.workload->name, records ? "recording" : "trace",
			m->why);
		series->not_recorded = records;
	}
	sb_readings_free(before, m->workers);
}
