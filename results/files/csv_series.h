/* csv_series.h - series.csv. */
#ifndef SB_RESULTS_FILES_CSV_SERIES_H
#define SB_RESULTS_FILES_CSV_SERIES_H

#include <stdio.h>

#include "results/record/record.h"

/* The columns at the end of each row: settings, validity. */
void sb_csv_put_row_end(FILE *out, const struct sb_series *series);

/* Returns 0 or -errno. */
int sb_csv_write_series(const struct sb_result *result, FILE *out);

#endif
