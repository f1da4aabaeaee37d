#include "results/compare/contest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/series.h"

/* ---- who is compared ---- */

static bool is_load(const char *name)
{
	return !strcmp(name, "rate") || !strcmp(name, "load") || !strcmp(name, "closed");
}

static bool is_same(const struct sb_series *a, const struct sb_series *b, const char *name)
{
	const struct sb_setting *x = sb_series_setting(a, name);
	const struct sb_setting *y = sb_series_setting(b, name);

	return x == y || (x && y && !strcmp(x->text, y->text));
}

/* Whether something that was swept, a load or not, varies among the series of a workload. */
static bool varies(const struct sb_result *result, const struct sb_series *series, bool load)
{
	for (uint32_t s = 0; s < series->settings; s++) {
		const struct sb_setting *setting = &series->setting[s];

		if (!setting->swept || is_load(setting->name) != load)
			continue;
		for (uint32_t i = 0; i < result->all_series; i++) {
			if (!strcmp(result->series[i].workload, series->workload) &&
			    !is_same(&result->series[i], series, setting->name))
				return true;
		}
	}
	return false;
}

bool sb_contest_is_load(const struct sb_result *result, const struct sb_series *series)
{
	return varies(result, series, true) && !varies(result, series, false);
}

bool sb_contest_is_one(const struct sb_result *result, const struct sb_series *a,
		       const struct sb_series *b)
{
	if (strcmp(a->workload, b->workload) != 0 ||
	    !*sb_result_fact(result, "sweep", "configurations"))
		return false;
	for (uint32_t s = 0; s < a->settings; s++) {
		if (a->setting[s].swept && is_load(a->setting[s].name) &&
		    !is_same(a, b, a->setting[s].name))
			return !varies(result, a, false);
	}
	return true;
}

/* ---- the contest ---- */

static bool is_higher(const struct sb_contest *contest)
{
	return sb_metric[contest->metric].better == SB_HIGHER;
}

int sb_contest_make(struct sb_contest *contest, const struct sb_series *const *series, uint32_t n,
		    enum sb_metric_id metric)
{
	*contest = (struct sb_contest){ .metric = metric, .n = n };
	for (uint32_t i = 0; i < n; i++) {
		if (series[i]->records > contest->rounds)
			contest->rounds = series[i]->records;
	}
	contest->value = calloc((size_t)n * contest->rounds + 1, sizeof(*contest->value));
	contest->rank = calloc((size_t)n + 1, sizeof(*contest->rank));
	if (!contest->value || !contest->rank)
		return -ENOMEM;
	for (uint32_t i = 0; i < n * contest->rounds; i++) {
		const struct sb_series *of = series[i / contest->rounds];
		const uint32_t r = i % contest->rounds;

		contest->value[i] = NAN;
		if (r < of->records && sb_series_pools(of, r))
			contest->value[i] = is_higher(contest) ? 1 / of->record[r].value[metric]
							       : of->record[r].value[metric];
	}
	return sb_ranking_make(&contest->ranking, contest->rank,
			       &(struct sb_rounds){ contest->value, n, contest->rounds });
}

void sb_contest_free(struct sb_contest *contest)
{
	free(contest->value);
	free(contest->rank);
	*contest = (struct sb_contest){ .n = 0 };
}

/* ---- numbers ---- */

static double in_unit(const struct sb_contest *contest, double value)
{
	return is_higher(contest) ? 1 / value : value;
}

double sb_contest_estimate(const struct sb_contest *contest, uint32_t i)
{
	return in_unit(contest, contest->rank[i].estimate);
}

void sb_contest_interval(const struct sb_contest *contest, uint32_t i, double *low, double *high)
{
	const struct sb_rank *rank = &contest->rank[i];

	*low = in_unit(contest, is_higher(contest) ? rank->high : rank->low);
	*high = in_unit(contest, is_higher(contest) ? rank->low : rank->high);
}

void sb_contest_cell(char out[SB_CONTEST_CELL_BYTES], const struct sb_contest *contest, uint32_t i)
{
	const char *unit = sb_metric[contest->metric].unit;
	char text[3][SB_HUMAN_BYTES];
	double low;
	double high;

	sb_contest_interval(contest, i, &low, &high);
	sb_human(text[0], sb_contest_estimate(contest, i), unit);
	sb_human(text[1], low, unit);
	sb_human(text[2], high, unit);
	/* In virtual time many a value has no spread that can be seen. */
	if (isnan(low) || (!strcmp(text[0], text[1]) && !strcmp(text[0], text[2])))
		snprintf(out, SB_CONTEST_CELL_BYTES, "%s", text[0]);
	else
		snprintf(out, SB_CONTEST_CELL_BYTES, "%s [%s .. %s]", text[0], text[1], text[2]);
}

void sb_contest_mark(char out[SB_CONTEST_MARK_BYTES], const struct sb_contest *contest, uint32_t i)
{
	static const char *const words[] = { "?", "best", "~", "worse" };
	const struct sb_rank *rank = &contest->rank[i];
	char rows[24] = "";

	if (rank->n < contest->rounds)
		snprintf(rows, sizeof(rows), " %" PRIu32 "/%" PRIu32, rank->n, contest->rounds);
	snprintf(out, SB_CONTEST_MARK_BYTES, "%s%s", contest->n > 1 ? words[rank->mark] : "", rows);
}

/* ---- the answer ---- */

static void put_rows(FILE *out, const struct sb_contest *contest, uint32_t i)
{
	if (contest->rank[i].n < contest->rounds)
		fprintf(out, " (%" PRIu32 " of %" PRIu32 " rows)", contest->rank[i].n,
			contest->rounds);
}

/* Others are counted. */
#define NAMED_MAX 8

/* Those but the leader that have the mark, in the order of the sweep. incomplete: those that lack
 * rows. */
static void put_marked(FILE *out, const struct sb_contest *contest, enum sb_mark mark,
		       bool incomplete, const char *before, const char *const *name)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < contest->n; i++) {
		if (i == contest->ranking.leader || contest->rank[i].mark != mark ||
		    (incomplete && contest->rank[i].n == contest->rounds))
			continue;
		if (n++ >= NAMED_MAX)
			continue;
		fprintf(out, "%s%s", before, name[i]);
		put_rows(out, contest, i);
		before = ", ";
	}
	if (n > NAMED_MAX)
		fprintf(out, " and %" PRIu32 " more", n - NAMED_MAX);
}

void sb_contest_put(FILE *out, const struct sb_contest *contest, const char *noun,
		    const char *const *name)
{
	const struct sb_ranking *ranking = &contest->ranking;
	const uint32_t leader = ranking->leader;
	char value[SB_HUMAN_BYTES];

	sb_human(value, sb_contest_estimate(contest, leader), sb_metric[contest->metric].unit);
	fprintf(out, "%s%s %s: %s, %s",
		ranking->marked[SB_MARK_BEST] ? "best"
		: is_higher(contest)	      ? "highest"
					      : "lowest",
		ranking->marked[SB_MARK_OPEN] ? " judged" : "", noun, name[leader], value);
	put_rows(out, contest, leader);
	put_marked(out, contest, SB_MARK_OPEN, false, "; not judged, and may be better: ", name);
	put_marked(out, contest, SB_MARK_ALIKE, false, "; may be as good: ", name);
	put_marked(out, contest, SB_MARK_WORSE, true, "; worse, with rows missing: ", name);
}
