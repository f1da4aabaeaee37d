#include "harness/run/tracing.h"

#include <stdlib.h>

#include "results/record/series.h"

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

struct sb_traced *sb_tracing_collect(struct sb_scheduler *s, const struct sb_worker_reading *before)
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
