/* recommend.c - which configuration a sweep recommends by one objective, and what each
 * option alone does. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/sweep/ranked.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/stats/ranking.h"
#include "results/text/escape.h"

static uint32_t count_like_best(const struct sb_ranked *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->by->rank[i].compared && i != g->front.ranking->best &&
		     !g->by->rank[i].apart;
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
	if (n == g->front.ranking->compared - 1) {
		fputs("  There is no significant difference between it and the others.\n", out);
		return;
	}
	fputs("  Not significantly different from it: ", out);
	for (uint32_t i = 0; i < g->n && named < NAMED_MAX; i++) {
		if (!g->by->rank[i].compared || i == g->front.ranking->best || g->by->rank[i].apart)
			continue;
		fprintf(out, "%s%s", named++ ? "; " : "",
			sb_terminal_text(sb_ranked_settings(g, i)));
	}
	if (n > named)
		fprintf(out, "; and %" PRIu32 " more", n - named);
	fputs(".\n", out);
}

/* Against the default, or if that is the best itself or was not tried, against
 * the second best. */
static void put_comparison(const struct sb_ranked *g, FILE *out)
{
	const uint32_t best = g->front.ranking->best;
	const uint32_t initial = sb_ranked_default(g, best);
	const bool to_default = initial != SB_NO_LEVEL && initial != best;
	const uint32_t other = to_default ? initial : g->front.ranking->second;
	const struct sb_ratio ratio = sb_ranked_ratio(g, g->by, best, other);

	fprintf(out, "  Its %s is ", sb_metric[g->by->metric].name);
	sb_ranked_put_change(g->by, &ratio, out);
	fprintf(out, " with the %s (%s).\n", to_default ? "default" : "second best",
		sb_terminal_text(sb_ranked_settings(g, other)));
	if (initial == best)
		fputs("  It is the default.\n", out);
	else if (to_default && !g->by->rank[other].apart)
		fputs("  The difference from the default is not significant: keep the default.\n",
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

/* The default may be no combination; then it has no part in this. */
static bool is_combination(const struct sb_ranked *g, uint32_t i)
{
	const struct sb_configuration *c = sb_ranked_configuration(g, i);

	for (uint32_t d = 0; d < g->view->sweep->dimensions; d++) {
		if (c->level[d] != SB_NO_LEVEL &&
		    c->level[d] >= g->view->sweep->dimension[d].combined)
			return false;
	}
	return true;
}

static bool init_effect(struct effect *e, const struct sb_ranked *g, uint32_t d)
{
	const struct sb_rounds rounds = { g->by->value, g->n, g->rounds };

	e->levels = g->view->sweep->dimension[d].combined;
	e->level = calloc(g->n, sizeof(*e->level));
	e->include = calloc(g->n, sizeof(*e->include));
	e->value = calloc((size_t)e->levels * g->rounds, sizeof(*e->value));
	e->rank = calloc(e->levels, sizeof(*e->rank));
	if (!e->level || !e->include || !e->value || !e->rank)
		return false;
	for (uint32_t i = 0; i < g->n; i++) {
		e->level[i] = sb_ranked_configuration(g, i)->level[d];
		e->include[i] = is_combination(g, i);
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
		fprintf(out, "  %s alone, over all others: %s is best in %.0f %%; %s is ",
			sb_terminal_text(dimension->name), sb_terminal_text(dimension->value[best]),
			100 * e.rank[best].p_best, sb_metric[g->by->metric].name);
		sb_ranked_put_change(g->by, &ratio, out);
		fprintf(out, " with %s%s.\n", sb_terminal_text(dimension->value[second]),
			e.rank[second].apart ? "" : ", which is not significant");
	}
	free(e.level);
	free(e.include);
	free(e.value);
	free(e.rank);
}

static bool varies(const struct sb_ranked *g, uint32_t d)
{
	const uint32_t level = sb_ranked_configuration(g, 0)->level[d];

	for (uint32_t i = 1; i < g->n; i++) {
		if (sb_ranked_configuration(g, i)->level[d] != level)
			return g->view->sweep->dimension[d].combined > 1;
	}
	return false;
}

static void put_effects(const struct sb_ranked *g, FILE *out)
{
	const uint32_t dimensions = g->view->sweep->dimensions;
	uint32_t varied = 0;

	for (uint32_t d = 0; d < dimensions; d++)
		varied += varies(g, d);
	for (uint32_t d = 0; d < dimensions && varied > 1; d++) {
		if (varies(g, d))
			put_effect(g, d, out);
	}
}

static bool is_default_left_out(const struct sb_ranked *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->by->rank[i].compared &&
		    sb_sweep_is_default(g->view->sweep, sb_ranked_configuration(g, i)))
			return true;
	}
	return false;
}

