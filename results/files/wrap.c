/* wrap.c - lines that are too long for the terminal. */
#include "results/files/wrap.h"

#include <stdbool.h>
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
