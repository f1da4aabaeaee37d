/*
 * sweep.c - a metric over one setting, or two.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/pictures/swept.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* The first objective of a sweep, or what --metric says. */
static void name_metric(const struct sb_plot *plot, char name[SB_PLOT_NOUN_BYTES])
{
	const struct sb_plot_line *line = plot->view->line;
	const char *text = plot->choice->metric;

	if (!text)
		text = sb_result_fact(line->result, "objectives", line->series->workload);
	snprintf(name, SB_PLOT_NOUN_BYTES, "%.*s",
		 *text ? (int)strcspn(text, ",") : SB_PLOT_NOUN_BYTES, *text ? text : "ns_per_op");
}

static bool find_metric(struct sb_plot *plot, enum sb_metric_id *out)
{
	char name[SB_PLOT_NOUN_BYTES];

	name_metric(plot, name);
	*out = sb_metric_find(name);
	if (*out < SB_METRICS) {
		for (uint32_t i = 0; i < plot->view->lines; i++) {
			if (sb_series_spread(plot->view->line[i].series, *out).n)
				return true;
		}
		return sb_plot_refuse(plot, "%s was not measured", name);
	}
	return sb_plot_refuse(plot, "unknown metric '%s'; sched-bench list metrics names them",
			      name);
}

/* The best configuration, if there is one. */
static void find(struct sb_plot *plot, enum sb_metric_id metric, const char *noun)
{
	char text[SB_PLOT_FINDING_BYTES];

	sb_plot_describe_best(text, plot->view,
			      &(struct sb_plot_contest){ .metric = metric, .noun = noun });
	sb_plot_finding(plot, "%s", text);
}

/* ---- one ---- */

bool sb_plot_sweep(struct sb_plot *plot, int unused)
{
	const char *over = plot->choice->over;
	struct sb_swept_metric metric = { .label = "" };
	struct sb_swept swept;
	char noun[SB_PLOT_NOUN_BYTES];

	(void)unused;
	if (!find_metric(plot, &metric.metric) ||
	    !sb_swept_init(&swept, plot, over ? &over : NULL, over != NULL))
		return false;
	sb_plot_noun(noun, metric.metric);
	find(plot, metric.metric, noun);
	sb_swept_panel(plot, &swept, &metric, 1, noun, swept.name);
	sb_plot_note(plot, "%s", sb_metric[metric.metric].name);
	sb_swept_free(&swept);
	return true;
}

/* ---- two ---- */

/* A setting's values, in the order of their numbers, or else as they come. */
struct values {
	const char *name;
	uint32_t n;
	const struct sb_setting **value;
};

static int index_of(const struct values *values, const struct sb_series *series)
{
	const struct sb_setting *its = sb_series_setting(series, values->name);

	for (uint32_t i = 0; its && i < values->n; i++) {
		if (!strcmp(values->value[i]->text, its->text))
			return (int)i;
	}
	return -1;
}

static int compare_settings(const void *a, const void *b)
{
	const double x = (*(const struct sb_setting *const *)a)->number;
	const double y = (*(const struct sb_setting *const *)b)->number;

	return (x > y) - (x < y);
}

static bool gather_values(struct values *values, const struct sb_plot_view *view, const char *name)
{
	bool numbers = true;

	values->name = name;
	values->n = 0;
	values->value = calloc(view->lines, sizeof(struct sb_setting *));
	if (!values->value)
		return false;
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_setting *its = sb_series_setting(view->line[i].series, name);

		if (!its || index_of(values, view->line[i].series) >= 0)
			continue;
		values->value[values->n++] = its;
		numbers &= !isnan(its->number);
	}
	if (numbers && values->n)
		qsort(values->value, values->n, sizeof(*values->value), compare_settings);
	return true;
}

static bool has_two_values(const struct sb_plot_view *view, const char *name)
{
	const struct sb_setting *first = NULL;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_setting *its = sb_series_setting(view->line[i].series, name);

		if (its && first && strcmp(its->text, first->text) != 0)
			return true;
		first = first ? first : its;
	}
	return false;
}

/* Of the first series: those that differ, but for one. */
static const char *find_differing(const struct sb_plot_view *view, const char *but)
{
	const struct sb_series *series = view->line[0].series;

	for (uint32_t s = 0; s < series->settings; s++) {
		const char *name = series->setting[s].name;

		if ((!but || strcmp(name, but) != 0) && has_two_values(view, name))
			return name;
	}
	return NULL;
}

/* "a,b": the names are part of the series' settings. */
static const char *find_named(const struct sb_plot_view *view, const char *text, size_t bytes)
{
	const struct sb_series *series = view->line[0].series;

	for (uint32_t s = 0; s < series->settings; s++) {
		const char *name = series->setting[s].name;

		if (strlen(name) == bytes && !strncmp(name, text, bytes) &&
		    has_two_values(view, name))
			return name;
	}
	return NULL;
}

static bool choose_two(struct sb_plot *plot, const char **x, const char **y)
{
	const char *over = plot->choice->over;
	const size_t first = over ? strcspn(over, ",") : 0;

	*x = over ? find_named(plot->view, over, first) : find_differing(plot->view, NULL);
	*y = over && over[first]
		     ? find_named(plot->view, over + first + 1, strlen(over + first + 1))
		     : find_differing(plot->view, *x);
	return *x && *y && strcmp(*x, *y) != 0;
}

/* The only line of a cell; -1: none. *several: there are more. */
static int line_at(const struct sb_plot_view *view, const struct values *x, int ix,
		   const struct values *y, int iy, bool *several)
{
	int found = -1;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *series = view->line[i].series;

		if (index_of(x, series) != ix || index_of(y, series) != iy)
			continue;
		*several |= found >= 0;
		found = (int)i;
	}
	return found;
}

