#include "harness/sweep/ranked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/series.h"
#include "results/text/escape.h"

const struct sb_configuration *sb_ranked_configuration(const struct sb_ranked *g, uint32_t i)
{
	return &g->view->sweep->configuration[g->of[i]];
}

const struct sb_series *sb_ranked_series(const struct sb_ranked *g, uint32_t i)
{
	return &g->view->result->series[g->of[i]];
}

const char *sb_ranked_settings(const struct sb_ranked *g, uint32_t i)
{
	const char *label = sb_ranked_configuration(g, i)->label;
	const char *blank = strchr(label, ' ');

	return blank ? blank + 1 : label;
}

bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_series_spread(sb_ranked_series(g, i), metric).n)
			return true;
	}
	return false;
}

uint32_t sb_ranked_default(const struct sb_ranked *g, uint32_t i)
{
	const struct sb_sweep *sweep = g->view->sweep;
	const struct sb_configuration *of = sb_ranked_configuration(g, i);

	for (uint32_t d = 0; d < g->n; d++) {
		const struct sb_configuration *c = sb_ranked_configuration(g, d);

		if (sb_sweep_is_default(sweep, c) && sb_sweep_has_same_work(sweep, c, of))
			return g->by->rank[d].compared ? d : SB_NO_LEVEL;
	}
	return SB_NO_LEVEL;
}

static bool is_load(const struct sb_dimension *dimension)
{
	return dimension->option == SB_OPT_rate || dimension->option == SB_OPT_load ||
	       dimension->option == SB_OPT_closed;
}

/* How many dimensions vary that are loads, or that are not. */
static uint32_t count_varied(const struct sb_sweep *sweep, const struct sb_configuration *c,
			     bool loads)
{
	uint32_t varied = 0;

	for (uint32_t d = 0; d < sweep->dimensions; d++)
		varied += c->level[d] != SB_NO_LEVEL && sweep->dimension[d].values > 1 &&
			  is_load(&sweep->dimension[d]) == loads;
	return varied;
}

bool sb_ranked_is_load(const struct sb_ranked *g)
{
	const struct sb_configuration *c = sb_ranked_configuration(g, 0);

	return count_varied(g->view->sweep, c, true) && !count_varied(g->view->sweep, c, false);
}

/* ---- a workload's configurations, ranked ---- */

static double objective_of(const struct sb_ranked *g, const struct sb_ranked_objective *by,
			   uint32_t i, uint32_t r)
{
	const struct sb_record *record = &sb_ranked_series(g, i)->record[r];
	const double value = record->value[by->metric];

	if (!sb_record_has_numbers(record))
		return NAN;
	return by->higher ? 1 / value : value;
}

static void fini_group(struct sb_ranked *g)
{
	for (uint32_t o = 0; o < g->objectives; o++) {
		free(g->by[o].value);
		free(g->by[o].rank);
	}
	free(g->member);
	free(g->of);
}

static bool init_objective(const struct sb_ranked *g, struct sb_ranked_objective *by,
			   enum sb_metric_id metric)
{
	by->metric = metric;
	by->higher = sb_metric[metric].better == SB_HIGHER;
	by->value = calloc((size_t)g->n * g->rounds, sizeof(*by->value));
	by->rank = calloc(g->n, sizeof(*by->rank));
	for (uint32_t i = 0; by->value && i < g->n * g->rounds; i++)
		by->value[i] = objective_of(g, by, i / g->rounds, i % g->rounds);
	return by->value && by->rank;
}

static bool rank(struct sb_ranked *g)
{
	const uint64_t seed = g->view->seed;
	const struct sb_rounds in[SB_FRONT_OBJECTIVES] = {
		{ g->by[0].value, g->n, g->rounds },
		{ g->by[1].value, g->n, g->rounds },
	};
	struct sb_rank *const ranks[SB_FRONT_OBJECTIVES] = { g->by[0].rank, g->by[1].rank };

	if (g->objectives == 1)
		return !sb_ranking_make(g->front.ranking, ranks[0], in, seed);
	sb_front_pair(g->by[0].value, g->by[1].value, (size_t)g->n * g->rounds);
	g->member = calloc(g->n, sizeof(*g->member));
	return g->member && !sb_front_make(&g->front, g->member, ranks, in, seed);
}

static bool are_ranked_together(const struct sb_sweep *sweep, const struct sb_configuration *a,
				const struct sb_configuration *b)
{
	if (a->chosen != b->chosen)
		return false;
	if (!count_varied(sweep, a, false))
		return true;
	for (uint32_t d = 0; d < sweep->dimensions; d++) {
		if (is_load(&sweep->dimension[d]) && a->level[d] != b->level[d])
			return false;
	}
	return true;
}

/* The group of configuration `first`. */
static bool init_group(struct sb_ranked *g, const struct sb_sweep_view *view, uint32_t first,
		       bool *is_taken)
{
	const struct sb_sweep *sweep = view->sweep;
	const struct sb_configuration *c = sweep->configuration;
	const struct sb_objectives *objectives = sb_sweep_objectives(sweep, c[first].chosen);
	bool ok;

	*g = (struct sb_ranked){ .view = view, .rounds = sweep->repetitions };
	g->of = calloc(sweep->configurations, sizeof(*g->of));
	for (uint32_t i = first; g->of && i < sweep->configurations; i++) {
		if (!are_ranked_together(sweep, &c[first], &c[i]))
			continue;
		is_taken[i] = true;
		g->of[g->n++] = i;
	}
	ok = g->of;
	while (ok && g->objectives < objectives->n) {
		ok = init_objective(g, &g->by[g->objectives], objectives->metric[g->objectives]);
		g->objectives++;
	}
	return ok && rank(g);
}

