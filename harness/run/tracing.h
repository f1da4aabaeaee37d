/*
 * tracing.h - what the workers keep of single events: from their rings to a series' trace, from
 * the slowest to a row.
 */
#ifndef SB_HARNESS_RUN_TRACING_H
#define SB_HARNESS_RUN_TRACING_H

#include "core/readings.h"
#include "harness/run/rounds.h"

/* --trace-on: "sojourn>5ms". False: it is none. */
bool sb_trace_bound_parse(const char *text, struct sb_trace_bound *bound);

/* Whether the options for traces go with the others. Returns 0, or an exit status after an error
 * has been printed. */
SB_MUST_CHECK int sb_tracing_check(const struct sb_options *options);

/* Forgets the events of the repetition before. Call it while no process is alive. */
void sb_exemplars_begin(struct sb_measurement *m);

/* Those of all workers since then, with the times at which the process was stopped, for
 * sb_exemplars_free. While no process is alive. NULL: none are kept, or no memory. */
struct sb_exemplars *sb_exemplars_collect(const struct sb_measurement *m);

/*
 * After the repetitions, on a fresh start of the same workers: tracing makes
 * steps longer, so what is traced is no row, and what is a row is not traced.
 * The scheduler is stopped, and is so again. A trace that fails is said, and is no failure.
 */
void sb_tracing_run(struct sb_measurement *m, struct sb_series *series);

#endif