/* Narrower cells have no numbers. */
#define NUMBER_WIDTH 58

/* As a text on light colours, and on dark ones; and those that were not measured. */
enum layer { COLOURS, LIGHT, DARK, MISSING };

struct cells {
	enum sb_metric_id metric;
	const struct values *x, *y;
	bool several;
	bool any_suspect;
	bool any_missing;
	bool any_estimate;
	struct sb_plot_range range;
};

static void put_cell(struct sb_plot *plot, const struct cells *cells, uint32_t i, double v,
		     enum layer layer, bool suspect)
{
	const uint32_t ix = i % cells->x->n;
	const uint32_t iy = i / cells->x->n;
	char text[SB_HUMAN_BYTES];

	if (isnan(v) != (layer == MISSING))
		return;
	sb_human(text, v, sb_metric[cells->metric].unit);
	if (layer == COLOURS)
		fprintf(plot->data, "%" PRIu32 " %" PRIu32 " %.9g\n", ix, iy, v);
	else if (layer == MISSING)
		fprintf(plot->data, "%" PRIu32 " %" PRIu32 "\n", ix, iy);
	else if (sb_plot_is_dark(plot, v) == (layer == DARK))
		fprintf(plot->data, "%" PRIu32 " %" PRIu32 " \"%s%s\"\n", ix, iy, text,
			suspect ? " *" : "");
}

/* The block of a layer. */
static uint32_t put_cells(struct sb_plot *plot, struct cells *cells, enum layer layer)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t i = 0; i < cells->x->n * cells->y->n; i++) {
		const int line = line_at(plot->view, cells->x, (int)(i % cells->x->n), cells->y,
					 (int)(i / cells->x->n), &cells->several);
		struct sb_plot_median m = { .at = NAN };
		bool suspect = false;

		if (line >= 0) {
			m = sb_plot_median(plot->view, (uint32_t)line, cells->metric);
			suspect = sb_plot_is_suspect(plot->view->line[line].series);
		}
		cells->any_estimate |= m.is_estimate;
		sb_plot_range_add(&cells->range, m.at);
		cells->any_suspect |= suspect && m.n;
		cells->any_missing |= !m.n;
		put_cell(plot, cells, i, m.at, layer, suspect);
	}
	sb_plot_block_end(plot);
	return block;
}

static void put_value_axis(struct sb_plot *plot, char name, const struct values *values)
{
	struct sb_plot_tic *tic;

	SB_CHECK(values->n, >, 0);
	tic = calloc(values->n, sizeof(*tic));
	for (uint32_t i = 0; tic && i < values->n; i++)
		tic[i] = (struct sb_plot_tic){ i, values->value[i]->text };
	if (tic)
		sb_plot_words(plot, name, values->name,
			      &(struct sb_plot_words){ tic, values->n, -0.5, values->n - 0.5 });
	free(tic);
}

static void put_numbers(struct sb_plot *plot, struct cells *cells)
{
	if (sb_plot_panel_width(plot) / cells->x->n < NUMBER_WIDTH)
		return;
	sb_plot_curve(plot, put_cells(plot, cells, LIGHT), NULL,
		      "using 1:2:3 with labels font ',10'");
	sb_plot_curve(plot, put_cells(plot, cells, DARK), NULL,
		      "using 1:2:3 with labels font ',10' textcolor rgb 'white'");
}

static bool draw_heat(struct sb_plot *plot, struct cells *cells)
{
	struct sb_plot_axis colour = { .name = 'c',
				       .unit = sb_metric[cells->metric].unit,
				       .log = true };
	const uint32_t block = put_cells(plot, cells, COLOURS);
	char noun[SB_PLOT_NOUN_BYTES];

	if (cells->several)
		return sb_plot_refuse(plot,
				      "several series have the same %s and %s; expected --over A,B "
				      "or --series TEXT to choose",
				      cells->x->name, cells->y->name);
	sb_plot_noun(noun, cells->metric);
	colour.label = noun;
	colour.range = cells->range;
	plot->right = SB_PLOT_COLOUR_ROOM;
	sb_plot_panel(plot);
	put_value_axis(plot, 'x', cells->x);
	put_value_axis(plot, 'y', cells->y);
	sb_plot_axis(plot, &colour);
	sb_plot_set(plot, "unset grid\n" SB_PLOT_PALETTE);
	sb_plot_curve(plot, block, NULL,
		      "using 1:2:(0.5):(0.5):3 with boxxyerror lc palette fs solid noborder");
	put_numbers(plot, cells);
	if (cells->any_missing)
		sb_plot_curve(plot, put_cells(plot, cells, MISSING), "no number",
			      "using 1:2:(0.5):(0.5) with boxxyerror " SB_PLOT_NOTHING);
	if (cells->any_suspect)
		sb_plot_note(plot, "*: a repetition is suspect");
	sb_plot_note(plot, "%s: %s", sb_metric[cells->metric].name,
		     cells->any_estimate ? "estimates over all rounds" : "medians");
	find(plot, cells->metric, noun);
	return true;
}

bool sb_plot_heat(struct sb_plot *plot, int unused)
{
	struct values x = { .value = NULL };
	struct values y = { .value = NULL };
	struct cells cells = { .x = &x, .y = &y };
	const char *names[2];
	bool drawn;

	(void)unused;
	if (!find_metric(plot, &cells.metric))
		return false;
	if (!choose_two(plot, &names[0], &names[1]))
		return sb_plot_refuse(plot, "expected two settings that have several values each");
	drawn = gather_values(&x, plot->view, names[0]) &&
		gather_values(&y, plot->view, names[1]) && draw_heat(plot, &cells);
	free(x.value);
	free(y.value);
	return drawn;
}
