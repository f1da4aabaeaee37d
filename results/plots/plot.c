/*
 * plot.c - a picture while it is made: panels, curves, texts and styles, and the
 * script that comes of them. Sizes are computed here in pixels, because
 * gnuplot's own layout knows nothing of a caption.
 */
#include "results/plots/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/script.h"
#include "results/record/series.h"

/* ---- text ---- */

size_t sb_plot_character_bytes(const char *text)
{
	size_t n = 1;

	while ((text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text += sb_plot_character_bytes(text))
		n++;
	return n;
}

/* SVG is XML, which has no control characters, and neither U+FFFE nor U+FFFF. */
static bool is_printable(const char *text, size_t bytes)
{
	const unsigned char *c = (const unsigned char *)text;

	if (bytes == 1)
		return *c >= ' ' && *c < 0x7f;
	return !(c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe);
}

static void put_character(FILE *out, const char *text, size_t bytes, bool tic)
{
	if (*text == '\n' || *text == '\t')
		fputc(' ', out);
	else if (*text == '\'') /* doubled, it is lost at a text's beginning */
		fputs("\xe2\x80\x99", out);
	else if (!is_printable(text, bytes))
		fputc('?', out);
	else
		fwrite(text, 1, bytes, out);
	if (tic && *text == '%')
		fputc(*text, out);
}

void sb_plot_quote(FILE *out, const char *text, size_t most, bool tic)
{
	const size_t all = count_characters(text);
	/* Names differ at their beginnings, values at their ends. */
	const size_t head = all > most ? most / 2 : all;
	const size_t tail = all > most ? all - (most - head - 1) : all;
	size_t i = 0;

	fputc('\'', out);
	for (; *text; text += sb_plot_character_bytes(text), i++) {
		if (i < head || i >= tail)
			put_character(out, text, sb_plot_character_bytes(text), tic);
		else if (i == head)
			fputs("\xe2\x80\xa6", out); /* an ellipsis */
	}
	fputc('\'', out);
}

/* ---- styles ---- */

/* Dark and light ones in turn. The numbers of colours, dashes and shapes have no
 * common divisor: no two of 105 lines look alike. */
static const char *const colours[] = {
	"#08306b", "#e08214", "#1b7837", "#c2458f", "#4393c3", "#8c2d04", "#666666",
};

#define DASHES 5
#define SHAPES 6

const char *sb_plot_colour(uint32_t i)
{
	return colours[i % SB_ARRAY_SIZE(colours)];
}

const char *sb_plot_line_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i)
{
	snprintf(out, SB_PLOT_STYLE_BYTES, "lw 2 lc rgb '%s' dt %" PRIu32, sb_plot_colour(i),
		 i % DASHES + 1);
	return out;
}

/* gnuplot's shapes come in pairs from 4 on, hollow and filled; a circle is
 * first. */
static uint32_t point_type(uint32_t i, bool is_suspect)
{
	return 4 + 2 * ((i + 1) % SHAPES) + !is_suspect;
}

const char *sb_plot_point_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i, bool is_suspect)
{
	snprintf(out, SB_PLOT_STYLE_BYTES, "ps 1 lc rgb '%s' pt %" PRIu32, sb_plot_colour(i),
		 point_type(i, is_suspect));
	return out;
}

/* ---- what kinds call ---- */

bool sb_plot_refuse(struct sb_plot *plot, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(plot->why, SB_PLOT_WHY_BYTES, format, args);
	va_end(args);
	return false;
}

void sb_plot_note(struct sb_plot *plot, const char *format, ...)
{
	va_list args;

	fputs("; ", plot->notes);
	va_start(args, format);
	vfprintf(plot->notes, format, args);
	va_end(args);
}

uint32_t sb_plot_most(struct sb_plot *plot, uint32_t curves)
{
	if (curves <= SB_PLOT_LINES_MAX)
		return curves;
	sb_plot_note(plot, "the first %d of %" PRIu32 " curves are shown", SB_PLOT_LINES_MAX,
		     curves);
	return SB_PLOT_LINES_MAX;
}

