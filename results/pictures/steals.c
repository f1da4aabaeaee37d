/*
 * steals.c - who stole from whom, and from how far.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/worker/distance.h"
#include "results/plots/finding.h"
#include "results/plots/kinds.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- the matrix ---- */

/* More numbers in a row run together. */
#define MATRIX_NUMBERS 16
/* As wide as high; and what is left beside it on the right. */
#define MATRIX_HEIGHT  420
#define MATRIX_SIDE    70

/* Rows and columns: workers, those of one node side by side. */
struct matrix {
	const struct sb_series *series;
	uint32_t n;
	uint32_t *worker;	    /* [n] */
	struct sb_plot_range range; /* of what was stolen at all */
	bool any_zero;
};

static const struct sb_place *place_of(const struct matrix *m, uint32_t i)
{
	return &m->series->placement.place[m->worker[i]];
}

static bool same_node(const struct matrix *m, uint32_t i, uint32_t j)
{
	return sb_place_same_node(place_of(m, i), place_of(m, j));
}

/* Behind the last one of its node, if that has one. */
static uint32_t insert_at(const struct matrix *m, uint32_t count, const struct sb_place *place)
{
	for (uint32_t i = count; i > 0; i--) {
		if (sb_place_same_node(place_of(m, i - 1), place))
			return i;
	}
	return count;
}

static bool order_workers(struct matrix *m)
{
	m->worker = calloc(m->n, sizeof(*m->worker));
	for (uint32_t w = 0; w < m->n && m->worker; w++) {
		const uint32_t at = insert_at(m, w, &m->series->placement.place[w]);

		memmove(&m->worker[at + 1], &m->worker[at], (w - at) * sizeof(*m->worker));
		m->worker[at] = w;
	}
	return m->worker != NULL;
}

static uint64_t items_of(const struct matrix *m, uint32_t thief, uint32_t victim)
{
	return sb_series_steals(m->series, m->worker[thief], m->worker[victim]).items;
}

/* What was never stolen is left white. */
static uint32_t put_matrix(struct sb_plot *plot, struct matrix *m)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t t = 0; t < m->n; t++) {
		for (uint32_t v = 0; v < m->n; v++) {
			const uint64_t items = items_of(m, t, v);

			m->any_zero |= t != v && !items;
			if (t != v && items)
				sb_plot_range_add(&m->range, (double)items);
			fprintf(plot->data, t == v || !items ? "NaN " : "%" PRIu64 " ", items);
		}
		fputc('\n', plot->data);
	}
	sb_plot_block_end(plot);
	return block;
}

/* Of a cell: three characters. */
static void put_number(FILE *out, uint64_t items)
{
	if (items < 1000)
		fprintf(out, "%" PRIu64, items);
	else if (items < 1000000)
		fprintf(out, "%.0fk", (double)items / 1e3);
	else
		fprintf(out, "%.0fM", (double)items / 1e6);
}

static void put_numbers(struct sb_plot *plot, const struct matrix *m, bool dark)
{
	const uint32_t block = sb_plot_block(plot);
	bool any = false;

	for (uint32_t i = 0; i < m->n * m->n; i++) {
		const uint64_t items = items_of(m, i / m->n, i % m->n);

		if (i / m->n == i % m->n || (items && sb_plot_is_dark(plot, (double)items)) != dark)
			continue;
		fprintf(plot->data, "%" PRIu32 " %" PRIu32 " \"", i % m->n, i / m->n);
		put_number(plot->data, items);
		fputs("\"\n", plot->data);
		any = true;
	}
	sb_plot_block_end(plot);
	if (any)
		sb_plot_curve(plot, block, NULL, "using 1:2:3 with labels font ',%d'%s",
			      m->n > 8 ? 8 : 10, dark ? " textcolor rgb 'white'" : "");
}

static void put_diagonal(struct sb_plot *plot, const struct matrix *m)
{
	const uint32_t block = sb_plot_block(plot);

	for (uint32_t w = 0; w < m->n; w++)
		fprintf(plot->data, "%" PRIu32 "\n", w);
	sb_plot_block_end(plot);
	sb_plot_curve(plot, block, "itself",
		      "using 1:1:(0.5):(0.5) with boxxyerror " SB_PLOT_IMPOSSIBLE);
	if (m->any_zero)
		sb_plot_entry(plot, "with boxes " SB_PLOT_NOTHING, "nothing stolen");
}

