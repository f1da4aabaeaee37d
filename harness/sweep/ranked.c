#include "harness/sweep/ranked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool sb_ranked_any_has(const struct sb_ranked *g, enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (sb_series_spread(sb_ranked_series(g, i), metric).n)
			return true;
	}
	return false;
}

bool sb_ranked_is_ranked(const struct sb_ranked *g)
{
	return g->n > 1 && !g->is_load && g->by[0].ranking.judged &&
	       (g->objectives < 2 || g->front.compromise != UINT32_MAX);
}

uint32_t sb_ranked_default(const struct sb_ranked *g, uint32_t i)
{
	const struct sb_sweep *sweep = g->view->sweep;
	const struct sb_configuration *of = sb_ranked_configuration(g, i);

	for (uint32_t d = 0; d < g->n; d++) {
		const struct sb_configuration *c = sb_ranked_configuration(g, d);

		if (sb_sweep_is_default(sweep, c) && sb_sweep_has_same_work(sweep, c, of))
			return g->by[0].rank[d].n && g->by[g->objectives - 1].rank[d].n
				       ? d
				       : SB_NO_LEVEL;
	}
	return SB_NO_LEVEL;
}

/* ---- a workload's configurations, ranked ---- */

static void fini_group(struct sb_ranked *g)
{
	for (uint32_t o = 0; o < g->objectives; o++)
		sb_contest_free(&g->by[o]);
	free(g->member);
	free(g->name);
	free(g->of);
}

static bool rank(struct sb_ranked *g, const struct sb_objectives *objectives)
{
	const struct sb_series **series = calloc(g->n, sizeof(const struct sb_series *));
	bool ok = series != NULL;

	for (uint32_t i = 0; i < g->n && ok; i++)
		series[i] = sb_ranked_series(g, i);
	while (ok && g->objectives < objectives->n) {
		ok = !sb_contest_make(&g->by[g->objectives], series, g->n,
				      objectives->metric[g->objectives]);
		g->objectives++;
	}
	free(series);
	if (!ok || g->objectives < 2)
		return ok;
	g->member = calloc(g->n, sizeof(*g->member));
	return g->member &&
	       !sb_front_make(&g->front, g->member,
			      (const struct sb_ranking *[]){ &g->by[0].ranking, &g->by[1].ranking },
			      (const struct sb_rank *[]){ g->by[0].rank, g->by[1].rank }, g->n);
}

/* The group of configuration `first`. */
static bool init_group(struct sb_ranked *g, const struct sb_sweep_view *view, uint32_t first,
		       bool *is_taken)
{
	const struct sb_sweep *sweep = view->sweep;
	const struct sb_series *series = view->result->series;

	*g = (struct sb_ranked){ .view = view,
				 .of = calloc(sweep->configurations, sizeof(*g->of)),
				 .name = calloc(sweep->configurations, sizeof(*g->name)),
				 .is_load = sb_contest_is_load(view->result, &series[first]) };
	for (uint32_t i = first; g->of && g->name && i < sweep->configurations; i++) {
		const char *label = sweep->configuration[i].label;

		if (!sb_contest_is_one(view->result, &series[first], &series[i]))
			continue;
		is_taken[i] = true;
		g->of[g->n] = i;
		g->name[g->n++] = strchr(label, ' ') ? strchr(label, ' ') + 1 : label;
	}
	return g->n && rank(g, sb_sweep_objectives(sweep, sweep->configuration[first].chosen));
}

void sb_ranked_each_group(const struct sb_sweep_view *view,
			  void (*put)(const struct sb_ranked *g, void *arg), void *arg)
{
	bool *is_taken = calloc(view->sweep->configurations, sizeof(*is_taken));

	for (uint32_t first = 0; is_taken && first < view->sweep->configurations; first++) {
		struct sb_ranked g;

		if (is_taken[first])
			continue;
		if (init_group(&g, view, first, is_taken))
			put(&g, arg);
		fini_group(&g);
	}
	free(is_taken);
}

/* ---- in words ---- */

const char *sb_ranked_front(const struct sb_ranked *g, uint32_t i)
{
	const enum sb_mark a = g->by[0].rank[i].mark;
	const enum sb_mark b = g->by[1].rank[i].mark;

	if (g->member[i].is_on_front)
		return "on";
	return a == SB_MARK_OPEN || b == SB_MARK_OPEN	  ? "?"
	       : a != SB_MARK_WORSE || b != SB_MARK_WORSE ? "~"
							  : "";
}

void sb_ranked_put_headline(const struct sb_contest *contest, const char *const *name, FILE *out)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *memory = open_memstream(&text, &bytes);

	if (!memory)
		return;
	sb_contest_put(memory, contest, sb_metric[contest->metric].name, name);
	fclose(memory);
	fputs(sb_terminal_text(text ? text : ""), out);
	free(text);
}

/* Beyond that a share is harder to read than a factor. */
#define FACTOR_FROM 2

void sb_ranked_put_change(const struct sb_contest *by, uint32_t i, uint32_t to, FILE *out)
{
	const double ratio = sb_contest_estimate(by, i) / sb_contest_estimate(by, to);
	const double percent = 100 * fabs(ratio - 1);

	if (fabs(ratio - 1) < 1e-9)
		fputs("the same as", out);
	else if (ratio >= FACTOR_FROM)
		fprintf(out, "%.3g times as high as", ratio);
	else
		fprintf(out, "%.*f %% %s than", percent < 10 ? 1 : 0, percent,
			ratio > 1 ? "higher" : "lower");
}
