/* finding.c - what a picture's numbers settle: medians with their intervals, and which
 * of its lines is best. */
#include "results/plots/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/series.h"
#include "results/stats/unpaired.h"

/* ---- which is best ---- */

bool sb_plot_are_apart(const struct sb_plot_view *view, uint32_t a, uint32_t b,
		       enum sb_metric_id metric, double level)
{
	struct sb_unpaired result = { .sign = 0 };
	uint32_t n_a;
	uint32_t n_b;
	double *value_a = sb_series_values(view->line[a].series, metric, &n_a);
	double *value_b = sb_series_values(view->line[b].series, metric, &n_b);

	if (!value_a || !value_b || sb_unpaired_compare(&result, value_a, n_a, value_b, n_b, level))
		result.sign = 0;
	free(value_a);
	free(value_b);
	return result.sign != 0 && result.p <= level;
}

static bool is_better(enum sb_metric_id metric, double a, double b)
{
	return sb_metric[metric].better == SB_HIGHER ? a > b : a < b;
}

static void take_median(struct sb_plot_best *best, uint32_t line, enum sb_metric_id metric,
			double median)
{
	if (!best->compared || is_better(metric, median, best->value)) {
		best->second = best->line;
		best->next = best->value;
		best->line = line;
		best->value = median;
	} else if (best->compared == 1 || is_better(metric, median, best->next)) {
		best->second = line;
		best->next = median;
	}
	if (!best->compared || is_better(metric, best->last, median))
		best->last = median;
	best->compared++;
}

static double median_of(const struct sb_plot_view *view, const struct sb_plot_contest *contest,
			uint32_t line)
{
	if (contest->in && !contest->in[line])
		return NAN;
	return sb_series_spread(view->line[line].series, contest->metric).median;
}

struct sb_plot_best sb_plot_find_best(const struct sb_plot_view *view,
				      const struct sb_plot_contest *contest)
{
	struct sb_plot_best best = { .compared = 0 };

	for (uint32_t i = 0; i < view->lines; i++) {
		const double median = median_of(view, contest, i);

		if (!isnan(median))
			take_median(&best, i, contest->metric, median);
	}
	for (uint32_t i = 0; i < view->lines; i++) {
		if (i != best.line && !isnan(median_of(view, contest, i)) &&
		    !sb_plot_are_apart(view, best.line, i, contest->metric,
				       SB_PAIRED_LEVEL / (best.compared - 1)))
			best.alike++;
	}
	return best;
}

/* ---- in words ---- */

/* "58 % lower", "3.1 times higher" */
static void describe_ratio(char *out, size_t bytes, double value, double other)
{
	const double part = fabs(value / other - 1);
	const char *side = value > other ? "higher" : "lower";

	if (!isfinite(part))
		snprintf(out, bytes, "%s", side);
	else if (part >= 2)
		snprintf(out, bytes, "%.3g times %s", value / other, side);
	else
		snprintf(out, bytes, "%.*f %% %s", part < 0.1 || part > 0.99 ? 1 : 0, 100 * part,
			 side);
}

static void describe_one(char *out, const struct sb_plot_view *view,
			 const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const struct sb_median m = sb_series_median(view->line[best->line].series, contest->metric);
	const char *unit = sb_metric[contest->metric].unit;
	char text[3][SB_HUMAN_BYTES];

	sb_human(text[0], m.at, unit);
	sb_human(text[1], m.low, unit);
	sb_human(text[2], m.high, unit);
	snprintf(out, SB_PLOT_FINDING_BYTES, "Median %s: %s (%s%s .. %s)", contest->noun, text[0],
		 m.is_interval ? "95 % interval " : "least and largest ", text[1], text[2]);
}

static void describe_two(char *out, const struct sb_plot_view *view,
			 const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const char *label = view->line[best->line].label;
	const char *other = view->line[best->second].label;
	char ratio[40] = "";

	if (best->next > 0 && best->value > 0)
		describe_ratio(ratio, sizeof(ratio), best->value, best->next);
	if (best->alike)
		snprintf(out, SB_PLOT_FINDING_BYTES, "%s and %s do not differ significantly in %s",
			 label, other, contest->noun);
	else
		snprintf(out, SB_PLOT_FINDING_BYTES, "%s has %s %s than %s", label,
			 *ratio			    ? ratio
			 : best->value > best->next ? "higher"
						    : "lower",
			 contest->noun, other);
}

