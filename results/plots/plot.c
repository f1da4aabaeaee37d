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

/* ---- text ---- */

/* Bytes of the character at that place in UTF-8. */
static size_t character_bytes(const char *text)
{
	size_t n = 1;

	while ((text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static size_t count_characters(const char *text)
{
	size_t n = 0;

	for (; *text; text += character_bytes(text))
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
	for (; *text; text += character_bytes(text), i++) {
		if (i < head || i >= tail)
			put_character(out, text, character_bytes(text), tic);
		else if (i == head)
			fputs("\xe2\x80\xa6", out); /* an ellipsis */
	}
	fputc('\'', out);
}

/* ---- styles ---- */

/* Dark and light ones in turn. The numbers of colours, dashes and shapes have no
 * common divisor: no two of 105 lines look alike. */
static const char *const colours[] = {
	"#08306b", "#e08214", "#1b7837", "#c2458f",
	"#4393c3", "#8c2d04", "#666666",
};

#define DASHES 5
#define SHAPES 6

const char *sb_plot_colour(uint32_t i)
{
	return colours[i % SB_ARRAY_SIZE(colours)];
}

const char *sb_plot_line_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i)
{
	snprintf(out, SB_PLOT_STYLE_BYTES, "lw 2 lc rgb '%s' dt %" PRIu32,
		 sb_plot_colour(i), i % DASHES + 1);
	return out;
}

/* gnuplot's shapes come in pairs from 4 on, hollow and filled; a circle is
 * first. */
static uint32_t point_type(uint32_t i, bool is_suspect)
{
	return 4 + 2 * ((i + 1) % SHAPES) + !is_suspect;
}

const char *sb_plot_point_style(char out[SB_PLOT_STYLE_BYTES], uint32_t i,
				bool is_suspect)
{
	snprintf(out, SB_PLOT_STYLE_BYTES, "ps 1 lc rgb '%s' pt %" PRIu32,
		 sb_plot_colour(i), point_type(i, is_suspect));
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
	sb_plot_note(plot, "the first %d of %" PRIu32 " curves are shown",
		     SB_PLOT_LINES_MAX, curves);
	return SB_PLOT_LINES_MAX;
}

void sb_plot_panel(struct sb_plot *plot)
{
	struct sb_plot_panel *panel;

	SB_CHECK(plot->panels, <, SB_PLOT_PANELS);
	panel = &plot->panel[plot->panels++];
	panel->setup = open_memstream(&panel->setup_text, &panel->setup_bytes);
	panel->command =
		open_memstream(&panel->command_text, &panel->command_bytes);
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
static void put_entry(struct sb_plot *plot, const char *style,
		      const char *label)
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

void sb_plot_curve(struct sb_plot *plot, uint32_t block, const char *label,
		   const char *format, ...)
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

void sb_plot_put_spread(struct sb_plot *plot, double x, struct sb_spread s,
			double edge, uint32_t style, bool is_suspect)
{
	plot->hollow |= s.n && is_suspect;
	if (s.n)
		fprintf(plot->data, "%.9g %.9g %.9g %.9g %" PRIu32 "\n", x,
			sb_plot_clamp(s.median, edge),
			sb_plot_clamp(s.min, edge), sb_plot_clamp(s.max, edge),
			point_type(style, is_suspect));
}

void sb_plot_spread_curve(struct sb_plot *plot, uint32_t block,
			  const char *label, uint32_t i)
{
	const char *colour = sb_plot_colour(i);
	char line[SB_PLOT_STYLE_BYTES];
	char style[HOW_BYTES];

	sb_plot_line_style(line, i);
	sb_plot_curve(plot, block, NULL, "using 1:2 with lines %s", line);
	sb_plot_curve(plot, block, NULL,
		      "using 1:2:3:4 with yerrorbars ps 0 lw 1 lc rgb '%s'",
		      colour);
	sb_plot_curve(plot, block, NULL,
		      "using 1:2:5 with points ps 1 lc rgb '%s' pt variable",
		      colour);
	if (!label)
		return;
	snprintf(style, sizeof(style), "with linespoints %s ps 1 pt %" PRIu32,
		 line, point_type(i, false));
	put_entry(plot, style, label);
}

/* ---- the caption ---- */

static uint32_t count_all(const struct sb_plot_view *view,
			  enum sb_verdict verdict)
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
	fprintf(out, "%" PRIu32 " of %" PRIu32 " repetitions valid",
		count_all(view, SB_VALID),
		count_all(view, SB_VALID) + suspect + invalid);
	if (suspect)
		fprintf(out, ", %" PRIu32 " suspect%s", suspect,
			plot->hollow ? " (hollow points)" : "");
	if (invalid)
		fprintf(out, ", %" PRIu32 " invalid (left out)", invalid);
}

/* A fact of all the results that have it: their values, each once. */
static void put_fact(FILE *out, const struct sb_plot_view *view,
		     const char *group, const char *key)
{
	const char *separator = "";

	for (uint32_t i = 0; i < view->lines; i++) {
		const char *value =
			sb_result_fact(view->line[i].result, group, key);
		uint32_t before = 0;

		while (before < i &&
		       strcmp(sb_result_fact(view->line[before].result, group,
					     key),
			      value) != 0)
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
		if (!view->line[i].series->emulated)
			continue;
		fputs(" placed on profile ", out);
		put_fact(out, view, "profile", "name");
		fputs(" (emulated)", out);
		return;
	}
}

static char *make_caption(const struct sb_plot *plot)
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

/* ---- layout ---- */

#define EDGE	       14
#define TITLE_HEIGHT   38
#define PANEL_HEIGHT   330
#define LOW_PANEL      200 /* where there are two */
#define KEY_LINE       16
#define CAPTION_LINE   14
#define CAPTION_MOST   6
#define PANEL_GAP      10
/* Of the fonts, on average; the widest text is mostly less. */
#define KEY_CHARACTER  6.6
#define CAPTION_COLUMN 4.9
#define TITLE_MOST     88

struct layout {
	uint32_t height;
	uint32_t panel_height;
	uint32_t key_rows;
	uint32_t key_top; /* from above */
	uint32_t caption_top;
	uint32_t caption_lines;
};

/* The end of the line that begins there: at a space, if there is one. */
static const char *line_end(const char *text)
{
	const size_t most =
		(size_t)((SB_PLOT_WIDTH - 2 * EDGE) / CAPTION_COLUMN);
	const char *end = text;
	const char *space = NULL;

	for (size_t n = 0; *end && n < most; n++) {
		if (*end == ' ' && n)
			space = end;
		end += character_bytes(end);
	}
	return *end && space ? space : end;
}

static uint32_t count_lines(const char *caption)
{
	uint32_t lines = 0;

	while (*caption && lines < CAPTION_MOST) {
		caption = line_end(caption);
		caption += *caption == ' ';
		lines++;
	}
	return lines;
}

static uint32_t key_rows(const struct sb_plot *plot)
{
	const double column = 52 + KEY_CHARACTER * (double)plot->longest;
	uint32_t columns = (uint32_t)((SB_PLOT_WIDTH - plot->left) / column);

	if (!plot->entries)
		return 0;
	columns = columns ? columns : 1;
	return (plot->entries + columns - 1) / columns;
}

static struct layout lay_out(const struct sb_plot *plot, const char *caption)
{
	struct layout l = { .key_rows = key_rows(plot),
			    .caption_lines = count_lines(caption) };
	uint32_t y = TITLE_HEIGHT;

	l.panel_height = plot->panels > 1 ? LOW_PANEL
			 : plot->height	  ? plot->height
					  : PANEL_HEIGHT;
	for (uint32_t p = 0; p < plot->panels; p++)
		y += l.panel_height + plot->panel[p].x_room +
		     (p ? PANEL_GAP : 0);
	l.key_top = y + 4;
	if (l.key_rows)
		y = l.key_top + l.key_rows * KEY_LINE + 6;
	l.caption_top = y + 4;
	l.height = l.caption_top + l.caption_lines * CAPTION_LINE + EDGE / 2;
	return l;
}

/* ---- the script ---- */

static double screen_y(const struct layout *l, uint32_t from_above)
{
	return 1 - (double)from_above / l->height;
}

static void put_head(FILE *out, const struct layout *l, const char *title,
		     const char *caption)
{
	uint32_t line = 0;

	fputs("set label 1 ", out);
	sb_plot_quote(out, title, TITLE_MOST, false);
	fprintf(out, " at screen 0.5, screen %.5f center font ',13'\n",
		screen_y(l, TITLE_HEIGHT / 2));
	while (*caption && line < CAPTION_MOST) {
		const char *end = line_end(caption);
		char *copy = strndup(caption, (size_t)(end - caption));

		SB_CHECK(copy != NULL, ==, true);
		fprintf(out, "set label %" PRIu32 " ", 2 + line);
		sb_plot_quote(out, copy, strlen(copy), false);
		fprintf(out, " at screen %.5f, screen %.5f left font ',9'\n",
			(double)EDGE / SB_PLOT_WIDTH,
			screen_y(l, l->caption_top + line * CAPTION_LINE +
					    CAPTION_LINE / 2));
		free(copy);
		caption = end + (*end == ' ');
		line++;
	}
}

/* One panel; all labels belong to the first. */
static void put_panel(FILE *out, struct sb_plot *plot, uint32_t p,
		      const struct layout *l)
{
	struct sb_plot_panel *panel = &plot->panel[p];
	uint32_t top = TITLE_HEIGHT;

	for (uint32_t above = 0; above < p; above++)
		top += l->panel_height + plot->panel[above].x_room + PANEL_GAP;
	fflush(panel->setup);
	fflush(panel->command);
	if (p)
		fputs("unset label\nunset logscale\nset autoscale\n", out);
	fprintf(out,
		"set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
		"set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
		(double)plot->left / SB_PLOT_WIDTH,
		1 - (double)plot->right / SB_PLOT_WIDTH, screen_y(l, top),
		screen_y(l, top + l->panel_height));
	fputs(panel->setup_text, out);
	fprintf(out, "%s\n", panel->command_text);
}

/* A panel of its own, because gnuplot gives a key no more rows than there are in
 * the panel that it belongs to. */
static void put_key(FILE *out, struct sb_plot *plot, const struct layout *l)
{
	fflush(plot->key);
	fprintf(out,
		"unset label\nunset border\nunset tics\nunset grid\n"
		"unset xlabel\nunset ylabel\nunset colorbox\nunset logscale\n"
		"set xrange [0:1]\nset yrange [0:1]\n"
		"set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
		"set key at screen %.5f, screen %.5f left top Left reverse "
		"vertical maxrows %" PRIu32
		" samplen 3.5 spacing 1.15 width 1 font ',11'\n"
		"plot 2 notitle%s\n",
		screen_y(l, l->key_top),
		screen_y(l, l->key_top + (l->key_rows + 3) * KEY_LINE),
		(double)plot->left / SB_PLOT_WIDTH, screen_y(l, l->key_top),
		l->key_rows, plot->key_text);
}

/* Scaled alike, so that one layout serves both: a point is a pixel in SVG, and
 * 4/3 of one in PNG. */
static void put_terminal(FILE *out, enum sb_plot_format format,
			 const char *name, const struct layout *l)
{
	if (format == SB_PLOT_PNG) {
		fprintf(out,
			"set terminal pngcairo noenhanced size %d,%" PRIu32
			" font 'sans-serif,12' fontscale 1.125 linewidth 1.5 "
			"pointscale 1.5\n"
			"set output '%s.png'\n",
			SB_PLOT_WIDTH * 3 / 2, l->height * 3 / 2, name);
		return;
	}
	fprintf(out,
		"set terminal svg noenhanced size %d,%" PRIu32
		" dynamic font 'sans-serif,12' background 'white' name '",
		SB_PLOT_WIDTH, l->height);
	/* Identifiers in one page must differ. */
	for (const char *c = name; *c; c++)
		fputc(*c == '-' || *c == '.' ? '_' : *c, out);
	fprintf(out, "'\nset output '%s.svg'\n", name);
}

static void put_script(FILE *out, struct sb_plot *plot, const char *title,
		       const char *caption, const char *name,
		       unsigned int formats)
{
	const struct layout l = lay_out(plot, caption);

	fflush(plot->data);
	fprintf(out, "reset session\n%s", plot->data_text);
	for (unsigned int f = SB_PLOT_SVG; f <= SB_PLOT_PNG; f <<= 1) {
		if (!(formats & f))
			continue;
		fputs("reset\nset encoding utf8\nunset key\n"
		      "set grid lt 1 lw 1 lc rgb '#d4d4d4'\nset border lw 1\n"
		      "set tics nomirror out scale 0.6\n"
		      "set style fill solid noborder\n",
		      out);
		put_terminal(out, (enum sb_plot_format)f, name, &l);
		put_head(out, &l, title, caption);
		fputs("set multiplot\n", out);
		for (uint32_t p = 0; p < plot->panels; p++)
			put_panel(out, plot, p, &l);
		if (plot->entries)
			put_key(out, plot, &l);
		fputs("unset multiplot\nunset output\n", out);
	}
}

char *sb_plot_script(struct sb_plot *plot, const char *title, const char *name,
		     unsigned int formats)
{
	char *caption = make_caption(plot);
	char *script = NULL;
	size_t bytes;
	FILE *out = caption ? open_memstream(&script, &bytes) : NULL;

	if (out) {
		put_script(out, plot, title, caption, name, formats);
		if (fclose(out)) {
			free(script);
			script = NULL;
		}
	}
	free(caption);
	return script;
}

int sb_plot_init(struct sb_plot *plot)
{
	plot->left = 86;
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
		end_stream(plot->panel[p].command,
			   &plot->panel[p].command_text);
	}
}
