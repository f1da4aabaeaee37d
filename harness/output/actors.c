#include "harness/output/actors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "results/files/file.h"
#include "results/text/escape.h"
#include "workloads/replay/actors.h"

/* A step: where it begins in its worker's events. */
struct begun {
	uint64_t at_ns;
	uint32_t worker;
	uint32_t event;
};

/* A process, in the order of PIDs, which its number is. */
struct known {
	sb_pid pid;
	uint64_t sent; /* messages to it that no step has got yet */
	bool is_spawned;
};

struct recording {
	const struct sb_traced *traced;
	double look_ns;
	uint64_t start_ns;
	struct begun *step; /* [steps], in the order of time */
	size_t steps;
	struct known *known; /* [processes] */
	size_t processes;
	uint64_t messages; /* sent by steps, and spawned by them */
	uint64_t spawns;
	FILE *out;
};

/* ---- who there is, and when they step ---- */

static int by_time(const void *a, const void *b)
{
	const struct begun *x = a;
	const struct begun *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->worker < y->worker ? -1 : x->worker > y->worker;
}

static int by_pid(const void *a, const void *b)
{
	const sb_pid x = ((const struct known *)a)->pid;
	const sb_pid y = ((const struct known *)b)->pid;

	return x < y ? -1 : x > y;
}

static void collect(struct recording *r)
{
	for (uint32_t w = 0; w < r->traced->workers; w++) {
		const struct sb_traced_worker *worker = &r->traced->worker[w];

		for (uint32_t i = 0; i < worker->events; i++) {
			const struct sb_trace_event *event = &worker->event[i];

			if (event->kind == SB_TRACE_STEP)
				r->step[r->steps++] = (struct begun){ event->at_ns, w, i };
			if (event->kind == SB_TRACE_STEP || event->kind == SB_TRACE_SPAWN)
				r->known[r->processes++].pid = event->value;
		}
	}
	qsort(r->step, r->steps, sizeof(*r->step), by_time);
	qsort(r->known, r->processes, sizeof(*r->known), by_pid);
}

/* Each once. */
static void forget_others(struct recording *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->processes; i++) {
		if (!n || r->known[n - 1].pid != r->known[i].pid)
			r->known[n++] = r->known[i];
	}
	r->processes = n;
}

/* NULL: it made no step, and nobody has spawned it. */
static struct known *find(const struct recording *r, sb_pid pid)
{
	const struct known key = { .pid = pid };

	return bsearch(&key, r->known, r->processes, sizeof(key), by_pid);
}

static size_t number_of(const struct recording *r, const struct known *known)
{
	return (size_t)(known - r->known);
}

/* ---- one step ---- */

/* The step's process and messages must have come from outside if no step has spawned or sent them;
 * when is not known: no later than the step's start. */
static void put_arrivals(struct recording *r, struct known *self, uint64_t at_ns, uint64_t messages)
{
	if (!self->is_spawned)
		fprintf(r->out, "spawn %" PRIu64 " %zu\n", at_ns, number_of(r, self));
	self->is_spawned = true;
	for (; self->sent < messages; self->sent++)
		fprintf(r->out, "message %" PRIu64 " %zu\n", at_ns, number_of(r, self));
	self->sent -= messages;
}

static bool is_act(const struct sb_trace_event *event)
{
	return event->kind == SB_TRACE_SEND || event->kind == SB_TRACE_SPAWN;
}

/* NULL: the step goes on where the trace ends. */
static const struct sb_trace_event *find_end(const struct sb_traced_worker *worker, uint32_t step)
{
	uint32_t i = step + 1;

	while (i < worker->events && worker->event[i].kind != SB_TRACE_STEP_END)
		i++;
	return i < worker->events ? &worker->event[i] : NULL;
}

/* The step's time less its sends and spawns, and less the looks at the clock: two more for each send
 * or spawn, and one for the step. */
static double work_between(const struct sb_trace_event *begin, const struct sb_trace_event *end,
			   double look_ns)
{
	double ns = (double)(end->at_ns - begin->at_ns) - look_ns;

	for (const struct sb_trace_event *event = begin + 1; event < end; event++) {
		if (is_act(event))
			ns -= event->other + 2 * look_ns;
	}
	return ns > 0 ? ns : 0;
}

