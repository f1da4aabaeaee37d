/* trace_events.c - one event of a worker as slices, arrows and moments. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "core/process.h"
#include "results/ledger/exemplars.h"
#include "results/record/record.h"
#include "results/trace/trace_writer.h"

void sb_trace_put_text(FILE *out, const char *text)
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
	fprintf(out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

void sb_trace_begin_event(struct sb_trace_writer *w, const char *phase, const char *name,
			  uint32_t worker, uint64_t at_ns)
{
	fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, w->comma, phase,
		w->process, SB_TRACE_TID(w->process, worker));
	put_us(w->out, "ts", at_ns - w->start_ns);
	fputs(",\"name\":", w->out);
	sb_trace_put_text(w->out, name);
	w->comma = ",";
}

static const struct sb_trace_event *event_at(const struct sb_trace_writer *w,
					     const struct sb_trace_spot *spot)
{
	return &w->traced->worker[spot->worker].event[spot->i];
}

static const char *const activity_name[] = {
	[SB_TRACE_BUSY] = "busy",
	[SB_TRACE_SEARCH] = "search",
	[SB_TRACE_PARK] = "parked",
};

/* The step's end; NULL: it is not in the trace. */
static const struct sb_trace_event *find_step_end(const struct sb_traced_worker *worker, uint32_t i)
{
	for (; i < worker->events; i++) {
		if (worker->event[i].kind == SB_TRACE_STEP_END)
			return &worker->event[i];
	}
	return NULL;
}

void sb_trace_change_activity(struct sb_trace_writer *w, uint32_t worker, uint64_t at_ns,
			      enum sb_trace_kind to)
{
	enum sb_trace_kind *now = &w->activity[worker];

	if (*now != SB_TRACE_REST) {
		sb_trace_begin_event(w, "E", activity_name[*now], worker, at_ns);
		fputs(",\"cat\":\"activity\"}", w->out);
	}
	if (to != SB_TRACE_REST) {
		sb_trace_begin_event(w, "B", activity_name[to], worker, at_ns);
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

static void put_step(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *step = event_at(w, spot);
	const struct sb_trace_event *end =
		find_step_end(&w->traced->worker[spot->worker], spot->i + 1);

	if (!end)
		return;
	sb_trace_begin_event(w, "X", step->name, spot->worker, step->at_ns);
	put_us(w->out, "dur", end->at_ns - step->at_ns);
	fputs(",\"cat\":\"step\",\"args\":{\"pid\":", w->out);
	put_pid(w->out, step->value);
	fputs(",\"wants\":", w->out);
	put_outcome(w->out, end->other);
	fputs("}}", w->out);
}

static void put_arrow(struct sb_trace_writer *w, const char *name, bool is_end, uint32_t worker,
		      uint64_t at_ns, uint64_t arrow)
{
	sb_trace_begin_event(w, is_end ? "f" : "s", name, worker, at_ns);
	fprintf(w->out, ",\"cat\":\"%s\",\"id\":%" PRIu64 "%s}", name, arrow,
		is_end ? ",\"bp\":\"e\"" : "");
}

static int compare_wakes(const void *a, const void *b)
{
	const uint64_t x = ((const struct sb_trace_wake *)a)->id;
	const uint64_t y = ((const struct sb_trace_wake *)b)->id;

	return (x > y) - (x < y);
}

/* NULL: it was nobody's, or has been dropped. */
static struct sb_trace_wake *find_wake(const struct sb_trace_writer *w, uint64_t id)
{
	const struct sb_trace_wake key = { .id = id };

	return w->wakes ? bsearch(&key, w->wake, w->wakes, sizeof(key), compare_wakes) : NULL;
}

/* One that is sent and received within the trace, in that order. */
static struct sb_trace_wake *find_arrow(const struct sb_trace_writer *w, uint64_t id)
{
	struct sb_trace_wake *wake = find_wake(w, id);

	return wake && wake->received_ns >= wake->sent_ns ? wake : NULL;
}

int sb_trace_match_wakes(struct sb_trace_writer *w)
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
			w->wake[w->wakes++] = (struct sb_trace_wake){ .id = event->value,
								      .sent_ns = event->at_ns,
								      .arrow = ++w->arrows };
	}
	qsort(w->wake, w->wakes, sizeof(*w->wake), compare_wakes);
	for (uint32_t i = 0; i < w->spots; i++) {
		const struct sb_trace_event *event = event_at(w, &w->spot[i]);
		struct sb_trace_wake *wake =
			event->kind == SB_TRACE_SEARCH ? find_wake(w, event->value) : NULL;

		if (wake)
			wake->received_ns = event->at_ns;
	}
	return 0;
}

