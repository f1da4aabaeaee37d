/*
 * marks.h - clock reads for recordings, and what is recorded at every level but
 * `off`.
 */
#ifndef SB_CORE_RECORD_MARKS_H
#define SB_CORE_RECORD_MARKS_H

#include "core/record/sampler.h"
#include "core/state.h"

/* Time now, for a recording, after everything before it in the program; counted, so
 * that its cost is known. For the ends of what is measured. */
static inline uint64_t sb_worker_look(struct sb_worker *worker)
{
	sb_counter_add(&worker->counters.clock_looks, 1);
	return sb_clock_stamp_ns();
}

/* The same, or a little earlier, at half the cost; counted as a look. For the
 * beginnings: a worker that measures from there has it handed over, and looks after that. */
static inline uint64_t sb_worker_mark(struct sb_worker *worker)
{
	sb_counter_add(&worker->counters.clock_looks, 1);
	return sb_clock_ns();
}

/* Time now if this one is to be timed, else 0; see sb_worker_mark(). */
static inline uint64_t sb_worker_mark_some(struct sb_worker *worker)
{
	return SB_UNLIKELY(sb_sampler_chooses(&worker->sampler)) ? sb_worker_mark(worker) : 0;
}

uint64_t sb_foreign_mark_some(struct sb_scheduler *scheduler);

/* The same for any caller; worker is its own or NULL. */
static inline uint64_t sb_caller_mark_some(struct sb_scheduler *scheduler, struct sb_worker *worker)
{
	return worker ? sb_worker_mark_some(worker) : sb_foreign_mark_some(scheduler);
}

/* Time now where anything is timed, else 0: for what is so rare, or costs so much, that each is timed. */
static inline uint64_t sb_caller_mark(struct sb_scheduler *scheduler, struct sb_worker *worker)
{
	if (!scheduler->config.sample_every)
		return 0;
	return worker ? sb_worker_mark(worker) : sb_clock_ns();
}

/* Kept at every level of recording but `off`. */
static inline void sb_worker_note(struct sb_worker *worker, struct sb_hist *hist, uint64_t value)
{
	if (SB_LIKELY(worker->records))
		sb_hist_record(hist, value);
}

#endif
