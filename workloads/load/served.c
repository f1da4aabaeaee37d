#include "workloads/load/served.h"

#include <math.h>

void sb_served_complete(struct sb_served *served, const struct sb_step *step,
			struct sb_generators *generators, const struct sb_request *request,
			uint64_t start_ns, uint64_t end_ns)
{
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
	sb_hist_read(&served->sojourn, &out->hist[SB_REQUEST_sojourn]);
	sb_hist_read(&served->wait, &out->hist[SB_REQUEST_wait]);
	sb_hist_read(&served->service, &out->hist[SB_REQUEST_service]);
}

void sb_served_end_round(struct sb_requests *out, uint64_t wall_ns)
{
	out->wall_ns += wall_ns;
	/* From submission on: what is late is not in the system yet. */
	out->in_system_expected =
		(double)(out->hist[SB_REQUEST_sojourn].sum - out->hist[SB_REQUEST_lateness].sum) /
		out->observed_ns;
	if (sb_requests_lost(out))
		out->in_system_expected = NAN;
}
