/*
 * session.h - a sweep while it is worked on: between the parts of its verb.
 *	harness/verbs/sweep.c	the verb; the plan, and what is written at the end
 *	session_store.c		a new store, or one that is there
 *	rows.c			the rows
 */
#ifndef SB_HARNESS_SWEEP_SESSION_H
#define SB_HARNESS_SWEEP_SESSION_H

#include "affinity/topology.h"
#include "harness/output/store.h"
#include "harness/sweep/hidden.h"
#include "harness/sweep/sweep.h"
#include "harness/terminal/progress.h"
#include "results/record/record.h"

struct sb_session {
	struct sb_options *given; /* on this command line */
	struct sb_options plan_options;
	struct sb_options *options; /* what the plan is made from: one of them */
	struct sb_arguments canonical;

	struct sb_sweep sweep;
	struct sb_hidden hidden;
	struct sb_store *store;
	struct sb_topology *topology;
	struct sb_result result;

	bool *done; /* by configuration and repetition */
	uint32_t rows;
	uint32_t rows_done;

	/* Of threads that run rows; what follows has no room for several. */
	struct sb_lock lock;
	uint32_t threads;
	uint32_t next; /* row that nobody has begun, by their order */
	int rc;

	struct sb_progress progress;
	double *latest; /* of each configuration, the first objective's latest value */
};

/* Whether a flag was given on this command line. */
static inline bool sb_session_is(const struct sb_session *s, enum sb_option_id id)
{
	return sb_opt(s->given, id);
}

/* All that follows returns 0, or an exit status after an error has been
 * printed. */
int sb_session_plan(struct sb_session *s);

/* Makes the directory and its store. */
int sb_session_begin(struct sb_session *s);

/* Opens the store of the given directory, reads its command line into stored,
 * which has to live as long, and plans again. With --resume it must be this
 * machine and this build. */
int sb_session_resume(struct sb_session *s, struct sb_arguments *stored);

/* Runs what is not done, until it is or sb_interrupted. */
int sb_session_run(struct sb_session *s);

/* For what is not done. */
double sb_session_planned_ns(const struct sb_session *s);

#define SB_DURATION_BYTES 40

/* "1 min 05 s". Returns out. */
const char *sb_session_format_duration(char *out, double seconds);

#endif
