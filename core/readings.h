/* readings.h - what a scheduler and its workers have recorded, and what else the rest of the
 * project may do with them. Not a part of the library's interface. */
#ifndef SB_CORE_READINGS_H
#define SB_CORE_READINGS_H

#include "core/counters.h"
#include "core/exemplars.h"
#include "core/memory.h"
#include "core/scheduler.h"
#include "core/trace.h"

/* Whether the worker's thread is still bound to its CPU alone: others may move
 * it, and so may a change of its cpuset. True for one that was never pinned.
 * Any thread, between start and stop. */
bool sb_scheduler_is_pinned(const struct sb_scheduler *scheduler, uint32_t worker);

/* The worker's thread ID, gettid(2), so that a caller can observe the thread. Any thread, between start
 * and stop. */
int sb_scheduler_thread_id(const struct sb_scheduler *scheduler, uint32_t worker);

/*
 * Reads what a worker has recorded since the first start. Any thread, at any
 * time after it. out->steals must have room for all workers.
 */
void sb_scheduler_read(struct sb_scheduler *scheduler, uint32_t worker,
		       struct sb_worker_reading *out);

/* Sums over all workers, without what takes long to read. As above. */
void sb_scheduler_glance(struct sb_scheduler *scheduler, struct sb_glance *out);

/* Memory, of all workers and foreign threads. Any thread, at any time; while workers run the values
 * may already have changed. */
void sb_scheduler_read_memory(struct sb_scheduler *scheduler, struct sb_memory *out);

/*
 * Asks the operating system on which nodes a worker's memory lies, page by
 * page, against the worker's own. After the first start, while it is stopped.
 * Its errors: -ENOTSUP (this is not the machine that the placement is for, or
 * the worker has no node), or the operating system's.
 */
void sb_scheduler_locate(struct sb_scheduler *scheduler, uint32_t worker, struct sb_residence *out);

/* Reads one of the histograms, summed over all workers. As above. */
void sb_scheduler_read_hist(struct sb_scheduler *scheduler, enum sb_hist_id id,
			    struct sb_hist_counts *out);

/* The maxima of all histograms are those of the values from now on. As above. */
void sb_scheduler_forget_maxima(struct sb_scheduler *scheduler);

/*
 * The slowest events of a kind that a worker has recorded since the first start, or since they
 * were forgotten, in no order; *n is how many. Both are for times at which no process is alive.
 */
const struct sb_exemplar *sb_scheduler_read_exemplars(struct sb_scheduler *scheduler,
						      uint32_t worker, enum sb_exemplar_kind kind,
						      uint32_t *n);
void sb_scheduler_forget_exemplars(struct sb_scheduler *scheduler);

/*
 * From the next start on each worker keeps a trace of its newest `events`; 0:
 * none, and there is no trace any more. Each start begins with an empty one. A
 * worker without the memory for it fails the start, with -ENOMEM. While it is
 * stopped; nobody else uses the scheduler meanwhile. Returns 0 or -EBUSY.
 */
SB_MUST_CHECK int sb_scheduler_trace(struct sb_scheduler *scheduler, uint32_t events);

/* From the next start on the traces have the sends and spawns of steps, too, or have not. While they
 * have, messages are delivered at once. Under the same conditions. */
SB_MUST_CHECK int sb_scheduler_trace_sends(struct sb_scheduler *scheduler, bool has_sends);

/*
 * From the next start on the traces end soon after an event that takes longer than the bound, for
 * which exemplars must be kept; NULL: none does. Under the same conditions. has_ended: whether
 * that has happened since; any thread.
 */
SB_MUST_CHECK int sb_scheduler_trace_until(struct sb_scheduler *scheduler,
					   const struct sb_trace_bound *bound);
bool sb_scheduler_trace_has_ended(const struct sb_scheduler *scheduler);

/*
 * From the next start on the workers' CPU time is lengthened by so many millionths, to test
 * who is to find that out; 0: it is not. Under the same conditions.
 */
SB_MUST_CHECK int sb_scheduler_slow_down(struct sb_scheduler *scheduler, uint32_t ppm);

/* A block from the arena of the step's worker, aligned to a cache line; for sb_mem_free,
 * before the scheduler is destroyed. NULL: there is no memory. */
void *sb_step_alloc(const struct sb_step *step, size_t bytes);

/* A worker's trace since the last start. After the first start, while it is
 * stopped; until the next one, or sb_scheduler_destroy. */
const struct sb_trace *sb_scheduler_read_trace(struct sb_scheduler *scheduler, uint32_t worker);

#endif
