#include "harness/sweep/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/ranked.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/record/validity.h"
#include "results/stats/ranking.h"

/* ---- a workload's configurations, ranked ---- */

const struct sb_configuration *sb_ranked_configuration(const struct sb_ranked *g, uint32_t i)
{
	return &g->view->sweep->configuration[g->first + i];
}

const struct sb_series *sb_ranked_series(const struct sb_ranked *g, uint32_t i)
{
	return &g->view->result->series[g->first + i];
}

static double objective_of(const struct sb_ranked *g, uint32_t i, uint32_t r)
{
	const struct sb_record *record = &sb_ranked_series(g, i)->record[r];
	const double value = record->value[g->view->objective];

	if (!sb_record_has_numbers(record))
		return NAN;
	return g->higher ? 1 / value : value;
}

static void fini_group(struct sb_ranked *g)
{
	free(g->value);
	free(g->rank);
}

static bool init_group(struct sb_ranked *g, const struct sb_sweep_view *view, uint32_t first)
{
	const struct sb_sweep *sweep = view->sweep;
	const struct sb_chosen *chosen = sweep->configuration[first].chosen;

	*g = (struct sb_ranked){ .view = view,
				 .first = first,
				 .rounds = sweep->repetitions,
				 .higher = sb_metric[view->objective].better == SB_HIGHER };
	while (first + g->n < sweep->configurations &&
	       sb_ranked_configuration(g, g->n)->chosen == chosen)
		g->n++;
	g->value = calloc((size_t)g->n * g->rounds, sizeof(*g->value));
	g->rank = calloc(g->n, sizeof(*g->rank));
	if (!g->value || !g->rank)
		return false;
	for (uint32_t i = 0; i < g->n * g->rounds; i++)
		g->value[i] = objective_of(g, i / g->rounds, i % g->rounds);
	return !sb_ranking_make(&g->ranking, g->rank,
				&(struct sb_rounds){ g->value, g->n, g->rounds }, view->seed);
}

void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, FILE *out), FILE *out)
{
	for (uint32_t first = 0; first < view->sweep->configurations;) {
		struct sb_ranked g;

		if (init_group(&g, view, first))
			put(&g, out);
		first += g.n;
		fini_group(&g);
	}
}

/* ---- the table ---- */

#define CELL_BYTES 112

static void put_metric(char *out, const struct sb_ranked *g, uint32_t i, enum sb_metric_id metric)
{
	sb_human(out, sb_series_spread(sb_ranked_series(g, i), metric).median,
		 sb_metric[metric].unit);
}

/* "10.2 ns [10.0 ns .. 10.4 ns]", of what is the lower the better. */
static void put_values(char *out, const struct sb_ranked *g, double value, double low, double high)
{
	const char *unit = sb_metric[g->view->objective].unit;
	char text[3][SB_HUMAN_BYTES];

	sb_human(text[0], g->higher ? 1 / value : value, unit);
	sb_human(text[1], g->higher ? 1 / high : low, unit);
	sb_human(text[2], g->higher ? 1 / low : high, unit);
	snprintf(out, CELL_BYTES, "%s [%s .. %s]", text[0], text[1], text[2]);
}

/* The estimate that ranks it; unranked: the median and the range. */
static void put_objective(char *out, const struct sb_ranked *g, uint32_t i)
{
	const struct sb_rounds rounds = { g->value, g->n, g->rounds };
	struct sb_ratio mean;
	struct sb_spread of;

	if (g->rank[i].compared) {
		mean = sb_ranking_mean(&rounds, g->rank, i, g->view->seed);
		put_values(out, g, mean.ratio, mean.low, mean.high);
		return;
	}
	of = sb_series_spread(sb_ranked_series(g, i), g->view->objective);
	if (of.n && g->higher)
		put_values(out, g, 1 / of.median, 1 / of.max, 1 / of.min);
	else if (of.n)
		put_values(out, g, of.median, of.min, of.max);
	else
		snprintf(out, CELL_BYTES, "-");
}

static void put_valid(char *out, const struct sb_ranked *g, uint32_t i)
{
	const struct sb_series *s = sb_ranked_series(g, i);
	const uint32_t suspect = sb_series_count(s, SB_SUSPECT);
	char also[16] = "";

	if (suspect)
		snprintf(also, sizeof(also), "+%" PRIu32, suspect);
	snprintf(out, CELL_BYTES, "%" PRIu32 "%s/%" PRIu32, sb_series_count(s, SB_VALID), also,
		 s->records);
}

/* "best", "~": cannot be told apart from it. */
static void put_rank(char *out, const struct sb_ranked *g, uint32_t i)
{
	const struct sb_rank *rank = &g->rank[i];

	out[0] = '\0';
	if (!rank->compared)
		snprintf(out, CELL_BYTES, "-");
	else
		snprintf(out, CELL_BYTES, "%s%.0f %%",
			 i == g->ranking.best ? "best "
			 : rank->apart	      ? ""
					      : "~ ",
			 100 * rank->p_best);
}

/* Latency and CPU beside each other: what a change of one costs in the other. */
static const struct {
	const char *title;
	enum sb_metric_id metric;
} beside[] = {
	{ "CPU/op", SB_METRIC_cpu_ns_per_op },
	{ "queue50", SB_METRIC_ready_to_running_ns_p50 },
	{ "queue99", SB_METRIC_ready_to_running_ns_p99 },
	{ "wake50", SB_METRIC_wake_ns_p50 },
	{ "wake99", SB_METRIC_wake_ns_p99 },
	{ "sojourn50", SB_METRIC_sojourn_ns_p50 },
	{ "sojourn99", SB_METRIC_sojourn_ns_p99 },
};

bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_series_spread(sb_ranked_series(g, i), metric).n)
			return true;
	}
	return false;
}

static const char *level_of(const struct sb_ranked *g, uint32_t i, uint32_t d)
{
	const uint32_t level = sb_ranked_configuration(g, i)->level[d];

	return level == SB_NO_LEVEL ? "-" : g->view->sweep->dimension[d].value[level];
}

/* Column by column, so that each is as wide as what is in it. */
struct grid {
	uint32_t rows;
	uint32_t columns;
	char (*cell)[CELL_BYTES]; /* [columns][rows]; row 0 has the titles */
};

static char *new_column(struct grid *grid, const char *title)
{
	char(*cell)[CELL_BYTES] =
		reallocarray(grid->cell, (size_t)(grid->columns + 1) * grid->rows, sizeof(*cell));

	if (!cell)
		return NULL;
	grid->cell = cell;
	cell = &cell[(size_t)grid->columns++ * grid->rows];
	snprintf(cell[0], CELL_BYTES, "%s", title);
	return cell[1];
}

static int width_of(const struct grid *grid, uint32_t column)
{
	size_t width = 0;

	for (uint32_t r = 0; r < grid->rows; r++) {
		const size_t length = strlen(grid->cell[column * grid->rows + r]);

		if (length > width)
			width = length;
	}
	return (int)width;
}

static void put_grid(const struct grid *grid, FILE *out)
{
	for (uint32_t r = 0; r < grid->rows; r++) {
		for (uint32_t c = 0; c < grid->columns; c++)
			fprintf(out, "%s%*s", c ? "   " : "", width_of(grid, c),
				grid->cell[c * grid->rows + r]);
		fputc('\n', out);
	}
}

static void add_levels(struct grid *grid, const struct sb_ranked *g, uint32_t d)
{
	char *cell = new_column(grid, g->view->sweep->dimension[d].name);

	for (uint32_t i = 0; cell && i < g->n; i++)
		snprintf(cell + (size_t)i * CELL_BYTES, CELL_BYTES, "%s", level_of(g, i, d));
}

static void add_cells(struct grid *grid, const struct sb_ranked *g, const char *title,
		      void (*put)(char *out, const struct sb_ranked *g, uint32_t i))
{
	char *cell = new_column(grid, title);

	for (uint32_t i = 0; cell && i < g->n; i++)
		put(cell + (size_t)i * CELL_BYTES, g, i);
}

static void add_metric(struct grid *grid, const struct sb_ranked *g, const char *title,
		       enum sb_metric_id metric)
{
	char *cell = new_column(grid, title);

	for (uint32_t i = 0; cell && i < g->n; i++)
		put_metric(cell + (size_t)i * CELL_BYTES, g, i, metric);
}

static void put_table(const struct sb_ranked *g, FILE *out)
{
	const struct sb_sweep *sweep = g->view->sweep;
	struct grid grid = { .rows = g->n + 1 };

	for (uint32_t d = 0; d < sweep->dimensions; d++) {
		if (sb_ranked_configuration(g, 0)->level[d] != SB_NO_LEVEL)
			add_levels(&grid, g, d);
	}
	add_cells(&grid, g, sb_metric[g->view->objective].name, put_objective);
	for (size_t i = 0; i < SB_ARRAY_SIZE(beside); i++) {
		if (beside[i].metric != g->view->objective &&
		    sb_ranked_any_has(g, beside[i].metric))
			add_metric(&grid, g, beside[i].title, beside[i].metric);
	}
	add_cells(&grid, g, "valid", put_valid);
	add_cells(&grid, g, "best in", put_rank);
	fprintf(out, "%s, %" PRIu32 " round%s; medians%s\n", sb_ranked_series(g, 0)->workload,
		g->rounds, g->rounds == 1 ? "" : "s",
		g->ranking.compared ? "; of what is ranked, the geometric mean over the rounds "
				      "compared [95 % interval]"
				    : " [least .. largest]");
	put_grid(&grid, out);
	free(grid.cell);
}

/* ---- why rows are missing ---- */

#define REASONS_MAX 5

static void put_reasons(const struct sb_ranked *g, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n * g->rounds; i++) {
		const struct sb_record *record =
			&sb_ranked_series(g, i / g->rounds)->record[i % g->rounds];

		if (sb_record_has_numbers(record))
			continue;
		if (n++ < REASONS_MAX)
			fprintf(out, "%s, repetition %" PRIu32 ": invalid (%s)\n",
				sb_ranked_configuration(g, i / g->rounds)->label,
				record->repetition, record->reason);
	}
	if (n > REASONS_MAX)
		fprintf(out, "%s: %" PRIu32 " more are invalid\n", sb_ranked_series(g, 0)->workload,
			n - REASONS_MAX);
}

/* ---- of one option alone ---- */

static void put_all(const struct sb_ranked *g, FILE *out)
{
	put_table(g, out);
	fputc('\n', out);
	put_reasons(g, out);
	sb_sweep_put_recommendation(g, out);
	fputc('\n', out);
}

void sb_sweep_put_tables(const struct sb_sweep_view *view, FILE *out)
{
	sb_ranked_each_group(view, put_all, out);
}