static void describe_many(char *out, const struct sb_plot_view *view,
			  const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const struct sb_metric *metric = &sb_metric[contest->metric];
	char value[SB_HUMAN_BYTES];
	char last[SB_HUMAN_BYTES];
	size_t used;

	sb_human(value, best->value, metric->unit);
	sb_human(last, best->last, metric->unit);
	if (metric->better == SB_NEITHER || best->alike == best->compared - 1) {
		snprintf(out, SB_PLOT_FINDING_BYTES,
			 "Median %s from %s to %s in %" PRIu32 " series%s", contest->noun, value,
			 last, best->compared,
			 metric->better == SB_NEITHER ? "" : ", no significant difference");
		return;
	}
	if (!strcmp(value, last)) {
		snprintf(out, SB_PLOT_FINDING_BYTES, "Median %s: %s in all %" PRIu32 " series",
			 contest->noun, value, best->compared);
		return;
	}
	used = (size_t)snprintf(out, SB_PLOT_FINDING_BYTES, "%s %s: %s with %s",
				metric->better == SB_HIGHER ? "Highest" : "Lowest", contest->noun,
				value, view->line[best->line].label);
	if (used < SB_PLOT_FINDING_BYTES && best->alike)
		snprintf(out + used, SB_PLOT_FINDING_BYTES - used,
			 "; no significant difference from %" PRIu32 " of %" PRIu32 " others",
			 best->alike, best->compared - 1);
	else if (used < SB_PLOT_FINDING_BYTES)
		snprintf(out + used, SB_PLOT_FINDING_BYTES - used, "; the others go up to %s",
			 last);
}

static void describe_workload(char *out, const struct sb_plot_view *view,
			      const struct sb_plot_contest *contest)
{
	const struct sb_plot_best best = sb_plot_find_best(view, contest);

	*out = '\0';
	if (best.compared == 1)
		describe_one(out, view, contest, &best);
	else if (best.compared == 2)
		describe_two(out, view, contest, &best);
	else if (best.compared)
		describe_many(out, view, contest, &best);
}

/* ---- several workloads, which are not compared with each other ---- */

struct workload {
	const char *name;
	struct sb_plot_best best;
};

/* Whether it is the first line of its workload that is in the contest. */
static bool is_first(const struct sb_plot_view *view, const struct sb_plot_contest *contest,
		     uint32_t line)
{
	const char *name = view->line[line].series->workload;

	for (uint32_t i = 0; i < line; i++) {
		if (!isnan(median_of(view, contest, i)) &&
		    !strcmp(view->line[i].series->workload, name))
			return false;
	}
	return !isnan(median_of(view, contest, line));
}

static struct sb_plot_best best_of(const struct sb_plot_view *view,
				   const struct sb_plot_contest *contest, const char *workload)
{
	bool *in = calloc(view->lines, sizeof(*in));
	struct sb_plot_contest own = *contest;
	struct sb_plot_best best = { .compared = 0 };

	for (uint32_t i = 0; i < view->lines && in; i++)
		in[i] = (!contest->in || contest->in[i]) &&
			!strcmp(view->line[i].series->workload, workload);
	own.in = in;
	if (in)
		best = sb_plot_find_best(view, &own);
	free(in);
	return best;
}

/* Of all that have numbers, for the caller to free; NULL: no memory. */
static struct workload *find_workloads(const struct sb_plot_view *view,
				       const struct sb_plot_contest *contest, uint32_t *n)
{
	struct workload *workload = calloc((size_t)view->lines + 1, sizeof(*workload));

	*n = 0;
	for (uint32_t i = 0; i < view->lines && workload; i++) {
		const char *name = view->line[i].series->workload;

		if (is_first(view, contest, i))
			workload[(*n)++] = (struct workload){ name, best_of(view, contest, name) };
	}
	return workload;
}

