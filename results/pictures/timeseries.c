/*
 * timeseries.c - throughput, run delay, latency, the workers' time and queues within the repetitions.
 *
 * The repetition whose time per operation is the median is drawn in full; of throughput, run delay
 * and latency the others lie behind it as thin lines.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "results/ledger/timeseries.h"
#include "results/plots/kinds.h"
#include "results/record/series.h"

typedef double (*getter)(const struct sb_timeseries *t, uint32_t point, int which);

struct curve {
	int which;
	const char *label; /* NULL: the axis says it */
	uint32_t style;
};

/* A panel: some values over time. */
struct panel {
	struct sb_plot_axis y;
	getter get;
	const struct curve *curve;
	size_t curves;
	bool has_others; /* the other repetitions, too */
};

static double throughput(const struct sb_timeseries *t, uint32_t point, int which)
{
	(void)which;
	return sb_point_rate(t, point, sb_timeseries_progress(t));
}

static double latency(const struct sb_timeseries *t, uint32_t point, int which)
{
	return t->point[point].quantile[which];
}

static double depth(const struct sb_timeseries *t, uint32_t point, int which)
{
	return t->point[point].depth[which];
}

/* The mean number of workers that wait. Less than 0.01 is drawn as 0, so that a quiet run has no
 * such panel. */
static double run_delay(const struct sb_timeseries *t, uint32_t point, int which)
{
	const double mean = t->point[point].kernel[which] /
			    (double)(t->point[point].end_ns - sb_point_begin_ns(t, point));

	return mean < 0.01 ? 0 : mean;
}

/* ---- lines ---- */

/* A gap where nothing is known. */
static void put_line(struct sb_plot *plot, const struct sb_timeseries *t, getter get, int which,
		     double edge)
{
	for (uint32_t i = 0; i < t->points; i++) {
		const double value = get(t, i, which);

		if (isnan(value))
			fputc('\n', plot->data);
		else
			fprintf(plot->data, "%.9g %.9g\n",
				0.5 * (double)(sb_point_begin_ns(t, i) + t->point[i].end_ns),
				sb_plot_clamp(value, edge));
	}
	fputc('\n', plot->data);
}

/* Whether the row is one of those that are shown. */
static const struct sb_timeseries *shown(const struct sb_series *series, uint32_t row)
{
	return sb_series_pools(series, row) ? series->record[row].timeseries : NULL;
}

static void put_others(struct sb_plot *plot, const struct sb_record *median,
		       const struct panel *panel, const struct curve *curve, double edge)
{
	const struct sb_series *series = plot->view->line[0].series;
	const uint32_t block = sb_plot_block(plot);
	uint32_t others = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_timeseries *t = shown(series, r);

		if (!t || &series->record[r] == median)
			continue;
		put_line(plot, t, panel->get, curve->which, edge);
		others++;
	}
	sb_plot_block_end(plot);
	if (others)
		sb_plot_curve(plot, block, NULL,
			      "using 1:2 with lines lw 0.6 dt solid lc rgb '#90%s'",
			      sb_plot_colour(curve->style) + 1);
}

static void put_median(struct sb_plot *plot, const struct sb_record *median,
		       const struct panel *panel, const struct curve *curve, double edge)
{
	const uint32_t block = sb_plot_block(plot);
	char style[SB_PLOT_STYLE_BYTES];

	put_line(plot, median->timeseries, panel->get, curve->which, edge);
	sb_plot_block_end(plot);
	sb_plot_curve(plot, block, curve->label, "using 1:2 with lines %s",
		      sb_plot_line_style(style, curve->style));
}

static void add_range(const struct sb_timeseries *t, const struct panel *panel,
		      struct sb_plot_range *range)
{
	for (size_t c = 0; c < panel->curves; c++) {
		for (uint32_t i = 0; i < t->points; i++)
			sb_plot_range_add(range, panel->get(t, i, panel->curve[c].which));
	}
}

/* A line along the axis is hidden by it: an empty queue has none. */
static bool is_seen(const struct sb_record *median, const struct panel *panel, size_t curve)
{
	const struct panel one = { .get = panel->get, .curve = &panel->curve[curve], .curves = 1 };
	struct sb_plot_range range = { .any = false };

	add_range(median->timeseries, &one, &range);
	return range.any && range.high > panel->y.range.high / 50;
}

/* From the beginning to the end of the longest repetition. */
static void put_time_axis(struct sb_plot *plot)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_plot_axis x = {
		.name = 'x', .label = "time in the repetition", .unit = "ns", .zero = true
	};

	for (uint32_t r = 0; r < series->records; r++) {
		const struct sb_timeseries *t = shown(series, r);

		if (t)
			sb_plot_range_add(&x.range, (double)t->point[t->points - 1].end_ns);
	}
	sb_plot_axis(plot, &x);
}

/* None where there is nothing to show. */
static void put_panel(struct sb_plot *plot, const struct sb_record *median, struct panel *panel)
{
	const struct sb_series *series = plot->view->line[0].series;
	double edge;

	add_range(median->timeseries, panel, &panel->y.range);
	for (uint32_t r = 0; r < series->records && panel->has_others; r++) {
		if (shown(series, r))
			add_range(shown(series, r), panel, &panel->y.range);
	}
	if (!(panel->y.range.high > 0))
		return;
	sb_plot_panel(plot);
	put_time_axis(plot);
	edge = sb_plot_axis(plot, &panel->y);
	for (size_t c = 0; c < panel->curves && panel->has_others; c++)
		put_others(plot, median, panel, &panel->curve[c], edge);
	for (size_t c = 0; c < panel->curves; c++) {
		if (is_seen(median, panel, c) || panel->has_others)
			put_median(plot, median, panel, &panel->curve[c], edge);
	}
}

