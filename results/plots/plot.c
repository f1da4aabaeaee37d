/*
 * plot.c - a picture while it is made: its finding, panels, curves, marks and styles,
 * and its caption.
 */
#include "results/plots/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/text.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* ---- styles ---- */

/* Those by Okabe and Ito that readers tell apart whatever colours they see (Color
 * Universal Design, 2008; Wong, Nature Methods 8, 441, 2011), the strongest on white
 * first, and without the yellow, which is none there. The numbers of colours, dashes and
 * shapes have no common divisor: no two of 105 lines look alike. */
static const char *const colours[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00",
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

void sb_plot_finding(struct sb_plot *plot, const char *format, ...)
{
	char text[SB_PLOT_FINDING_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	free(plot->finding);
	plot->finding = sb_text_copy(text);
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

static struct sb_plot_panel *last_panel(struct sb_plot *plot)
{
	return &plot->panel[plot->panels - 1];
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

void sb_plot_panel_title(struct sb_plot *plot, const char *text)
{
	last_panel(plot)->title = strdup(text);
}

double sb_plot_panel_width(const struct sb_plot *plot)
{
	return (double)SB_PLOT_WIDTH / (plot->columns ? plot->columns : 1) - plot->left -
	       plot->right;
}

/* Of one panel, and of one among several. */
#define PANEL_HEIGHT 330
#define LOW_PANEL    190

uint32_t sb_plot_panel_height(const struct sb_plot *plot)
{
	return plot->height ? plot->height : plot->panels > 1 ? LOW_PANEL : PANEL_HEIGHT;
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

void sb_plot_entry(struct sb_plot *plot, const char *style, const char *label)
{
	struct sb_plot_entry *more =
		realloc(plot->entry, (plot->entries + 1) * sizeof(*plot->entry));

	SB_CHECK(more != NULL, ==, true);
	plot->entry = more;
	more = &plot->entry[plot->entries++];
	*more = (struct sb_plot_entry){ strdup(style), strdup(label) };
	SB_CHECK(more->style && more->text, ==, true);
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
		sb_plot_entry(plot, style, label);
}

void sb_plot_put_median(struct sb_plot *plot, double x, const struct sb_plot_median *m, double edge,
			uint32_t style, bool is_suspect)
{
	if (!m->n)
		return;
	plot->hollow |= is_suspect;
	sb_plot_note_median(plot, m);
	fprintf(plot->data, "%.9g %.9g %.9g %.9g %" PRIu32 "\n", x, sb_plot_clamp(m->at, edge),
		sb_plot_clamp(m->low, edge), sb_plot_clamp(m->high, edge),
		point_type(style, is_suspect || m->is_incomplete));
}

void sb_plot_median_curve(struct sb_plot *plot, uint32_t block, const char *label, uint32_t i)
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
	sb_plot_entry(plot, style, label);
}

/* ---- marks ---- */

static bool is_on(const struct sb_plot_scale *scale, double at)
{
	const double part = sb_plot_part(scale, at);

	return part >= 0 && part <= 1;
}

static void add_mark(struct sb_plot *plot, struct sb_plot_mark mark)
{
	struct sb_plot_panel *panel = last_panel(plot);
	struct sb_plot_mark *more = NULL;

	if (mark.text && is_on(&panel->scale[mark.axis == 'x' ? SB_PLOT_X : SB_PLOT_Y], mark.at))
		more = realloc(panel->mark, (panel->marks + 1) * sizeof(*more));
	if (!more) {
		free(mark.text);
		return;
	}
	if (mark.axis == 'y' && plot->right < sb_plot_text_width(mark.text, 11) + 16)
		plot->right = (uint32_t)sb_plot_text_width(mark.text, 11) + 16;
	panel->mark = more;
	panel->mark[panel->marks++] = mark;
}

static char *SB_PRINTF(1, 0) make_text(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void sb_plot_mark(struct sb_plot *plot, char axis, double at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_mark(plot, (struct sb_plot_mark){ .axis = axis,
					      .is_line = true,
					      .at = at,
					      .text = make_text(format, args) });
	va_end(args);
}

void sb_plot_border(struct sb_plot *plot, char axis, double at)
{
	add_mark(plot, (struct sb_plot_mark){
			       .axis = axis, .is_line = true, .at = at, .text = strdup("") });
}

void sb_plot_name(struct sb_plot *plot, double at, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_mark(plot,
		 (struct sb_plot_mark){ .axis = 'x', .at = at, .text = make_text(format, args) });
	va_end(args);
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
	const uint32_t emulated = count_all(view, SB_ONLY_EMULATED);

	if (!suspect && !invalid && !emulated) {
		fputs("all repetitions valid", out);
		return;
	}
	fprintf(out, "%" PRIu32 " of %" PRIu32 " repetitions valid", count_all(view, SB_VALID),
		count_all(view, SB_VALID) + suspect + emulated + invalid);
	if (emulated)
		fprintf(out, ", %" PRIu32 " emulated", emulated);
	if (suspect)
		fprintf(out, ", %" PRIu32 " suspect%s", suspect,
			plot->hollow ? " (hollow points)" : "");
	if (invalid)
		fprintf(out, ", %" PRIu32 " invalid (left out)", invalid);
}

static void put_bars(FILE *out, const struct sb_plot *plot)
{
	if (plot->has_estimates)
		fputs("; estimates over all rounds (hollow: some are missing), with 95 % intervals "
		      "within these rounds",
		      out);
	if (plot->has_intervals)
		fputs("; bars: 95 % confidence intervals of medians", out);
	if (plot->has_extremes)
		fputs(plot->has_intervals ? ", else least and largest values"
					  : "; bars: from the least to the largest value",
		      out);
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

/* The machine that ran, which does not matter where all is virtual. */
static void put_machine(FILE *out, const struct sb_plot_view *view)
{
	uint32_t real = 0;

	for (uint32_t i = 0; i < view->lines; i++)
		real += view->line[i].series->reality != SB_SIMULATED;
	if (!real)
		return;
	put_fact(out, view, "machine", "cpu_model");
	fputs(", ", out);
	put_fact(out, view, "machine", "cores");
	fputs(" cores; ", out);
}

/* Suspect numbers are no finding. */
char *sb_plot_make_title(const struct sb_plot *plot, const char *title)
{
	const bool doubtful = plot->finding && !count_all(plot->view, SB_VALID);
	char *text;

	if (asprintf(&text, "%s%s", plot->finding ? plot->finding : title,
		     doubtful ? " (suspect)" : "") < 0)
		return NULL;
	return text;
}

char *sb_plot_make_set_up(const struct sb_plot *plot, const char *title)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	if (plot->finding)
		fputs(title, out);
	sb_plot_put_common(out, plot->view, plot->finding ? "; " : "");
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

char *sb_plot_make_caption(const struct sb_plot *plot)
{
	const struct sb_plot_view *view = plot->view;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_machine(out, view);
	put_workers(out, view);
	put_profiles(out, view);
	fputs("; sched-bench ", out);
	put_fact(out, view, "run", "version");
	fputs(", ", out);
	put_fact(out, view, "run", "build_mode");
	fputs(" build; ", out);
	put_validity(out, plot);
	put_bars(out, plot);
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
	plot->left = 78;
	plot->right = 24;
	plot->data = open_memstream(&plot->data_text, &plot->data_bytes);
	plot->notes = open_memstream(&plot->notes_text, &plot->notes_bytes);
	if (plot->data && plot->notes)
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

static void free_panel(struct sb_plot_panel *panel)
{
	end_stream(panel->setup, &panel->setup_text);
	end_stream(panel->command, &panel->command_text);
	free(panel->title);
	for (int side = 0; side < SB_PLOT_SIDES; side++)
		free(panel->label[side]);
	for (uint32_t i = 0; i < panel->marks; i++)
		free(panel->mark[i].text);
	free(panel->mark);
}

void sb_plot_free(struct sb_plot *plot)
{
	end_stream(plot->data, &plot->data_text);
	end_stream(plot->notes, &plot->notes_text);
	for (uint32_t p = 0; p < plot->panels; p++)
		free_panel(&plot->panel[p]);
	for (uint32_t i = 0; i < plot->entries; i++) {
		free(plot->entry[i].style);
		free(plot->entry[i].text);
	}
	free(plot->entry);
	free(plot->finding);
}
