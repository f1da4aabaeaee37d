/* apart.h - two runs at different times: whether the spread between runs, if it is known, decides; and
 * what is said if it does not. A part of comparison.h. */
#ifndef SB_RESULTS_COMPARE_APART_H
#define SB_RESULTS_COMPARE_APART_H

#include "results/compare/comparison.h"

/* A finding that was made of the forks of both: with a verdict, or open. */
void sb_apart_judge(const struct sb_comparison *comparison, const struct sb_match *match,
		    struct sb_finding *finding);

/* Notes how all findings were judged. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_apart_note(struct sb_comparison *comparison);

#endif
