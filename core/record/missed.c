#include "core/record/missed.h"

#include "core/state.h"

static_assert(SB_COUNTER_missed_held_ns - SB_COUNTER_missed_own_ns == SB_WAIT_PLACES - 1,
	      "a counter for each place, in the order of the places");

/* Of [begin, end], in which that worker was idle. */
static uint64_t overlap(struct sb_idleness *idleness, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t idle_end = sb_load_acq(&idleness->end_ns);
	const uint64_t idle_begin = sb_load_rlx(&idleness->begin_ns);
	const uint64_t until = idle_end < idle_begin ? end_ns : sb_min_u64(idle_end, end_ns);

	return idle_begin ? sb_clock_passed(sb_max_u64(idle_begin, begin_ns), until) : 0;
}

/* One after the other. */
static struct sb_idleness *probe(struct sb_worker *worker)
{
	const struct sb_scheduler *s = worker->scheduler;

	if (++worker->probed >= s->workers)
		worker->probed = 0;
	return &s->worker[worker->probed]->idleness;
}

void sb_record_missed(struct sb_worker *worker, enum sb_wait_place place, uint64_t begin_ns,
		      uint64_t end_ns)
{
	const uint32_t workers = worker->scheduler->workers;
	const uint32_t probes = workers < SB_MISSED_PROBES ? workers : SB_MISSED_PROBES;
	sb_counter *ns = (sb_counter *)&worker->counters + SB_COUNTER_missed_own_ns + place;
	uint64_t missed = 0;

	if (sb_clock_passed(begin_ns, end_ns) < SB_MISSED_WAIT_NS)
		return;
	for (uint32_t i = 0; i < probes; i++)
		missed = sb_max_u64(missed, overlap(probe(worker), begin_ns, end_ns));
	if (!missed)
		return;
	sb_hist_record(&worker->hists.missed, missed);
	sb_counter_add(ns, missed);
}
