#include "harness/sweep/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/stats/ranking.h"
#include "results/record/validity.h"
#include "results/record/number.h"
#include "results/record/record.h"

/* ---- a workload's configurations, ranked ---- */

/* What is said of one workload. Configurations count from 0 here; first is where
 * they begin in the sweep. */
struct group {
	const struct sb_sweep_view *view;
	uint32_t first;
	uint32_t n;
	uint32_t rounds;
	bool higher;   /* is better: value has the inverse */
	double *value; /* [n * rounds] */
	struct sb_rank *rank;
	struct sb_ranking ranking;
};

static const struct sb_configuration *configuration(const struct group *g,
						    uint32_t i)
{
	return &g->view->sweep->configuration[g->first + i];
}

static const struct sb_series *series(const struct group *g, uint32_t i)
{
	return &g->view->result->series[g->first + i];
}

static double objective_of(const struct group *g, uint32_t i, uint32_t r)
{
	const struct sb_record *record = &series(g, i)->record[r];
	const double value = record->value[g->view->objective];

	if (!sb_record_has_numbers(record))
		return NAN;
	return g->higher ? 1 / value : value;
}

static void fini_group(struct group *g)
{
	free(g->value);
	free(g->rank);
}

static bool init_group(struct group *g, const struct sb_sweep_view *view,
		       uint32_t first)
{
	const struct sb_sweep *sweep = view->sweep;
	const struct sb_chosen *chosen = sweep->configuration[first].chosen;

	*g = (struct group){ .view = view,
			     .first = first,
			     .rounds = sweep->repetitions,
			     .higher = sb_metric[view->objective].better ==
				       SB_HIGHER };
	while (first + g->n < sweep->configurations &&
	       configuration(g, g->n)->chosen == chosen)
		g->n++;
	g->value = calloc((size_t)g->n * g->rounds, sizeof(*g->value));
	g->rank = calloc(g->n, sizeof(*g->rank));
	if (!g->value || !g->rank)
		return false;
	for (uint32_t i = 0; i < g->n * g->rounds; i++)
		g->value[i] = objective_of(g, i / g->rounds, i % g->rounds);
	return !sb_ranking_make(
		&g->ranking, g->rank,
		&(struct sb_rounds){ g->value, g->n, g->rounds }, view->seed);
}

static void each_group(const struct sb_sweep_view *view,
		       void (*put)(const struct group *g, FILE *out), FILE *out)
{
	for (uint32_t first = 0; first < view->sweep->configurations;) {
		struct group g;

		if (init_group(&g, view, first))
			put(&g, out);
		first += g.n;
		fini_group(&g);
	}
}

/* ---- the table ---- */

#define CELL_BYTES 112

static void put_metric(char *out, const struct group *g, uint32_t i,
		       enum sb_metric_id metric)
{
	sb_human(out, sb_series_spread(series(g, i), metric).median,
		 sb_metric[metric].unit);
}

/* "10.2 ns [10.0 ns .. 10.4 ns]", of what is the lower the better. */
static void put_values(char *out, const struct group *g, double value,
		       double low, double high)
{
	const char *unit = sb_metric[g->view->objective].unit;
	char text[3][SB_HUMAN_BYTES];

	sb_human(text[0], g->higher ? 1 / value : value, unit);
	sb_human(text[1], g->higher ? 1 / high : low, unit);
	sb_human(text[2], g->higher ? 1 / low : high, unit);
	snprintf(out, CELL_BYTES, "%s [%s .. %s]", text[0], text[1], text[2]);
}

/* What ranks it; of what is not ranked the median and all it lies among. */
static void put_objective(char *out, const struct group *g, uint32_t i)
{
	const struct sb_rounds rounds = { g->value, g->n, g->rounds };
	struct sb_ratio mean;
	struct sb_spread of;

	if (g->rank[i].compared) {
		mean = sb_ranking_mean(&rounds, g->rank, i, g->view->seed);
		put_values(out, g, mean.ratio, mean.low, mean.high);
		return;
	}
	of = sb_series_spread(series(g, i), g->view->objective);
	if (of.n && g->higher)
		put_values(out, g, 1 / of.median, 1 / of.max, 1 / of.min);
	else if (of.n)
		put_values(out, g, of.median, of.min, of.max);
	else
		snprintf(out, CELL_BYTES, "-");
}

