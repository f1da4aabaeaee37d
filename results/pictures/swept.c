#include "results/pictures/swept.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/record/series.h"

/* ---- which setting ---- */

static double value_of(const struct sb_plot_line *line, const char *name)
{
	const struct sb_setting *setting = sb_series_setting(line->series, name);

	return setting ? setting->number : (double)NAN;
}

static bool same_place(const struct sb_plot_view *view, const struct sb_plot_groups *groups,
		       const char *name, bool same)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const double v = value_of(&view->line[i], name);

		for (uint32_t j = 0; j < i && !isnan(v); j++) {
			const double other = value_of(&view->line[j], name);

			if (groups->of[i] == groups->of[j] && !isnan(other) && (v == other) == same)
				return true;
		}
	}
	return false;
}

/* One curve goes through several results, unless they have the same points. */
static int group_by(struct sb_plot_groups *groups, const struct sb_plot_view *view,
		    const char *name)
{
	int rc = sb_plot_groups_init(groups, view, &name, 1, false);

	if (rc || !same_place(view, groups, name, true))
		return rc;
	sb_plot_groups_free(groups);
	return sb_plot_groups_init(groups, view, &name, 1, view->results > 1);
}

static bool try_setting(struct sb_swept *swept, const struct sb_plot_view *view, const char *name)
{
	if (group_by(&swept->groups, view, name))
		return false;
	if (same_place(view, &swept->groups, name, false)) {
		swept->name = name;
		return true;
	}
	sb_plot_groups_free(&swept->groups);
	return false;
}

static bool find_any(struct sb_swept *swept, const struct sb_plot_view *view)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_series *series = view->line[i].series;

		for (uint32_t s = 0; s < series->settings; s++) {
			if (!isnan(series->setting[s].number) &&
			    try_setting(swept, view, series->setting[s].name))
				return true;
		}
	}
	return false;
}

static bool refuse_names(struct sb_plot *plot, const char *const *names, uint32_t count)
{
	char all[80] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < count && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 names[i]);
	return sb_plot_refuse(plot, "%s: not two values in series that are alike otherwise", all);
}

static bool find_setting(struct sb_swept *swept, struct sb_plot *plot, const char *const *names,
			 uint32_t count)
{
	if (!names && find_any(swept, plot->view))
		return true;
	for (uint32_t i = 0; i < count && names; i++) {
		if (try_setting(swept, plot->view, names[i]))
			return true;
	}
	if (!names)
		return sb_plot_refuse(
			plot,
			"no numeric setting has two values in series that are alike otherwise");
	return refuse_names(plot, names, count);
}

/* ---- the axis ---- */

struct value {
	double number;
	const char *text;
};

static int compare_values(const void *a, const void *b)
{
	const double x = ((const struct value *)a)->number;
	const double y = ((const struct value *)b)->number;

	return (x > y) - (x < y);
}

/* The different ones, sorted; how many. */
static uint32_t gather_values(const struct sb_plot_view *view, const char *name, struct value *out)
{
	uint32_t all = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_setting *s = sb_series_setting(view->line[i].series, name);

		if (s && !isnan(s->number))
			out[all++] = (struct value){ s->number, s->text };
	}
	qsort(out, all, sizeof(*out), compare_values);
	for (uint32_t i = 0; i < all; i++) {
		if (!n || out[n - 1].number != out[i].number)
			out[n++] = out[i];
	}
	return n;
}

/* Further apart than that, the small ones would be on top of one another. */
#define LINEAR_RATIO 8

static bool by_powers(const struct value *value, uint32_t n)
{
	const uint32_t first = value[0].number == 0 && n > 1;

	return value[0].number >= 0 && value[n - 1].number >= LINEAR_RATIO * value[first].number;
}

/* Of one that has no such number: nowhere, NaN. */
static double place(const struct value *value, uint32_t n, double number)
{
	if (isnan(number) || !by_powers(value, n))
		return number;
	/* 0 is as far from the least as its half would be. */
	return number > 0 ? log2(number) : log2(value[1].number) - 1;
}

static bool lay_out(struct sb_swept *swept, const struct sb_plot_view *view)
{
	struct value *value = calloc(view->lines, sizeof(*value));
	uint32_t n = 0;

	swept->at = calloc(view->lines, sizeof(*swept->at));
	swept->tic = calloc(view->lines, sizeof(*swept->tic));
	if (value && swept->at && swept->tic)
		n = gather_values(view, swept->name, value);
	for (uint32_t i = 0; i < n; i++)
		swept->tic[i] =
			(struct sb_plot_tic){ place(value, n, value[i].number), value[i].text };
	for (uint32_t i = 0; i < view->lines && n; i++)
		swept->at[i] = place(value, n, value_of(&view->line[i], swept->name));
	swept->tics = n;
	free(value);
	return n > 0;
}

