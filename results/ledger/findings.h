/* findings.h - the lines that the ledgers add to the summary of a run. */
#ifndef SB_RESULTS_LEDGER_FINDINGS_H
#define SB_RESULTS_LEDGER_FINDINGS_H

#include <stdio.h>

#include "results/record/record.h"

/* For people; columns: of the terminal, 0: of any width. */
void sb_write_ledger_findings(const struct sb_result *result, FILE *out, int columns);

#endif
