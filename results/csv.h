/* csv.h - cells of a CSV file, as all of ours have them. */
#ifndef SB_RESULTS_CSV_H
#define SB_RESULTS_CSV_H

#include <stdio.h>

/* RFC 4180: quotes around what contains a quote, a comma or a line break. */
void sb_csv_put_text(FILE *out, const char *text);

/* Integers whole, others with as many digits as it takes to have the very same
 * number back; nothing for what was not measured. */
void sb_csv_put_number(FILE *out, double value);

#endif
