/*
 * account.c - where each worker's time went, stacked.
 */
#include <inttypes.h>
#include <math.h>

#include "results/plots/kinds.h"
#include "results/record/account.h"
#include "results/record/series.h"

/* From the bottom up; busy is the sum of three of them. The colours are the page's; in
 * grey they differ by their patterns, which gnuplot numbers: 3 is filled. */
static const struct {
	enum sb_time time;
	const char *label;
	const char *colour;
	int pattern;
} parts[] = {
	{ SB_TIME_work, "work (in steps)", "#0072b2", 3 },
	{ SB_TIME_scheduler, "scheduler", "#56b4e9", 2 },
	{ SB_TIME_harness, "recording", "#cc79a7", 1 },
	{ SB_TIME_steal_ok, "stealing", "#009e73", 5 },
	{ SB_TIME_steal_failed, "stealing in vain", "#d55e00", 4 },
	{ SB_TIME_spin, "spinning", "#e69f00", 6 },
	{ SB_TIME_blocked, "parked", "#999999", 0 },
	{ SB_TIME_unaccounted, "in none of these", "#000000", 7 },
};

/* In percent: less is hardly seen, and has no entry in the key. */
#define SEEN 1

/* Its block has a worker, its share's foot and its head. False: no share is seen. */
static bool put_part(struct sb_plot *plot, const struct sb_series *series, size_t part,
		     uint32_t *block)
{
	bool any = false;

	*block = sb_plot_block(plot);
	for (uint32_t w = 0; w < series->placement.workers; w++) {
		const struct sb_shares shares = sb_series_shares(series, w);
		double foot = 0;
		double share = 0;

		/* A search that goes on leaves a little less than nothing. */
		for (size_t p = 0; p <= part; p++) {
			foot += share;
			share = fmax(0, shares.pct[parts[p].time]);
			share = isnan(share) ? 0 : share;
		}
		any |= share >= SEEN;
		fprintf(plot->data, "%" PRIu32 " %.4f %.4f\n", w, foot, foot + share);
	}
	sb_plot_block_end(plot);
	return any;
}

static bool is_accounted(const struct sb_series *series)
{
	for (uint32_t w = 0; w < series->placement.workers; w++) {
		if (!isnan(sb_series_shares(series, w).pct[SB_TIME_busy]))
			return true;
	}
	return false;
}

/* What the border between work and the scheduler is from. */
static void note_estimate(struct sb_plot *plot, const struct sb_series *series)
{
	const double error = sb_series_spread(series, SB_METRIC_work_pct_error).median;

	if (error > 0)
		sb_plot_note(plot,
			     "work and scheduler: estimated from the steps that were timed; "
			     "standard error %.2g %%",
			     error);
}

/* Work by worker, and what takes most of the rest, on average. */
static void find(struct sb_plot *plot, const struct sb_series *series)
{
	const uint32_t workers = series->placement.workers;
	struct sb_plot_range work = { .any = false };
	double sum[SB_TIMES] = { 0 };
	size_t most = 1;

	for (uint32_t w = 0; w < workers; w++) {
		const struct sb_shares shares = sb_series_shares(series, w);

		sb_plot_range_add(&work, shares.pct[SB_TIME_work]);
		for (int t = 0; t < SB_TIMES; t++)
			sum[t] += isnan(shares.pct[t]) ? 0 : shares.pct[t] / workers;
	}
	for (size_t p = 1; p < SB_ARRAY_SIZE(parts); p++)
		most = sum[parts[p].time] > sum[parts[most].time] ? p : most;
	if (work.any)
		sb_plot_finding(
			plot,
			"Work takes %.0f %% of the workers' time (%.0f to %.0f %%); most of "
			"the rest: %s, %.0f %%",
			sum[SB_TIME_work], work.low, work.high, parts[most].label,
			sum[parts[most].time]);
}

bool sb_plot_account(struct sb_plot *plot, int unused)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_plot_axis y = { 'y', "time", "%", { true, 0, 100, 1 }, false, true, false };

	/* Of many workers all would be border. */
	const char *border = series->placement.workers > 48 ? "noborder" : "border rgb '#444444'";

	(void)unused;
	if (!sb_series_measured(series) || !is_accounted(series))
		return sb_plot_refuse(plot, "no worker's time was recorded");
	sb_plot_panel(plot);
	sb_plot_axis(plot, &y);
	sb_plot_numbers(plot, 'x', "worker", series->placement.workers);
	sb_plot_set(plot, "unset grid");
	find(plot, series);
	note_estimate(plot, series);
	for (size_t p = 0; p < SB_ARRAY_SIZE(parts); p++) {
		uint32_t block;

		const bool seen = put_part(plot, series, p, &block);

		sb_plot_curve(plot, block, seen ? parts[p].label : NULL,
			      "using 1:2:($1-0.4):($1+0.4):2:3 with boxxyerror lc rgb '%s' "
			      "fs pattern %d %s",
			      parts[p].colour, parts[p].pattern, border);
	}
	return true;
}
