/*
 * row.h - one row in a store: a result.json that has one series with one
 * repetition. A fork's result has several.
 */
#ifndef SB_HARNESS_RUN_ROW_H
#define SB_HARNESS_RUN_ROW_H

#include "results/record/record.h"

/* The text of the row, with the result's facts; for the caller to free. NULL: no
 * memory. */
char *sb_row_text(const struct sb_result *result, const struct sb_series *series,
		  uint32_t repetition);

/* The text of the row that a process has written into its result directory; for the caller to free.
 * NULL: there is none, or no memory. */
char *sb_row_read(const char *directory);

/* Replaces the facts that `to` has under the same names. Returns 0, or an exit
 * status after an error has been printed. */
SB_MUST_CHECK int sb_row_take_facts(const struct sb_result *from, struct sb_result *to);

/*
 * Moves the `rows` rows of `from` to the records of the series, starting at record `repetition`. Moves the
 * readings of the memory, too, if the series has none. Each record keeps its own fork number. Returns false,
 * and moves nothing, if `from` has another number of rows or of workers.
 */
bool sb_rows_adopt(struct sb_result *from, struct sb_series *series, uint32_t repetition,
		   uint32_t rows);

#endif
