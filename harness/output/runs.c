#include "harness/output/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "harness/output/output.h"
#include "harness/terminal/status.h"
#include "results/files/answer.h"
#include "results/record/number.h"
#include "results/record/series.h"
#include "results/record/validity.h"

void sb_spreads_open(struct sb_spreads *out)
{
	char *path = sb_cache_path(SB_RUNS_FILE);
	char why[600];
	int rc;

	*out = (struct sb_spreads){ .n = 0 };
	if (!path)
		return;
	rc = sb_spreads_read(out, path, why, sizeof(why));
	if (rc && rc != -ENOENT)
		sb_note("%s", why);
	free(path);
}

/* Adds the fact: the values between which 95 % of the other runs lie, given the median of this one. */
static int add_fact(struct sb_result *result, const struct sb_series *series,
		    const struct sb_run_spread *spread, double median)
{
	const double limit = sb_spread_limit(spread, 0.05);
	const char *unit = sb_metric[spread->metric].unit;
	char title[SB_SERIES_TITLE_BYTES];
	char span[SB_SPAN_BYTES];
	char low[SB_HUMAN_BYTES];
	char high[SB_HUMAN_BYTES];
	char text[200];

	sb_series_title(title, series);
	sb_span_describe(span, spread->span_s);
	sb_human(low, median * exp(-limit), unit);
	sb_human(high, median * exp(limit), unit);
	snprintf(text, sizeof(text), "within %s: %s .. %s (%" PRIu32 " runs of %.10s)", span, low,
		 high, spread->runs, spread->date);
	return sb_result_add_fact(result, "another_run", title, text);
}

static int foretell(struct sb_result *result, const struct sb_spreads *spreads,
		    const struct sb_series *series)
{
	const enum sb_metric_id metric = sb_answer_metric(result, series);
	const double median = sb_series_spread(series, metric).median;
	const struct sb_run_spread *spread = NULL;
	char what[SB_SPREAD_BYTES];

	if (sb_spread_what(result, series, what))
		spread = sb_spreads_find(spreads, what, metric);
	if (!spread || !(median > 0) || sb_series_host_change(series, metric).changes)
		return 0;
	return add_fact(result, series, spread, median);
}

int sb_runs_foretell(struct sb_result *result)
{
	struct sb_spreads spreads;
	int rc = 0;

	sb_spreads_open(&spreads);
	for (uint32_t i = 0; i < result->all_series && sb_spreads_are_of(&spreads, result) && !rc;
	     i++) {
		if (result->series[i].reality == SB_NATIVE)
			rc = foretell(result, &spreads, &result->series[i]);
	}
	sb_spreads_free(&spreads);
	return rc;
}
