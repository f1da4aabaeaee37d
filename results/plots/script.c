/* script.c - the gnuplot script of a picture: where everything lies, and the text. */
#include "results/plots/script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/plot.h"

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
	const size_t most = (size_t)((SB_PLOT_WIDTH - 2 * EDGE) / CAPTION_COLUMN);
	const char *end = text;
	const char *space = NULL;

	for (size_t n = 0; *end && n < most; n++) {
		if (*end == ' ' && n)
			space = end;
		end += sb_plot_character_bytes(end);
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
	struct layout l = { .key_rows = key_rows(plot), .caption_lines = count_lines(caption) };
	uint32_t y = TITLE_HEIGHT;

	l.panel_height = plot->panels > 1 ? LOW_PANEL : plot->height ? plot->height : PANEL_HEIGHT;
	for (uint32_t p = 0; p < plot->panels; p++)
		y += l.panel_height + plot->panel[p].x_room + (p ? PANEL_GAP : 0);
	l.key_top = y + 4;
	if (l.key_rows)
		y = l.key_top + l.key_rows * KEY_LINE + 6;
	l.caption_top = y + 4;
	l.height = l.caption_top + l.caption_lines * CAPTION_LINE + EDGE / 2;
	return l;
}

static double screen_y(const struct layout *l, uint32_t from_above)
{
	return 1 - (double)from_above / l->height;
}

static void put_head(FILE *out, const struct layout *l, const char *title, const char *caption)
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
			screen_y(l, l->caption_top + line * CAPTION_LINE + CAPTION_LINE / 2));
		free(copy);
		caption = end + (*end == ' ');
		line++;
	}
}

/* One panel; all labels belong to the first. */
static void put_panel(FILE *out, struct sb_plot *plot, uint32_t p, const struct layout *l)
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
		(double)plot->left / SB_PLOT_WIDTH, 1 - (double)plot->right / SB_PLOT_WIDTH,
		screen_y(l, top), screen_y(l, top + l->panel_height));
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
		"set key at screen %.5f, screen %.5f left top Left reverse vertical maxrows "
		"%" PRIu32 " samplen 3.5 spacing 1.15 width 1 font ',11'\n"
		"plot 2 notitle%s\n",
		screen_y(l, l->key_top), screen_y(l, l->key_top + (l->key_rows + 3) * KEY_LINE),
		(double)plot->left / SB_PLOT_WIDTH, screen_y(l, l->key_top), l->key_rows,
		plot->key_text);
}

/* Scaled alike, so that one layout serves both: a point is a pixel in SVG, and
 * 4/3 of one in PNG. */
static void put_terminal(FILE *out, enum sb_plot_format format, const char *name,
			 const struct layout *l)
{
	if (format == SB_PLOT_PNG) {
		fprintf(out,
			"set terminal pngcairo noenhanced size %d,%" PRIu32
			" font 'sans-serif,12' fontscale 1.125 linewidth 1.5 pointscale 1.5\n"
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

static void put_script(FILE *out, struct sb_plot *plot, const char *title, const char *caption,
		       const char *name, unsigned int formats)
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
	char *caption = sb_plot_make_caption(plot);
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
