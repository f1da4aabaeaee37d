/* rows.h - a table on standard output, as --format says. */
#ifndef SB_HARNESS_OUTPUT_ROWS_H
#define SB_HARNESS_OUTPUT_ROWS_H

#include <jansson.h>

#include "harness/cli/options.h"

/* A list of objects, one for each row, as JSON or CSV; frees it. Returns an exit status. */
int sb_rows_put(json_t *rows, enum sb_format format);

#endif
