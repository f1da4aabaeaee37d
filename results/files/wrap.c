/* wrap.c - lines that are too long for the terminal. */
#include "results/files/wrap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many bytes a character and what has no width before it take. */
static size_t glyph_bytes(const char *at)
{
	size_t n = 0;

	if (at[n] == '\033') {
		n += strcspn(at, "m");
		return at[n] ? n + 1 : n;
	}
	do
		n++;
	while (((unsigned char)at[n] & 0xc0) == 0x80);
	return n;
}

int sb_text_width(const char *text)
{
	int width = 0;

	while (*text) {
		width += *text != '\033';
		text += glyph_bytes(text);
	}
	return width;
}

/* Bytes of the line that fit: up to a blank if there is one,
 * else as many as there is room for. */
static size_t bytes_that_fit(const char *line, int columns)
{
	size_t blank = 0;
	size_t n = 0;
	int width = 0;

	while (line[n] && line[n] != '\n') {
		const bool has_width = line[n] != '\033';

		if (has_width && width == columns)
			return blank ? blank : n;
		if (line[n] == ' ' && n)
			blank = n;
		width += has_width;
		n += glyph_bytes(line + n);
	}
	return n;
}

#define INDENT 4

void sb_put_wrapped(FILE *out, const char *text, int columns)
{
	while (*text) {
		size_t n = bytes_that_fit(text, columns);

		fwrite(text, 1, n, out);
		text += n;
		text += strspn(text, " ");
		while (*text && *text != '\n') {
			n = bytes_that_fit(text, columns - INDENT);
			fprintf(out, "\n%*s%.*s", INDENT, "", (int)n, text);
			text += n;
			text += strspn(text, " ");
		}
		fputc('\n', out);
		text += *text == '\n';
	}
}

/* A narrower terminal gets lines of so much all the same. */
#define COLUMNS_MIN 40

FILE *sb_wrap_begin(struct sb_wrap *wrap, FILE *out, int *columns)
{
	if (*columns && *columns < COLUMNS_MIN)
		*columns = COLUMNS_MIN;
	*wrap = (struct sb_wrap){ .out = out, .columns = *columns };
	if (*columns)
		wrap->memory = open_memstream(&wrap->text, &wrap->bytes);
	return wrap->memory ? wrap->memory : out;
}

void sb_wrap_end(struct sb_wrap *wrap)
{
	if (wrap->memory && !fclose(wrap->memory))
		sb_put_wrapped(wrap->out, wrap->text, wrap->columns);
	free(wrap->text);
}
