/*
 * failure.h - a round in which a process has failed is over, also where
 * processes spawn processes that nobody has a list of.
 *
 * The first that fails stores its error and terminates all that are alive. One
 * that is spawned meanwhile may be missed by that, but then it sees the error in
 * its first step, before it waits for anybody.
 */
#ifndef SB_WORKLOADS_LIB_FAILURE_H
#define SB_WORKLOADS_LIB_FAILURE_H

#include <string.h>

#include "workloads/workload.h"

/* A workload's data begin with it, and the states of its processes with a
 * pointer to these data. */
struct sb_failure {
	struct sb_scheduler *scheduler;
	_Atomic(int) error; /* of the first process that failed; or 0 */
};

/* For start, before anything is submitted. */
static inline void sb_failure_clear(const struct sb_workload_run *run)
{
	struct sb_failure *failure = run->data;

	failure->scheduler = run->scheduler;
	sb_store_rlx(&failure->error, 0);
}

/* Ends the round. Any thread. */
void sb_failure_report(struct sb_failure *failure, int error);

/* For start: returns rc, and if that is an error ends what was submitted. */
static inline int sb_failure_started(const struct sb_workload_run *run, int rc)
{
	if (rc)
		sb_failure_report(run->data, rc);
	return rc;
}

/* For check: whether no process has failed. */
bool sb_failure_check(const struct sb_workload_run *run, char *why, size_t why_bytes);

/* Defines name_step: name_advance, unless the round is over. */
#define SB_FAILURE_STEP(name)                                                                      \
	static int name##_step(void *state, struct sb_step *step, const struct sb_event *events,   \
			       uint32_t count)                                                     \
	{                                                                                          \
		struct sb_failure *failure;                                                        \
		int status;                                                                        \
                                                                                                   \
		/* There as a pointer of another type. */                                          \
		memcpy(&failure, state, sizeof(failure));                                          \
		if (SB_UNLIKELY(sb_load_rlx(&failure->error)))                                     \
			return -ECANCELED;                                                         \
		status = name##_advance(state, step, events, count);                               \
		if (SB_UNLIKELY(status < 0))                                                       \
			sb_failure_report(failure, status);                                        \
		return status;                                                                     \
	}

#endif