static void describe_range(char *out, const struct sb_plot_contest *contest,
			   const struct workload *workload, uint32_t n)
{
	const char *unit = sb_metric[contest->metric].unit;
	uint32_t low = 0;
	uint32_t high = 0;
	char text[2][SB_HUMAN_BYTES];

	for (uint32_t w = 1; w < n; w++) {
		low = workload[w].best.value < workload[low].best.value ? w : low;
		high = workload[w].best.value > workload[high].best.value ? w : high;
	}
	sb_human(text[0], workload[low].best.value, unit);
	sb_human(text[1], workload[high].best.value, unit);
	snprintf(out, SB_PLOT_FINDING_BYTES, "Median %s: %s (%s) to %s (%s)", contest->noun,
		 text[0], workload[low].name, text[1], workload[high].name);
}

static bool is_settled(const struct sb_plot_best *best)
{
	return best->compared > 1 && !best->alike;
}

/* How often that is best. */
static uint32_t count_wins(const struct sb_plot_view *view, const struct workload *workload,
			   uint32_t n, const char *detail)
{
	uint32_t wins = 0;

	for (uint32_t w = 0; w < n; w++)
		wins += is_settled(&workload[w].best) &&
			!strcmp(view->line[workload[w].best.line].detail, detail);
	return wins;
}

static void describe_winner(char *out, const struct sb_plot_view *view,
			    const struct sb_plot_contest *contest, const struct workload *workload,
			    uint32_t n)
{
	const char *side = sb_metric[contest->metric].better == SB_HIGHER ? "highest" : "lowest";
	const char *winner = NULL;
	uint32_t most = 0;
	uint32_t settled = 0;
	char other[30] = "";
	char open[40] = "";

	for (uint32_t w = 0; w < n; w++) {
		const char *detail = view->line[workload[w].best.line].detail;
		const uint32_t wins = count_wins(view, workload, n, detail);

		settled += is_settled(&workload[w].best);
		winner = wins > most ? detail : winner;
		most = wins > most ? wins : most;
	}
	if (!winner) {
		snprintf(out, SB_PLOT_FINDING_BYTES,
			 "The %s %s is settled in none of %" PRIu32 " workloads", side,
			 contest->noun, n);
		return;
	}
	if (settled > most)
		snprintf(other, sizeof(other), ", another in %" PRIu32, settled - most);
	if (n > settled)
		snprintf(open, sizeof(open), "; not settled in %" PRIu32, n - settled);
	snprintf(out, SB_PLOT_FINDING_BYTES,
		 "%s has the %s %s in %" PRIu32 " of %" PRIu32 " workloads%s%s", winner, side,
		 contest->noun, most, n, other, open);
}

void sb_plot_describe_best(char *out, const struct sb_plot_view *view,
			   const struct sb_plot_contest *contest)
{
	uint32_t n;
	struct workload *workload = find_workloads(view, contest, &n);
	bool is_contest = false;

	for (uint32_t w = 0; w < n && workload; w++)
		is_contest |= workload[w].best.compared > 1;
	if (n < 2 || !workload)
		describe_workload(out, view, contest);
	else if (is_contest)
		describe_winner(out, view, contest, workload, n);
	else
		describe_range(out, contest, workload, n);
	free(workload);
}

/* Of seven metrics, the words for people. */
static bool name_latency(char *out, enum sb_metric_id metric)
{
	static const char *const which[SB_LATENCY_METRICS] = { "mean",	"p50",	   "p90",  "p99",
							       "p99.9", "largest", "count" };

	for (size_t l = 0; l < sb_latencies; l++) {
		const uint32_t i = metric - sb_latency[l].first;

		if (metric < sb_latency[l].first || i >= SB_LATENCY_METRICS)
			continue;
		snprintf(out, SB_PLOT_NOUN_BYTES, "%s of %s", which[i], sb_latency[l].name);
		for (; (out = strchr(out, '_'));)
			*out = '-';
		return true;
	}
	return false;
}

void sb_plot_noun(char *out, enum sb_metric_id metric)
{
	const char *doc = sb_metric[metric].doc;

	if (name_latency(out, metric))
		return;
	snprintf(out, SB_PLOT_NOUN_BYTES, "%.*s", (int)strcspn(doc, ",:;"), doc);
	if (strlen(out) > 56)
		snprintf(out, SB_PLOT_NOUN_BYTES, "%s", sb_metric[metric].name);
}
