/*
 * table.h - a table for people: each column as wide as its widest cell. On a terminal that is
 * narrower it goes on below, in blocks that begin with the first columns; no cell is cut off.
 *
 *	struct sb_table table = { .keys = 1 };
 *
 *	sb_table_column(&table, "workload", SB_TABLE_LEFT, 0);
 *	sb_table_column(&table, "op/s", 0, 7);
 *	sb_table_cell(&table, "%s", name);	row by row
 *	sb_table_cell(&table, "%.3g", value);
 *	sb_table_put(&table, out, sb_terminal_width(out), NULL);
 */
#ifndef SB_RESULTS_FILES_TABLE_H
#define SB_RESULTS_FILES_TABLE_H

#include <stdio.h>

#include "core/platform/base.h"

#define SB_TABLE_COLUMNS 32

enum sb_table_flag {
	SB_TABLE_LEFT = 1,  /* texts begin at the left; numbers end at the right */
	SB_TABLE_JOINS = 2, /* stands in one block with the column before it */
	SB_TABLE_WRAPS = 4  /* the last column, a text that may go on in the next line */
};

struct sb_table {
	uint32_t keys; /* columns with which each block begins */
	struct {
		const char *title;
		unsigned int flags; /* enum sb_table_flag */
		int width;	    /* of the widest cell, or more */
	} column[SB_TABLE_COLUMNS];
	uint32_t columns;
	char **cell; /* [cells], row by row */
	size_t cells;
	bool no_memory;
};

/* The next column, at least that wide. The title lives as long as the table. */
void sb_table_column(struct sb_table *table, const char *title, unsigned int flags, int width);

/* The next cell of the row. It may have colours in it. */
void SB_PRINTF(2, 3) sb_table_cell(struct sb_table *table, const char *format, ...);

/*
 * Prints the title line, bold if bold is not NULL but a terminal's sequence for that, and all rows,
 * and frees the table. columns: of the terminal; 0: of any width. Without memory a line says so.
 */
void sb_table_put(struct sb_table *table, FILE *out, int columns, const char *bold);

#endif
