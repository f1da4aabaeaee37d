/*
 * generator.h - threads that submit requests as a load says.
 *
 * Open loop: each request has an intended time, which does not depend on what
 * became of others, nor on whether the thread was held up. It is submitted then,
 * or as soon after as can be; those that are overdue are submitted at once, and
 * keep their intended times. Latencies count from these, so a stall of the
 * generator, or one of the system that held it up, cannot be missed (coordinated
 * omission). A thread sleeps until shortly before the time and spins the rest.
 *
 * Closed loop: each generator has its share of the depth under way and submits
 * the next when one is completed; it sleeps in between.
 *
 * One more thread looks at random moments how many requests are in the system,
 * for Little's law.
 *
 * Of a round a window is measured. Requests that are intended before it make the queue forget that it
 * was empty; they are submitted and served as all others, and count nowhere.
 *
 * Threads have the CPUs of the thread that starts them.
 */
#ifndef SB_WORKLOADS_LOAD_GENERATOR_H
#define SB_WORKLOADS_LOAD_GENERATOR_H

#include "core/requests.h"
#include "workloads/load/load.h"

struct sb_request {
	uint64_t intended_ns;
	uint64_t submitted_ns;
	uint64_t number; /* of its generator, from 0 on */
	uint32_t generator;
};

/* The workload's functions; arg is passed to all. */
struct sb_generator_ops {
	/* The generator's thread. 0: the request will be completed and be told
	 * of by sb_generators_completed; else it is lost. */
	int (*submit)(void *arg, const struct sb_request *request);

	/* Once in each round, after the last submission of all generators; also
	 * if the round could not start. */
	void (*ended)(void *arg);
};

struct sb_generators;

/* The load is the caller's, and may change between rounds, but not its number
 * of generators. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_generators_create(struct sb_generators **generators,
				       const struct sb_load *load,
				       const struct sb_generator_ops *ops, void *arg);

struct sb_window {
	uint64_t from_ns;
	uint64_t to_ns; /* nothing is intended at that time or later */
};

/* A round: submits for relax_ns, and then for its window, which lasts duration_ns. A closed loop
 * needs no relax_ns. Returns 0 or -errno of a thread's start. */
SB_MUST_CHECK int sb_generators_start(struct sb_generators *generators, uint64_t relax_ns,
				      uint64_t duration_ns);

/* A request of the window that was accepted is completed. Any thread. */
void sb_generators_completed(struct sb_generators *generators, uint32_t generator);

/* Ends a round at once, if it has not ended, and waits for the threads. */
void sb_generators_stop(struct sb_generators *generators);

/* Of the round, from its start on. Any thread. */
const struct sb_window *sb_generators_window(const struct sb_generators *generators);

/* Requests of the last round, which has been stopped, that were accepted, those before the window
 * included. */
uint64_t sb_generators_accepted(struct sb_generators *generators);

/* Adds what the generators know of the last round, which has been stopped;
 * in_system as of that round. */
void sb_generators_read(struct sb_generators *generators, struct sb_requests *out);

void sb_generators_destroy(struct sb_generators *generators);

#endif
