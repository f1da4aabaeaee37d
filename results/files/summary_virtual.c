#include "results/files/summary_virtual.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/record/series.h"
#include "results/text/escape.h"

void sb_summary_put_count(FILE *out, const struct sb_result *result, const char *group,
			  const char *before, const char *key, const char *singular)
{
	const char *count = sb_result_fact(result, group, key);

	fprintf(out, "%s%s %s%s", before, count, singular, strcmp(count, "1") ? "s" : "");
}

void sb_summary_put_counts(FILE *out, const struct sb_result *result, const char *group)
{
	sb_summary_put_count(out, result, group, ": ", "packages", "package");
	sb_summary_put_count(out, result, group, ", ", "nodes", "NUMA node");
	sb_summary_put_count(out, result, group, ", ", "cores", "core");
	sb_summary_put_count(out, result, group, ", ", "pus", "processing unit");
}

/* How far the predictions may be trusted. */
void sb_summary_put_virtual(FILE *out, const struct sb_result *result)
{
	const char *median = sb_result_fact(result, "virtual", "median_error_pct");
	const char *lacks = sb_result_fact(result, "virtual", "not_modelled");

	if (strcmp(sb_result_topology(result), "virtual") != 0)
		return;
	fprintf(out, "virtual: predicted, not measured, for machine '%s'",
		sb_terminal_text(sb_result_fact(result, "profile", "name")));
	sb_summary_put_counts(out, result, "profile");
	if (*sb_result_fact(result, "run", "workers"))
		sb_summary_put_count(out, result, "run", "; ", "workers", "worker");
	fprintf(out, "; model %s of %s, ",
		sb_terminal_text(sb_result_fact(result, "virtual", "model")),
		sb_terminal_text(sb_result_fact(result, "virtual", "model_date")));
	if (*median)
		fprintf(out, "median error %s %% on %s, largest %s %%\n", sb_terminal_text(median),
			sb_terminal_text(sb_result_fact(result, "virtual", "validated_on")),
			sb_terminal_text(sb_result_fact(result, "virtual", "max_error_pct")));
	else
		fputs("which nobody has compared with that machine\n", out);
	if (*lacks)
		fprintf(out, "not modelled: %s\n", sb_terminal_text(lacks));
}

/* The places in the code that have waited most for cache lines. */
#define PLACES_SHOWN 5

static const struct sb_waiting_place *next_longest(const struct sb_waiting *waiting, double below)
{
	const struct sb_waiting_place *longest = NULL;

	for (uint32_t i = 0; i < waiting->places; i++) {
		const struct sb_waiting_place *place = &waiting->place[i];

		if (sb_waiting_ns(place) > 0 && sb_waiting_ns(place) < below &&
		    (!longest || sb_waiting_ns(place) > sb_waiting_ns(longest)))
			longest = place;
	}
	return longest;
}

void sb_summary_put_waiting(FILE *out, const struct sb_series *series, const char *bold,
			    const char *plain)
{
	const struct sb_waiting_place *place;
	double all = 0;
	double below = INFINITY;

	if (!series->waiting)
		return;
	for (uint32_t i = 0; i < series->waiting->places; i++)
		all += sb_waiting_ns(&series->waiting->place[i]);
	fprintf(out, "\n%s%s: waits for cache lines, all of the run    share   queued  where%s\n",
		bold, sb_terminal_text(series->workload), plain);
	for (int i = 0; i < PLACES_SHOWN; i++) {
		place = next_longest(series->waiting, below);
		if (!place)
			break;
		below = sb_waiting_ns(place);
		fprintf(out, "%45s %6.1f %% %6.1f %%  %s\n", sb_terminal_text(place->function),
			100 * below / all, 100 * place->queued_ns / below,
			sb_terminal_text(place->file));
	}
}
