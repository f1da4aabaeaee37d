/*
 * account.c - where each worker's time went, stacked.
 */
#include <inttypes.h>
#include <math.h>

#include "results/plots/plot.h"
#include "results/record/account.h"
#include "results/record/series.h"

/* From the bottom up; busy is the sum of three of them. In grey they differ by
 * their patterns, which gnuplot numbers: 3 is filled. */
static const struct {
	enum sb_time time;
	const char *label;
	const char *colour;
	int pattern;
} parts[] = {
	{ SB_TIME_work, "work (in steps)", "#08306b", 3 },
	{ SB_TIME_scheduler, "scheduler", "#4393c3", 2 },
	{ SB_TIME_harness, "recording", "#666666", 1 },
	{ SB_TIME_steal_ok, "stealing", "#1b7837", 5 },
	{ SB_TIME_steal_failed, "stealing in vain", "#c2458f", 4 },
	{ SB_TIME_spin, "spinning", "#e08214", 6 },
	{ SB_TIME_blocked, "parked", "#bbbbbb", 0 },
	{ SB_TIME_unaccounted, "in none of these", "#8c2d04", 7 },
};

/* Its block has a worker, its share's foot and its head. */
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
		any |= share > 0;
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

bool sb_plot_account(struct sb_plot *plot, int unused)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct sb_plot_axis y = { 'y', "time", "%", { true, 0, 100, 1 }, false, true };

	(void)unused;
	if (!sb_series_measured(series) || !is_accounted(series))
		return sb_plot_refuse(plot, "no worker's time was recorded");
	sb_plot_panel(plot);
	sb_plot_axis(plot, &y);
	sb_plot_numbers(plot, 'x', "worker", series->placement.workers);
	sb_plot_set(plot, "unset grid");
	for (size_t p = 0; p < SB_ARRAY_SIZE(parts); p++) {
		uint32_t block;

		if (put_part(plot, series, p, &block))
			sb_plot_curve(plot, block, parts[p].label,
				      "using 1:2:($1-0.4):($1+0.4):2:3 with boxxyerror lc rgb '%s' "
				      "fs pattern %d border rgb '#444444'",
				      parts[p].colour, parts[p].pattern);
	}
	return true;
}