/* The numbers of workers, which stand in another order where nodes take turns. */
static void put_workers(struct sb_plot *plot, char name, const char *label, const struct matrix *m)
{
	struct sb_plot_tic *tic = calloc(m->n, sizeof(*tic));
	char(*text)[12] = calloc(m->n, sizeof(*text));
	bool in_order = true;

	for (uint32_t i = 0; i < m->n && tic && text; i++) {
		in_order &= m->worker[i] == i;
		snprintf(text[i], sizeof(text[i]), "%" PRIu32, m->worker[i]);
		tic[i] = (struct sb_plot_tic){ i, text[i] };
	}
	if (in_order)
		sb_plot_numbers(plot, name, label, m->n);
	else
		sb_plot_words(plot, name, label,
			      &(struct sb_plot_words){ tic, m->n, -0.5, m->n - 0.5 });
	free(text);
	free(tic);
}

/* Lines between nodes, and their numbers above, if there are several. */
static void put_nodes(struct sb_plot *plot, const struct matrix *m)
{
	for (uint32_t first = 0, end; first < m->n; first = end) {
		for (end = first + 1; end < m->n && same_node(m, first, end);)
			end++;
		if (first) {
			sb_plot_border(plot, 'x', first - 0.5);
			sb_plot_border(plot, 'y', first - 0.5);
		}
		if (end - first < m->n && place_of(m, first)->node >= 0)
			sb_plot_name(plot, (first + end - 1) / 2.0, "node %d",
				     place_of(m, first)->node);
	}
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

static double share(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

/* How much comes from the own node, or else who stole most. */
static void find_thieves(struct sb_plot *plot, const struct matrix *m)
{
	double all = 0;
	double near = 0;
	double near_pairs = 0;
	double most = -1;
	uint32_t thief = 0;
	char text[SB_HUMAN_BYTES];

	for (uint32_t t = 0; t < m->n; t++) {
		double own = 0;

		for (uint32_t v = 0; v < m->n; v++) {
			const double items = t == v ? 0 : (double)items_of(m, t, v);

			own += items;
			near += same_node(m, t, v) ? items : 0;
			near_pairs += t != v && same_node(m, t, v);
		}
		all += own;
		thief = own > most ? m->worker[t] : thief;
		most = own > most ? own : most;
	}
	sb_human(text, all, "count");
	if (!(all > 0))
		sb_plot_finding(plot, "No attempt to steal took anything");
	else if (near_pairs < m->n * (m->n - 1.0))
		sb_plot_finding(plot,
				"%.0f %% of stolen processes come from the thief's own NUMA node, "
				"which has %.0f %% of the victims",
				share(near, all), share(near_pairs, m->n * (m->n - 1.0)));
	else
		sb_plot_finding(plot,
				"Worker %" PRIu32 " stole most: %.0f %% of %s processes; an even "
				"share is %.0f %%",
				thief, share(most, all), text, 100.0 / m->n);
}

static void draw_matrix(struct sb_plot *plot, struct matrix *m)
{
	const uint32_t block = put_matrix(plot, m);
	struct sb_plot_axis colour = {
		.name = 'c', .label = "processes stolen", .unit = "count", .log = true
	};

	colour.range = m->range;
	plot->height = MATRIX_HEIGHT;
	plot->right = SB_PLOT_COLOUR_ROOM;
	plot->left = SB_PLOT_WIDTH - MATRIX_HEIGHT - SB_PLOT_COLOUR_ROOM - MATRIX_SIDE;
	plot->right += MATRIX_SIDE;
	sb_plot_panel(plot);
	put_workers(plot, 'x', "victim (worker)", m);
	put_workers(plot, 'y', "thief (worker)", m);
	sb_plot_axis(plot, &colour);
	sb_plot_set(plot, SB_PLOT_PALETTE "\nunset grid");
	if (m->range.any)
		sb_plot_curve(plot, block, NULL, "matrix with image pixels");
	put_diagonal(plot, m);
	if (m->n <= MATRIX_NUMBERS && m->range.any) {
		put_numbers(plot, m, false);
		put_numbers(plot, m, true);
	}
	put_nodes(plot, m);
	find_thieves(plot, m);
}

bool sb_plot_steals(struct sb_plot *plot, int unused)
{
	const struct sb_series *series = plot->view->line[0].series;
	struct matrix matrix = { .series = series, .n = series->placement.workers };

	(void)unused;
	if (matrix.n < 2)
		return sb_plot_refuse(plot, "one worker steals from nobody");
	if (!any_attempt(series))
		return sb_plot_refuse(plot, "nothing was stolen");
	if (!order_workers(&matrix))
		return sb_plot_refuse(plot, "no memory");
	draw_matrix(plot, &matrix);
	free(matrix.worker);
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

/* Which distances there are between workers of any line; how many, and 0 if nothing was stolen. */
static uint32_t distances_of(const struct sb_plot_view *view, struct sb_plot_tic tic[SB_DISTANCES],
			     double position[SB_DISTANCES])
{
	bool found[SB_DISTANCES] = { false };
	bool any = false;
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->lines; i++) {
		struct sb_distance_steals by[SB_DISTANCES];

		sb_series_distances(view->line[i].series, by);
		for (int d = 0; d < SB_DISTANCES; d++) {
			found[d] |= by[d].attempts > 0;
			any |= by[d].successes > 0;
		}
	}
	for (int d = 0; d < SB_DISTANCES && any; d++) {
		position[d] = n;
		if (found[d]) {
			tic[n] = (struct sb_plot_tic){ n, sb_plot_distance_words[d] };
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

		sb_plot_put_median(
			plot, position[d] + aside,
			&(struct sb_plot_median){ .n = !isnan(v), .at = v, .low = v, .high = v },
			edge, i, sb_plot_is_suspect(series));
	}
	sb_plot_block_end(plot);
	sb_plot_median_curve(plot, block,
			     lines > 1 && what == STEALS_PER_S ? plot->view->line[i].label : NULL,
			     i);
}

static void put_measure(struct sb_plot *plot, enum measure what, const char *label,
			const char *unit)
{
	struct sb_plot_axis y = { 'y', label, unit, { 0 }, what == STEALS_PER_S, true, false };
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

/* Where most steals are, or which line has the most success. */
static void find_distance(struct sb_plot *plot, const struct sb_plot_tic *tic,
			  const double *position)
{
	struct sb_distance_steals by[SB_DISTANCES];
	char text[SB_PLOT_FINDING_BYTES];
	double all = 0;
	int most = 0;

	sb_series_distances(plot->view->line[0].series, by);
	for (int d = 0; d < SB_DISTANCES; d++) {
		all += by[d].successes;
		most = by[d].successes > by[most].successes ? d : most;
	}
	sb_plot_describe_best(
		text, plot->view,
		&(struct sb_plot_contest){ .metric = SB_METRIC_steals_success_pct,
					   .noun = "share of attempts to steal that succeed" });
	if (plot->view->lines > 1 && *text)
		sb_plot_finding(plot, "%s", text);
	else if (all > 0)
		sb_plot_finding(plot, "%.0f %% of steals are from victims at one distance: %s",
				100 * by[most].successes / all, tic[(int)position[most]].text);
}

bool sb_plot_distance(struct sb_plot *plot, int unused)
{
	struct sb_plot_tic tic[SB_DISTANCES];
	double position[SB_DISTANCES];
	uint32_t distances;

	(void)unused;
	distances = distances_of(plot->view, tic, position);
	if (!distances)
		return sb_plot_refuse(plot, "nothing was stolen");
	if (distances == 1)
		return sb_plot_refuse(plot, "all victims are at one distance");
	sb_plot_most(plot, plot->view->lines);
	put_measure(plot, STEALS_PER_S, "steals per pair of workers", "1/s");
	put_measure(plot, SUCCESS_PCT, "attempts that succeed", "%");
	find_distance(plot, tic, position);
	return true;
}
