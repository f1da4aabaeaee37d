/* csv.h - the CSV files of a result directory, and the cells of any. */
#ifndef SB_RESULTS_FILES_CSV_H
#define SB_RESULTS_FILES_CSV_H

#include <stdio.h>

#include "results/text/escape.h"
#include "results/record/record.h"

/* Integers whole, others with as many digits as it takes to have the very same
 * number back; nothing for what was not measured. */
void sb_csv_put_number(FILE *out, double value);

/*
 * runs.csv, series.csv, workers.csv, yields.csv, steals.csv, spins.csv, latency.csv and
 * memory.csv, into the result's directory. RFC 4180 with line feeds; an empty cell is something that
 * was not measured. Returns 0 or -errno; *failed is then the file's name.
 */
int sb_write_csv_files(const struct sb_result *result, const char **failed);

/* runs.csv alone, to a stream. Returns 0 or -ENOMEM. */
int sb_write_runs_csv(const struct sb_result *result, FILE *out);

#endif
