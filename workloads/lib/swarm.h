/*
 * swarm.h - many processes of one step each, for workloads that ask what it
 * costs to start, queue, steal and end them. Every member has a place in which
 * it leaves how often it has run and on which worker, so a check can tell a
 * member that was lost from one that ran twice.
 *
 * A member's place is written by the one who starts it and then by its step;
 * the harness's thread reads it when no process is alive.
 */
#ifndef SB_WORKLOADS_LIB_SWARM_H
#define SB_WORKLOADS_LIB_SWARM_H

#include "workloads/workload.h"

struct sb_swarm;

struct sb_swarm_member {
	const struct sb_swarm *swarm;
	const struct sb_worker *made_by; /* whose step spawned it, or NULL */
	const struct sb_worker *ran_on;	 /* the last time */
	uint64_t runs;
};

struct sb_swarm {
	uint64_t size;
	uint64_t work_ns; /* least time of a member's step */
	struct sb_swarm_member *member;
	uint64_t stolen_before; /* by all workers, when the round began */
};

/* Caller's memory. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_swarm_init(struct sb_swarm *swarm, uint64_t size, uint64_t work_ns);
void sb_swarm_fini(struct sb_swarm *swarm);

/* Starts the members [first, first + count), from outside or in a step. */
SB_MUST_CHECK int sb_swarm_submit(struct sb_swarm *swarm, struct sb_scheduler *scheduler,
				  uint64_t first, uint64_t count);
SB_MUST_CHECK int sb_swarm_spawn(struct sb_swarm *swarm, struct sb_step *step, uint64_t first,
				 uint64_t count);

/*
 * Whether every member has run exactly once, and no more of them on another
 * worker than the one that spawned them than there were items stolen. Makes the
 * swarm ready for the next round. UINT64_MAX: any number may have been stolen.
 */
bool sb_swarm_check(struct sb_swarm *swarm, uint64_t stolen, char *why, size_t why_bytes);

/* ---- a workload whose data begin with a swarm ---- */

/* For start: all members are submitted, and that is timed. */
int sb_swarm_start_outside(struct sb_workload_run *run);

/* For start: one process spawns all members. */
int sb_swarm_start_producer(struct sb_workload_run *run);

/* In a start of its own kind: what is stolen from here on is this round's. */
void sb_swarm_begin(struct sb_workload_run *run);

/* For check: sb_swarm_check, where members come from outside, and where they
 * come from steps and may have been stolen since begin. */
bool sb_swarm_check_outside(struct sb_workload_run *run, char *why, size_t why_bytes);
bool sb_swarm_check_stolen(struct sb_workload_run *run, char *why, size_t why_bytes);

void sb_swarm_teardown(struct sb_workload_run *run);

/* The counts of all workers together since the start. */
struct sb_totals {
	uint64_t steps;
	uint64_t stolen; /* processes; UINT64_MAX: unknown, not recorded */
};

struct sb_totals sb_read_totals(struct sb_scheduler *scheduler);

/* Keeps the CPU busy for so long. */
void sb_work_ns(uint64_t ns);

#endif
