/*
 * load.h - how requests are to arrive: plain data that the harness makes from
 * its options and a workload that takes requests hands to its generators.
 */
#ifndef SB_WORKLOADS_LOAD_LOAD_H
#define SB_WORKLOADS_LOAD_LOAD_H

#include "workloads/load/distribution.h"

enum sb_load_kind {
	SB_LOAD_CLOSED, /* so many requests at a time, always */
	SB_LOAD_OPEN,	/* at times that do not depend on what becomes of them */
};

enum sb_arrival {
	SB_ARRIVAL_POISSON,
	SB_ARRIVAL_FIXED,  /* equally spaced */
	SB_ARRIVAL_BURSTY, /* Poisson for a time, nothing for a time */
	SB_ARRIVAL_TRACE,  /* gaps from a file, again from its start at the end */
};

#define SB_GENERATORS_MAX 256

struct sb_load {
	enum sb_load_kind kind;
	uint32_t depth;	   /* closed: requests under way, of all generators */
	bool in_bulk;	   /* closed: more only when half of them are left */
	double rate_per_s; /* open: of all generators, the long-run mean */
	enum sb_arrival arrival;
	double on_ns, off_ns;  /* bursty */
	struct sb_times trace; /* gaps; weights mean nothing */
	uint32_t generators;
	uint64_t late_ns; /* a request submitted that late is not on time */
	uint64_t seed;	  /* and those after it, one for each generator */
};

/* One generator's intended times. Together, all generators' are the load's. */
struct sb_arrivals {
	const struct sb_load *load;
	struct sb_rng rng;
	double now_ns;	 /* the last one; bursty: without the silence */
	double phase_ns; /* of the first, fixed */
	uint32_t gap;	 /* next one of the trace */
	uint32_t skip;	 /* before the first one, of others */
};

void sb_arrivals_init(struct sb_arrivals *arrivals, const struct sb_load *load, uint32_t generator);

/* The next intended time, in nanoseconds since the start; never earlier than the
 * one before. */
double sb_arrivals_next(struct sb_arrivals *arrivals);

/*
 * Sets arrival and what belongs to it from "poisson", "fixed", "bursty:ON:OFF"
 * or "trace:FILE"; a trace sets the rate, too. As sb_distribution_init.
 */
SB_MUST_CHECK int sb_load_set_arrival(struct sb_load *load, const char *text, char *why);
void sb_load_fini(struct sb_load *load);

/* The squared coefficient of variation of the gaps between arrivals, of an open loop. Bursts come
 * regularly, so that over many of them it is that of arrivals within one. */
double sb_load_arrival_scv(const struct sb_load *load);

/* After that time arrivals repeat themselves; 0: they do not. */
double sb_load_cycle_ns(const struct sb_load *load);

#endif
