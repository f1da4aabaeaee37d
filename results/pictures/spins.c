/*
 * spins.c - how long workers spin, and what that costs and gains.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/pictures/swept.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- the histogram ---- */

static const struct {
	enum sb_hist_id id;
	const char *title;
	bool is_work;
} ends[] = {
	{ SB_HIST_spins_inject, "found in the inject queue", true },
	{ SB_HIST_spins_global, "found in the global queue", true },
	{ SB_HIST_spins_steal, "found at another worker", true },
	{ SB_HIST_spins_timer, "a timer was due", false },
	{ SB_HIST_spins_blocked, "parked", false },
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

/* Of which count of spins on a worker does something else; -1: unknown. */
static double option_of(const struct sb_plot_line *line, const char *name)
{
	const char *text = sb_series_option(line->series, line->result, name);
	char *end;
	const double value = strtod(text, &end);

	return end > text && !*end ? value : -1;
}

/* NaN: unknown. */
static double threshold_end(const struct sb_plot_line *line)
{
	const double tight = option_of(line, "spin-tight");
	const double yield = option_of(line, "spin-yield");

	return tight >= 0 && yield >= 0 ? tight + yield : (double)NAN;
}

static void mark_thresholds(struct sb_plot *plot)
{
	const struct sb_plot_line *line = &plot->view->line[0];
	const double tight = option_of(line, "spin-tight");
	const double yield = option_of(line, "spin-yield");
	const char *time = sb_series_option(line->series, line->result, "spin-time");

	if (tight >= 0)
		sb_plot_mark(plot, 'x', tight, "spin-tight %.0f: yields", tight);
	if (tight >= 0 && yield >= 0)
		sb_plot_mark(plot, 'x', tight + yield, "+ spin-yield %.0f: parks", yield);
	if (*time)
		sb_plot_note(plot, "after a short sleep a worker spins for spin-time, %s, too",
			     time);
}

/* How many spins half of the episodes that found work took; the others parked, or a
 * timer was due. */
static void find_spins(struct sb_plot *plot, struct sb_hist_counts *hist)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_hist_counts *found = calloc(1, sizeof(*found));
	double all = 0;
	double parked = 0;
	uint64_t half;

	for (size_t e = 0; e < SB_ARRAY_SIZE(ends) && found; e++) {
		sb_series_hist(series, ends[e].id, hist);
		all += (double)hist->count;
		if (ends[e].id == SB_HIST_spins_blocked)
			parked = (double)hist->count;
		for (uint32_t b = 0; b < SB_HIST_BUCKETS && ends[e].is_work; b++) {
			found->bucket[b] += hist->bucket[b];
			found->count += hist->bucket[b];
		}
	}
	if (!found)
		return;
	half = sb_hist_quantile(found, 0.5);
	if (found->count)
		sb_plot_finding(plot,
				"%.0f %% of idle episodes found work, half of these %s %" PRIu64
				" spins; %.0f %% parked",
				100 * (double)found->count / all, half ? "within" : "after", half,
				100 * parked / all);
	else
		sb_plot_finding(plot, "No idle episode found work; %.0f %% parked",
				100 * parked / all);
	free(found);
}

static bool draw_hist(struct sb_plot *plot, struct sb_hist_counts *hist)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_plot_axis x = { 'x',	"spins of the idle episode", "spins", { 0 }, false, true,
				  false };
	struct sb_plot_axis y = { 'y', "episodes", "count", { 0 }, true, true, false };

	for (size_t e = 0; e < SB_ARRAY_SIZE(ends); e++) {
		sb_series_hist(series, ends[e].id, hist);
		add_hist(hist, &x.range, &y.range);
	}
	if (!y.range.any)
		return sb_plot_refuse(plot, "no worker ran out of work");
	sb_plot_range_add(&x.range, threshold_end(&plot->view->line[0]));
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
	mark_thresholds(plot);
	find_spins(plot, hist);
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

static void find_thresholds(struct sb_plot *plot, enum sb_metric_id latency)
{
	char noun[SB_PLOT_NOUN_BYTES];
	char text[2][SB_PLOT_FINDING_BYTES];

	sb_plot_noun(noun, latency);
	sb_plot_describe_best(text[0], plot->view,
			      &(struct sb_plot_contest){ .metric = latency, .noun = noun });
	sb_plot_describe_best(
		text[1], plot->view,
		&(struct sb_plot_contest){ .metric = SB_METRIC_cpu_ns_per_op, .noun = "CPU time" });
	*text[1] = (char)tolower(*text[1]);
	if (*text[0] && *text[1])
		sb_plot_finding(plot, "%s; %s", text[0], text[1]);
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
		find_thresholds(plot, has_metric(plot->view, latencies[l].p99) ? latencies[l].p99
									       : latencies[l].p50);
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
