#include "results/compare/spreads.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/record/series.h"
#include "results/stats/ranking.h"

bool sb_spread_what(const struct sb_result *result, const struct sb_series *series,
		    char out[SB_SPREAD_BYTES])
{
	const uint32_t forks = sb_series_forks(series);
	const char *load = sb_series_option(series, result, "load");
	const char *rate = sb_series_option(series, result, "rate");
	const int length = snprintf(out, SB_SPREAD_BYTES,
				    "%s (%s), workers %" PRIu32 ", forks %" PRIu32
				    ", repetitions %" PRIu32 ", duration %s%s%s%s%s",
				    series->workload, series->label, series->placement.workers,
				    forks, forks ? series->records / forks : 0,
				    sb_series_option(series, result, "duration"),
				    *load ? ", load " : "", load, *rate ? ", rate " : "", rate);

	return length < SB_SPREAD_BYTES;
}

const struct sb_run_spread *sb_spreads_find(const struct sb_spreads *spreads, const char *what,
					    enum sb_metric_id metric)
{
	for (uint32_t i = 0; i < spreads->n; i++) {
		if (spreads->spread[i].metric == metric && !strcmp(spreads->spread[i].what, what))
			return &spreads->spread[i];
	}
	return NULL;
}

bool sb_spreads_are_of(const struct sb_spreads *spreads, const struct sb_result *result)
{
	return *spreads->boot_id &&
	       !strcmp(spreads->boot_id, sb_result_fact(result, "machine", "boot_id"));
}

double sb_spread_limit(const struct sb_run_spread *spread, double level)
{
	return sqrt(2) * sb_student_quantile(1 - level / 2, spread->runs - 1) * spread->sd;
}

bool sb_spread_widen(const struct sb_run_spread *spread, double level, struct sb_estimated *ratio)
{
	const double own = 0.5 * (log(ratio->high) - log(ratio->low));
	const double between = sb_spread_limit(spread, level);
	const double limit = fmax(own, between);

	ratio->low = ratio->value * exp(-limit);
	ratio->high = ratio->value * exp(limit);
	return between >= own;
}

/* Dates are in UTC. */
static double seconds_of(const struct sb_result *result)
{
	struct tm parts = { .tm_mday = 1 };

	if (!strptime(sb_result_fact(result, "run", "date"), "%Y-%m-%dT%H:%M:%S", &parts))
		return NAN;
	return (double)timegm(&parts);
}

double sb_runs_apart_s(const struct sb_result *a, const struct sb_result *b)
{
	return fabs(seconds_of(a) - seconds_of(b));
}

void sb_span_describe(char out[SB_SPAN_BYTES], double s)
{
	if (isnan(s))
		snprintf(out, SB_SPAN_BYTES, "an unknown time");
	else if (s < 90)
		snprintf(out, SB_SPAN_BYTES, "%.0f s", s);
	else if (s < 90 * 60)
		snprintf(out, SB_SPAN_BYTES, "%.0f min", s / 60);
	else
		snprintf(out, SB_SPAN_BYTES, "%.0f h", s / 3600);
}

static bool has_work(const struct sb_spreads *spreads, const char *what)
{
	for (uint32_t i = 0; i < spreads->n; i++) {
		if (!strcmp(spreads->spread[i].what, what))
			return true;
	}
	return false;
}

int sb_spreads_put(struct sb_spreads *spreads, const struct sb_spreads *made)
{
	const bool is_same = !strcmp(spreads->boot_id, made->boot_id);
	struct sb_spreads all = *made;

	if (spreads->n + made->n > SB_SPREADS_MAX)
		return -E2BIG;
	all.n = 0;
	all.spread = calloc(spreads->n + made->n + 1, sizeof(*all.spread));
	if (!all.spread)
		return -ENOMEM;
	for (uint32_t i = 0; i < spreads->n; i++) {
		if (is_same && !has_work(made, spreads->spread[i].what))
			all.spread[all.n++] = spreads->spread[i];
	}
	for (uint32_t i = 0; i < made->n; i++)
		all.spread[all.n++] = made->spread[i];
	sb_spreads_free(spreads);
	*spreads = all;
	return 0;
}

void sb_spreads_free(struct sb_spreads *spreads)
{
	free(spreads->spread);
	*spreads = (struct sb_spreads){ .n = 0 };
}