bool sb_swept_init(struct sb_swept *swept, struct sb_plot *plot, const char *const *names,
		   uint32_t count)
{
	*swept = (struct sb_swept){ .name = NULL };
	if (!find_setting(swept, plot, names, count))
		return false;
	if (lay_out(swept, plot->view))
		return true;
	sb_swept_free(swept);
	return sb_plot_refuse(plot, "no memory");
}

void sb_swept_free(struct sb_swept *swept)
{
	sb_plot_groups_free(&swept->groups);
	free(swept->at);
	free(swept->tic);
	*swept = (struct sb_swept){ .name = NULL };
}

/* ---- the lines ---- */

struct spot {
	double at;
	uint32_t line;
};

static int compare_spots(const void *a, const void *b)
{
	const double x = ((const struct spot *)a)->at;
	const double y = ((const struct spot *)b)->at;

	return (x > y) - (x < y);
}

struct curve {
	uint32_t group;
	enum sb_metric_id metric;
	uint32_t style;
	double edge;
};

static void put_curve(struct sb_plot *plot, const struct sb_swept *swept, const struct curve *curve,
		      const char *label)
{
	const struct sb_plot_view *view = plot->view;
	struct spot *spot = calloc(view->lines, sizeof(*spot));
	const uint32_t block = sb_plot_block(plot);
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines && spot; i++) {
		if (swept->groups.of[i] == curve->group && !isnan(swept->at[i]) &&
		    sb_plot_median(view, i, curve->metric).n)
			spot[n++] = (struct spot){ swept->at[i], i };
	}
	if (n)
		qsort(spot, n, sizeof(*spot), compare_spots);
	for (uint32_t i = 0; i < n; i++) {
		const struct sb_series *series = view->line[spot[i].line].series;
		const struct sb_plot_median median =
			sb_plot_median(view, spot[i].line, curve->metric);

		sb_plot_put_median(plot, spot[i].at, &median, curve->edge, curve->style,
				   sb_plot_is_suspect(series));
	}
	free(spot);
	sb_plot_block_end(plot);
	if (n)
		sb_plot_median_curve(plot, block, label, curve->style);
}

static void add_range(const struct sb_plot_view *view, enum sb_metric_id metric,
		      struct sb_plot_range *range)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		const struct sb_plot_median m = sb_plot_median(view, i, metric);

		sb_plot_range_add(range, m.low);
		sb_plot_range_add(range, m.high);
	}
}

static void put_x_axis(struct sb_plot *plot, const struct sb_swept *swept, const char *label)
{
	const double low = swept->tic[0].at;
	const double high = swept->tic[swept->tics - 1].at;
	const double margin = (high - low) / 30;

	sb_plot_words(
		plot, 'x', label,
		&(struct sb_plot_words){ swept->tic, swept->tics, low - margin, high + margin });
}

void sb_swept_panel(struct sb_plot *plot, const struct sb_swept *swept,
		    const struct sb_swept_metric *metric, uint32_t metrics, const char *y_label,
		    const char *x_label)
{
	struct sb_plot_axis y = { 'y',	 y_label, sb_metric[metric[0].metric].unit, { 0 }, true,
				  false, false };
	const uint32_t most = sb_plot_most(plot, swept->groups.groups * metrics);
	double edge;

	SB_CHECK(metrics, >, 0);
	for (uint32_t m = 0; m < metrics && metric[m].label; m++)
		add_range(plot->view, metric[m].metric, &y.range);
	sb_plot_panel(plot);
	edge = sb_plot_axis(plot, &y);
	put_x_axis(plot, swept, x_label);
	for (uint32_t c = 0; c < most; c++) {
		const char *group = swept->groups.label[c / metrics];
		const char *what = metric[c % metrics].label;
		char label[400];

		if (!what)
			continue;
		snprintf(label, sizeof(label), "%s%s%s", what, *what && *group ? ", " : "", group);
		put_curve(plot, swept,
			  &(struct curve){ c / metrics, metric[c % metrics].metric, c, edge },
			  plot->panels == 1 && *label ? label : NULL);
	}
}
