/* files.h - all tables of a result directory as CSV: those of results/files/, and the ledger's. */
#ifndef SB_RESULTS_LEDGER_FILES_H
#define SB_RESULTS_LEDGER_FILES_H

#include "results/record/record.h"

/* Into the result's directory; of the ledger's those that the result has something for. Returns
 * 0 or -errno; *failed is then the file's name. */
int sb_write_tables(const struct sb_result *result, const char **failed);

#endif
