/*
 * escape.h - text from outside where it is printed: one function for each target.
 *
 * A label, a reason, a name, a path may hold anything: it came from a file, the command line or the
 * system. It is kept as it is, and each place that prints it passes it through the function of
 * the target. scripts/foreign.py, a part of the lint, finds the places that do not.
 *
 *	target                      function
 *	terminal                    sb_terminal_text
 *	CSV                         sb_csv_put_text
 *	HTML, SVG within it         sb_html
 *	Markdown                    sb_put_markdown
 *	JUnit's XML                 sb_put_xml
 *	GitHub's annotations        sb_put_annotation
 *	OpenMetrics                 sb_put_openmetrics
 *	a shell's command line      sb_put_shell
 *	#SBATCH lines               sb_put_sbatch
 *	gnuplot                     sb_plot_quote, in results/plots/text.h
 *	JSON                        jansson, and sb_trace_put_text in results/trace/trace_writer.h
 *	job files                   sb_ini_put_value, in harness/terminal/ini.h
 *
 * Where a target has no form for a control character, a byte that is no UTF-8 or a character that
 * changes the direction of writing, the reader sees its number: \x1b, \xff, \u202e.
 */
#ifndef SB_RESULTS_TEXT_ESCAPE_H
#define SB_RESULTS_TEXT_ESCAPE_H

#include <stdio.h>

#include "core/platform/base.h"

struct sb_character {
	const char *at;
	size_t bytes;
	uint32_t code; /* SB_NO_CHARACTER: a byte that belongs to none */
	bool is_plain; /* shows itself, and changes nothing else */
};

#define SB_NO_CHARACTER UINT32_MAX

/* Takes the next character of a text; false at its end. */
bool sb_next_character(const char **rest, struct sb_character *c);

/* Returns the text as a terminal may print it within a line: the text itself, or a copy that is
 * overwritten by the 16th further call of this thread. */
const char *sb_terminal_text(const char *text);

/* Returns a copy that is UTF-8 and tells a terminal nothing: a question mark for what is not plain,
 * except line feeds and tabs. NULL: no memory. For the caller to free. */
char *sb_text_copy(const char *text);

/*
 * A cell of CSV (RFC 4180): quotes around what contains a quote, a comma or a line break. A
 * spreadsheet evaluates a cell that begins with = + - @, a tab or a carriage return. Unless it is a
 * number, such a cell begins with an apostrophe here, and so does one that has apostrophes
 * before such a character. A reader removes one apostrophe from a cell that begins with
 * apostrophes and one of these characters; the value is then the original.
 */
void sb_csv_put_text(FILE *out, const char *text);

/* Removes that apostrophe, in place. */
void sb_csv_restore(char *cell);

/* Text and attributes. */
void sb_html(FILE *out, const char *text);

/* Text that means nothing to Markdown or to GitHub, cut off where it is long. */
void sb_put_markdown(FILE *out, const char *text);

/* Text and attributes. */
void sb_put_xml(FILE *out, const char *text);

/* property: before the second "::" of the line, where a comma and a colon end a property. */
void sb_put_annotation(FILE *out, const char *text, bool property);

/* A label's value, between its quotes, or a help text. */
void sb_put_openmetrics(FILE *out, const char *text);

/* A word as a shell reads it back. */
void sb_put_shell(FILE *out, const char *word);

/* A word of a #SBATCH line, which must be one line: false if the text has control characters, and
 * nothing is written. */
SB_MUST_CHECK bool sb_put_sbatch(FILE *out, const char *word);

#endif
