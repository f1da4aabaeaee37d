/* tradeoff.c - what a sweep recommends by two objectives: the lowest of each, and a
 * compromise, each against the default. */
#include <math.h>
#include <stdio.h>

#include "harness/sweep/ranked.h"
#include "results/record/record.h"
#include "results/text/escape.h"

static const char *extreme(const struct sb_ranked_objective *by)
{
	return by->higher ? "highest" : "lowest";
}

static bool is_one(const struct sb_ratio *ratio)
{
	return fabs(ratio->low - 1) < 1e-9 && fabs(ratio->high - 1) < 1e-9;
}

static bool interval_has_one(const struct sb_ratio *ratio)
{
	return ratio->low <= 1 && ratio->high >= 1;
}

/* "wake_ns_p99 18.2 us [17.9 us .. 18.8 us], 62 % [60 % .. 64 %] lower than". */
static void put_objective(const struct sb_ranked *g, const struct sb_ranked_objective *by,
			  uint32_t i, uint32_t initial, FILE *out)
{
	char estimate[SB_RANKED_CELL_BYTES];
	struct sb_ratio ratio;

	sb_ranked_estimate(estimate, g, by, i);
	fprintf(out, "%s %s", sb_metric[by->metric].name, estimate);
	if (initial == SB_NO_LEVEL || initial == i)
		return;
	ratio = sb_ranked_ratio(g, by, i, initial);
	if (is_one(&ratio)) {
		fputs(", the same as with the default", out);
		return;
	}
	fputs(", ", out);
	sb_ranked_put_change(by, &ratio, out);
	fprintf(out, " with the default%s", interval_has_one(&ratio) ? " (not significant)" : "");
}

/* What a configuration costs and gains. */
static void put_costs(const struct sb_ranked *g, uint32_t i, FILE *out)
{
	const uint32_t initial = sb_ranked_default(g, i);

	fprintf(out, "  %s%s: ", sb_terminal_text(sb_ranked_settings(g, i)),
		initial == i ? ", the default" : "");
	put_objective(g, &g->by[0], i, initial, out);
	fputs("; ", out);
	put_objective(g, &g->by[1], i, initial, out);
	fputs(".\n", out);
}

/* Of each that is named in the first line, once. */
static void put_all_costs(const struct sb_ranked *g, FILE *out)
{
	const uint32_t named[] = { g->front.ranking[0].best, g->front.ranking[1].best,
				   g->front.compromise };

	for (size_t n = 0; n < SB_ARRAY_SIZE(named); n++) {
		bool is_new = true;

		for (size_t before = 0; before < n; before++)
			is_new &= named[before] != named[n];
		if (is_new)
			put_costs(g, named[n], out);
	}
}

/* What is not on the front by the estimates is named from that share on. */
#define SHARE_SHOWN 0.05

static void put_members(const struct sb_ranked *g, bool on_front, const char *before, FILE *out)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->member[i].is_on_front != on_front ||
		    (!on_front && g->member[i].p_front < SHARE_SHOWN))
			continue;
		fprintf(out, "%s%s (%.0f %% sure)", before,
			sb_terminal_text(sb_ranked_settings(g, i)), 100 * g->member[i].p_front);
		before = "; ";
	}
}

static void put_front(const struct sb_ranked *g, FILE *out)
{
	put_members(g, true, "  On the Pareto front: ", out);
	put_members(g, false, "; perhaps also ", out);
	fputs(".\n", out);
}

static bool is_any_apart(const struct sb_ranked *g, const struct sb_ranked_objective *by)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (by->rank[i].apart)
			return true;
	}
	return false;
}

/* "lowest wake_ns_p99: spin-yield=64 (97 % sure)". */
static void put_named(const struct sb_ranked *g, int o, FILE *out)
{
	const struct sb_ranked_objective *by = &g->by[o];
	const uint32_t i = g->front.ranking[o].best;

	fprintf(out, "%s %s: %s", extreme(by), sb_metric[by->metric].name,
		sb_terminal_text(sb_ranked_settings(g, i)));
	sb_ranked_put_ties(g, by, i, out);
	fputc(' ', out);
	if (is_any_apart(g, by))
		fprintf(out, "(%.0f %% sure); ", 100 * by->rank[i].p_best);
	else
		fputs("(no significant difference from the others); ", out);
}

static void put_compromise(const struct sb_ranked *g, FILE *out)
{
	const double excess = g->member[g->front.compromise].excess;

	fputs("compromise, ", out);
	if (excess < 2)
		fprintf(out, "within %.2g %% of both", 100 * (excess - 1));
	else
		fprintf(out, "at most %.2g times either", excess);
	fprintf(out, ": %s.\n", sb_terminal_text(sb_ranked_settings(g, g->front.compromise)));
}

void sb_ranked_put_tradeoff(const struct sb_ranked *g, FILE *out)
{
	fprintf(out, "%s: ", sb_terminal_text(sb_ranked_series(g, 0)->workload));
	put_named(g, 0, out);
	put_named(g, 1, out);
	put_compromise(g, out);
	put_all_costs(g, out);
	put_front(g, out);
}
