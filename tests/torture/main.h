/* main.h - rounds in processes of their own, for the command line and for shrinking. */
#ifndef SB_TESTS_TORTURE_MAIN_H
#define SB_TESTS_TORTURE_MAIN_H

#include <sys/types.h>

#include "tests/torture/script.h"

/* How a round ended. */
struct verdict {
	bool failed;
	bool hung;
	double seconds;
	uint64_t lives, parcels;
	char reason[400];
};

/* A round in a child. All zero: none. */
struct job {
	pid_t child;
	struct world *world; /* shared with it */
	FILE *words;	     /* what it prints, and of a failure what was still open */
	double start_s, since_s;
	uint64_t progress;
};

/* Before any other of these. */
void jobs_init(void);

void job_start(struct job *job, const struct script *script);

/* True if the round has ended, or was killed because it made no progress for patience_s; *verdict is
 * then filled in. */
bool job_has_ended(struct job *job, double patience_s, struct verdict *verdict);

/* Kills the child, if there is one. */
void job_end(struct job *job);

/* Waits until a job has ended, at most 100 ms. */
void jobs_wait(void);

/* Runs one round and waits for its end. */
struct verdict run_round(struct job *job, const struct script *script, double patience_s);

double now_s(void);

/* Leaves out parts that the failure does not need, for at most that many seconds. Returns in how many
 * of TRIES rounds the shorter script fails. */
#define TRIES 10
uint32_t shrink(struct script *script, const struct verdict *verdict, double seconds,
		struct job *job);

#endif
