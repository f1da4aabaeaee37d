/* number.h - numbers as text, for people and for programs. */
#ifndef SB_RESULTS_RECORD_NUMBER_H
#define SB_RESULTS_RECORD_NUMBER_H

#include "results/stats/statistics.h"

/*
 * A number with its unit for people: three significant digits, SI prefixes
 * for times and counts. out has room for SB_HUMAN_BYTES. "-" for NaN and infinity.
 */
#define SB_HUMAN_BYTES 32
void sb_human(char *out, double value, const char *unit);

/* "50.0 ms [49.9 .. 50.1]": median, minimum and maximum in the median's unit, with
 * its decimals. out has room for SB_RANGE_BYTES: none is cut off, however far it is
 * from the median. */
#define SB_RANGE_BYTES 80
void sb_human_ns_range(char *out, const struct sb_spread *ns);

/* A number for programs: with as many digits as it takes to have the very same
 * one back, an integer whole. out has room for SB_EXACT_BYTES. */
#define SB_EXACT_BYTES 32
void sb_exact(char *out, double value);

#endif
