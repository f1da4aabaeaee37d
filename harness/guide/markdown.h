/* markdown.h - Markdown on a terminal: paragraphs and tables fit its width. */
#ifndef SB_HARNESS_GUIDE_MARKDOWN_H
#define SB_HARNESS_GUIDE_MARKDOWN_H

#include <stddef.h>

/* To standard output; if that is no terminal, as it stands. The text ends within that many bytes,
 * or with its last byte. */
void sb_markdown_put(const char *text, size_t bytes);

/* A row of a table: its first cell, and the others below it. */
void sb_markdown_put_row(const char *row);

/* Of such a row, the cells behind the first. */
void sb_markdown_put_definition(const char *row);

#endif