void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, FILE *out), FILE *out)
{
	bool *is_taken = calloc(view->sweep->configurations, sizeof(*is_taken));

	for (uint32_t first = 0; is_taken && first < view->sweep->configurations; first++) {
		struct sb_ranked g;

		if (is_taken[first])
			continue;
		if (init_group(&g, view, first, is_taken))
			put(&g, out);
		fini_group(&g);
	}
	free(is_taken);
}

/* ---- numbers ---- */

/* In virtual time many a value has no spread that can be seen. */
static bool is_one_value(const char *value, const char *low, const char *high)
{
	return !strcmp(value, low) && !strcmp(value, high);
}

/* Of an objective's values, where the higher is better the inverse. */
static void put_values(char *out, const struct sb_ranked_objective *by, double value, double low,
		       double high)
{
	const char *unit = sb_metric[by->metric].unit;
	char text[3][SB_HUMAN_BYTES];

	sb_human(text[0], by->higher ? 1 / value : value, unit);
	sb_human(text[1], by->higher ? 1 / high : low, unit);
	sb_human(text[2], by->higher ? 1 / low : high, unit);
	if (is_one_value(text[0], text[1], text[2]))
		snprintf(out, SB_RANKED_CELL_BYTES, "%s", text[0]);
	else
		snprintf(out, SB_RANKED_CELL_BYTES, "%s [%s .. %s]", text[0], text[1], text[2]);
}

void sb_ranked_estimate(char out[SB_RANKED_CELL_BYTES], const struct sb_ranked *g,
			const struct sb_ranked_objective *by, uint32_t i)
{
	const struct sb_rounds rounds = { by->value, g->n, g->rounds };
	struct sb_ratio mean;
	struct sb_spread of;

	if (by->rank[i].compared) {
		mean = sb_ranking_mean(&rounds, by->rank, i, g->view->seed);
		put_values(out, by, mean.ratio, mean.low, mean.high);
		return;
	}
	of = sb_series_spread(sb_ranked_series(g, i), by->metric);
	if (of.n && by->higher)
		put_values(out, by, 1 / of.median, 1 / of.max, 1 / of.min);
	else if (of.n)
		put_values(out, by, of.median, of.min, of.max);
	else
		snprintf(out, SB_RANKED_CELL_BYTES, "-");
}

struct sb_ratio sb_ranked_ratio(const struct sb_ranked *g, const struct sb_ranked_objective *by,
				uint32_t i, uint32_t to)
{
	return sb_ranking_ratio(&by->value[(size_t)i * g->rounds],
				&by->value[(size_t)to * g->rounds], g->rounds, g->view->seed);
}

static bool is_tie(const struct sb_ranked *g, const struct sb_ranked_objective *by, uint32_t a,
		   uint32_t b)
{
	for (uint32_t r = 0; r < g->rounds; r++) {
		const double x = by->value[(size_t)a * g->rounds + r];
		const double y = by->value[(size_t)b * g->rounds + r];

		if (!(x <= y && x >= y))
			return false;
	}
	return true;
}

void sb_ranked_put_ties(const struct sb_ranked *g, const struct sb_ranked_objective *by, uint32_t i,
			FILE *out)
{
	const char *before = ", the same as with ";

	for (uint32_t other = 0; other < g->n; other++) {
		if (other == i || !is_tie(g, by, i, other))
			continue;
		fprintf(out, "%s%s", before, sb_terminal_text(sb_ranked_settings(g, other)));
		before = " and ";
	}
}

/* ---- how much one differs from another ---- */

#define PERCENT_BYTES 32

static void put_percent(char out[PERCENT_BYTES], double part)
{
	const double percent = 100 * part;

	snprintf(out, PERCENT_BYTES, "%.*f %%", fabs(percent) < 10 ? 1 : 0, percent);
}

static void put_share(double value, double low, double high, FILE *out)
{
	char text[3][PERCENT_BYTES];

	put_percent(text[0], value);
	put_percent(text[1], low);
	put_percent(text[2], high);
	if (is_one_value(text[0], text[1], text[2]))
		fprintf(out, "%s ", text[0]);
	else
		fprintf(out, "%s [%s .. %s] ", text[0], text[1], text[2]);
}

/* Beyond that a share is harder to read than a factor. */
#define FACTOR_FROM 2

void sb_ranked_put_change(const struct sb_ranked_objective *by, const struct sb_ratio *ratio,
			  FILE *out)
{
	const double value = by->higher ? 1 / ratio->ratio : ratio->ratio;
	const double low = by->higher ? 1 / ratio->high : ratio->low;
	const double high = by->higher ? 1 / ratio->low : ratio->high;

	if (value >= FACTOR_FROM) {
		fprintf(out, "%.3g times [%.3g .. %.3g] as high as", value, low, high);
	} else if (value > 1) {
		put_share(value - 1, low - 1, high - 1, out);
		fputs("higher than", out);
	} else {
		put_share(1 - value, 1 - high, 1 - low, out);
		fputs("lower than", out);
	}
}
