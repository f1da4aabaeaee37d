/*
 * tracing.h - what the workers keep of single events: from their rings to a series' trace, from
 * the slowest to a row.
 */
#ifndef SB_HARNESS_RUN_TRACING_H
#define SB_HARNESS_RUN_TRACING_H

#include "core/scheduler.h"
#include "harness/run/rounds.h"

/* --trace-on: "sojourn>5ms". False: it is none. */
bool sb_trace_bound_parse(const char *text, struct sb_trace_bound *bound);

/* Whether the options for traces go with the others. Returns 0, or an exit status after an error
 * has been printed. */
SB_MUST_CHECK int sb_tracing_check(const struct sb_options *options);

/*
 * The traces of a stopped scheduler's workers since its last start.
 * before: their readings [workers] from before that. NULL: no memory.
 */
struct sb_traced *sb_tracing_collect(struct sb_scheduler *scheduler,
				     const struct sb_worker_reading *before);

/* Adds what the trace covers of its exemplars: where each went on, and, if that can be told, the
 * step in which it was sent. Returns 0 or -1 without memory. */
SB_MUST_CHECK int sb_tracing_mark(struct sb_traced *traced);

/* Forgets the events of the repetition before. Call it while no process is alive. */
void sb_exemplars_begin(struct sb_measurement *m);

/* Those of all workers since then, with the times at which the process was stopped, for
 * sb_exemplars_free. While no process is alive. NULL: none are kept, or no memory. */
struct sb_exemplars *sb_exemplars_collect(const struct sb_measurement *m);

#endif
