/*
 * latency.c - distributions of latencies on HdrHistogram's axis.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- percentiles ---- */

static double middle(uint32_t bucket)
{
	const uint64_t half = sb_hist_bucket_width(bucket) / 2;

	return (double)(sb_hist_bucket_low(bucket) + half);
}

static void add_extremes(struct sb_plot_range *range, const struct sb_hist_counts *hist)
{
	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		if (hist->bucket[b])
			sb_plot_range_add(range, middle(b));
	}
}

/* Latency over 1 / (1 - quantile), logarithmically: 0 is none, 1 is 90 %. */
static uint32_t put_percentiles(struct sb_plot *plot, const struct sb_hist_counts *hist,
				uint64_t lost, double edge)
{
	/* The last value stands at one more than its count. */
	const double all = (double)(hist->count + lost) + 1;
	const uint32_t block = sb_plot_block(plot);
	uint64_t seen = 0;

	for (uint32_t b = 0; b < SB_HIST_BUCKETS; b++) {
		if (!hist->bucket[b])
			continue;
		if (!seen)
			fprintf(plot->data, "0 %.9g\n", sb_plot_clamp(middle(b), edge));
		seen += hist->bucket[b];
		fprintf(plot->data, "%.9g %.9g\n", -log10(1 - (double)seen / all),
			sb_plot_clamp(middle(b), edge));
	}
	sb_plot_block_end(plot);
	return block;
}

static void put_percentile_axis(struct sb_plot *plot, double most)
{
	static const char *const words[] = { "50 %",	  "90 %",	"99 %",
					     "99.9 %",	  "99.99 %",	"99.999 %",
					     "99.9999 %", "99.99999 %", "99.999999 %" };
	struct sb_plot_tic tic[SB_ARRAY_SIZE(words) + 1] = { { 0, "0" } };
	const double end = fmax(log10(most), 0.4);
	uint32_t tics = 1;

	for (size_t i = 0; i < SB_ARRAY_SIZE(words); i++) {
		const double at = i ? (double)i : log10(2);

		if (at <= end)
			tic[tics++] = (struct sb_plot_tic){ at, words[i] };
	}
	sb_plot_words(plot, 'x', "percentile", &(struct sb_plot_words){ tic, tics, 0, end });
}

static const char *line_label(const struct sb_plot *plot, uint32_t i, char *out, size_t bytes)
{
	if (plot->view->lines == 1)
		return NULL;
	snprintf(out, bytes, "%s%s", plot->view->line[i].label,
		 sb_plot_is_suspect(plot->view->line[i].series) ? " (suspect)" : "");
	return out;
}

/* "Median of wake: 4.10 us, p99: 38.0 us", of the median repetition, as in every table. */
static void find_one(struct sb_plot *plot, const struct sb_latency *latency)
{
	char text[2][SB_HUMAN_BYTES];
	char noun[SB_PLOT_NOUN_BYTES];
	const double p50 = sb_plot_median(plot->view, 0, latency->first + SB_LATENCY_P50).at;
	const double p99 = sb_plot_median(plot->view, 0, latency->first + SB_LATENCY_P99).at;

	if (isnan(p50))
		return;
	sb_plot_noun(noun, latency->first + SB_LATENCY_P50);
	sb_human(text[0], p50, "ns");
	sb_human(text[1], p99, "ns");
	if (isnan(p99))
		sb_plot_finding(plot, "%s: %s", noun, text[0]);
	else
		sb_plot_finding(plot, "%s: %s, p99: %s", noun, text[0], text[1]);
}

static void find(struct sb_plot *plot, uint32_t id)
{
	const struct sb_plot_view *view = plot->view;
	const struct sb_latency *latency = sb_latency;
	char noun[SB_PLOT_NOUN_BYTES];
	char text[SB_PLOT_FINDING_BYTES];
	struct sb_plot_contest contest = { .noun = noun };

	while (latency->hist != id)
		latency++;
	if (view->lines == 1) {
		find_one(plot, latency);
		return;
	}
	contest.metric = latency->first + SB_LATENCY_P99;
	if (sb_plot_find_best(view, &contest).compared < 2)
		contest.metric = latency->first + SB_LATENCY_P50;
	sb_plot_noun(noun, contest.metric);
	sb_plot_describe_best(text, view, &contest);
	if (*text)
		sb_plot_finding(plot, "%s", text);
}

/* Of all lines together. */
struct extent {
	struct sb_plot_range range;
	uint32_t curves; /* lines that have values */
	uint64_t lost;	 /* requests without an end */
	uint64_t most;	 /* events of a line */
	bool is_pooled;	 /* a curve is of several repetitions */
};

static struct extent extent_of(const struct sb_plot_view *view, uint32_t id,
			       struct sb_hist_counts *hist)
{
	struct extent extent = { .curves = 0 };

	for (uint32_t i = 0; i < view->lines; i++) {
		const uint64_t lost = sb_series_untimed(view->line[i].series, id);

		sb_series_hist(view->line[i].series, id, hist);
		if (!hist->count)
			continue;
		add_extremes(&extent.range, hist);
		extent.most = sb_max_u64(extent.most, hist->count + lost);
		extent.lost += lost;
		extent.is_pooled |= sb_series_measured(view->line[i].series) > 1;
		extent.curves++;
	}
	return extent;
}

static void put_curves(struct sb_plot *plot, uint32_t id, struct sb_hist_counts *hist, double edge,
		       uint32_t shown)
{
	char style[SB_PLOT_STYLE_BYTES];
	char label[400];
	uint32_t curves = 0;

	for (uint32_t i = 0; curves < shown; i++) {
		const struct sb_series *series = plot->view->line[i].series;
		uint32_t block;

		sb_series_hist(series, id, hist);
		if (!hist->count)
			continue;
		block = put_percentiles(plot, hist, sb_series_untimed(series, id), edge);
		sb_plot_curve(plot, block, line_label(plot, i, label, sizeof(label)),
			      "using 1:2 with fsteps %s", sb_plot_line_style(style, curves++));
	}
}

static bool draw_percentiles(struct sb_plot *plot, uint32_t id, struct sb_hist_counts *hist)
{
	const struct extent extent = extent_of(plot->view, id, hist);
	const struct sb_plot_axis y = { 'y', "latency", "ns", extent.range, true, true, false };
	double edge;

	if (!extent.curves)
		return sb_plot_refuse(plot, "nothing of the kind was timed");
	sb_plot_panel(plot);
	edge = sb_plot_axis(plot, &y);
	put_percentile_axis(plot, (double)extent.most + 1);
	put_curves(plot, id, hist, edge, sb_plot_most(plot, extent.curves));
	find(plot, id);
	if (extent.is_pooled)
		sb_plot_note(plot,
			     "curves: all repetitions pooled; title: percentiles per repetition");
	if (extent.lost)
		sb_plot_note(plot, "%" PRIu64 " requests were lost, later than all others",
			     extent.lost);
	return true;
}

bool sb_plot_latency(struct sb_plot *plot, int id)
{
	struct sb_hist_counts *hist = calloc(1, sizeof(*hist));
	bool drawn;

	if (!hist)
		return sb_plot_refuse(plot, "no memory");
	drawn = draw_percentiles(plot, (uint32_t)id, hist);
	free(hist);
	return drawn;
}
