/*
 * steals.c - who stole from whom, and from how far.
 */
#include <inttypes.h>
#include <math.h>

#include "results/plots/plot.h"
#include "results/record/series.h"

/* ---- the matrix ---- */

/* More numbers in a row run together. */
#define MATRIX_NUMBERS 16

/* Shows 0 as white and the most not so dark that numbers could not be read. */
#define PALETTE "set palette defined (0 '#ffffff', 1 '#6baed6')"

static uint32_t put_matrix(struct sb_plot *plot, const struct sb_series *series,
			   struct sb_plot_range *range)
{
	const uint32_t n = series->placement.workers;
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t t = 0; t < n; t++) {
		for (uint32_t v = 0; v < n; v++) {
			const uint64_t items = sb_series_steals(series, t, v).items;

			if (t != v)
				sb_plot_range_add(range, (double)items);
			fprintf(plot->data, t == v ? "NaN " : "%" PRIu64 " ", items);
		}
		fputc('\n', plot->data);
	}
	sb_plot_block_end(plot);
	return block;
}

static bool any_attempt(const struct sb_series *series)
{
	const uint32_t n = series->placement.workers;

	for (uint32_t i = 0; i < n * n && sb_series_measured(series); i++) {
		if (sb_series_steals(series, i / n, i % n).attempts)
			return true;
	}
	return false;
}

bool sb_plot_steals(struct sb_plot *plot, int unused)
{
	const struct sb_series *series = plot->view->line[0].series;
	const uint32_t n = series->placement.workers;
	struct sb_plot_axis colour = {
		.name = 'c', .label = "processes stolen", .unit = "count", .zero = true
	};
	uint32_t block;

	(void)unused;
	if (n < 2)
		return sb_plot_refuse(plot, "one worker steals from nobody");
	if (!any_attempt(series))
		return sb_plot_refuse(plot, "nobody tried to steal");
	block = put_matrix(plot, series, &colour.range);
	plot->right = 130;
	plot->left = 200; /* nearly square */
	plot->height = 400;
	sb_plot_panel(plot);
	sb_plot_numbers(plot, 'x', "victim (worker)", n);
	sb_plot_numbers(plot, 'y', "thief (worker)", n);
	sb_plot_axis(plot, &colour);
	sb_plot_set(plot, "set colorbox\n" PALETTE "\nunset grid");
	sb_plot_curve(plot, block, NULL, "matrix with image pixels");
	if (n <= MATRIX_NUMBERS)
		sb_plot_curve(plot, block, NULL,
			      "matrix using 1:2:($3 >= 0 ? gprintf('%s', $3) : '') with labels "
			      "font ',%d'",
			      n > 8 ? "%.0s%c" : "%.1s%c", n > 8 ? 8 : 10);
	return true;
}

/* ---- by distance ---- */

static double seconds_of(const struct sb_series *series)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t r = 0; r < series->records; r++) {
		if (!sb_series_pools(series, r))
			continue;
		sum += series->record[r].value[SB_METRIC_wall_s];
		n++;
	}
	return n ? sum / n : (double)NAN;
}

enum measure { STEALS_PER_S, SUCCESS_PCT };

/* Per pair of workers, for there are more of those that are far apart. NaN: there
 * are none, or nobody tried. */
static double measure(const struct sb_series *series, const struct sb_distance_steals *at,
		      enum measure what)
{
	if (!at->pairs)
		return NAN;
	if (what == SUCCESS_PCT)
		return at->attempts > 0 ? 100 * at->successes / at->attempts : (double)NAN;
	return at->successes / at->pairs / seconds_of(series);
}

static void add_distances(const struct sb_series *series, enum measure what,
			  struct sb_plot_range *range)
{
	struct sb_distance_steals by[SB_DISTANCES];

	sb_series_distances(series, by);
	for (int d = 0; d < SB_DISTANCES; d++)
		sb_plot_range_add(range, measure(series, &by[d], what));
}

/* Which distances there are between workers of any line; how many. */
static uint32_t distances_of(const struct sb_plot_view *view, struct sb_plot_tic tic[SB_DISTANCES],
			     double position[SB_DISTANCES])
{
	static const char *const words[] = {
		[SB_DISTANCE_SELF] = "same unit",     [SB_DISTANCE_SMT] = "same core",
		[SB_DISTANCE_CACHE] = "same cache",   [SB_DISTANCE_NODE] = "same NUMA node",
		[SB_DISTANCE_REMOTE] = "remote node",
	};
	bool found[SB_DISTANCES] = { false };
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++) {
		struct sb_distance_steals by[SB_DISTANCES];

		sb_series_distances(view->line[i].series, by);
		for (int d = 0; d < SB_DISTANCES; d++)
			found[d] |= by[d].attempts > 0;
	}
	for (int d = 0; d < SB_DISTANCES; d++) {
		position[d] = n;
		if (found[d]) {
			tic[n] = (struct sb_plot_tic){ n, words[d] };
			n++;
		}
	}
	return n;
}

/* Lines are moved aside a little, so that equal ones can be seen. */
static void put_line(struct sb_plot *plot, uint32_t i, uint32_t lines, enum measure what,
		     const double *position, double edge)
{
	const struct sb_series *series = plot->view->line[i].series;
	const double aside = lines < 2 ? 0 : 0.3 * i / (lines - 1) - 0.15;
	struct sb_distance_steals by[SB_DISTANCES];
	const uint32_t block = sb_plot_block(plot);

	sb_series_distances(series, by);
	for (int d = 0; d < SB_DISTANCES; d++) {
		const double v = measure(series, &by[d], what);

		sb_plot_put_spread(
			plot, position[d] + aside,
			(struct sb_spread){ .n = !isnan(v), .median = v, .min = v, .max = v }, edge,
			i, sb_plot_is_suspect(series));
	}
	sb_plot_block_end(plot);
	sb_plot_spread_curve(plot, block,
			     lines > 1 && what == STEALS_PER_S ? plot->view->line[i].label : NULL,
			     i);
}

static void put_measure(struct sb_plot *plot, enum measure what, const char *label,
			const char *unit)
{
	struct sb_plot_axis y = { 'y', label, unit, { 0 }, what == STEALS_PER_S, true };
	const uint32_t lines =
		plot->view->lines < SB_PLOT_LINES_MAX ? plot->view->lines : SB_PLOT_LINES_MAX;
	struct sb_plot_tic tic[SB_DISTANCES];
	double position[SB_DISTANCES];
	const uint32_t n = distances_of(plot->view, tic, position);
	double edge;

	for (uint32_t i = 0; i < lines; i++)
		add_distances(plot->view->line[i].series, what, &y.range);
	sb_plot_panel(plot);
	edge = sb_plot_axis(plot, &y);
	sb_plot_words(plot, 'x', what == SUCCESS_PCT ? "victim's distance" : "",
		      &(struct sb_plot_words){ tic, n, -0.5, n - 0.5 });
	for (uint32_t i = 0; i < lines; i++)
		put_line(plot, i, lines, what, position, edge);
}

bool sb_plot_distance(struct sb_plot *plot, int unused)
{
	struct sb_plot_tic tic[SB_DISTANCES];
	double position[SB_DISTANCES];

	(void)unused;
	if (!distances_of(plot->view, tic, position))
		return sb_plot_refuse(plot, "nobody tried to steal");
	sb_plot_most(plot, plot->view->lines);
	put_measure(plot, STEALS_PER_S, "steals per pair of workers", "1/s");
	put_measure(plot, SUCCESS_PCT, "attempts that succeed", "%");
	return true;
}