static void put_throughput(struct sb_plot *plot, const struct sb_record *median)
{
	static const struct curve curve = { 0, NULL, 0 };
	struct panel panel = { { .name = 'y',
				 .label = median->timeseries->has_requests ? "requests" : "steps",
				 .unit = "1/s",
				 .zero = true },
			       throughput,
			       &curve,
			       1,
			       true };

	put_panel(plot, median, &panel);
}

static void put_run_delay(struct sb_plot *plot, const struct sb_record *median)
{
	static const struct curve curve = { SB_POINT_run_delay_ns, NULL, 3 };
	struct panel panel = {
		{ .name = 'y', .label = "run delay", .unit = "workers", .zero = true },
		run_delay,
		&curve,
		1,
		true
	};

	put_panel(plot, median, &panel);
}

static void put_latency(struct sb_plot *plot, const struct sb_record *median,
			enum sb_point_quantile tail)
{
	const struct curve curves[] = {
		{ SB_POINT_p50_ns, "p50", 0 },
		{ (int)tail, tail == SB_POINT_p90_ns ? "p90" : "p99", 1 },
	};
	struct panel panel = { { .name = 'y',
				 .label = sb_latency[median->timeseries->latency].name,
				 .unit = "ns",
				 .log = true,
				 .zero = true },
			       latency,
			       curves,
			       tail == SB_POINT_p50_ns ? 1 : 2,
			       true };

	if (tail < SB_POINT_QUANTILES)
		put_panel(plot, median, &panel);
}

static void put_queues(struct sb_plot *plot, const struct sb_record *median)
{
	static const struct curve curves[] = {
		{ SB_POINT_depth_own, "own deques", 2 },
		{ SB_POINT_depth_inject, "inject queues", 3 },
		{ SB_POINT_depth_global, "global queue", 4 },
	};
	struct panel panel = {
		{ .name = 'y', .label = "processes queued", .unit = "", .zero = true },
		depth,
		curves,
		SB_ARRAY_SIZE(curves),
		false
	};

	put_panel(plot, median, &panel);
}

/* ---- the workers' time, stacked ---- */

/* From the bottom up; colours and patterns are those of account.c, where parked time has a
 * border, which would be most of these boxes. */
static const struct {
	enum sb_point_count time;
	const char *label;
	const char *style;
} times[] = {
	{ SB_POINT_busy_ns, "busy", "lc rgb '#0072b2' fs pattern 3" },
	{ SB_POINT_steal_ns, "stealing", "lc rgb '#009e73' fs pattern 5" },
	{ SB_POINT_steal_failed_ns, "stealing in vain", "lc rgb '#d55e00' fs pattern 4" },
	{ SB_POINT_spin_ns, "spinning", "lc rgb '#e69f00' fs pattern 6" },
	{ SB_POINT_blocked_ns, "parked", "lc rgb '#999999' fs solid 0.3" },
};

/* In percent: less is hardly seen, and has no entry in the key. */
#define SEEN 1

/* A box for each point: begin, end, foot and head. */
static void put_time(struct sb_plot *plot, const struct sb_timeseries *t, size_t part)
{
	const uint32_t block = sb_plot_block(plot);
	bool any = false;

	for (uint32_t i = 0; i < t->points; i++) {
		double foot = 0;
		double share = sb_point_share(t, i, times[0].time);

		for (size_t p = 1; p <= part; p++) {
			foot += share;
			share = sb_point_share(t, i, times[p].time);
		}
		if (isnan(share))
			continue;
		any |= share >= SEEN;
		fprintf(plot->data, "%" PRIu64 " %" PRIu64 " %.4f %.4f\n", sb_point_begin_ns(t, i),
			t->point[i].end_ns, foot, foot + share);
	}
	sb_plot_block_end(plot);
	sb_plot_curve(plot, block, any ? times[part].label : NULL,
		      "using 1:3:1:2:3:4 with boxxyerror %s noborder", times[part].style);
}

static void put_times(struct sb_plot *plot, const struct sb_record *median)
{
	const struct sb_plot_axis y = {
		'y', "workers' time", "%", { true, 0, 100, 1 }, false, true, false
	};

	sb_plot_panel(plot);
	put_time_axis(plot);
	sb_plot_axis(plot, &y);
	sb_plot_set(plot, "unset grid");
	for (size_t p = 0; p < SB_ARRAY_SIZE(times); p++)
		put_time(plot, median->timeseries, p);
}

/* ---- all of it ---- */

static void find(struct sb_plot *plot, const struct sb_series *series)
{
	char text[SB_TIMESERIES_BYTES];

	if (sb_timeseries_find(text, series) == SB_TIMESERIES_NONE)
		return;
	*text = (char)toupper(*text);
	sb_plot_finding(plot, "%s", text);
}

bool sb_plot_timeseries(struct sb_plot *plot, int unused)
{
	const struct sb_series *series = plot->view->line[0].series;
	const struct sb_record *median = sb_timeseries_median(series);

	(void)unused;
	if (!median)
		return sb_plot_refuse(plot, "no repetition has a time series (run --series)");
	plot->height = 130;
	put_throughput(plot, median);
	put_run_delay(plot, median);
	put_latency(plot, median, sb_timeseries_tail(series));
	put_queues(plot, median);
	put_times(plot, median);
	find(plot, series);
	sb_plot_note(plot,
		     "repetition %" PRIu32 ", which is the median, is drawn in full, the others as "
		     "thin lines",
		     median->repetition);
	return true;
}
