/* recommend.c - which configuration a sweep recommends, and what each option alone does. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/ranked.h"
#include "harness/sweep/table.h"
#include "results/record/record.h"
#include "results/stats/ranking.h"

/* "batch=16 spin-yield=12", without the workload. */
static void put_settings(const struct sb_ranked *g, uint32_t i, FILE *out)
{
	const char *blank = strchr(sb_ranked_configuration(g, i)->label, ' ');

	fputs(blank ? blank + 1 : sb_ranked_configuration(g, i)->label, out);
}

static void put_percent(double part, FILE *out)
{
	const double percent = 100 * part;

	fprintf(out, "%.*f %%", fabs(percent) < 10 ? 1 : 0, percent);
}

/* "ns_per_op is 3.6 % [1.2 % .. 6.1 %] lower than "; ratio: of what is the lower
 * the better. */
static void put_gain(const struct sb_ranked *g, const struct sb_ratio *ratio, FILE *out)
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

static uint32_t find_default(const struct sb_ranked *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_sweep_is_default(g->view->sweep, sb_ranked_configuration(g, i)))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t count_like_best(const struct sb_ranked *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->rank[i].compared && i != g->ranking.best && !g->rank[i].apart;
	return n;
}

#define NAMED_MAX 8

static void put_like_best(const struct sb_ranked *g, FILE *out)
{
	const uint32_t n = count_like_best(g);
	uint32_t named = 0;

	if (!n) {
		fputs("  All others are worse, by more than chance (95 % for all of this "
		      "together).\n",
		      out);
		return;
	}
	if (n == g->ranking.compared - 1) {
		fputs("  None of the others is told apart from it.\n", out);
		return;
	}
	fputs("  Not told apart from it: ", out);
	for (uint32_t i = 0; i < g->n && named < NAMED_MAX; i++) {
		if (!g->rank[i].compared || i == g->ranking.best || g->rank[i].apart)
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
static void put_comparison(const struct sb_ranked *g, FILE *out)
{
	const uint32_t best = g->ranking.best;
	uint32_t other = find_default(g);
	const bool to_default = other != UINT32_MAX && other != best && g->rank[other].compared;
	struct sb_ratio ratio;

	if (!to_default)
		other = g->ranking.second;
	ratio = sb_ranking_ratio(&g->value[best * g->rounds], &g->value[other * g->rounds],
				 g->rounds, g->view->seed);
	fputs("  Its ", out);
	put_gain(g, &ratio, out);
	fputs(to_default ? "with the default" : "with the second best", out);
	fputs(" (", out);
	put_settings(g, other, out);
	fputs(").\n", out);
	if (find_default(g) == best)
		fputs("  It is the default.\n", out);
	else if (to_default && !g->rank[other].apart)
		fputs("  The default is not told apart: nothing here speaks for changing it.\n",
		      out);
}

/* A dimension's levels as if they were configurations. */
struct effect {
	uint32_t levels;
	uint32_t *level;
	bool *include;
	double *value;
	struct sb_rank *rank;
	struct sb_ranking ranking;
};

static bool init_effect(struct effect *e, const struct sb_ranked *g, uint32_t d)
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
		e->level[i] = sb_ranked_configuration(g, i)->level[d];
		e->include[i] = true;
	}
	sb_ranking_fold(e->value, e->levels, e->level, e->include, &rounds);
	return !sb_ranking_make(&e->ranking, e->rank,
				&(struct sb_rounds){ e->value, e->levels, g->rounds },
				g->view->seed);
}

static void put_effect(const struct sb_ranked *g, uint32_t d, FILE *out)
{
	const struct sb_dimension *dimension = &g->view->sweep->dimension[d];
	struct effect e = { 0 };
	struct sb_ratio ratio;

	if (init_effect(&e, g, d) && e.ranking.compared > 1) {
		const uint32_t best = e.ranking.best;
		const uint32_t second = e.ranking.second;

		ratio = sb_ranking_ratio(&e.value[best * g->rounds], &e.value[second * g->rounds],
					 g->rounds, g->view->seed);
		fprintf(out, "  %s alone, over all others: %s is best in %.0f %%; ",
			dimension->name, dimension->value[best], 100 * e.rank[best].p_best);
		put_gain(g, &ratio, out);
		fprintf(out, "with %s%s.\n", dimension->value[second],
			e.rank[second].apart ? "" : ", which is not told apart");
	}
	free(e.level);
	free(e.include);
	free(e.value);
	free(e.rank);
}

static void put_effects(const struct sb_ranked *g, FILE *out)
{
	const struct sb_sweep *sweep = g->view->sweep;
	uint32_t varied = 0;

	for (uint32_t d = 0; d < sweep->dimensions; d++)
		varied += sb_ranked_configuration(g, 0)->level[d] != SB_NO_LEVEL &&
			  sweep->dimension[d].values > 1;
	for (uint32_t d = 0; d < sweep->dimensions && varied > 1; d++) {
		if (sb_ranked_configuration(g, 0)->level[d] != SB_NO_LEVEL &&
		    sweep->dimension[d].values > 1)
			put_effect(g, d, out);
	}
}

static void put_none(const struct sb_ranked *g, FILE *out)
{
	const char *metric = sb_metric[g->view->objective].name;

	fprintf(out, "%s: no recommendation: ", sb_ranked_series(g, 0)->workload);
	if (g->n < 2)
		fputs("there is one sb_ranked_configuration alone.\n", out);
	else if (g->rounds < SB_RANKING_ROUNDS)
		fprintf(out,
			"%" PRIu32
			" round%s too few to compare; expected at least %d (--repetitions).\n",
			g->rounds, g->rounds == 1 ? " is" : "s are", SB_RANKING_ROUNDS);
	else if (!sb_ranked_any_has(g, g->view->objective))
		fprintf(out, "no row has %s.\n", metric);
	else
		fprintf(out, "fewer than two configurations have %s in the same %d rounds.\n",
			metric, SB_RANKING_ROUNDS);
}

static void put_left_out(const struct sb_ranked *g, FILE *out)
{
	if (g->ranking.compared < g->n)
		fprintf(out,
			"  Left out, for they have numbers in too few rounds: %" PRIu32
			" of %" PRIu32 " configurations.\n",
			g->n - g->ranking.compared, g->n);
	if (g->ranking.rounds < g->rounds)
		fprintf(out,
			"  Compared in %" PRIu32 " of %" PRIu32
			" rounds, those in which the others all have numbers.\n",
			g->ranking.rounds, g->rounds);
}

void sb_sweep_put_recommendation(const struct sb_ranked *g, FILE *out)
{
	if (!g->ranking.compared) {
		put_none(g, out);
		return;
	}
	fprintf(out, "%s: ", sb_ranked_series(g, 0)->workload);
	put_settings(g, g->ranking.best, out);
	fprintf(out, " is best in %.0f %% of resamplings%s.\n",
		100 * g->rank[g->ranking.best].p_best,
		count_like_best(g) ? ", which does not settle it" : "");
	put_comparison(g, out);
	put_like_best(g, out);
	put_effects(g, out);
	put_left_out(g, out);
}

void sb_sweep_put_recommendations(const struct sb_sweep_view *view, FILE *out)
{
	sb_ranked_each_group(view, sb_sweep_put_recommendation, out);
}