void sb_plot_panel(struct sb_plot *plot)
{
	struct sb_plot_panel *panel;

	SB_CHECK(plot->panels, <, SB_PLOT_PANELS);
	panel = &plot->panel[plot->panels++];
	panel->setup = open_memstream(&panel->setup_text, &panel->setup_bytes);
	panel->command = open_memstream(&panel->command_text, &panel->command_bytes);
	SB_CHECK(panel->setup && panel->command, ==, true);
}

static struct sb_plot_panel *last_panel(struct sb_plot *plot)
{
	return &plot->panel[plot->panels - 1];
}

void sb_plot_set(struct sb_plot *plot, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(last_panel(plot)->setup, format, args);
	va_end(args);
	fputc('\n', last_panel(plot)->setup);
}

uint32_t sb_plot_block(struct sb_plot *plot)
{
	fprintf(plot->data, "$d%" PRIu32 " << EOD\n", plot->blocks);
	return plot->blocks++;
}

void sb_plot_block_end(struct sb_plot *plot)
{
	fputs("EOD\n", plot->data);
}

/* In the key. */
#define LABEL_CHARACTERS 72

/* style: as behind "with". */
static void put_entry(struct sb_plot *plot, const char *style, const char *label)
{
	size_t characters = count_characters(label);

	fprintf(plot->key, ", \\\n  keyentry %s title ", style);
	sb_plot_quote(plot->key, label, LABEL_CHARACTERS, false);
	if (characters > LABEL_CHARACTERS)
		characters = LABEL_CHARACTERS;
	plot->entries++;
	if (characters > plot->longest)
		plot->longest = characters;
}

#define HOW_BYTES 300

void sb_plot_curve(struct sb_plot *plot, uint32_t block, const char *label, const char *format, ...)
{
	struct sb_plot_panel *panel = last_panel(plot);
	char how[HOW_BYTES];
	const char *style;
	va_list args;

	va_start(args, format);
	vsnprintf(how, sizeof(how), format, args);
	va_end(args);
	fprintf(panel->command, "%s$d%" PRIu32 " %s notitle",
		panel->curves++ ? ", \\\n  " : "plot ", block, how);
	style = strstr(how, "with ");
	if (label && style)
		put_entry(plot, style, label);
}

void sb_plot_put_spread(struct sb_plot *plot, double x, struct sb_spread s, double edge,
			uint32_t style, bool is_suspect)
{
	plot->hollow |= s.n && is_suspect;
	if (s.n)
		fprintf(plot->data, "%.9g %.9g %.9g %.9g %" PRIu32 "\n", x,
			sb_plot_clamp(s.median, edge), sb_plot_clamp(s.min, edge),
			sb_plot_clamp(s.max, edge), point_type(style, is_suspect));
}

void sb_plot_spread_curve(struct sb_plot *plot, uint32_t block, const char *label, uint32_t i)
{
	const char *colour = sb_plot_colour(i);
	char line[SB_PLOT_STYLE_BYTES];
	char style[HOW_BYTES];

	sb_plot_line_style(line, i);
	sb_plot_curve(plot, block, NULL, "using 1:2 with lines %s", line);
	sb_plot_curve(plot, block, NULL, "using 1:2:3:4 with yerrorbars ps 0 lw 1 lc rgb '%s'",
		      colour);
	sb_plot_curve(plot, block, NULL, "using 1:2:5 with points ps 1 lc rgb '%s' pt variable",
		      colour);
	if (!label)
		return;
	snprintf(style, sizeof(style), "with linespoints %s ps 1 pt %" PRIu32, line,
		 point_type(i, false));
	put_entry(plot, style, label);
}

/* ---- the caption ---- */

static uint32_t count_all(const struct sb_plot_view *view, enum sb_verdict verdict)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++)
		n += sb_series_count(view->line[i].series, verdict);
	return n;
}

