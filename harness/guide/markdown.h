/* markdown.h - Markdown on a terminal: paragraphs and tables fit its width. */
#ifndef SB_HARNESS_GUIDE_MARKDOWN_H
#define SB_HARNESS_GUIDE_MARKDOWN_H

#include <stddef.h>

/* Writes whole lines, that many bytes of text, to standard output; unchanged, if that is no terminal. */
void sb_markdown_put(const char *text, size_t bytes);

/* Writes a row of a table: its first cell, and the others below it. */
void sb_markdown_put_row(const char *row);

/* Writes the cells behind the first one of a row. */
void sb_markdown_put_definition(const char *row);

#endif
