/* load.h - from the options to a load, and the capacity it is a share of. */
#ifndef SB_HARNESS_RUN_LOAD_H
#define SB_HARNESS_RUN_LOAD_H

#include "harness/cli/options.h"
#include "harness/run/ground.h"
#include "results/record/record.h"

/* Whether the options about requests are right, and some chosen workload has a
 * use for them. Returns 0, or an exit status after an error has been printed. */
int sb_load_check(const struct sb_options *options);

/*
 * The load that they ask for; with --load its rate is not known yet. For
 * sb_load_fini. Returns as above.
 */
SB_MUST_CHECK int sb_load_make(struct sb_load *load, const struct sb_options *options,
			       uint32_t workers);

/*
 * Returns how many threads that are no workers submit in a round of the workload, if some of them
 * have to share a CPU with a worker; else 0. cpus: how many CPUs they and the workers have.
 */
uint32_t sb_load_sharing(const struct sb_options *options, const struct sb_chosen *chosen,
			 const struct sb_ground *ground, uint32_t *cpus);

/* Whether any chosen workload takes requests. */
bool sb_load_is_taken(const struct sb_options *options);

/* Whether all chosen workloads take requests, and those come by a schedule. */
bool sb_load_has_schedule(const struct sb_options *options);

/* --load's share of the capacity; NaN: not given. */
double sb_load_share(const struct sb_options *options);

/* Makes it a closed loop that keeps all workers busy, to measure the capacity. */
void sb_load_saturate(struct sb_load *load, uint32_t workers);

/*
 * Requests per second that a saturated round could take, if the times of service
 * had been as they are on average: with few long ones, a short round has more or
 * fewer of them by chance.
 */
double sb_load_capacity(const struct sb_requests *requests, uint32_t workers);

/* Makes it an open loop again. */
void sb_load_open(struct sb_load *load, double rate_per_s);

/*
 * The times that a repetition of an open loop needs in virtual time. All members are 0 in real time and in a
 * closed loop. If the queue has no steady state, `load` is the only member that is set.
 */
struct sb_steady {
	double load; /* utilization of the servers; from 1 on the queue has no steady state */
	double relaxation_ns; /* relaxation time of the queue */
	uint64_t relax_ns;    /* from the start of the load to the start of the repetition */
	double needed_ns;     /* duration that the mean sojourn time needs */
	uint64_t duration_ns; /* the lesser of needed_ns and the longest duration allowed */
};

/* capacity_per_s: 0: not measured, then the servers are the workers, and cost nothing. asked_ns,
 * asked_scv: see struct sb_workload_run. */
struct sb_steady sb_load_steady(const struct sb_load *load, const struct sb_options *options,
				uint32_t workers, double capacity_per_s, double asked_ns,
				double asked_scv);

#endif