static void put_validity(FILE *out, const struct sb_plot *plot)
{
	const struct sb_plot_view *view = plot->view;
	const uint32_t suspect = count_all(view, SB_SUSPECT);
	const uint32_t invalid = count_all(view, SB_INVALID);

	if (!suspect && !invalid) {
		fputs("all repetitions valid", out);
		return;
	}
	fprintf(out, "%" PRIu32 " of %" PRIu32 " repetitions valid", count_all(view, SB_VALID),
		count_all(view, SB_VALID) + suspect + invalid);
	if (suspect)
		fprintf(out, ", %" PRIu32 " suspect%s", suspect,
			plot->hollow ? " (hollow points)" : "");
	if (invalid)
		fprintf(out, ", %" PRIu32 " invalid (left out)", invalid);
}

/* A fact of all the results that have it: their values, each once. */
static void put_fact(FILE *out, const struct sb_plot_view *view, const char *group, const char *key)
{
	const char *separator = "";

	for (uint32_t i = 0; i < view->lines; i++) {
		const char *value = sb_result_fact(view->line[i].result, group, key);
		uint32_t before = 0;

		while (before < i &&
		       strcmp(sb_result_fact(view->line[before].result, group, key), value) != 0)
			before++;
		if (before < i || !*value)
			continue;
		fprintf(out, "%s%s", separator, value);
		separator = " / ";
	}
	if (!*separator)
		fputc('-', out);
}

/* "2 workers", "1 to 8 workers" */
static void put_workers(FILE *out, const struct sb_plot_view *view)
{
	uint32_t low = UINT32_MAX;
	uint32_t high = 0;

	for (uint32_t i = 0; i < view->lines; i++) {
		const uint32_t n = view->line[i].series->placement.workers;

		low = n < low ? n : low;
		high = n > high ? n : high;
	}
	if (low < high)
		fprintf(out, "%" PRIu32 " to ", low);
	fprintf(out, "%" PRIu32 " worker%s", high, high == 1 ? "" : "s");
}

/* The machines that workers were placed on, if they are not those that ran. */
static void put_profiles(FILE *out, const struct sb_plot_view *view)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		if (!view->line[i].series->reality)
			continue;
		fputs(" placed on profile ", out);
		put_fact(out, view, "profile", "name");
		fputs(sb_series_topology_mark(view->line[i].series), out);
		return;
	}
}

char *sb_plot_make_caption(const struct sb_plot *plot)
{
	const struct sb_plot_view *view = plot->view;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_fact(out, view, "machine", "cpu_model");
	fputs(", ", out);
	put_fact(out, view, "machine", "cores");
	fputs(" cores; ", out);
	put_workers(out, view);
	put_profiles(out, view);
	fputs("; sched-bench ", out);
	put_fact(out, view, "run", "version");
	fputs(", ", out);
	put_fact(out, view, "run", "build_mode");
	fputs(" build; ", out);
	put_validity(out, plot);
	fflush(plot->notes);
	fputs(plot->notes_text, out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- the script ---- */

int sb_plot_init(struct sb_plot *plot)
{
	plot->left = 92;
	plot->right = 34;
	plot->data = open_memstream(&plot->data_text, &plot->data_bytes);
	plot->notes = open_memstream(&plot->notes_text, &plot->notes_bytes);
	plot->key = open_memstream(&plot->key_text, &plot->key_bytes);
	if (plot->data && plot->notes && plot->key)
		return 0;
	sb_plot_free(plot);
	return -ENOMEM;
}

static void end_stream(FILE *stream, char **text)
{
	if (stream)
		fclose(stream);
	free(*text);
	*text = NULL;
}

void sb_plot_free(struct sb_plot *plot)
{
	end_stream(plot->data, &plot->data_text);
	end_stream(plot->notes, &plot->notes_text);
	end_stream(plot->key, &plot->key_text);
	for (uint32_t p = 0; p < plot->panels; p++) {
		end_stream(plot->panel[p].setup, &plot->panel[p].setup_text);
		end_stream(plot->panel[p].command, &plot->panel[p].command_text);
	}
}
