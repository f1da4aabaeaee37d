/*
 * sweep.c - a metric over one setting, or two.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/plot.h"
#include "results/plots/swept.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"

static bool find_metric(struct sb_plot *plot, enum sb_metric_id *out)
{
	const char *name = plot->choice->metric ? plot->choice->metric : "ns_per_op";

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

/* Its meaning, up to the first comma or colon. */
static void describe_metric(enum sb_metric_id metric, char *out, size_t bytes)
{
	const char *doc = sb_metric[metric].doc;

	snprintf(out, bytes, "%.*s", (int)strcspn(doc, ",:;"), doc);
	if (strlen(out) > 56)
		snprintf(out, bytes, "%s", sb_metric[metric].name);
}

/* ---- one ---- */

bool sb_plot_sweep(struct sb_plot *plot, int unused)
{
	const char *over = plot->choice->over;
	struct sb_swept_metric metric = { .label = "" };
	struct sb_swept swept;
	char label[80];

	(void)unused;
	if (!find_metric(plot, &metric.metric) ||
	    !sb_swept_init(&swept, plot, over ? &over : NULL, over != NULL))
		return false;
	describe_metric(metric.metric, label, sizeof(label));
	sb_swept_panel(plot, &swept, &metric, 1, label, swept.name);
	sb_plot_note(plot, "%s: medians, and bars from the least to the largest repetition",
		     sb_metric[metric.metric].name);
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

/* The only series of a cell; NULL: none. *several: there are more. */
static const struct sb_series *series_at(const struct sb_plot_view *view, const struct values *x,
					 int ix, const struct values *y, int iy, bool *several)
{
	const struct sb_series *found = NULL;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *series = view->line[i].series;

		if (index_of(x, series) != ix || index_of(y, series) != iy)
			continue;
		*several |= found != NULL;
		found = series;
	}
	return found;
}

/* More numbers in a row run together. */
#define CELL_NUMBERS 9

struct cells {
	uint32_t colours, numbers; /* blocks */
	bool several;
	bool any_suspect;
	struct sb_plot_range range;
};

static void put_cells(struct sb_plot *plot, const struct values *x, const struct values *y,
		      enum sb_metric_id metric, struct cells *cells, bool as_text)
{
	for (uint32_t i = 0; i < x->n * y->n; i++) {
		const uint32_t ix = i % x->n;
		const uint32_t iy = i / x->n;
		const struct sb_series *series =
			series_at(plot->view, x, (int)ix, y, (int)iy, &cells->several);
		const double v = series ? sb_series_spread(series, metric).median : (double)NAN;
		const bool suspect = series && sb_plot_is_suspect(series);
		char text[SB_HUMAN_BYTES];

		if (isnan(v))
			continue;
		sb_plot_range_add(&cells->range, v);
		cells->any_suspect |= suspect;
		sb_human(text, v, sb_metric[metric].unit);
		fprintf(plot->data, "%" PRIu32 " %" PRIu32, ix, iy);
		if (as_text)
			fprintf(plot->data, " \"%s%s\"\n", text, suspect ? " *" : "");
		else
			fprintf(plot->data, " %.9g\n", v);
	}
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

static bool draw_heat(struct sb_plot *plot, enum sb_metric_id metric, const struct values *x,
		      const struct values *y)
{
	struct sb_plot_axis colour = { .name = 'c', .unit = sb_metric[metric].unit };
	struct cells cells = { 0 };
	char label[80];

	cells.colours = sb_plot_block(plot);
	put_cells(plot, x, y, metric, &cells, false);
	sb_plot_block_end(plot);
	cells.numbers = sb_plot_block(plot);
	put_cells(plot, x, y, metric, &cells, true);
	sb_plot_block_end(plot);
	if (cells.several)
		return sb_plot_refuse(plot,
				      "several series have the same %s and %s; expected --over A,B "
				      "or --series TEXT to choose",
				      x->name, y->name);
	describe_metric(metric, label, sizeof(label));
	colour.label = label;
	colour.range = cells.range;
	plot->right = 130;
	sb_plot_panel(plot);
	put_value_axis(plot, 'x', x);
	put_value_axis(plot, 'y', y);
	sb_plot_axis(plot, &colour);
	sb_plot_set(plot, "set colorbox\nunset grid\n"
			  "set palette defined (0 '#ffffff', 1 '#4393c3')");
	sb_plot_curve(plot, cells.colours, NULL,
		      "using 1:2:(0.5):(0.5):3 with boxxyerror lc palette fs solid noborder");
	if (x->n <= CELL_NUMBERS)
		sb_plot_curve(plot, cells.numbers, NULL, "using 1:2:3 with labels font ',10'");
	if (cells.any_suspect)
		sb_plot_note(plot, "*: a repetition is suspect");
	sb_plot_note(plot, "%s: medians", sb_metric[metric].name);
	return true;
}

bool sb_plot_heat(struct sb_plot *plot, int unused)
{
	struct values x = { .value = NULL };
	struct values y = { .value = NULL };
	enum sb_metric_id metric;
	const char *names[2];
	bool drawn;

	(void)unused;
	if (!find_metric(plot, &metric))
		return false;
	if (!choose_two(plot, &names[0], &names[1]))
		return sb_plot_refuse(plot, "expected two settings that have several values each");
	drawn = gather_values(&x, plot->view, names[0]) &&
		gather_values(&y, plot->view, names[1]) && draw_heat(plot, metric, &x, &y);
	free(x.value);
	free(y.value);
	return drawn;
}
