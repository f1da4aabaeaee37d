/*
 * missed.h - of a wait that is timed, how long a worker was idle meanwhile: what was missed by
 * not conserving work. Two workers are looked at, and the longer time counts: so there was a
 * worker that was idle for at least that.
 *
 * Each worker shows its last idle period. A reader takes the end first: if that is the new one,
 * so is the beginning. An idle period that was followed by another one before the wait ended
 * is not seen.
 */
#ifndef SB_CORE_RECORD_MISSED_H
#define SB_CORE_RECORD_MISSED_H

#include "core/platform/atomic.h"
#include "core/record/trail.h"

struct sb_worker;

/* The owner stores, anyone loads. */
struct sb_idleness {
	_Atomic(uint64_t) begin_ns;
	_Atomic(uint64_t) end_ns; /* before begin_ns: it goes on */
};

static inline void sb_idleness_begin(struct sb_idleness *idleness, uint64_t now_ns)
{
	sb_store_rlx(&idleness->begin_ns, now_ns);
}

static inline void sb_idleness_end(struct sb_idleness *idleness, uint64_t now_ns)
{
	sb_store_rel(&idleness->end_ns, now_ns);
}

/* So many workers are looked at for each wait, others each time: their lines come from other
 * CPUs, and all of 128 would slow down what is measured. */
#define SB_MISSED_PROBES 2

/* Nobody could have come for it in less. */
#define SB_MISSED_WAIT_NS 1000

/* Work waited there from begin_ns to end_ns. The worker whose recordings are written; or the
 * watcher, while it has claimed that worker's slot. */
SB_COLD void sb_record_missed(struct sb_worker *worker, enum sb_wait_place place, uint64_t begin_ns,
			      uint64_t end_ns);

#endif
