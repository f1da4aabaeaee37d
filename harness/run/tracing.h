/*
 * tracing.h - from the workers' rings to a series' trace.
 */
#ifndef SB_HARNESS_RUN_TRACING_H
#define SB_HARNESS_RUN_TRACING_H

#include "core/scheduler.h"
#include "results/record/record.h"

/*
 * The traces of a stopped scheduler's workers since its last start.
 * before: their readings [workers] from before that. NULL: no memory.
 */
struct sb_traced *sb_tracing_collect(struct sb_scheduler *scheduler,
				     const struct sb_worker_reading *before);

#endif
