/*
 * events.h - what is recorded of each event of a worker: its counters, histograms,
 * account of time and trace, in one call for each event. By the worker itself.
 */
#ifndef SB_CORE_RECORD_EVENTS_H
#define SB_CORE_RECORD_EVENTS_H

#include "core/record/marks.h"

/* ---- times between steps that are known, for the keeper of exemplars ---- */

static inline void sb_record_known(struct sb_worker *worker, uint64_t now_ns)
{
	if (sb_keeper_wants(worker->keeper, now_ns)) {
		sb_keeper_note(worker, now_ns);
		return;
	}
	worker->keeper->noted_ns = now_ns;
	worker->keeper->noted_steps = sb_counter_read(&worker->counters.steps);
}

static inline void sb_record_known_step(struct sb_worker *worker, uint64_t start_ns,
					uint64_t end_ns)
{
	if (sb_keeper_wants(worker->keeper, end_ns))
		sb_keeper_note_step(worker, start_ns, end_ns);
}

/* ---- a worker without work ---- */

/* It has run out of work, and begins to search. */
static inline void sb_record_search(struct sb_worker *worker)
{
	sb_account_search(&worker->account);
	if (worker->keeper)
		sb_record_known(worker, worker->account.look_ns);
	sb_trace_note(&worker->trace, SB_TRACE_SEARCH, 0, 0);
	sb_counter_add(&worker->counters.idle_episodes, 1);
	if (worker->records)
		sb_idleness_begin(&worker->idleness, worker->account.look_ns);
}

/* It blocks after so many spins. was_woken: it has been, and has found no work. */
static inline void sb_record_block(struct sb_worker *worker, uint64_t spins, bool was_woken)
{
	sb_worker_note(worker, &worker->hists.spins_blocked, spins);
	sb_account_block(&worker->account);
	sb_trace_note(&worker->trace, SB_TRACE_PARK, 0, 0);
	if (was_woken)
		sb_counter_add(&worker->counters.spurious_wakes, 1);
	sb_counter_add(&worker->counters.blocks, 1);
}

/* The CPU time of its thread, of some sleeps; 0: of this one it does not matter. */
static inline uint64_t sb_record_sleep_begin(struct sb_worker *worker)
{
	return sb_sampler_chooses(&worker->sampler) ? sb_clock_thread_cpu_ns() : 0;
}

static inline void sb_record_sleep_end(struct sb_worker *worker, uint64_t begin_ns)
{
	if (!begin_ns)
		return;
	sb_counter_add(&worker->counters.timed_sleeps, 1);
	sb_counter_add(&worker->counters.sleep_cpu_ns, sb_clock_thread_cpu_ns() - begin_ns);
}

/* It no longer blocks, and searches again. */
static inline void sb_record_unblock(struct sb_worker *worker)
{
	sb_account_search(&worker->account);
	sb_trace_note(&worker->trace, SB_TRACE_SEARCH, 0, sb_load_rlx(&worker->wake_id));
}

/* There was work for it from had_ns on. Where wakes are not timed, gaps are not either. */
static inline void sb_record_gap(struct sb_worker *worker, uint64_t had_ns)
{
	if (worker->sampler.every)
		sb_hist_record(worker->search.gap,
			       sb_clock_passed(worker->search.ran_out_ns, had_ns));
}

/* It was woken then for what it has found now. */
SB_COLD void sb_record_wake(struct sb_worker *worker, uint64_t wake_ns, uint64_t now_ns);

/* It has work since now_ns. wake_ns: when it was woken for that; 0: it was not, or
 * the wake was not timed. */
static inline void sb_record_busy(struct sb_worker *worker, uint64_t wake_ns, uint64_t now_ns)
{
	sb_account_busy(&worker->account, now_ns);
	if (worker->keeper)
		sb_keeper_busy(worker, now_ns);
	if (wake_ns)
		sb_record_wake(worker, wake_ns, now_ns);
	if (worker->records)
		sb_idleness_end(&worker->idleness, now_ns);
	sb_trace_note(&worker->trace, SB_TRACE_BUSY, 0, 0);
}

/* ---- processes taken from queues ---- */

/* The one that it runs next is from there. The others wait in its own deque now. */
static inline void sb_record_fetched(struct sb_worker *worker, enum sb_wait_place place)
{
	if (SB_LIKELY(worker->records))
		sb_trail_fetched(worker->taken[0], place);
}

