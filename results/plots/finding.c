/* finding.c - what a picture's numbers settle: medians with their intervals, and which
 * of its lines is best. */
#include "results/plots/finding.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/contest.h"
#include "results/record/number.h"
#include "results/record/series.h"

/* ---- what is compared ---- */

static bool are_compared(const struct sb_plot_view *view, uint32_t a, uint32_t b)
{
	return view->line[a].result == view->line[b].result &&
	       sb_contest_is_one(view->line[a].result, view->line[a].series, view->line[b].series);
}

/* Between the lines that are compared with this one. name: [lines] of them, or NULL. Returns the
 * number of the line in it; UINT32_MAX: it is none, for no memory or because it is no sweep. */
static uint32_t make_contest(struct sb_contest *contest, const struct sb_plot_view *view,
			     uint32_t line, enum sb_metric_id metric, const char **name)
{
	const struct sb_series **series = calloc(view->lines, sizeof(const struct sb_series *));
	uint32_t own = UINT32_MAX;
	uint32_t n = 0;

	*contest = (struct sb_contest){ .n = 0 };
	for (uint32_t i = 0; series && i < view->lines; i++) {
		if (!are_compared(view, line, i))
			continue;
		own = i == line ? n : own;
		if (name)
			name[n] = view->line[i].label;
		series[n++] = view->line[i].series;
	}
	if (n && sb_contest_make(contest, series, n, metric))
		own = UINT32_MAX;
	free(series);
	return own;
}

enum sb_mark sb_plot_standing(const struct sb_plot_view *view, uint32_t line,
			      enum sb_metric_id metric)
{
	struct sb_contest contest;
	const uint32_t own = make_contest(&contest, view, line, metric, NULL);
	const enum sb_mark mark = own == UINT32_MAX ? SB_MARK_OPEN : contest.rank[own].mark;

	sb_contest_free(&contest);
	return mark;
}

/* ---- medians and estimates ---- */

/* Of numbers above 0, which have logarithms. */
static void take_estimate(struct sb_plot_median *m, const struct sb_contest *contest, uint32_t own)
{
	const struct sb_rank *rank = &contest->rank[own];

	if (rank->n != m->n)
		return;
	m->is_estimate = true;
	m->is_incomplete = m->n < contest->rounds;
	m->at = sb_contest_estimate(contest, own);
	m->is_interval = !isnan(rank->low);
	if (m->is_interval)
		sb_contest_interval(contest, own, &m->low, &m->high);
}

struct sb_plot_median sb_plot_median(const struct sb_plot_view *view, uint32_t line,
				     enum sb_metric_id metric)
{
	const struct sb_median m = sb_series_median(view->line[line].series, metric);
	struct sb_plot_median median = { m.n, m.is_interval, m.at, m.low, m.high, false, false };
	struct sb_contest contest;
	uint32_t own;

	if (!m.n)
		return median;
	own = make_contest(&contest, view, line, metric, NULL);
	if (own != UINT32_MAX)
		take_estimate(&median, &contest, own);
	sb_contest_free(&contest);
	return median;
}

void sb_plot_note_median(struct sb_plot *plot, const struct sb_plot_median *m)
{
	plot->has_estimates |= m->is_estimate;
	plot->has_intervals |= m->is_interval && !m->is_estimate;
	plot->has_extremes |= !m->is_interval && m->n > 1;
}

/* ---- which is best ---- */

static bool is_better(enum sb_metric_id metric, double a, double b)
{
	return sb_metric[metric].better == SB_HIGHER ? a > b : a < b;
}

static void take_value(struct sb_plot_best *best, uint32_t line, enum sb_metric_id metric,
		       double value)
{
	if (!best->compared || is_better(metric, value, best->value)) {
		best->line = line;
		best->value = value;
	}
	if (!best->compared || is_better(metric, best->last, value))
		best->last = value;
	best->compared++;
}

static double value_of(const struct sb_plot_view *view, const struct sb_plot_contest *contest,
		       uint32_t line)
{
	if (contest->in && !contest->in[line])
		return NAN;
	return sb_plot_median(view, line, contest->metric).at;
}

struct sb_plot_best sb_plot_find_best(const struct sb_plot_view *view,
				      const struct sb_plot_contest *contest)
{
	struct sb_plot_best best = { .compared = 0 };
	struct sb_plot_best judged = { .compared = 0 };
	bool is_tested = sb_metric[contest->metric].better != SB_NEITHER;

	for (uint32_t i = 0; i < view->lines; i++) {
		const double value = value_of(view, contest, i);

		if (isnan(value))
			continue;
		take_value(&best, i, contest->metric, value);
		is_tested &= are_compared(view, best.line, i);
		if (sb_plot_standing(view, i, contest->metric) != SB_MARK_OPEN)
			take_value(&judged, i, contest->metric, value);
	}
	/* What is not judged leads nothing. */
	if (!is_tested || !judged.compared)
		return best;
	best.line = judged.line;
	best.value = judged.value;
	best.is_tested = true;
	best.is_settled = sb_plot_standing(view, best.line, contest->metric) == SB_MARK_BEST;
	return best;
}

