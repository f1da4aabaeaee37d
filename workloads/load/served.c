#include "workloads/load/served.h"

#include <math.h>

void sb_served_complete(struct sb_served *served, const struct sb_step *step,
			struct sb_generators *generators, const struct sb_request *request,
			uint64_t start_ns, uint64_t end_ns)
{
	const struct sb_window *window = sb_generators_window(generators);
	const uint64_t batch_ns = (window->to_ns - window->from_ns) / SB_REQUEST_BATCHES + 1;
	struct sb_request_batch *batch;

	served->in_window += end_ns >= window->from_ns && end_ns < window->to_ns;
	if (request->intended_ns < window->from_ns)
		return;
	/* A closed loop's last ones may come after the window. */
	batch = &served->batch[sb_min_u64((request->intended_ns - window->from_ns) / batch_ns,
					  SB_REQUEST_BATCHES - 1)];
	batch->requests++;
	batch->sojourn_ns += end_ns - request->intended_ns;
	sb_hist_record(&served->wait, start_ns - request->intended_ns);
	sb_hist_record(&served->service, end_ns - start_ns);
	sb_hist_record(&served->sojourn, end_ns - request->intended_ns);
	sb_step_request(step, &(struct sb_request_times){ .intended_ns = request->intended_ns,
							  .submitted_ns = request->submitted_ns,
							  .start_ns = start_ns,
							  .end_ns = end_ns });
	sb_counter_add(&served->requests, 1);
	sb_generators_completed(generators, request->generator);
}

void sb_served_read(struct sb_served *served, struct sb_requests *out)
{
	out->completed += sb_counter_read(&served->requests);
	out->in_window += served->in_window;
	for (uint32_t i = 0; i < SB_REQUEST_BATCHES; i++) {
		out->batch[i].requests += served->batch[i].requests;
		out->batch[i].sojourn_ns += served->batch[i].sojourn_ns;
	}
	sb_hist_read(&served->sojourn, &out->hist[SB_REQUEST_sojourn]);
	sb_hist_read(&served->wait, &out->hist[SB_REQUEST_wait]);
	sb_hist_read(&served->service, &out->hist[SB_REQUEST_service]);
}

void sb_served_end_round(struct sb_requests *out, const struct sb_generators *generators,
			 uint64_t end_ns)
{
	const struct sb_window *window = sb_generators_window(generators);

	out->wall_ns += end_ns - window->from_ns;
	out->window_ns += window->to_ns - window->from_ns;
	/* From submission on: what is late is not in the system yet. */
	out->in_system_expected =
		(double)(out->hist[SB_REQUEST_sojourn].sum - out->hist[SB_REQUEST_lateness].sum) /
		out->observed_ns;
	if (sb_requests_lost(out))
		out->in_system_expected = NAN;
}
