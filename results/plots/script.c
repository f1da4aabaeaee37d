/*
 * script.c - the gnuplot script of a picture: where everything lies, in pixels, and the
 * text. Titles, labels and key are placed here, because gnuplot's own layout knows
 * nothing of a caption, and of texts only how many characters they have.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/plot.h"
#include "results/plots/text.h"

#define EDGE	    14
#define PANEL_GAP   12
#define NAME_LINE   15 /* of marks, above a panel */
#define PANEL_TITLE 20

/* A sample of the key, and what is between two entries. */
#define KEY_SAMPLE 44
#define KEY_GAP	   16
#define KEY_LINE   18
#define KEY_FONT   11
#define LABEL_FONT 12

/* Texts of several lines. */
static const struct block {
	uint32_t font, line, most;
} heading = { 15, 20, 2 }, set_up = { 11, 15, 2 }, below = { 10, 14, 6 };

#define TEXT_WIDTH (SB_PLOT_WIDTH - 2 * EDGE)

struct place {
	uint32_t left, top, width, height;
};

struct layout {
	uint32_t height;
	uint32_t set_up_top;
	struct place panel[SB_PLOT_PANELS];
	uint32_t key_columns, key_column; /* how many, and how wide */
	uint32_t key_top;
	uint32_t caption_top;
};

/* What is written above and below. */
struct texts {
	char *title, *set_up, *caption;
};

static uint32_t block_height(const struct block *block, const char *text)
{
	uint32_t lines = 0;

	for (; *text && lines < block->most; lines++) {
		text = sb_plot_line_end(text, block->font, TEXT_WIDTH);
		text += *text == ' ';
	}
	return lines * block->line;
}

/* ---- marks ---- */

static bool overlaps(const struct sb_plot_panel *panel, uint32_t i, double width, uint32_t row)
{
	for (uint32_t m = 0; m < i; m++) {
		const struct sb_plot_mark *other = &panel->mark[m];
		const double both = width + sb_plot_text_width(other->text, KEY_FONT);

		if (other->axis == 'x' && *other->text && other->row == row &&
		    fabs((double)panel->mark[i].x - other->x) < both / 2 + 8)
			return true;
	}
	return false;
}

/* Names above the panel: over their lines, within the picture, right of the numbers of the axis, and
 * where two would overlap, in another row. */
static void place_names(struct sb_plot_panel *panel, const struct place *at)
{
	for (uint32_t i = 0; i < panel->marks; i++) {
		struct sb_plot_mark *mark = &panel->mark[i];
		const double width = sb_plot_text_width(mark->text, KEY_FONT);
		double x = at->left + at->width * sb_plot_part(&panel->scale[SB_PLOT_X], mark->at);

		if (mark->axis != 'x' || !*mark->text)
			continue;
		x = fmax(x, at->left + width / 2);
		mark->x = (uint32_t)fmin(x, SB_PLOT_WIDTH - EDGE - width / 2);
		while (overlaps(panel, i, width, mark->row))
			mark->row++;
		if (mark->row >= panel->mark_rows)
			panel->mark_rows = mark->row + 1;
	}
}

/* ---- layout ---- */

/* A row of panels from that height on; where it ends. */
static uint32_t lay_out_row(struct layout *l, struct sb_plot *plot, uint32_t first, uint32_t top)
{
	const uint32_t columns = plot->columns ? plot->columns : 1;
	uint32_t above = 0;
	uint32_t end = top;

	for (uint32_t p = first; p < plot->panels && p < first + columns; p++) {
		struct sb_plot_panel *panel = &plot->panel[p];
		const uint32_t cell = SB_PLOT_WIDTH / columns * (p - first);

		l->panel[p] =
			(struct place){ cell + plot->left, 0, (uint32_t)sb_plot_panel_width(plot),
					sb_plot_panel_height(plot) };
		place_names(panel, &l->panel[p]);
		above = (uint32_t)fmax(above, panel->mark_rows * NAME_LINE +
						      (panel->title ? PANEL_TITLE : 0));
	}
	for (uint32_t p = first; p < plot->panels && p < first + columns; p++) {
		l->panel[p].top = top + above;
		end = (uint32_t)fmax(end, top + above + l->panel[p].height + plot->panel[p].x_room);
	}
	return end;
}

static uint32_t key_height(struct layout *l, const struct sb_plot *plot)
{
	double widest = 1;

	for (uint32_t i = 0; i < plot->entries; i++)
		widest = fmax(widest, sb_plot_text_width(plot->entry[i].text, KEY_FONT));
	widest = fmin(widest + KEY_SAMPLE + KEY_GAP, TEXT_WIDTH);
	l->key_column = (uint32_t)widest;
	l->key_columns = (uint32_t)(TEXT_WIDTH / widest);
	return (plot->entries + l->key_columns - 1) / l->key_columns * KEY_LINE;
}