static void begin_moment(struct sb_trace_writer *w, const char *name, uint32_t worker,
			 uint64_t at_ns)
{
	sb_trace_begin_event(w, "i", name, worker, at_ns);
	fputs(",\"s\":\"t\"", w->out);
}

static void put_wake(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const struct sb_trace_wake *arrow = find_arrow(w, event->value);

	begin_moment(w, "wake", spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"worker\":%" PRId32 "}}", event->other);
	if (arrow)
		put_arrow(w, "wake", false, spot->worker, event->at_ns, arrow->arrow);
}

/* The victim's event of that time went to make room, or it had left. */
static bool is_within(const struct sb_traced_worker *worker, uint64_t at_ns)
{
	return worker->events && worker->event[0].at_ns < at_ns &&
	       at_ns < worker->event[worker->events - 1].at_ns;
}

static void put_steal(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const uint32_t victim = (uint32_t)event->other;
	const bool known = is_within(&w->traced->worker[victim], event->at_ns);

	if (known) {
		begin_moment(w, "stolen", victim, event->at_ns);
		fprintf(w->out, ",\"args\":{\"thief\":%" PRIu32 "}}", spot->worker);
		put_arrow(w, "steal", false, victim, event->at_ns, ++w->arrows);
	}
	begin_moment(w, "steal", spot->worker, event->at_ns);
	fprintf(w->out,
		",\"args\":{\"victim\":%" PRIu32 ",\"items\":%" PRIu64 ",\"queue\":\"%s\"}}",
		victim, event->value, event->kind == SB_TRACE_STEAL ? "deque" : "inject");
	if (known)
		put_arrow(w, "steal", true, spot->worker, event->at_ns, w->arrows);
}

static void put_items(struct sb_trace_writer *w, const struct sb_trace_spot *spot, const char *name)
{
	const struct sb_trace_event *event = event_at(w, spot);

	begin_moment(w, name, spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"items\":%" PRIu64 "}}", event->value);
}

static void put_activity(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const struct sb_trace_wake *arrow =
		event->kind == SB_TRACE_SEARCH ? find_arrow(w, event->value) : NULL;

	sb_trace_change_activity(w, spot->worker, event->at_ns, event->kind);
	if (arrow)
		put_arrow(w, "wake", true, spot->worker, event->at_ns, arrow->arrow);
}

/* ---- the slowest events ---- */

/* Of all series' exemplars, the same at both ends. */
static uint64_t arrow_of(const struct sb_trace_writer *w, const struct sb_trace_event *event)
{
	return ((uint64_t)w->process * SB_EXEMPLAR_KINDS + (uint64_t)event->other) *
		       SB_EXEMPLARS_MAX +
	       event->value;
}

static void put_sent(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);

	begin_moment(w, "sent", spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"latency\":\"%s\"}}",
		sb_exemplar_kind_name((enum sb_exemplar_kind)event->other));
	put_arrow(w, "slow", false, spot->worker, event->at_ns, arrow_of(w, event));
}

static void put_slow(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
{
	const struct sb_trace_event *event = event_at(w, spot);
	const struct sb_exemplars *all = w->traced->exemplars;
	const struct sb_exemplar *e = &all->of[event->other].exemplar[event->value];
	char text[SB_CAUSE_BYTES];
	const enum sb_cause cause = sb_exemplar_explain(text, all, e);

	begin_moment(w, "slow", spot->worker, event->at_ns);
	fprintf(w->out, ",\"args\":{\"latency\":\"%s\"",
		sb_exemplar_kind_name((enum sb_exemplar_kind)event->other));
	put_us(w->out, "took_us", e->took_ns);
	fprintf(w->out, ",\"cause\":\"%s\",\"because\":", sb_cause_name(cause));
	sb_trace_put_text(w->out, text);
	fputs("}}", w->out);
	if (event->kind == SB_TRACE_SLOW_SENT)
		put_arrow(w, "slow", true, spot->worker, event->at_ns, arrow_of(w, event));
}

void sb_trace_put_event(struct sb_trace_writer *w, const struct sb_trace_spot *spot)
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
		fprintf(w->out, ",\"args\":{\"victim\":%" PRId32 "}}", event->other);
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
	case SB_TRACE_SENT:
		put_sent(w, spot);
		break;
	case SB_TRACE_SLOW:
	case SB_TRACE_SLOW_SENT:
		put_slow(w, spot);
		break;
	case SB_TRACE_STEP_END:
	case SB_TRACE_SEND:
	case SB_TRACE_SPAWN:
	case SB_TRACE_KINDS:
		break;
	}
}
