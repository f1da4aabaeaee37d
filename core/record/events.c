#include "core/record/events.h"

void sb_record_event(struct sb_worker *worker, const struct sb_event_node *node, uint64_t now_ns)
{
	sb_hist_record(node->event.type == SB_EVENT_MESSAGE ? &worker->hists.send_to_step
							    : &worker->hists.yield_to_resumed,
		       sb_clock_passed(node->sent_ns, now_ns));
}

void sb_record_step(struct sb_worker *worker, struct sb_process *process, uint64_t start_ns,
		    uint64_t end_ns)
{
	const uint64_t step_ns = sb_clock_passed(start_ns, end_ns);

	sb_hist_record(&worker->hists.ready_to_running,
		       sb_clock_passed(process->ready_ns, start_ns));
	sb_hist_record(&worker->hists.step_time, step_ns);
	sb_counter_add(&worker->counters.timed_steps, 1);
	sb_counter_add(&worker->counters.timed_step_ns, step_ns);
	if (process->timed && sb_counter_read(&process->steps) == 1)
		sb_hist_record(&worker->hists.submit_to_step,
			       sb_clock_passed(process->start_ns, start_ns));
}
