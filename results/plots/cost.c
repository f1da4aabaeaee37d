/*
 * cost.c - what an operation costs: every repetition as a point.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "results/plots/plot.h"
#include "results/record/series.h"

#define ROW 9

/* The repetitions with that verdict; how many. Beside one another, so that equal
 * ones can be seen. */
static uint32_t put_points(struct sb_plot *plot, uint32_t lines, enum sb_verdict verdict,
			   uint32_t *block)
{
	uint32_t n = 0;

	*block = sb_plot_block(plot);
	for (uint32_t i = 0; i < lines; i++) {
		const struct sb_series *series = plot->view->line[i].series;
		const uint32_t row = series->records < ROW ? series->records : ROW;

		for (uint32_t r = 0; r < series->records; r++) {
			const double v = series->record[r].value[SB_METRIC_ns_per_op];

			if (series->record[r].verdict != verdict || isnan(v))
				continue;
			n++;
			fprintf(plot->data, "%.3f %.9g\n", i + 0.05 * (r % ROW - (row - 1) / 2.0),
				v);
		}
	}
	sb_plot_block_end(plot);
	return n;
}

static uint32_t put_medians(struct sb_plot *plot, uint32_t lines)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t i = 0; i < lines; i++) {
		const struct sb_spread s =
			sb_series_spread(plot->view->line[i].series, SB_METRIC_ns_per_op);

		if (s.n)
			fprintf(plot->data, "%" PRIu32 " %.9g\n", i, s.median);
	}
	sb_plot_block_end(plot);
	return block;
}

static void put_names(struct sb_plot *plot, uint32_t lines)
{
	struct sb_plot_tic tic[SB_PLOT_LINES_MAX];

	for (uint32_t i = 0; i < lines; i++)
		tic[i] = (struct sb_plot_tic){ i, plot->view->line[i].label };
	sb_plot_words(plot, 'x', "", &(struct sb_plot_words){ tic, lines, -0.5, lines - 0.5 });
}

bool sb_plot_cost(struct sb_plot *plot, int unused)
{
	struct sb_plot_axis y = { 'y', "wall time per operation", "ns", { 0 }, true, false };
	const uint32_t lines =
		plot->view->lines < SB_PLOT_LINES_MAX ? plot->view->lines : SB_PLOT_LINES_MAX;
	char style[SB_PLOT_STYLE_BYTES];
	uint32_t block;

	(void)unused;
	for (uint32_t i = 0; i < lines; i++) {
		const struct sb_spread s =
			sb_series_spread(plot->view->line[i].series, SB_METRIC_ns_per_op);

		sb_plot_range_add(&y.range, s.min);
		sb_plot_range_add(&y.range, s.max);
	}
	if (!y.range.any)
		return sb_plot_refuse(plot, "no repetition was measured");
	sb_plot_most(plot, plot->view->lines);
	sb_plot_panel(plot);
	sb_plot_axis(plot, &y);
	put_names(plot, lines);
	sb_plot_curve(plot, put_medians(plot, lines), "median",
		      "using ($1-0.35):2:(0.7):(0) with vectors nohead lw 3 lc rgb 'black'");
	if (put_points(plot, lines, SB_VALID, &block))
		sb_plot_curve(plot, block, "repetition", "using 1:2 with points %s",
			      sb_plot_point_style(style, 0, false));
	plot->hollow = put_points(plot, lines, SB_SUSPECT, &block) > 0;
	if (plot->hollow)
		sb_plot_curve(plot, block, "suspect repetition", "using 1:2 with points %s",
			      sb_plot_point_style(style, 0, true));
	return true;
}