static struct layout lay_out(struct sb_plot *plot, const struct texts *texts)
{
	struct layout l = { .set_up_top = EDGE / 2 + block_height(&heading, texts->title) };
	uint32_t y = l.set_up_top + block_height(&set_up, texts->set_up) + 10;

	for (uint32_t p = 0; p < plot->panels; p += plot->columns ? plot->columns : 1)
		y = lay_out_row(&l, plot, p, y + (p ? PANEL_GAP : 0));
	l.key_top = y + 6;
	y = l.key_top + key_height(&l, plot);
	l.caption_top = y + 4;
	l.height = l.caption_top + block_height(&below, texts->caption) + EDGE / 2;
	return l;
}

/* ---- the text ---- */

static double screen_x(double pixels)
{
	return pixels / SB_PLOT_WIDTH;
}

static double screen_y(const struct layout *l, double from_above)
{
	return 1 - from_above / l->height;
}

struct label {
	const char *text;
	double width; /* what it may have */
	uint32_t font;
	double x, y;
	const char *how; /* "center", "left rotate by 90" */
};

static void put_label(FILE *out, const struct layout *l, const struct label *label)
{
	fputs("set label ", out);
	sb_plot_quote(out, label->text, sb_plot_fit(label->text, label->font, label->width), false);
	fprintf(out, " at screen %.5f, screen %.5f %s font ',%" PRIu32 "'\n", screen_x(label->x),
		screen_y(l, label->y), label->how, label->font);
}

static void put_block(FILE *out, const struct layout *l, const struct block *block,
		      const char *text, uint32_t top)
{
	for (uint32_t i = 0; *text && i < block->most; i++) {
		const char *end = sb_plot_line_end(text, block->font, TEXT_WIDTH);
		/* The last one has all the rest, without its middle. */
		char *line =
			i + 1 < block->most ? strndup(text, (size_t)(end - text)) : strdup(text);

		SB_CHECK(line != NULL, ==, true);
		put_label(out, l,
			  &(struct label){ line, TEXT_WIDTH, block->font, EDGE,
					   top + (i + 0.5) * block->line, "left" });
		free(line);
		text = end + (*end == ' ');
	}
}

/* Nothing but labels and the key. */
static void put_blank(FILE *out)
{
	fputs("unset border\nunset tics\nunset grid\nunset colorbox\nunset logscale\n"
	      "set lmargin at screen 0\nset rmargin at screen 1\n"
	      "set tmargin at screen 1\nset bmargin at screen 0\n",
	      out);
}

/* First of all, so that the title is the first text of the file: results/page/ takes
 * it from there. */
static void put_texts(FILE *out, const struct layout *l, const struct texts *texts)
{
	put_blank(out);
	put_block(out, l, &heading, texts->title, EDGE / 2);
	put_block(out, l, &set_up, texts->set_up, l->set_up_top);
	put_block(out, l, &below, texts->caption, l->caption_top);
	fputs("plot [0:1] [0:1] 2 notitle\n", out);
}

static void put_line(FILE *out, const struct sb_plot_mark *mark)
{
	const bool is_x = mark->axis == 'x';
	const char *style = *mark->text ? "lw 1.2 dt (6,4) lc rgb '#444444'"
					: "lw 1.5 dt solid lc rgb '#d55e00'";

	fprintf(out,
		is_x ? "set arrow from first %.9g, graph 0 to first %.9g, graph 1"
		     : "set arrow from graph 0, first %.9g to graph 1, first %.9g",
		mark->at, mark->at);
	fprintf(out, " nohead front %s\n", style);
}

static void put_marks(FILE *out, const struct sb_plot_panel *panel, const struct layout *l,
		      const struct place *at)
{
	for (uint32_t i = 0; i < panel->marks; i++) {
		const struct sb_plot_mark *mark = &panel->mark[i];
		const double row = at->top - (mark->row + 0.5) * NAME_LINE;
		const double part = sb_plot_part(&panel->scale[SB_PLOT_Y], mark->at);

		if (mark->is_line)
			put_line(out, mark);
		if (mark->axis == 'x' && *mark->text)
			put_label(out, l,
				  &(struct label){ mark->text, TEXT_WIDTH, KEY_FONT, mark->x, row,
						   "center" });
		else if (*mark->text)
			put_label(out, l,
				  &(struct label){ mark->text, TEXT_WIDTH, KEY_FONT,
						   at->left + at->width + 6,
						   at->top + at->height * (1 - part), "left" });
	}
}