static void put_valid(char *out, const struct group *g, uint32_t i)
{
	const struct sb_series *s = series(g, i);
	const uint32_t suspect = sb_series_count(s, SB_SUSPECT);
	char also[16] = "";

	if (suspect)
		snprintf(also, sizeof(also), "+%" PRIu32, suspect);
	snprintf(out, CELL_BYTES, "%" PRIu32 "%s/%" PRIu32,
		 sb_series_count(s, SB_VALID), also, s->records);
}

/* "best", "~" for who cannot be told apart from it. */
static void put_rank(char *out, const struct group *g, uint32_t i)
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

static bool any_has(const struct group *g, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_series_spread(series(g, i), metric).n)
			return true;
	}
	return false;
}

static const char *level_of(const struct group *g, uint32_t i, uint32_t d)
{
	const uint32_t level = configuration(g, i)->level[d];

	return level == SB_NO_LEVEL ? "-"
				    : g->view->sweep->dimension[d].value[level];
}

/* Column by column, so that each is as wide as what is in it. */
struct grid {
	uint32_t rows;
	uint32_t columns;
	char (*cell)[CELL_BYTES]; /* [columns][rows]; row 0 has the titles */
};

static char *new_column(struct grid *grid, const char *title)
{
	char(*cell)[CELL_BYTES] = reallocarray(
		grid->cell, (size_t)(grid->columns + 1) * grid->rows,
		sizeof(*cell));

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
		const size_t length =
			strlen(grid->cell[column * grid->rows + r]);

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

static void add_levels(struct grid *grid, const struct group *g, uint32_t d)
{
	char *cell = new_column(grid, g->view->sweep->dimension[d].name);

	for (uint32_t i = 0; cell && i < g->n; i++)
		snprintf(cell + (size_t)i * CELL_BYTES, CELL_BYTES, "%s",
			 level_of(g, i, d));
}

static void add_cells(struct grid *grid, const struct group *g,
		      const char *title,
		      void (*put)(char *out, const struct group *g, uint32_t i))
{
	char *cell = new_column(grid, title);

	for (uint32_t i = 0; cell && i < g->n; i++)
		put(cell + (size_t)i * CELL_BYTES, g, i);
}

static void add_metric(struct grid *grid, const struct group *g,
		       const char *title, enum sb_metric_id metric)
{
	char *cell = new_column(grid, title);

	for (uint32_t i = 0; cell && i < g->n; i++)
		put_metric(cell + (size_t)i * CELL_BYTES, g, i, metric);
}

static void put_table(const struct group *g, FILE *out)
{
	const struct sb_sweep *sweep = g->view->sweep;
	struct grid grid = { .rows = g->n + 1 };

	for (uint32_t d = 0; d < sweep->dimensions; d++) {
		if (configuration(g, 0)->level[d] != SB_NO_LEVEL)
			add_levels(&grid, g, d);
	}
	add_cells(&grid, g, sb_metric[g->view->objective].name, put_objective);
	for (size_t i = 0; i < SB_ARRAY_SIZE(beside); i++) {
		if (beside[i].metric != g->view->objective &&
		    any_has(g, beside[i].metric))
			add_metric(&grid, g, beside[i].title, beside[i].metric);
	}
	add_cells(&grid, g, "valid", put_valid);
	add_cells(&grid, g, "best in", put_rank);
	fprintf(out, "%s, %" PRIu32 " round%s; medians%s\n",
		series(g, 0)->workload, g->rounds, g->rounds == 1 ? "" : "s",
		g->ranking.compared
			? "; of what is ranked, the geometric mean over the "
			  "rounds compared [95 % interval]"
			: " [least .. largest]");
	put_grid(&grid, out);
	free(grid.cell);
}

/* ---- why rows are missing ---- */

#define REASONS_MAX 5

static void put_reasons(const struct group *g, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n * g->rounds; i++) {
		const struct sb_record *record =
			&series(g, i / g->rounds)->record[i % g->rounds];

		if (sb_record_has_numbers(record))
			continue;
		if (n++ < REASONS_MAX)
			fprintf(out,
				"%s, repetition %" PRIu32 ": invalid (%s)\n",
				configuration(g, i / g->rounds)->label,
				record->repetition, record->reason);
	}
	if (n > REASONS_MAX)
		fprintf(out, "%s: %" PRIu32 " more are invalid\n",
			series(g, 0)->workload, n - REASONS_MAX);
}

