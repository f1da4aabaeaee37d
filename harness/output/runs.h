/* runs.h - the file that says how far runs of one program are apart on this machine
 * (results/compare/spreads.h), in the user's cache; and what follows for another run. */
#ifndef SB_HARNESS_OUTPUT_RUNS_H
#define SB_HARNESS_OUTPUT_RUNS_H

#include "results/compare/spreads.h"

#define SB_RUNS_FILE "runs.json"

/* Reads the file; the caller frees the result with sb_spreads_free. If there is no file, or it is damaged, the
 * result has no spreads; a line on standard error names a damaged file. */
void sb_spreads_open(struct sb_spreads *out);

/* For each series, between which values another run would be: facts "another_run", by the series'
 * title, for the answer. Returns 0 or -ENOMEM. */
SB_MUST_CHECK int sb_runs_foretell(struct sb_result *result);

#endif
