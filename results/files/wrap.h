/* wrap.h - lines that are too long for the terminal. */
#ifndef SB_RESULTS_FILES_WRAP_H
#define SB_RESULTS_FILES_WRAP_H

#include <stdio.h>

/* Goes on below, indented, where there is a blank. */
void sb_put_wrapped(FILE *out, const char *text, int columns);

/* Columns that a text takes; colours take none. */
int sb_text_width(const char *text);

/* Text that is written to a stream, and wrapped at its end. */
struct sb_wrap {
	FILE *out;
	FILE *memory;
	char *text;
	size_t bytes;
	int columns;
};

/*
 * Returns the stream to write to: out itself for *columns 0, which are of any width, or if there is
 * no memory for another one. Too few columns become as many as a line needs.
 */
FILE *sb_wrap_begin(struct sb_wrap *wrap, FILE *out, int *columns);
void sb_wrap_end(struct sb_wrap *wrap);

#endif
