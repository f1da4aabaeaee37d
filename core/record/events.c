#include "core/record/events.h"

#include "core/requests.h"
#include "core/step.h"

/* Whether the event is slow enough to be kept. Its details are gathered by a cold function. */
static bool is_slow(const struct sb_worker *w, enum sb_exemplar_kind kind, uint64_t took_ns)
{
	return SB_UNLIKELY(w->keeper && took_ns > w->keeper->bound_ns[kind]);
}

/* That ran the process before; known of one whose step is timed. */
static uint32_t last_worker(const struct sb_worker *w, const struct sb_process *process)
{
	return w->keeper && process->ready_ns ? w->keeper->last_worker : SB_WORKER_NONE;
}

SB_COLD static void keep_wake(struct sb_worker *w, uint64_t wake_ns, uint64_t now_ns)
{
	sb_keeper_keep(w, SB_EXEMPLAR_wake_to_running,
		       &(struct sb_timed_event){ .begin_ns = wake_ns,
						 .start_ns = now_ns,
						 .end_ns = now_ns,
						 .last_worker = SB_WORKER_NONE });
}

void sb_record_wake(struct sb_worker *worker, uint64_t wake_ns, uint64_t now_ns)
{
	const uint64_t took = sb_clock_passed(wake_ns, now_ns);

	sb_hist_record(&worker->hists.wake_to_running, took);
	if (is_slow(worker, SB_EXEMPLAR_wake_to_running, took))
		keep_wake(worker, wake_ns, now_ns);
}

void sb_record_stolen(struct sb_worker *worker, uint32_t victim, void *const *items, uint32_t n)
{
	struct sb_steal_cell *cell = &worker->steals[victim];

	if (!worker->records)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct sb_process *p = items[i];
		const uint32_t moves = sb_trail_moves(p);

		sb_counter_add(&cell->restolen, sb_trail_place(p) == SB_WAIT_STOLEN);
		sb_counter_add(&cell->returned, moves && sb_trail_victim(p) == worker->id);
		sb_counter_add(&cell->wandering, moves > SB_WANDERING);
		sb_trail_stolen(p, victim);
	}
}

/* The time spent on looking for idle workers is not part of the step. */
uint64_t sb_record_start(struct sb_worker *worker, struct sb_process *process)
{
	const uint32_t last = process->last_worker;
	const uint64_t now = sb_worker_look(worker);

	if (worker->keeper) {
		worker->keeper->before = worker->step.self;
		worker->keeper->last_worker = last;
	}
	worker->moved_from = last == worker->id ? SB_WORKER_NONE : last;
	if (sb_clock_passed(process->ready_ns, now) < SB_MISSED_WAIT_NS)
		return now;
	sb_record_missed(worker, sb_trail_place(process), process->ready_ns, now);
	return sb_worker_look(worker);
}

/* An event that ends when a step begins; has_begun: that was a moment ago. */
SB_COLD static void keep_start(struct sb_worker *w, enum sb_exemplar_kind kind, uint64_t begin_ns,
			       uint64_t start_ns, const struct sb_process *process, bool has_begun)
{
	const bool is_sent = begin_ns != process->ready_ns;

	sb_keeper_keep(w, kind,
		       &(struct sb_timed_event){ .begin_ns = begin_ns,
						 .start_ns = start_ns,
						 .end_ns = start_ns,
						 .ready_ns = is_sent ? process->ready_ns : 0,
						 .has_begun = has_begun,
						 .process = process,
						 .last_worker = last_worker(w, process) });
}

void sb_record_event(struct sb_worker *worker, const struct sb_process *process,
		     const struct sb_event_node *node, uint64_t now_ns)
{
	const bool is_message = node->event.type == SB_EVENT_MESSAGE;
	const enum sb_exemplar_kind kind =
		is_message ? SB_EXEMPLAR_send_to_step : SB_EXEMPLAR_yield_to_resumed;
	const uint64_t took = sb_clock_passed(node->sent_ns, now_ns);

	sb_hist_record(is_message ? &worker->hists.send_to_step : &worker->hists.yield_to_resumed,
		       took);
	if (is_slow(worker, kind, took))
		keep_start(worker, kind, node->sent_ns, now_ns, process, false);
}

static void record_first_step(struct sb_worker *worker, const struct sb_process *process,
			      uint64_t start_ns)
{
	const uint64_t took = sb_clock_passed(process->start_ns, start_ns);

	sb_hist_record(&worker->hists.submit_to_step, took);
	if (is_slow(worker, SB_EXEMPLAR_submit_to_step, took))
		keep_start(worker, SB_EXEMPLAR_submit_to_step, process->start_ns, start_ns, process,
			   true);
}

SB_COLD static void keep_step(struct sb_worker *w, const struct sb_process *process,
			      uint64_t start_ns, uint64_t end_ns)
{
	sb_keeper_keep(w, SB_EXEMPLAR_step_time,
		       &(struct sb_timed_event){ .begin_ns = start_ns,
						 .start_ns = start_ns,
						 .end_ns = end_ns,
						 .has_begun = true,
						 .process = process,
						 .last_worker = SB_WORKER_NONE });
}

void sb_record_step(struct sb_worker *worker, struct sb_process *process, uint64_t start_ns,
		    uint64_t end_ns)
{
	const uint64_t queued_ns = sb_clock_passed(process->ready_ns, start_ns);
	const uint64_t step_ns = sb_clock_passed(start_ns, end_ns);

	sb_hist_record(&worker->hists.ready_to_running, queued_ns);
	sb_hist_record(&worker->hists.step_time, step_ns);
	sb_counter_add(&worker->counters.timed_steps, 1);
	sb_counter_add(&worker->counters.timed_step_ns, step_ns);
	if (is_slow(worker, SB_EXEMPLAR_ready_to_running, queued_ns))
		keep_start(worker, SB_EXEMPLAR_ready_to_running, process->ready_ns, start_ns,
			   process, true);
	if (worker->moved_from != SB_WORKER_NONE) {
		sb_counter_add(&worker->steals[worker->moved_from].moved_steps, 1);
		sb_counter_add(&worker->steals[worker->moved_from].moved_step_ns, step_ns);
	}
	if (process->timed && sb_counter_read(&process->steps) == 1)
		record_first_step(worker, process, start_ns);
	if (is_slow(worker, SB_EXEMPLAR_step_time, step_ns))
		keep_step(worker, process, start_ns, end_ns);
	if (worker->keeper)
		sb_record_known_step(worker, start_ns, end_ns);
}

SB_COLD static void keep_request(struct sb_worker *w, const struct sb_request_times *times)
{
	sb_keeper_keep(w, SB_EXEMPLAR_sojourn,
		       &(struct sb_timed_event){
			       .begin_ns = times->intended_ns,
			       .start_ns = times->start_ns,
			       .end_ns = times->end_ns,
			       .late_ns = sb_clock_passed(times->intended_ns, times->submitted_ns),
			       .process = w->running,
			       .last_worker = SB_WORKER_NONE });
}

void sb_step_request(const struct sb_step *step, const struct sb_request_times *times)
{
	struct sb_worker *worker = step->worker;

	if (is_slow(worker, SB_EXEMPLAR_sojourn,
		    sb_clock_passed(times->intended_ns, times->end_ns)))
		keep_request(worker, times);
}
