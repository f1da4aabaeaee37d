#include "harness/guide/markdown.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/platform/base.h"
#include "harness/cli/help.h"

#define FENCE "```"

#define CELL_BYTES 500
#define ROW_BYTES  1024

static bool begins(const char *line, const char *mark)
{
	return !strncmp(line, mark, strlen(mark));
}

/* In place: of a link its text, and, if asked for, the target that is an address; the texts' own files
 * need not be on this machine. */
static void drop_links(char *text, bool keeps_addresses)
{
	const char *at = text;
	bool code = false;

	while (*at) {
		const size_t label = *at == '[' && !code ? strcspn(at + 1, "[]") : 0;
		const char *target;
		size_t length;

		if (!label || !begins(at + 1 + label, "](")) {
			code ^= *at == '`';
			*text++ = *at++;
			continue;
		}
		target = at + label + 3;
		length = strcspn(target, ")");
		memmove(text, at + 1, label);
		text += label;
		if (keeps_addresses && begins(target, "https:")) {
			*text++ = ' ';
			*text++ = '(';
			memmove(text, target, length);
			text += length;
			*text++ = ')';
		}
		at = target + length + (target[length] == ')');
	}
	*text = '\0';
}

static void drop_code_marks(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (*at != '`')
			*to++ = *at;
	}
	*to = '\0';
}

/* A cell of a table without code marks and targets of links; returns what is behind it. */
static const char *take_cell(const char *at, char *out)
{
	size_t n;

	at += strspn(at, " |");
	n = sb_min_u64(strcspn(at, "|\n"), CELL_BYTES - 1);
	memcpy(out, at, n);
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	drop_links(out, false);
	drop_code_marks(out);
	return at + strcspn(at, "|\n");
}

void sb_markdown_put_definition(const char *row)
{
	char cell[CELL_BYTES];

	for (row = take_cell(row, cell); *row == '|' && row[1] != '\n';) {
		row = take_cell(row, cell);
		if (!*cell)
			continue;
		fputs("    ", stdout);
		sb_help_wrapped(cell, 4);
	}
}

void sb_markdown_put_row(const char *row)
{
	char cell[CELL_BYTES];

	take_cell(row, cell);
	sb_help_wrapped(cell, 0);
	sb_markdown_put_definition(row);
}

/* ---- lines ---- */

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

/* How far the lines of an item are indented; 0: it is none. */
static int item_indent(const char *line)
{
	const size_t digits = strspn(line, "0123456789");

	if (begins(line, "- "))
		return 2;
	return digits && begins(line + digits, ". ") ? (int)digits + 2 : 0;
}

/* A paragraph or an item of a list, while its lines are joined. */
struct paragraph {
	size_t n;
	int indent;
	char text[4096];
};

static void end_paragraph(struct paragraph *p)
{
	p->text[p->n] = '\0';
	drop_links(p->text, true);
	if (p->n)
		sb_help_wrapped(p->text, p->indent);
	p->n = 0;
}

static void add_line(struct paragraph *p, const char *line)
{
	const size_t spaces = strspn(line, " ");
	const size_t length = sb_min_u64(strcspn(line + spaces, "\n"), sizeof(p->text) - 2);

	if (item_indent(line) || p->n + length + 2 > sizeof(p->text))
		end_paragraph(p);
	if (!p->n)
		p->indent = item_indent(line);
	else
		p->text[p->n++] = ' ';
	memcpy(p->text + p->n, line + spaces, length);
	p->n += length;
}

static void put_line(const char *line)
{
	printf("%.*s\n", (int)strcspn(line, "\n"), line);
}

static void put_row(const char *row)
{
	char text[ROW_BYTES];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(row, "\n"), row);
	drop_links(text, true);
	puts(text);
}

/* Returns what is behind it. */
static const char *put_code(const char *line, const char *end)
{
	for (line = next_line(line); line < end && !begins(line, FENCE); line = next_line(line))
		put_line(line);
	return next_line(line);
}

static bool has_empty_cell(const char *row)
{
	const char *empty = strstr(row, "| |");

	return empty && empty < next_line(row);
}

/* As it stands if it fits, else each row's cells below each other. Returns what is behind it. */
static const char *put_table(const char *table, const char *end)
{
	size_t widest = 0;
	const char *line;

	for (line = table; line < end && *line == '|'; line = next_line(line)) {
		if (strcspn(line, "\n") > widest)
			widest = strcspn(line, "\n");
	}
	for (line = table; line < end && *line == '|'; line = next_line(line)) {
		if (widest <= (size_t)sb_help_columns())
			put_row(line);
		else if (!begins(line, "|--") && (line != table || !has_empty_cell(line)))
			sb_markdown_put_row(line);
	}
	return line;
}

static bool is_paragraph(const char *line)
{
	return !strchr("\n#|!", *line) && !begins(line, FENCE);
}

/* Code, a table, a heading, a picture or an empty line. Returns what is behind it. */
static const char *put_block(const char *block, const char *end)
{
	if (begins(block, "!["))
		return next_line(block);
	if (begins(block, FENCE))
		return put_code(block, end);
	if (*block == '|')
		return put_table(block, end);
	put_line(block);
	return next_line(block);
}

void sb_markdown_put(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	struct paragraph p = { .n = 0 };

	if (sb_help_columns() == INT_MAX) {
		fwrite(text, 1, bytes, stdout);
		return;
	}
	while (text < end) {
		if (is_paragraph(text)) {
			add_line(&p, text);
			text = next_line(text);
		} else {
			end_paragraph(&p);
			text = put_block(text, end);
		}
	}
	end_paragraph(&p);
}