static void put_axis_titles(FILE *out, const struct sb_plot_panel *panel, const struct layout *l,
			    const struct place *at)
{
	const double middle = at->top + at->height / 2.0;
	const struct {
		enum sb_plot_side side;
		double x, y;
		uint32_t most;
		const char *how;
	} titles[] = {
		{ SB_PLOT_X, at->left + at->width / 2.0, at->top + at->height + panel->x_room - 9.0,
		  at->width + 60, "center" },
		{ SB_PLOT_Y, (double)at->left - panel->y_room + 13.0, middle, at->height + 30,
		  "center rotate by 90" },
		{ SB_PLOT_COLOUR, at->left + at->width + SB_PLOT_COLOUR_ROOM - 14.0, middle,
		  at->height + 30, "center rotate by 90" },
	};

	for (size_t i = 0; i < SB_ARRAY_SIZE(titles); i++) {
		const char *text = panel->label[titles[i].side];

		if (text && *text)
			put_label(out, l,
				  &(struct label){ text, titles[i].most, LABEL_FONT, titles[i].x,
						   titles[i].y, titles[i].how });
	}
	if (panel->label[SB_PLOT_COLOUR])
		fprintf(out,
			"set colorbox user origin screen %.5f, screen %.5f size screen %.5f, "
			"screen %.5f\n",
			screen_x(at->left + at->width + 16.0), screen_y(l, at->top + at->height),
			screen_x(14), (double)at->height / l->height);
}

static void put_panel(FILE *out, struct sb_plot *plot, uint32_t p, const struct layout *l)
{
	struct sb_plot_panel *panel = &plot->panel[p];
	const struct place *at = &l->panel[p];
	const uint32_t cell = SB_PLOT_WIDTH / (plot->columns ? plot->columns : 1);

	fflush(panel->setup);
	fflush(panel->command);
	fprintf(out,
		"unset label\nunset arrow\nunset logscale\nset autoscale\n"
		"set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
		"set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
		screen_x(at->left), screen_x(at->left + at->width), screen_y(l, at->top),
		screen_y(l, at->top + at->height));
	fputs(panel->setup_text, out);
	put_axis_titles(out, panel, l, at);
	if (panel->title)
		put_label(
			out, l,
			&(struct label){ panel->title, cell - plot->left, LABEL_FONT, at->left,
					 at->top - panel->mark_rows * NAME_LINE - PANEL_TITLE / 2.0,
					 "left" });
	put_marks(out, panel, l, at);
	fprintf(out, "%s\n", panel->command_text);
}

static void put_key(FILE *out, const struct sb_plot *plot, const struct layout *l)
{
	fputs("unset label\nunset arrow\n", out);
	put_blank(out);
	fprintf(out,
		"set key Left reverse samplen 3 font ',%d'\n"
		"set style fill solid noborder\nplot [0:1] [0:1] 2 notitle",
		KEY_FONT);
	for (uint32_t i = 0; i < plot->entries; i++) {
		const struct sb_plot_entry *entry = &plot->entry[i];
		const uint32_t column = i % l->key_columns;
		const uint32_t row = i / l->key_columns;

		fprintf(out, ", \\\n  keyentry %s title ", entry->style);
		sb_plot_quote(out, entry->text,
			      sb_plot_fit(entry->text, KEY_FONT, TEXT_WIDTH - KEY_SAMPLE), false);
		fprintf(out, " at %.5f, %.5f", screen_x(EDGE + column * l->key_column + KEY_SAMPLE),
			screen_y(l, l->key_top + (row + 0.5) * KEY_LINE));
	}
	fputs("\n", out);
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

static void put_script(FILE *out, struct sb_plot *plot, const struct texts *texts, const char *name,
		       unsigned int formats)
{
	const struct layout l = lay_out(plot, texts);

	fflush(plot->data);
	fprintf(out, "reset session\n%s", plot->data_text);
	for (unsigned int f = SB_PLOT_SVG; f <= SB_PLOT_PNG; f <<= 1) {
		if (!(formats & f))
			continue;
		fputs("reset\nset encoding utf8\nunset key\n", out);
		put_terminal(out, (enum sb_plot_format)f, name, &l);
		fputs("set multiplot\n", out);
		put_texts(out, &l, texts);
		fputs("set border 31 lw 1\nset style fill solid noborder\n"
		      "set xtics nomirror out scale 0.6\nset ytics nomirror out scale 0.6\n"
		      "set cbtics nomirror out scale 0.6\n"
		      "set grid xtics ytics lt 1 lw 1 lc rgb '#d4d4d4'\n",
		      out);
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
	struct texts texts = { sb_plot_make_title(plot, title), sb_plot_make_set_up(plot, title),
			       sb_plot_make_caption(plot) };
	char *script = NULL;
	size_t bytes;
	FILE *out = NULL;

	if (texts.title && texts.set_up && texts.caption)
		out = open_memstream(&script, &bytes);
	if (out) {
		put_script(out, plot, &texts, name, formats);
		if (fclose(out)) {
			free(script);
			script = NULL;
		}
	}
	free(texts.title);
	free(texts.set_up);
	free(texts.caption);
	return script;
}
