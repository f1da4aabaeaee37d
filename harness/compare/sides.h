/* sides.h - a side of a comparison from its text: options, before which another
 * sched-bench may be named. */
#ifndef SB_HARNESS_COMPARE_SIDES_H
#define SB_HARNESS_COMPARE_SIDES_H

#include "harness/compare/pairs.h"
#include "harness/sweep/sweep.h"
#include "harness/terminal/shell_words.h"

struct sb_side_text {
	const char *name; /* "A" */
	const char *text; /* as it was given */
	struct sb_words words;
	const char *program; /* of these; NULL: this program */
	uint32_t first;	     /* word behind it */
};

/* Splits it, and looks whether the program is there. Returns 0, or an exit status
 * after an error has been printed; in both cases it is for sb_side_free. */
SB_MUST_CHECK int sb_side_parse(struct sb_side_text *side, const char *name, const char *text);
void sb_side_free(struct sb_side_text *side);

/* That it has no option which both sides must have in common. Returns as above. */
SB_MUST_CHECK int sb_side_check(const struct sb_side_text *side);

/*
 * The arguments of its runs of a workload: the options of both, then its own, then
 * the times, which both have in common. Options of this program are parsed
 * once, so that a mistake is found before anything runs; another program judges
 * for itself. limit_ns: when such a run hangs. Returns as above; arguments are for
 * sb_arguments_free.
 */
SB_MUST_CHECK int sb_side_arguments(const struct sb_side_text *side, const struct sb_options *both,
				    enum sb_verb verb, const struct sb_chosen *chosen,
				    struct sb_arguments *out, uint64_t *limit_ns);

#endif
