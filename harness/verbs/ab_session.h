/* ab_session.h - a comparison of two sides while it goes on. */
#ifndef SB_HARNESS_VERBS_AB_SESSION_H
#define SB_HARNESS_VERBS_AB_SESSION_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "harness/compare/compared.h"
#include "harness/compare/sides.h"
#include "harness/terminal/progress.h"

/* One workload's pairs, and the arguments of their sides. */
struct sb_ab_trial {
	const struct sb_chosen *chosen;
	struct sb_arguments arguments[SB_SIDES];
	struct sb_pairs pairs;
};

struct sb_ab {
	const struct sb_options *options;
	struct sb_saved *saved; /* the pairs so far */
	struct sb_compared compared;
	struct sb_side_text side[SB_SIDES];
	struct sb_ab_trial *trial; /* [trials] */
	uint32_t trials;
	uint32_t begun; /* trials that have been */
	struct sb_result result;
	struct sb_findings findings;
	char *failures; /* the file */
	struct sb_progress progress;
	const struct sb_ab_trial *now;
	double pair_ns; /* a guess, then what it takes */
	bool is_interrupted;
};

int sb_ab_conclude(struct sb_ab *s);

/* command: the line with which the comparison was begun. */
int sb_ab_collect(struct sb_ab *s, const char *command);

/* Returns 0 or -errno. */
int sb_ab_write_tables(const struct sb_ab *s);

/* What a side is, for people. */
static inline const char *sb_side_words(const struct sb_side_text *side)
{
	return *side->text ? side->text : "no options of its own";
}

/* "A" or "B". */
static inline const char *sb_side_name(int side)
{
	return side ? "B" : "A";
}

#endif
