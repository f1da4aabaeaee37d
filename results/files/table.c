#include "results/files/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/wrap.h"

#define GAP 2

static void widen(struct sb_table *table, uint32_t column, const char *text)
{
	const int width = sb_text_width(text);

	if (width > table->column[column].width)
		table->column[column].width = width;
}

void sb_table_column(struct sb_table *table, const char *title, unsigned int flags, int width)
{
	const uint32_t n = table->columns++;

	SB_CHECK(n, <, SB_TABLE_COLUMNS);
	table->column[n].title = title;
	table->column[n].flags = flags;
	table->column[n].width = width;
	widen(table, n, title);
}

void sb_table_cell(struct sb_table *table, const char *format, ...)
{
	char **grown = realloc((void *)table->cell, (table->cells + 1) * sizeof(*grown));
	const uint32_t column = (uint32_t)(table->cells % table->columns);
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (grown)
		table->cell = grown;
	if (!grown || vasprintf(&text, format, args) < 0)
		table->no_memory = true;
	va_end(args);
	if (table->no_memory)
		return;
	table->cell[table->cells++] = text;
	/* What may go on below needs the room of its title alone. */
	if (!(table->column[column].flags & SB_TABLE_WRAPS))
		widen(table, column, text);
}

/* Columns [first, last), behind the keys. */
struct block {
	uint32_t first;
	uint32_t last;
};

/* Of the columns from the first on, those that fit beside each other, but at least one. */
static uint32_t last_that_fits(const struct sb_table *table, uint32_t first, int room)
{
	uint32_t c = first;

	while (c < table->columns && (room -= GAP + table->column[c].width) >= 0)
		c++;
	while (c < table->columns && c > first && (table->column[c].flags & SB_TABLE_JOINS))
		c--;
	return c > first ? c : first + 1;
}

static void put_cell(const struct sb_table *table, FILE *out, uint32_t c, const char *text,
		     bool is_last)
{
	const int blanks = table->column[c].width - sb_text_width(text);

	if (is_last && !*text)
		return;
	if (c)
		fprintf(out, "%*s", GAP, "");
	if (table->column[c].flags & SB_TABLE_LEFT)
		fprintf(out, "%s%*s", text, is_last || blanks < 0 ? 0 : blanks, "");
	else
		fprintf(out, "%*s%s", blanks, "", text);
}

/* A row, or with NULL the titles. */
static void put_row(const struct sb_table *table, FILE *out, const struct block *block, char **row)
{
	for (uint32_t c = 0; c < block->last; c = c + 1 == table->keys ? block->first : c + 1)
		put_cell(table, out, c, row ? row[c] : table->column[c].title,
			 c + 1 == block->last);
}

static void put_block(const struct sb_table *table, FILE *out, const struct block *block,
		      const char *bold)
{
	fputs(bold ? bold : "", out);
	put_row(table, out, block, NULL);
	fputs(bold && *bold ? "\033[0m\n" : "\n", out);
	for (size_t i = 0; i + table->columns <= table->cells; i += table->columns) {
		put_row(table, out, block, table->cell + i);
		fputc('\n', out);
	}
}

static void put_blocks(const struct sb_table *table, FILE *out, int columns, const char *bold)
{
	struct block block = { 0, table->keys };
	int room = columns;

	for (uint32_t c = 0; c < table->keys; c++)
		room -= table->column[c].width + (c ? GAP : 0);
	while (block.last < table->columns) {
		if (block.first)
			fputc('\n', out);
		block.first = block.last;
		block.last = columns ? last_that_fits(table, block.first, room) : table->columns;
		put_block(table, out, &block, bold);
	}
}

void sb_table_put(struct sb_table *table, FILE *out, int columns, const char *bold)
{
	struct sb_wrap wrap;

	if (table->no_memory)
		fputs("no memory for this table\n", out);
	else
		put_blocks(table, sb_wrap_begin(&wrap, out, &columns), columns, bold);
	if (!table->no_memory)
		sb_wrap_end(&wrap);
	for (size_t i = 0; i < table->cells; i++)
		free(table->cell[i]);
	free((void *)table->cell);
	*table = (struct sb_table){ .keys = 0 };
}
