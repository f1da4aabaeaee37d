/* trace_writer.h - a trace.json while it is written. */
#ifndef SB_RESULTS_TRACE_TRACE_WRITER_H
#define SB_RESULTS_TRACE_TRACE_WRITER_H

#include <stdio.h>

#include "results/record/record.h"

/* Where an event is. */
struct sb_trace_spot {
	uint64_t at_ns;
	uint32_t worker;
	uint32_t i;
};

/* A wake, and when it was received. */
struct sb_trace_wake {
	uint64_t id;
	uint64_t sent_ns;
	uint64_t received_ns; /* 0: that is not in the trace */
	uint64_t arrow;
};

/* The state of the writer. */
struct sb_trace_writer {
	FILE *out;
	const char *comma; /* before the next event */
	uint64_t start_ns; /* of the trace */
	uint64_t arrows;   /* so far, in all series */

	/* Of the series. */
	uint32_t process;
	const struct sb_traced *traced;
	uint32_t spots;
	struct sb_trace_spot *spot;
	uint32_t wakes;
	struct sb_trace_wake *wake;   /* by id */
	enum sb_trace_kind *activity; /* of each worker, now */
};

/* Room for SB_WORKERS_MAX of them, and readable. */
#define SB_TRACE_TID(process, worker) ((process)*10000 + (worker) + 1)

/* A string, escaped, or null. */
void sb_trace_put_text(FILE *out, const char *text);

/* An event without its closing brace. phase: "B", "E", "X", ... */
void sb_trace_begin_event(struct sb_trace_writer *w, const char *phase, const char *name,
			  uint32_t worker, uint64_t at_ns);

/* What the worker is at ends, and something else begins. REST is shown as
 * nothing. */
void sb_trace_change_activity(struct sb_trace_writer *w, uint32_t worker, uint64_t at_ns,
			      enum sb_trace_kind to);

/* Finds the wakes of the series, and when each was received. Returns 0 or -ENOMEM. */
int sb_trace_match_wakes(struct sb_trace_writer *w);

/* All that is written for one event. */
void sb_trace_put_event(struct sb_trace_writer *w, const struct sb_trace_spot *spot);

#endif
