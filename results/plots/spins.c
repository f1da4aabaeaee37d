/*
 * spins.c - how long workers spin, and what that costs and gains.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/plot.h"
#include "results/plots/swept.h"
#include "results/record/series.h"

/* ---- the histogram ---- */

static const struct {
	enum sb_hist_id id;
	const char *title;
} ends[] = {
	{ SB_HIST_spins_inject, "found in the inject queue" },
	{ SB_HIST_spins_global, "found in the global queue" },
	{ SB_HIST_spins_steal, "found at another worker" },
	{ SB_HIST_spins_timer, "a timer was due" },
	{ SB_HIST_spins_blocked, "parked" },
};

static void add_hist(const struct sb_hist_counts *hist, struct sb_plot_range *x,
		     struct sb_plot_range *y)
{
	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		if (!hist->bucket[b])
			continue;
		sb_plot_range_add(x, (double)sb_hist_bucket_low(b));
		sb_plot_range_add(y, (double)hist->bucket[b]);
	}
}

/* Those that would not be told apart on a linear axis. */
#define WIDE 200

/* A little beside one another, where they share a number of spins. */
static double aside(const struct sb_plot_axis *x, double spins, size_t e)
{
	const double steps = (double)e - 2;

	if (x->log)
		return fmax(spins, x->range.low) * (1 + 0.015 * steps);
	return spins + steps * x->range.high / 400;
}

static void put_end(struct sb_plot *plot, size_t e, const struct sb_hist_counts *hist,
		    const struct sb_plot_axis *x)
{
	const uint32_t block = sb_plot_block(plot);
	char style[SB_PLOT_STYLE_BYTES];

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		if (hist->bucket[b])
			fprintf(plot->data, "%.9g %" PRIu64 "\n",
				aside(x, (double)sb_hist_bucket_low(b), e), hist->bucket[b]);
	}
	sb_plot_block_end(plot);
	sb_plot_curve(plot, block, NULL, "using 1:2 with impulses lw 2 lc rgb '%s'",
		      sb_plot_colour((uint32_t)e));
	sb_plot_curve(plot, block, ends[e].title, "using 1:2 with points %s",
		      sb_plot_point_style(style, (uint32_t)e, false));
}

static bool draw_hist(struct sb_plot *plot, struct sb_hist_counts *hist)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_plot_axis x = { 'x', "spins of the idle episode", "spins", { 0 }, false, true };
	struct sb_plot_axis y = { 'y', "episodes", "count", { 0 }, true, true };

	for (size_t e = 0; e < SB_ARRAY_SIZE(ends); e++) {
		sb_series_hist(series, ends[e].id, hist);
		add_hist(hist, &x.range, &y.range);
	}
	if (!y.range.any)
		return sb_plot_refuse(plot, "no worker ran out of work");
	x.log = x.range.high > WIDE;
	/* On a logarithmic axis 0 stands at the edge. */
	if (x.log)
		x.range.low = x.range.low > 0 ? 0.9 : 0.5;
	else
		sb_plot_range_add(&x.range, -1);
	x.range.least = x.range.low;
	sb_plot_range_add(&x.range, x.range.high * 1.02 + 1);
	/* A single episode is seen above the edge. */
	sb_plot_range_add(&y.range, 0.6);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &x);
	sb_plot_axis(plot, &y);
	for (size_t e = 0; e < SB_ARRAY_SIZE(ends); e++) {
		sb_series_hist(series, ends[e].id, hist);
		if (hist->count)
			put_end(plot, e, hist, &x);
	}
	return true;
}

bool sb_plot_spins(struct sb_plot *plot, int unused)
{
	struct sb_hist_counts *hist = calloc(1, sizeof(*hist));
	bool drawn;

	(void)unused;
	if (!hist)
		return sb_plot_refuse(plot, "no memory");
	drawn = draw_hist(plot, hist);
	free(hist);
	return drawn;
}

/* ---- thresholds ---- */

/* The costs of waiting, the closest to the workers' sleep first. */
static const struct {
	enum sb_metric_id p50, p99;
	const char *label;
} latencies[] = {
	{ SB_METRIC_wake_ns_p50, SB_METRIC_wake_ns_p99, "time to wake" },
	{ SB_METRIC_sojourn_ns_p50, SB_METRIC_sojourn_ns_p99, "sojourn time" },
	{ SB_METRIC_wake_to_running_ns_p50, SB_METRIC_wake_to_running_ns_p99,
	  "from wake to running" },
	{ SB_METRIC_ready_to_running_ns_p50, SB_METRIC_ready_to_running_ns_p99, "time in queues" },
};

static bool has_metric(const struct sb_plot_view *view, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < view->lines; i++) {
		if (sb_series_spread(view->line[i].series, metric).n)
			return true;
	}
	return false;
}

static bool draw_thresholds(struct sb_plot *plot, struct sb_swept *swept)
{
	for (size_t l = 0; l < SB_ARRAY_SIZE(latencies); l++) {
		const struct sb_swept_metric both[] = {
			{ latencies[l].p50, "median" },
			{ latencies[l].p99, "99th percentile" },
		};
		const struct sb_swept_metric cpu[] = { { SB_METRIC_cpu_ns_per_op, "" },
						       { SB_METRICS, NULL } };

		if (!has_metric(plot->view, latencies[l].p50))
			continue;
		sb_swept_panel(plot, swept, both, 2, latencies[l].label, "");
		/* The medians' styles. */
		sb_swept_panel(plot, swept, cpu, 2, "CPU time per operation", swept->name);
		return true;
	}
	return sb_plot_refuse(plot, "no latency was timed");
}

static const char *const thresholds[] = { "spin-tight", "spin-yield", "spin-time" };

static bool is_threshold(const char *name)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(thresholds); i++) {
		if (!strcmp(name, thresholds[i]))
			return true;
	}
	return false;
}

bool sb_plot_thresholds(struct sb_plot *plot, int unused)
{
	const char *wanted = plot->choice->over;
	struct sb_swept swept;
	bool drawn;

	(void)unused;
	if (wanted && !is_threshold(wanted))
		return sb_plot_refuse(
			plot, "'%s' is no threshold; expected spin-tight, spin-yield or spin-time",
			wanted);
	if (!sb_swept_init(&swept, plot, wanted ? &wanted : thresholds,
			   wanted ? 1 : SB_ARRAY_SIZE(thresholds)))
		return false;
	drawn = draw_thresholds(plot, &swept);
	sb_swept_free(&swept);
	return drawn;
}
