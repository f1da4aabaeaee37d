/* spin_out.c - the spin ledger in words, and as spin_ledger.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/ledger/spin.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- words ---- */

/* "41 % fewer parks", "2.3 times as many parks". */
struct change_words {
	const char *more, *less, *same;
};

static void put_change(FILE *out, double now, double then, const struct change_words *words)
{
	const double change = now > 0 ? 100 * (then / now - 1) : (double)NAN;

	if (!isfinite(change) || fabs(change) < 0.05)
		fputs(words->same, out);
	else if (change >= 100)
		fprintf(out, "%.2g times %s", then / now, words->same);
	else
		fprintf(out, "%.*f %% %s", fabs(change) < 10, fabs(change),
			change > 0 ? words->more : words->less);
}

static void put_spinning(FILE *out, const struct sb_spin_point *point)
{
	char ns[SB_HUMAN_BYTES];

	sb_human(ns, point->threshold_ns, "ns");
	if (point->threshold_ns > 0)
		fprintf(out, "Spinning for %s", ns);
	else
		fputs("Not spinning at all", out);
}

static double apart(double a, double b)
{
	return b > 0 ? fabs(a / b - 1) : fabs(a);
}

/* The point that is closest to what was measured. Others are compared with it: two predictions err
 * alike, and what was measured had no fixed threshold (--spin-time). */
static const struct sb_spin_point *as_measured(const struct sb_spin_ledger *ledger)
{
	const struct sb_spin_point *now = &ledger->now;
	const struct sb_spin_point *closest = ledger->point;
	double least = INFINITY;

	for (uint32_t i = 0; i < SB_SPIN_POINTS; i++) {
		const struct sb_spin_point *p = &ledger->point[i];
		const double by =
			apart(p->parks, now->parks) + apart(p->total_cpu_ns, now->total_cpu_ns);

		if (by < least) {
			least = by;
			closest = p;
		}
	}
	return closest;
}

/* Costs that differ by less are as good. */
#define ALIKE 0.02

void sb_spin_ledger_describe(const struct sb_spin_ledger *ledger, char out[SB_SPIN_FINDING_BYTES])
{
	static const struct change_words parks = { "more parks", "fewer parks", "as many parks" };
	static const struct change_words cpu_time = { "more CPU time", "less CPU time",
						      "as much CPU time" };
	const struct sb_spin_point *best = &ledger->point[ledger->best[SB_SPIN_PRICE]];
	const struct sb_spin_point *now = as_measured(ledger);
	FILE *text = fmemopen(out, SB_SPIN_FINDING_BYTES, "w");

	*out = '\0';
	if (!text)
		return;
	if (1 + now->regret[SB_SPIN_PRICE] < (1 + ALIKE) * (1 + best->regret[SB_SPIN_PRICE])) {
		fputs("No spin threshold would have cost less than these settings", text);
	} else {
		put_spinning(text, best);
		fputs(" would have meant ", text);
		put_change(text, now->parks, best->parks, &parks);
		fputs(" and ", text);
		put_change(text, now->total_cpu_ns, best->total_cpu_ns, &cpu_time);
	}
	fclose(text);
}

void sb_put_spin_finding(FILE *out, const struct sb_result *result, const struct sb_series *series)
{
	const char *why;
	struct sb_spin_ledger *ledger = sb_spin_ledger_make(series, result, &why);
	char title[SB_SERIES_TITLE_BYTES];
	char text[SB_SPIN_FINDING_BYTES];

	sb_series_title(title, series);
	if (!ledger && why == sb_spin_preempted)
		fprintf(out, "%s: the cost of other spin thresholds cannot be predicted: %s\n",
			sb_terminal_text(title), why);
	if (!ledger)
		return;
	sb_spin_ledger_describe(ledger, text);
	fprintf(out, "%s: %s (predicted from its gaps)\n", sb_terminal_text(title), text);
	free(ledger);
}

/* ---- spin_ledger.csv ---- */

static void put_point(FILE *out, const struct sb_series *series, const char *name, const char *kind,
		      const struct sb_spin_point *p)
{
	const double cells[] = { p->threshold_ns,   p->spins,	     p->parks,
				 p->cpu_ns,	    p->total_cpu_ns, p->latency_ns_mean,
				 p->latency_ns_p99, p->regret[0],    p->regret[1],
				 p->regret[2] };

	sb_csv_put_text(out, name);
	fprintf(out, ",%s", kind);
	for (size_t i = 0; i < SB_ARRAY_SIZE(cells); i++) {
		fputc(',', out);
		sb_csv_put_number(out, cells[i]);
	}
	fprintf(out, ",%s\n", sb_series_topology(series));
}

int sb_write_spin_ledger_csv(const struct sb_result *result, FILE *out)
{
	fputs("series,kind,threshold_ns,spins,parks_per_op,spin_cpu_ns_per_op,cpu_ns_per_op,"
	      "latency_ns_mean,latency_ns_p99,regret_at_0.1,regret_at_1,regret_at_10,topology\n",
	      out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];
		const char *why;
		struct sb_spin_ledger *ledger = sb_spin_ledger_make(series, result, &why);
		char name[SB_NAME_BYTES];

		if (!ledger)
			continue;
		sb_series_name(name, result, series);
		put_point(out, series, name, "measured", &ledger->now);
		for (uint32_t p = 0; p < SB_SPIN_POINTS; p++)
			put_point(out, series, name, "predicted", &ledger->point[p]);
		free(ledger);
	}
	return 0;
}
