/*
 * served.h - what a worker knows of the requests that it has completed: how many, and their times.
 * The worker alone writes; any thread reads.
 */
#ifndef SB_WORKLOADS_LOAD_SERVED_H
#define SB_WORKLOADS_LOAD_SERVED_H

#include "core/requests.h"
#include "core/step.h"
#include "workloads/load/generator.h"

/* All zero: none. */
struct sb_served {
	struct sb_hist sojourn;
	struct sb_hist wait;
	struct sb_hist service;
	sb_counter requests;
	/* To be read when the round is over. */
	uint64_t in_window; /* completed in the window, whenever they were intended */
	struct sb_request_batch batch[SB_REQUEST_BATCHES];
};

/* A request has been completed by this step, which began it at start_ns. It counts if it was intended
 * in the window. Its generator is told last, and may submit the next one at once. */
void sb_served_complete(struct sb_served *served, const struct sb_step *step,
			struct sb_generators *generators, const struct sb_request *request,
			uint64_t start_ns, uint64_t end_ns);

/* Adds them to a round's figures. */
void sb_served_read(struct sb_served *served, struct sb_requests *out);

/* After all workers' have been added, and what the generators know: the time of one more round, whose
 * last request was completed at end_ns, and how many requests are in the system by Little's law. */
void sb_served_end_round(struct sb_requests *out, const struct sb_generators *generators,
			 uint64_t end_ns);

#endif
