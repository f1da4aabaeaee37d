/* tradeoff.c - what a sweep recommends by two objectives: the lowest of each, and a
 * compromise, each against the default. */
#include <stdio.h>

#include "harness/sweep/ranked.h"
#include "results/record/record.h"
#include "results/text/escape.h"

/* "wake_ns_p99 18.2 us [17.9 us .. 18.8 us], 62 % lower than with the default". */
static void put_objective(const struct sb_contest *by, uint32_t i, uint32_t initial, FILE *out)
{
	char cell[SB_CONTEST_CELL_BYTES];

	sb_contest_cell(cell, by, i);
	fprintf(out, "%s %s", sb_metric[by->metric].name, cell);
	if (initial == SB_NO_LEVEL || initial == i)
		return;
	fputs(", ", out);
	sb_ranked_put_change(by, i, initial, out);
	fputs(" with the default", out);
}

/* What a configuration costs and gains. */
static void put_costs(const struct sb_ranked *g, uint32_t i, FILE *out)
{
	const uint32_t initial = sb_ranked_default(g, i);

	fprintf(out, "  %s%s: ", sb_terminal_text(g->name[i]), initial == i ? ", the default" : "");
	put_objective(&g->by[0], i, initial, out);
	fputs("; ", out);
	put_objective(&g->by[1], i, initial, out);
	fputs(".\n", out);
}

/* Of each that is named in the first line, once. */
static void put_all_costs(const struct sb_ranked *g, FILE *out)
{
	const uint32_t named[] = { g->by[0].ranking.leader, g->by[1].ranking.leader,
				   g->front.compromise };

	for (size_t n = 0; n < SB_ARRAY_SIZE(named); n++) {
		bool is_new = true;

		for (size_t before = 0; before < n; before++)
			is_new &= named[before] != named[n];
		if (is_new)
			put_costs(g, named[n], out);
	}
}

static void put_members(const struct sb_ranked *g, bool on_front, const char *before, FILE *out)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->member[i].is_on_front != on_front || !*sb_ranked_front(g, i))
			continue;
		fprintf(out, "%s%s", before, sb_terminal_text(g->name[i]));
		before = "; ";
	}
}

static void put_front(const struct sb_ranked *g, FILE *out)
{
	put_members(g, true, "  On the Pareto front: ", out);
	put_members(g, false, "; perhaps also ", out);
	fputs(".\n", out);
}

static void put_compromise(const struct sb_ranked *g, FILE *out)
{
	const double excess = g->member[g->front.compromise].excess;

	fputs("compromise, ", out);
	if (excess < 2)
		fprintf(out, "within %.2g %% of both", 100 * (excess - 1));
	else
		fprintf(out, "at most %.2g times either", excess);
	fprintf(out, ": %s.\n", sb_terminal_text(g->name[g->front.compromise]));
}

void sb_ranked_put_tradeoff(const struct sb_ranked *g, FILE *out)
{
	fprintf(out, "%s: ", sb_terminal_text(sb_ranked_series(g, 0)->workload));
	for (uint32_t o = 0; o < g->objectives; o++) {
		sb_ranked_put_headline(&g->by[o], g->name, out);
		fputs("; ", out);
	}
	put_compromise(g, out);
	put_all_costs(g, out);
	put_front(g, out);
}
