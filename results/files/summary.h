/* summary.h - the summary of a result in the terminal. */
#ifndef SB_RESULTS_FILES_SUMMARY_H
#define SB_RESULTS_FILES_SUMMARY_H

#include <stdio.h>

#include "results/record/record.h"

/*
 * color: with ANSI colours. columns: of the terminal, at least 40; tables that
 * are wider go on below, as do lines; 0: there is no end to a line.
 */
void sb_write_summary(const struct sb_result *result, FILE *out, bool color, int columns);

#endif
