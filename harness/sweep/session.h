/*
 * session.h - a sweep while it is worked on: between the parts of its verb.
 *	harness/verbs/sweep.c	the verb, and the plan
 *	session_store.c		a new store, or one that is there
 *	merge.c			a new store with the rows of chunks
 *	rows.c			the rows
 *	session_result.c	what is written at the end
 */
#ifndef SB_HARNESS_SWEEP_SESSION_H
#define SB_HARNESS_SWEEP_SESSION_H

#include "affinity/topology.h"
#include "harness/output/store.h"
#include "harness/sweep/chunk.h"
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
	char *store_directory;	 /* of a sweep that a cluster runs; NULL: the result's */
	struct sb_store *origin; /* of the first chunk whose rows were taken; NULL: none */
	struct sb_topology *topology;
	struct sb_result result;

	bool *done; /* by repetition and configuration */
	uint32_t rows;
	struct sb_chunk chunk;
	uint32_t rows_here; /* those of the chunk */
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

/* Whether that row has been run; NULL: the plan does not have it. */
static inline bool *sb_session_done(const struct sb_session *s, uint32_t configuration,
				    uint32_t repetition)
{
	if (configuration >= s->sweep.configurations || repetition >= s->sweep.repetitions)
		return NULL;
	return &s->done[repetition * s->sweep.configurations + configuration];
}

/* All that follows returns 0, or an exit status after an error has been
 * printed. */
int sb_session_plan(struct sb_session *s);

/* One more repetition of each configuration is planned. */
int sb_session_add_round(struct sb_session *s);

/* Makes the directory and its store, of that command line. */
int sb_session_begin(struct sb_session *s, const struct sb_arguments *plan);

/* Opens the store of the given directory, reads its command line into stored,
 * which has to live as long, and plans again. With --resume it must be this
 * machine and this build. */
int sb_session_resume(struct sb_session *s, struct sb_arguments *stored);

/* "sweep" and the command line of a store; the arguments are to be freed in any case. */
int sb_session_read_arguments(struct sb_store *store, const char *directory,
			      struct sb_arguments *out);

/* The plan's options are those, which have to live as long; refused if they run code that has not
 * been allowed. name: of the plan, for errors. */
int sb_session_parse_stored(struct sb_session *s, struct sb_arguments *stored, const char *name);

/*
 * Makes the directory and a store with the rows of the chunks in the directories that are given,
 * which stay as they are. All have the plan of the first, whose command line is read into stored,
 * and each row is there at most once. Rows of real time are from machines that are alike.
 */
int sb_session_merge(struct sb_session *s, struct sb_arguments *stored);

/* Takes the rows of one chunk, whose directory is on a local disk; name: for errors. may_repeat: rows that are there
 * are passed over; else they are an error. Between sb_store_begin_rows and sb_store_end_rows. */
int sb_session_take_chunk(struct sb_session *s, const struct sb_arguments *plan,
			  const char *directory, const char *name, bool may_repeat);

/* Runs what is not done, until it is or sb_interrupted; then, if it is no chunk, whole further
 * repetitions as long as one may make up for an invalid row. */
int sb_session_run(struct sb_session *s);

/* Writes the result of the rows so far, and says what was found. plan: the store's command
 * line. */
int sb_session_finish(struct sb_session *s, const struct sb_arguments *plan);

/* For what is not done. */
double sb_session_planned_ns(const struct sb_session *s);

#define SB_DURATION_BYTES 40

/* "1 min 05 s". Returns out. */
const char *sb_session_format_duration(char *out, double seconds);

#endif