/* n from its own inject queue. */
static inline void sb_record_take_inject(struct sb_worker *worker, uint32_t n)
{
	sb_counter_add(&worker->counters.inject_pops, 1);
	sb_counter_add(&worker->counters.inject_items, n);
	sb_worker_note(worker, &worker->hists.batch_inject, n);
	sb_record_fetched(worker, SB_WAIT_INJECT);
	sb_trace_note(&worker->trace, SB_TRACE_INJECT, 0, n);
}

/* n from the global queue. */
static inline void sb_record_take_global(struct sb_worker *worker, uint32_t n)
{
	sb_counter_add(&worker->counters.global_pops, 1);
	sb_counter_add(&worker->counters.global_items, n);
	sb_worker_note(worker, &worker->hists.batch_global, n);
	sb_record_fetched(worker, SB_WAIT_GLOBAL);
	sb_trace_note(&worker->trace, SB_TRACE_GLOBAL, 0, n);
}

/* n from another worker's inject queue. */
static inline void sb_record_take_remote(struct sb_worker *worker, uint32_t victim, uint32_t n)
{
	sb_counter_add(&worker->counters.remote_pops, 1);
	sb_counter_add(&worker->counters.remote_items, n);
	sb_record_fetched(worker, SB_WAIT_REMOTE);
	sb_trace_note(&worker->trace, SB_TRACE_REMOTE, victim, n);
}

/* One attempt on a victim's deque, which took n. */
static inline void sb_record_steal(struct sb_worker *worker, uint32_t victim,
				   enum sb_steal_result result, uint32_t n)
{
	struct sb_steal_cell *cell = &worker->steals[victim];

	if (result == SB_STEAL_OK)
		sb_trace_note(&worker->trace, SB_TRACE_STEAL, victim, n);
	if (SB_UNLIKELY(!worker->records))
		return;
	sb_counter_add(&cell->attempts, 1);
	switch (result) {
	case SB_STEAL_OK:
		sb_counter_add(&cell->successes, 1);
		sb_counter_add(&cell->items, n);
		sb_hist_record(&worker->hists.batch_steal, n);
		break;
	case SB_STEAL_EMPTY:
		sb_counter_add(&cell->empty, 1);
		break;
	case SB_STEAL_LOST:
		sb_counter_add(&cell->lost, 1);
	}
}

/* The n processes that it took. */
void sb_record_stolen(struct sb_worker *worker, uint32_t victim, void *const *items, uint32_t n);

/* A round of stealing that began then has taken something of the last victim. */
static inline void sb_record_round(struct sb_worker *worker, uint64_t start_ns)
{
	if (worker->records)
		sb_counter_add(&worker->steals[worker->victims.last].took_ns,
			       sb_clock_passed(start_ns, worker->account.look_ns));
}

/* ---- ticks ---- */

/* The depths of the queues that a worker takes from, as seen at a tick. */
static inline void sb_record_depths(struct sb_worker *worker, uint64_t now_ns)
{
	if (worker->keeper)
		sb_record_known(worker, now_ns);
	sb_hist_record(&worker->hists.depth_own,
		       (uint64_t)sb_deque_size(&worker->deque) + sb_deque_size(&worker->cold));
	sb_hist_record(&worker->hists.depth_inject, sb_runq_length(&worker->inject));
	sb_hist_record(&worker->hists.depth_global, sb_runq_length(&worker->scheduler->global));
}

/* ---- steps ---- */

/* The step of a process begins or ends; just around the process's own code. */
static inline void sb_record_step_edge(struct sb_worker *worker, const struct sb_process *process,
				       enum sb_trace_kind kind, int status)
{
	if (sb_trace_is_on(&worker->trace))
		sb_trace_put(&worker->trace, (struct sb_trace_event){ .kind = kind,
								      .value = process->pid,
								      .name = process->ops->name,
								      .other = status });
}

/* A step is to be timed, of a process that was queued to be. Returns the time. */
SB_COLD uint64_t sb_record_start(struct sb_worker *worker, struct sb_process *process);

/* A step takes a timed event. */
SB_COLD void sb_record_event(struct sb_worker *worker, const struct sb_process *process,
			     const struct sb_event_node *node, uint64_t now_ns);

/* A timed step has ended. */
SB_COLD void sb_record_step(struct sb_worker *worker, struct sb_process *process, uint64_t start_ns,
			    uint64_t end_ns);

#endif