static void put_left_out(const struct sb_ranked *g, FILE *out)
{
	const struct sb_ranking *ranking = g->front.ranking;

	if (ranking->compared < g->n)
		fprintf(out,
			"  Left out, for they have numbers in too few repetitions: %" PRIu32
			" of %" PRIu32 " configurations.\n",
			g->n - ranking->compared, g->n);
	if (is_default_left_out(g))
		fputs("  The default is one of them, so nothing is compared with it.\n", out);
	if (ranking->rounds < g->rounds)
		fprintf(out,
			"  Compared in %" PRIu32 " of %" PRIu32
			" repetitions, those in which the others all have numbers.\n",
			ranking->rounds, g->rounds);
}

void sb_ranked_put_best(const struct sb_ranked *g, FILE *out)
{
	const uint32_t best = g->front.ranking->best;
	char estimate[SB_RANKED_CELL_BYTES];

	sb_ranked_estimate(estimate, g, g->by, best);
	fprintf(out, "%s: %s %s with %s", sb_terminal_text(sb_ranked_series(g, 0)->workload),
		sb_metric[g->by->metric].name, estimate,
		sb_terminal_text(sb_ranked_settings(g, best)));
	sb_ranked_put_ties(g, g->by, best, out);
	fprintf(out, ", best in %.0f %% of resamplings%s.\n", 100 * g->by->rank[best].p_best,
		count_like_best(g) ? ", which does not settle it" : "");
	put_comparison(g, out);
	put_like_best(g, out);
	put_effects(g, out);
}

/* ---- where nothing is ranked ---- */

/* By the first objective that nobody has: a percentile needs many samples. */
static bool put_unmeasured(const struct sb_ranked *g, FILE *out)
{
	for (uint32_t o = 0; o < g->objectives; o++) {
		const char *name = sb_metric[g->by[o].metric].name;

		if (sb_ranked_any_has(g, g->by[o].metric))
			continue;
		fprintf(out, "no row has %s%s.\n", name,
			strstr(name, "_p9") ? ", which takes more samples; expected a longer "
					      "--duration, or a lower percentile"
					    : "");
		return true;
	}
	return false;
}

static void put_none(const struct sb_ranked *g, FILE *out)
{
	fprintf(out, "%s: no recommendation: ", sb_terminal_text(sb_ranked_series(g, 0)->workload));
	if (g->n < 2)
		fputs("there is only one configuration.\n", out);
	else if (g->rounds < SB_RANKING_ROUNDS)
		fprintf(out,
			"%" PRIu32
			" repetition%s too few to compare; expected at least %d (--repetitions).\n",
			g->rounds, g->rounds == 1 ? " is" : "s are", SB_RANKING_ROUNDS);
	else if (!put_unmeasured(g, out))
		fprintf(out,
			"fewer than two configurations have the objective in the same %d "
			"repetitions.\n",
			SB_RANKING_ROUNDS);
}

/* Levels of load are no choice: what is told is how the objective goes with them. */
static void put_load(const struct sb_ranked *g, FILE *out)
{
	const struct sb_ranked_objective *by = g->by;
	char value[SB_HUMAN_BYTES];

	fprintf(out, "%s: %s ", sb_terminal_text(sb_ranked_series(g, 0)->workload),
		sb_metric[by->metric].name);
	for (uint32_t i = 0; i < g->n; i++) {
		/* The ends, where there are many. */
		if (g->n > NAMED_MAX && i && i < g->n - 1)
			continue;
		sb_human(value, sb_series_spread(sb_ranked_series(g, i), by->metric).median,
			 sb_metric[by->metric].unit);
		fprintf(out, "%s%s at %s", i ? ", " : "", value,
			sb_terminal_text(sb_ranked_settings(g, i)));
	}
	fputs(".\n", out);
}

static void put_answer(const struct sb_ranked *g, FILE *out)
{
	if (sb_ranked_is_load(g) && sb_ranked_any_has(g, g->by->metric)) {
		put_load(g, out);
		return;
	}
	if (!g->front.ranking->compared) {
		put_none(g, out);
		return;
	}
	if (g->objectives > 1)
		sb_ranked_put_tradeoff(g, out);
	else
		sb_ranked_put_best(g, out);
	put_left_out(g, out);
}

void sb_sweep_put_answers(const struct sb_sweep_view *view, FILE *out)
{
	sb_ranked_each_group(view, put_answer, out);
}
