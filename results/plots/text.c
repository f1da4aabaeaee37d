/*
 * text.c - texts of pictures: quoted for gnuplot, measured, shortened, and broken
 * into lines. gnuplot takes all characters of SVG to be equally wide; what it lays
 * out by that overlaps or is cut off.
 */
#include "results/plots/text.h"

#include <math.h>
#include <string.h>

#include "results/text/escape.h"

static size_t character_bytes(const char *text)
{
	struct sb_character c = { .bytes = 0 };

	(void)sb_next_character(&text, &c);
	return c.bytes;
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text += character_bytes(text))
		n++;
	return n;
}

/* ---- widths ---- */

/* Advances in DejaVu Sans, from the space to the tilde, in hundredths of the font's
 * size; it is the widest of the usual fonts without serifs. */
static const unsigned char advance[] = {
	32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,	 32, 34, 64, 64, 64,
	64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
	58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,	 61, 73, 68, 99, 69,
	61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,	 63, 63, 28, 28, 58,
	28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,	 52, 64, 34, 64, 84,
};

/* Others are as wide as an ideogram at most. */
static double width_of(const char *text, uint32_t font)
{
	const unsigned char c = (unsigned char)*text;

	if (c < 0x80 && (c < ' ' || c >= ' ' + sizeof(advance)))
		return 0.6 * font; /* it will be a space or a question mark */
	return (c < 0x80 ? advance[c - ' '] : 100) * font / 100.0;
}

double sb_plot_text_width(const char *text, uint32_t font)
{
	double width = 0;

	for (; *text; text += character_bytes(text))
		width += width_of(text, font);
	return width;
}

size_t sb_plot_fit(const char *text, uint32_t font, double width)
{
	const size_t all = count_characters(text);
	const double whole = sb_plot_text_width(text, font);

	/* What is left may be wider than the rest. */
	return whole <= width ? all : (size_t)fmax(3, (double)all * 0.9 * width / whole);
}

const char *sb_plot_line_end(const char *text, uint32_t font, double width)
{
	const char *end = text;
	const char *space = NULL;

	for (width -= width_of(end, font); *end && width >= 0; width -= width_of(end, font)) {
		if (*end == ' ' && end > text)
			space = end;
		end += character_bytes(end);
	}
	return *end && space ? space : end;
}

/* ---- quotes ---- */

static void put_character(FILE *out, const struct sb_character *c, bool tic)
{
	if (*c->at == '\n' || *c->at == '\t')
		fputc(' ', out);
	else if (*c->at == '\'') /* doubled, it is lost at a text's beginning */
		fputs("\xe2\x80\x99", out);
	else if (c->is_plain)
		fwrite(c->at, 1, c->bytes, out);
	else
		fputc('?', out);
	if (tic && *c->at == '%')
		fputc('%', out);
}

void sb_plot_quote(FILE *out, const char *text, size_t most, bool tic)
{
	const size_t all = count_characters(text);
	/* Names differ at their beginnings, values at their ends. */
	const size_t head = all > most ? most / 2 : all;
	const size_t tail = all > most ? all - (most - head - 1) : all;
	struct sb_character c;

	fputc('\'', out);
	for (size_t i = 0; sb_next_character(&text, &c); i++) {
		if (i < head || i >= tail)
			put_character(out, &c, tic);
		else if (i == head)
			fputs("\xe2\x80\xa6", out); /* an ellipsis */
	}
	fputc('\'', out);
}
