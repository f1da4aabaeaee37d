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
#include "results/text/escape.h"

/* Against the default. */
static void put_comparison(const struct sb_ranked *g, FILE *out)
{
	const uint32_t best = g->by->ranking.leader;
	const uint32_t initial = sb_ranked_default(g, best);

	if (initial == best)
		fputs("  It is the default.\n", out);
	if (initial == best || initial == SB_NO_LEVEL)
		return;
	fprintf(out, "  Its %s is ", sb_metric[g->by->metric].name);
	sb_ranked_put_change(g->by, best, initial, out);
	fprintf(out, " with the default (%s)%s.\n", sb_terminal_text(g->name[initial]),
		g->by->rank[initial].mark == SB_MARK_WORSE ? ""
							   : ", which may be as good: keep it");
}

/* How far behind the others are at least. */
static void put_others(const struct sb_ranked *g, FILE *out)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < g->n; i++)
		least = fmin(least, g->by->rank[i].bound);
	if (g->by->ranking.marked[SB_MARK_BEST])
		fprintf(out,
			"  All others are worse, by at least %.2g %% (with 95 %% confidence for "
			"all of them together).\n",
			100 * expm1(least));
}

/* ---- each option alone ---- */

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

/* A dimension's levels as if they were configurations. */
static bool make_effect(struct sb_contest *e, const struct sb_ranked *g, uint32_t d)
{
	const struct sb_rounds rounds = { g->by->value, g->n, g->by->rounds };
	uint32_t *level = calloc(g->n, sizeof(*level));
	bool *include = calloc(g->n, sizeof(*include));
	bool ok = false;

	*e = (struct sb_contest){ .metric = g->by->metric,
				  .n = g->view->sweep->dimension[d].combined,
				  .rounds = g->by->rounds };
	e->value = calloc((size_t)e->n * e->rounds, sizeof(*e->value));
	e->rank = calloc(e->n, sizeof(*e->rank));
	if (level && include && e->value && e->rank) {
		for (uint32_t i = 0; i < g->n; i++) {
			level[i] = sb_ranked_configuration(g, i)->level[d];
			include[i] = is_combination(g, i);
		}
		sb_ranking_fold(e->value, e->n, level, include, &rounds);
		ok = !sb_ranking_make(&e->ranking, e->rank,
				      &(struct sb_rounds){ e->value, e->n, e->rounds });
	}
	free(level);
	free(include);
	return ok;
}

static void put_effect(const struct sb_ranked *g, uint32_t d, FILE *out)
{
	const struct sb_dimension *dimension = &g->view->sweep->dimension[d];
	struct sb_contest effect;

	if (make_effect(&effect, g, d) && effect.ranking.judged > 1) {
		fprintf(out, "  %s alone, over all others: ", sb_terminal_text(dimension->name));
		sb_ranked_put_headline(&effect, (const char *const *)dimension->value, out);
		fputs(".\n", out);
	}
	sb_contest_free(&effect);
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

void sb_ranked_put_best(const struct sb_ranked *g, FILE *out)
{
	fprintf(out, "%s: ", sb_terminal_text(sb_ranked_series(g, 0)->workload));
	sb_ranked_put_headline(g->by, g->name, out);
	fputs(".\n", out);
	put_comparison(g, out);
	put_others(g, out);
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
	else if (g->by->rounds < SB_RANKING_ROUNDS)
		fprintf(out,
			"%" PRIu32
			" repetition%s too few to compare; expected at least %d (--repetitions).\n",
			g->by->rounds, g->by->rounds == 1 ? " is" : "s are", SB_RANKING_ROUNDS);
	else if (!sb_ranked_any_has(g, SB_METRIC_ns_per_op))
		fputs("all rows are invalid.\n", out);
	else if (!put_unmeasured(g, out))
		fprintf(out, "no configuration has the objective in %d repetitions.\n",
			SB_RANKING_ROUNDS);
}

#define NAMED_MAX 8

/* Levels of load are no choice: what is told is how the objective goes with them. */
static void put_load(const struct sb_ranked *g, FILE *out)
{
	const struct sb_contest *by = g->by;
	char value[SB_HUMAN_BYTES];

	fprintf(out, "%s: %s ", sb_terminal_text(sb_ranked_series(g, 0)->workload),
		sb_metric[by->metric].name);
	for (uint32_t i = 0; i < g->n; i++) {
		/* Where there are many, the ends. */
		if (g->n > NAMED_MAX && i && i < g->n - 1)
			continue;
		sb_human(value, sb_contest_estimate(by, i), sb_metric[by->metric].unit);
		fprintf(out, "%s%s at %s", i ? ", " : "", value, sb_terminal_text(g->name[i]));
	}
	fputs(".\n", out);
}

static void put_answer(const struct sb_ranked *g, void *arg)
{
	FILE *out = arg;

	if (g->is_load && sb_ranked_any_has(g, g->by->metric)) {
		put_load(g, out);
	} else if (!sb_ranked_is_ranked(g)) {
		put_none(g, out);
	} else if (g->objectives > 1) {
		sb_ranked_put_tradeoff(g, out);
	} else {
		sb_ranked_put_best(g, out);
	}
}

void sb_sweep_put_answers(const struct sb_sweep_view *view, FILE *out)
{
	sb_ranked_each_group(view, put_answer, out);
}
