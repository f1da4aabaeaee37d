/*
 * requests.h - what was measured of requests that came from outside: plain data
 * that a workload fills in and results are computed from.
 */
#ifndef SB_CORE_REQUESTS_H
#define SB_CORE_REQUESTS_H

#include "core/hist.h"

struct sb_step;

/* The times recorded for a request. */
enum sb_request_hist_id {
	SB_REQUEST_sojourn,  /* intended -> completed */
	SB_REQUEST_wait,     /* intended -> first step */
	SB_REQUEST_service,  /* first step -> completed */
	SB_REQUEST_lateness, /* intended -> submitted */
	/* The sojourn at servers that cost nothing, see workloads/load/replay.h. */
	SB_REQUEST_ideal,
	SB_REQUEST_replayed,
	SB_REQUEST_HISTS
};

/* When a request was due, was submitted, began to be served, and was completed. */
struct sb_request_times {
	uint64_t intended_ns;
	uint64_t submitted_ns;
	uint64_t start_ns;
	uint64_t end_ns;
};

/* Records a request that the step has completed: if it is one of the slowest, it is kept. */
void sb_step_request(const struct sb_step *step, const struct sb_request_times *times);

/* The window of a round is divided into SB_REQUEST_BATCHES equal parts; a batch counts the requests whose
 * intended times lie in one part. */
#define SB_REQUEST_BATCHES 16
struct sb_request_batch {
	uint64_t requests;
	uint64_t sojourn_ns; /* the sum */
};

/* The whole process did not run, by sb_clock_ns; as far as it was seen, and then for longer than that. */
struct sb_stop {
	uint64_t begin_ns;
	uint64_t end_ns;
};

#define SB_STOPS_MAX 8

struct sb_requests {
	bool is_open;	    /* there was a schedule; closed loops have none */
	uint64_t intended;  /* of the schedule; closed: tried */
	uint64_t submitted; /* and accepted */
	uint64_t completed;
	uint64_t on_time;     /* submitted within late_ns of when they should */
	uint64_t late_ns;     /* that bound */
	uint64_t schedule_ns; /* from the start to the last intended time */
	uint64_t sending_ns;  /* from the start to the last submission */
	uint64_t wall_ns;     /* from the start to the last completion */
	uint64_t window_ns;   /* for so long requests were intended; 0: not known */
	uint64_t in_window;   /* completed in that time, whenever they were intended */

	/* For so long the queue remembers how it began; 0: not known. */
	uint64_t relaxation_ns;
	struct sb_request_batch batch[SB_REQUEST_BATCHES];

	/* Time of service asked for: the sum over those completed, early ones
	 * included, and the mean of what it was drawn from. */
	double asked_ns;
	double asked_mean_ns;

	/* Requests between submission and completion, on average over that
	 * time, by looking at random moments; the standard error of that; what
	 * late looks may have missed; and what it must be by Little's law: rate
	 * times mean residence. NaN: unknown. */
	double observed_ns;
	double in_system;
	double in_system_error;
	double in_system_unknown;
	double in_system_expected;

	struct sb_stop stop[SB_STOPS_MAX]; /* [stops], the first of those that the looks saw */
	uint32_t stops;

	bool not_replayed;	     /* there were more than could be noted */
	struct sb_hist_counts *hist; /* [SB_REQUEST_HISTS], the caller's */
};

/* Whether requests had a time at which they should arrive; closed loops have none. */
static inline bool sb_requests_scheduled(const struct sb_requests *r)
{
	return r->is_open && r->intended;
}

/* Intended and never completed. */
static inline uint64_t sb_requests_lost(const struct sb_requests *r)
{
	return r->intended - r->completed;
}

#endif