/* ---- what is recommended ---- */

/* "batch=16 spin-yield=12", without the workload. */
static void put_settings(const struct group *g, uint32_t i, FILE *out)
{
	const char *blank = strchr(configuration(g, i)->label, ' ');

	fputs(blank ? blank + 1 : configuration(g, i)->label, out);
}

static void put_percent(double part, FILE *out)
{
	const double percent = 100 * part;

	fprintf(out, "%.*f %%", fabs(percent) < 10 ? 1 : 0, percent);
}

/* "ns_per_op is 3.6 % [1.2 % .. 6.1 %] lower than "; ratio: of what is the lower
 * the better. */
static void put_gain(const struct group *g, const struct sb_ratio *ratio,
		     FILE *out)
{
	const bool higher = g->higher;

	fprintf(out, "%s is ", sb_metric[g->view->objective].name);
	put_percent(higher ? 1 / ratio->ratio - 1 : 1 - ratio->ratio, out);
	fputs(" [", out);
	put_percent(higher ? 1 / ratio->high - 1 : 1 - ratio->high, out);
	fputs(" .. ", out);
	put_percent(higher ? 1 / ratio->low - 1 : 1 - ratio->low, out);
	fprintf(out, "] %s than ", higher ? "higher" : "lower");
}

static uint32_t find_default(const struct group *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_sweep_is_default(g->view->sweep, configuration(g, i)))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t count_like_best(const struct group *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->rank[i].compared && i != g->ranking.best &&
		     !g->rank[i].apart;
	return n;
}

#define NAMED_MAX 8

static void put_like_best(const struct group *g, FILE *out)
{
	const uint32_t n = count_like_best(g);
	uint32_t named = 0;

	if (!n) {
		fputs("  All others are worse, by more than chance (95 % for "
		      "all of this together).\n",
		      out);
		return;
	}
	if (n == g->ranking.compared - 1) {
		fputs("  None of the others is told apart from it.\n", out);
		return;
	}
	fputs("  Not told apart from it: ", out);
	for (uint32_t i = 0; i < g->n && named < NAMED_MAX; i++) {
		if (!g->rank[i].compared || i == g->ranking.best ||
		    g->rank[i].apart)
			continue;
		fputs(named++ ? "; " : "", out);
		put_settings(g, i, out);
	}
	if (n > named)
		fprintf(out, "; and %" PRIu32 " more", n - named);
	fputs(".\n", out);
}

/* Against the default, or if that is the best itself or was not tried, against
 * the second best. */
static void put_comparison(const struct group *g, FILE *out)
{
	const uint32_t best = g->ranking.best;
	uint32_t other = find_default(g);
	const bool to_default =
		other != UINT32_MAX && other != best && g->rank[other].compared;
	struct sb_ratio ratio;

	if (!to_default)
		other = g->ranking.second;
	ratio = sb_ranking_ratio(&g->value[best * g->rounds],
				 &g->value[other * g->rounds], g->rounds,
				 g->view->seed);
	fputs("  Its ", out);
	put_gain(g, &ratio, out);
	fputs(to_default ? "with the default" : "with the second best", out);
	fputs(" (", out);
	put_settings(g, other, out);
	fputs(").\n", out);
	if (find_default(g) == best)
		fputs("  It is the default.\n", out);
	else if (to_default && !g->rank[other].apart)
		fputs("  The default is not told apart: nothing here speaks "
		      "for changing it.\n",
		      out);
}

/* ---- of one option alone ---- */

/* A dimension's levels as if they were configurations. */
struct effect {
	uint32_t levels;
	uint32_t *level;
	bool *include;
	double *value;
	struct sb_rank *rank;
	struct sb_ranking ranking;
};

static bool init_effect(struct effect *e, const struct group *g, uint32_t d)
{
	const struct sb_rounds rounds = { g->value, g->n, g->rounds };

	e->levels = g->view->sweep->dimension[d].values;
	e->level = calloc(g->n, sizeof(*e->level));
	e->include = calloc(g->n, sizeof(*e->include));
	e->value = calloc((size_t)e->levels * g->rounds, sizeof(*e->value));
	e->rank = calloc(e->levels, sizeof(*e->rank));
	if (!e->level || !e->include || !e->value || !e->rank)
		return false;
	for (uint32_t i = 0; i < g->n; i++) {
		e->level[i] = configuration(g, i)->level[d];
		e->include[i] = true;
	}
	sb_ranking_fold(e->value, e->levels, e->level, e->include, &rounds);
	return !sb_ranking_make(
		&e->ranking, e->rank,
		&(struct sb_rounds){ e->value, e->levels, g->rounds },
		g->view->seed);
}