static void put_act(struct recording *r, const struct sb_trace_event *event)
{
	struct known *other = find(r, event->value);

	/* A message to a process that had ended went nowhere. */
	if (!other)
		return;
	fprintf(r->out, " %c%zu", event->kind == SB_TRACE_SPAWN ? '+' : '>', number_of(r, other));
	if (event->kind == SB_TRACE_SPAWN) {
		other->is_spawned = true;
		r->spawns++;
	} else {
		other->sent++;
		r->messages++;
	}
}

static void put_step(struct recording *r, const struct begun *step)
{
	const struct sb_traced_worker *worker = &r->traced->worker[step->worker];
	const struct sb_trace_event *begin = &worker->event[step->event];
	const struct sb_trace_event *end = find_end(worker, step->event);
	struct known *self = find(r, begin->value);
	const uint64_t at_ns = begin->at_ns - r->start_ns;

	if (!end || !self)
		return;
	put_arrivals(r, self, at_ns, (uint64_t)begin->other);
	fprintf(r->out, "step %" PRIu64 " %zu %" PRId32 " %.0f", at_ns, number_of(r, self),
		begin->other, work_between(begin, end, r->look_ns));
	for (const struct sb_trace_event *event = begin + 1; event < end; event++) {
		if (is_act(event))
			put_act(r, event);
	}
	fputc('\n', r->out);
}

/* ---- the whole ---- */

/* A process that was spawned and made no step ends at once when it is done again. */
static int put_all(struct recording *r, const char *workload)
{
	fprintf(r->out, SB_ACTORS_FIRST_LINE "\n# %s\n", sb_terminal_text(workload));
	for (size_t i = 0; i < r->steps; i++)
		put_step(r, &r->step[i]);
	fprintf(r->out, "# %zu processes, %zu steps, %" PRIu64 " messages, %" PRIu64 " spawns\n",
		r->processes, r->steps, r->messages, r->spawns);
	return ferror(r->out) ? -ENOMEM : 0;
}

static int compress(const char *text, size_t bytes, const char *path)
{
	const size_t room = ZSTD_compressBound(bytes);
	void *packed = malloc(room);
	struct sb_file file;
	size_t packed_bytes;
	int rc = packed ? 0 : -ENOMEM;

	if (rc)
		return rc;
	packed_bytes = ZSTD_compress(packed, room, text, bytes, 3);
	rc = ZSTD_isError(packed_bytes) ? -ENOMEM : sb_file_begin_path(&file, path);
	if (!rc) {
		fwrite(packed, 1, packed_bytes, file.stream);
		rc = sb_file_commit(&file);
	}
	free(packed);
	return rc;
}

static int write_all(struct recording *r, const char *workload, const char *path)
{
	char *text = NULL;
	size_t bytes = 0;
	int rc;

	r->out = open_memstream(&text, &bytes);
	if (!r->out)
		return -ENOMEM;
	rc = put_all(r, workload);
	if (fclose(r->out))
		rc = -ENOMEM;
	if (!rc)
		rc = compress(text, bytes, path);
	free(text);
	return rc;
}

/* Whether all that happened is there; if not, why. */
static bool is_complete(const struct sb_traced *traced, char *why, size_t why_bytes)
{
	for (uint32_t w = 0; w < traced->workers; w++) {
		if (!traced->worker[w].dropped)
			continue;
		snprintf(why, why_bytes,
			 "%" PRIu64 " of %" PRIu64 " events of worker %" PRIu32
			 " had no room; expected a shorter round, or more --trace-events",
			 traced->worker[w].dropped,
			 traced->worker[w].dropped + traced->worker[w].events, w);
		return false;
	}
	return true;
}

int sb_actors_record(const struct sb_traced *traced, const char *workload, double look_ns,
		     const char *path, char *why, size_t why_bytes)
{
	struct recording r = { .traced = traced, .look_ns = look_ns, .start_ns = UINT64_MAX };
	size_t events = 1;
	int rc;

	if (!is_complete(traced, why, why_bytes))
		return -EOVERFLOW;
	for (uint32_t w = 0; w < traced->workers; w++)
		events += traced->worker[w].events;
	r.step = calloc(events, sizeof(*r.step));
	r.known = calloc(events, sizeof(*r.known));
	rc = r.step && r.known ? 0 : -ENOMEM;
	if (!rc) {
		collect(&r);
		forget_others(&r);
		r.start_ns = r.steps ? r.step[0].at_ns : 0;
		rc = write_all(&r, workload, path);
	}
	if (rc)
		snprintf(why, why_bytes, "%s", strerror(-rc));
	free(r.step);
	free(r.known);
	return rc;
}