/* ---- in words ---- */

static void describe_one(char *out, const struct sb_plot_view *view,
			 const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const struct sb_plot_median m = sb_plot_median(view, best->line, contest->metric);
	const char *unit = sb_metric[contest->metric].unit;
	char text[3][SB_HUMAN_BYTES];

	sb_human(text[0], m.at, unit);
	sb_human(text[1], m.low, unit);
	sb_human(text[2], m.high, unit);
	snprintf(out, SB_PLOT_FINDING_BYTES, "Median %s: %s (%s%s .. %s)", contest->noun, text[0],
		 m.is_interval ? "95 % interval " : "least and largest ", text[1], text[2]);
}

static void describe_many(char *out, const struct sb_plot_view *view,
			  const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const struct sb_metric *metric = &sb_metric[contest->metric];
	char value[SB_HUMAN_BYTES];
	char last[SB_HUMAN_BYTES];

	sb_human(value, best->value, metric->unit);
	sb_human(last, best->last, metric->unit);
	if (metric->better == SB_NEITHER)
		snprintf(out, SB_PLOT_FINDING_BYTES,
			 "Median %s from %s to %s in %" PRIu32 " series", contest->noun, value,
			 last, best->compared);
	else if (!strcmp(value, last))
		snprintf(out, SB_PLOT_FINDING_BYTES, "Median %s: %s in all %" PRIu32 " series",
			 contest->noun, value, best->compared);
	else
		snprintf(out, SB_PLOT_FINDING_BYTES,
			 "%s %s: %s with %s; %s to %s with others (not tested)",
			 metric->better == SB_HIGHER ? "Highest" : "Lowest", contest->noun, value,
			 view->line[best->line].label, metric->better == SB_HIGHER ? "down" : "up",
			 last);
}

/* The sweep's headline. */
static void describe_tested(char *out, const struct sb_plot_view *view,
			    const struct sb_plot_contest *contest, const struct sb_plot_best *best)
{
	const char **name = calloc(view->lines, sizeof(*name));
	FILE *stream = fmemopen(out, SB_PLOT_FINDING_BYTES, "w");
	struct sb_contest all;

	if (name && stream &&
	    make_contest(&all, view, best->line, contest->metric, name) != UINT32_MAX) {
		sb_contest_put(stream, &all, contest->noun, name);
		sb_contest_free(&all);
	}
	if (stream)
		fclose(stream);
	*out = (char)toupper(*out);
	free(name);
}

static void describe_workload(char *out, const struct sb_plot_view *view,
			      const struct sb_plot_contest *contest)
{
	const struct sb_plot_best best = sb_plot_find_best(view, contest);

	*out = '\0';
	if (best.is_tested)
		describe_tested(out, view, contest, &best);
	else if (best.compared == 1)
		describe_one(out, view, contest, &best);
	else if (best.compared)
		describe_many(out, view, contest, &best);
}

/* ---- several workloads, which are not compared with each other ---- */

struct workload {
	const char *name;
	struct sb_plot_best best;
};

/* Whether two lines are of one workload, and in a sweep compared with each other. */
static bool are_together(const struct sb_plot_view *view, uint32_t a, uint32_t b)
{
	const bool is_sweep = are_compared(view, a, a) && are_compared(view, b, b);

	return !strcmp(view->line[a].series->workload, view->line[b].series->workload) &&
	       (!is_sweep || are_compared(view, a, b));
}

/* Whether it is the first of those together that is in the contest. */
static bool is_first(const struct sb_plot_view *view, const struct sb_plot_contest *contest,
		     uint32_t line)
{
	for (uint32_t i = 0; i < line; i++) {
		if (!isnan(value_of(view, contest, i)) && are_together(view, i, line))
			return false;
	}
	return !isnan(value_of(view, contest, line));
}

static struct sb_plot_best best_of(const struct sb_plot_view *view,
				   const struct sb_plot_contest *contest, uint32_t line)
{
	bool *in = calloc(view->lines, sizeof(*in));
	struct sb_plot_contest own = *contest;
	struct sb_plot_best best = { .compared = 0 };

	for (uint32_t i = 0; i < view->lines && in; i++)
		in[i] = (!contest->in || contest->in[i]) && are_together(view, i, line);
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
		if (is_first(view, contest, i))
			workload[(*n)++] = (struct workload){ view->line[i].series->workload,
							      best_of(view, contest, i) };
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

/* How often that is best. */
static uint32_t count_wins(const struct sb_plot_view *view, const struct workload *workload,
			   uint32_t n, const char *detail)
{
	uint32_t wins = 0;

	for (uint32_t w = 0; w < n; w++)
		wins += workload[w].best.is_settled &&
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

		settled += workload[w].best.is_settled;
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
