/* summary_virtual.h - the summary's lines about the machine: how many of what it has, and of virtual
 * time, how far its predictions may be trusted, and where the run has waited. */
#ifndef SB_RESULTS_FILES_SUMMARY_VIRTUAL_H
#define SB_RESULTS_FILES_SUMMARY_VIRTUAL_H

#include <stdio.h>

#include "results/record/record.h"

/* ", 2 cores" from the group's fact of that key. */
void sb_summary_put_count(FILE *out, const struct sb_result *result, const char *group,
			  const char *before, const char *key, const char *singular);
void sb_summary_put_counts(FILE *out, const struct sb_result *result, const char *group);

/* Nothing, if the result is of another kind. */
void sb_summary_put_virtual(FILE *out, const struct sb_result *result);

/* The functions that have waited most for cache lines; bold and plain: of a terminal, or "". */
void sb_summary_put_waiting(FILE *out, const struct sb_series *series, const char *bold,
			    const char *plain);

#endif