static void put_effect(const struct group *g, uint32_t d, FILE *out)
{
	const struct sb_dimension *dimension = &g->view->sweep->dimension[d];
	struct effect e = { 0 };
	struct sb_ratio ratio;

	if (init_effect(&e, g, d) && e.ranking.compared > 1) {
		const uint32_t best = e.ranking.best;
		const uint32_t second = e.ranking.second;

		ratio = sb_ranking_ratio(&e.value[best * g->rounds],
					 &e.value[second * g->rounds],
					 g->rounds, g->view->seed);
		fprintf(out,
			"  %s alone, over all others: %s is best in %.0f %%; ",
			dimension->name, dimension->value[best],
			100 * e.rank[best].p_best);
		put_gain(g, &ratio, out);
		fprintf(out, "with %s%s.\n", dimension->value[second],
			e.rank[second].apart ? ""
					     : ", which is not told apart");
	}
	free(e.level);
	free(e.include);
	free(e.value);
	free(e.rank);
}

static void put_effects(const struct group *g, FILE *out)
{
	const struct sb_sweep *sweep = g->view->sweep;
	uint32_t varied = 0;

	for (uint32_t d = 0; d < sweep->dimensions; d++)
		varied += configuration(g, 0)->level[d] != SB_NO_LEVEL &&
			  sweep->dimension[d].values > 1;
	for (uint32_t d = 0; d < sweep->dimensions && varied > 1; d++) {
		if (configuration(g, 0)->level[d] != SB_NO_LEVEL &&
		    sweep->dimension[d].values > 1)
			put_effect(g, d, out);
	}
}

static void put_none(const struct group *g, FILE *out)
{
	const char *metric = sb_metric[g->view->objective].name;

	fprintf(out, "%s: no recommendation: ", series(g, 0)->workload);
	if (g->n < 2)
		fputs("there is one configuration alone.\n", out);
	else if (g->rounds < SB_RANKING_ROUNDS)
		fprintf(out,
			"%" PRIu32 " round%s too few to compare; expected at "
			"least %d (--repetitions).\n",
			g->rounds, g->rounds == 1 ? " is" : "s are",
			SB_RANKING_ROUNDS);
	else if (!any_has(g, g->view->objective))
		fprintf(out, "no row has %s.\n", metric);
	else
		fprintf(out,
			"fewer than two configurations have %s in the same %d "
			"rounds.\n",
			metric, SB_RANKING_ROUNDS);
}

static void put_left_out(const struct group *g, FILE *out)
{
	if (g->ranking.compared < g->n)
		fprintf(out,
			"  Left out, for they have numbers in too few rounds: "
			"%" PRIu32 " of %" PRIu32 " configurations.\n",
			g->n - g->ranking.compared, g->n);
	if (g->ranking.rounds < g->rounds)
		fprintf(out,
			"  Compared in %" PRIu32 " of %" PRIu32
			" rounds, those in which the others all have "
			"numbers.\n",
			g->ranking.rounds, g->rounds);
}

static void put_recommendation(const struct group *g, FILE *out)
{
	if (!g->ranking.compared) {
		put_none(g, out);
		return;
	}
	fprintf(out, "%s: ", series(g, 0)->workload);
	put_settings(g, g->ranking.best, out);
	fprintf(out, " is best in %.0f %% of resamplings%s.\n",
		100 * g->rank[g->ranking.best].p_best,
		count_like_best(g) ? ", which does not settle it" : "");
	put_comparison(g, out);
	put_like_best(g, out);
	put_effects(g, out);
	put_left_out(g, out);
}

static void put_all(const struct group *g, FILE *out)
{
	put_table(g, out);
	fputc('\n', out);
	put_reasons(g, out);
	put_recommendation(g, out);
	fputc('\n', out);
}

void sb_sweep_put_tables(const struct sb_sweep_view *view, FILE *out)
{
	each_group(view, put_all, out);
}

void sb_sweep_put_recommendations(const struct sb_sweep_view *view, FILE *out)
{
	each_group(view, put_recommendation, out);
}
