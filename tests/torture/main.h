/* main.h - rounds in processes of their own, for the command line and for shrinking. */
#ifndef SB_TESTS_TORTURE_MAIN_H
#define SB_TESTS_TORTURE_MAIN_H

#include "tests/torture/script.h"

/* How a round ended. */
struct verdict {
	bool failed;
	bool hung;
	uint64_t lives, parcels;
	char reason[400];
};

/* Runs the script in a child. What that prints goes to `words`, and so does, of a round that
 * failed, what was still open. */
struct verdict run_round(const struct script *script, double patience_s, FILE *words);

double now_s(void);

/* Leaves out what the failure does not need, for so long. Returns in how many of TRIES rounds the
 * script, as it is then, fails. */
#define TRIES 10
uint32_t shrink(struct script *script, const struct verdict *verdict, double seconds, FILE *words);

#endif
