/*
 * pause.h - how the harness's thread lets time pass while it keeps a workload
 * going from outside: with a parker that nobody else needs to know. Without one
 * (NULL) it spins, and keeps its processor.
 */
#ifndef SB_WORKLOADS_LIB_PAUSE_H
#define SB_WORKLOADS_LIB_PAUSE_H

#include "core/platform/platform.h"

/* An answer that takes longer than this has been lost. */
#define SB_ANSWER_NS UINT64_C(10000000000)

static inline void sb_pause_once(struct sb_parker *parker, uint64_t deadline_ns)
{
	if (parker)
		sb_park(parker, deadline_ns);
	else
		sb_cpu_pause();
}

/* Waits until then, by sb_clock_ns; tokens of earlier unparks do not matter. */
static inline void sb_pause_until(struct sb_parker *parker, uint64_t deadline_ns)
{
	while (sb_clock_ns() < deadline_ns)
		sb_pause_once(parker, deadline_ns);
}

/* Waits until *word is value; who stores it with release calls sb_unpark
 * after. False: it has not become that in time. */
static inline bool sb_pause_for(struct sb_parker *parker, _Atomic(uint64_t) *word, uint64_t value)
{
	const uint64_t deadline_ns = sb_clock_ns() + SB_ANSWER_NS;

	while (sb_load_acq(word) != value) {
		if (sb_clock_ns() >= deadline_ns)
			return false;
		sb_pause_once(parker, deadline_ns);
	}
	return true;
}

#endif
