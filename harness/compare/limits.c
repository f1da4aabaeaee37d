#include "harness/compare/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/micro/callgrind.h"
#include "harness/terminal/metrics.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"

/* "1%" or "+1%", above 0. */
static bool parse_part(const char *text, double *part)
{
	uint64_t ppm;

	if (!sb_parse_percent(text + (*text == '+'), &ppm) || !ppm)
		return false;
	*part = (double)ppm / 1e6;
	return true;
}

int sb_limit_of_counts(const char *text, double *part)
{
	if (!parse_part(*text ? text : "1%", part))
		return sb_fail(SB_EXIT_USAGE,
			       "--limit: '%s' is not valid with --counts; expected one percentage, "
			       "as +1%%",
			       text);
	if (*part > SB_COUNTS_ERROR)
		return 0;
	return sb_fail(
		SB_EXIT_USAGE,
		"--limit: '%s' is within what counts may be wrong by; expected more than %g%%",
		text, 100 * SB_COUNTS_ERROR);
}

enum sign { NONE, RISE, FALL, BOTH };

/* Takes it away from the text. */
static enum sign take_sign(const char **text)
{
	static const struct {
		const char *text;
		enum sign sign;
	} signs[] = { { "±", BOTH }, { "+-", BOTH }, { "+", RISE }, { "-", FALL } };

	for (size_t i = 0; i < SB_ARRAY_SIZE(signs); i++) {
		const size_t length = strlen(signs[i].text);

		if (!strncmp(*text, signs[i].text, length)) {
			*text += length;
			return signs[i].sign;
		}
	}
	return NONE;
}

static int check_sign(enum sb_metric_id metric, enum sign *sign)
{
	static const enum sign worse[] = {
		[SB_LOWER] = RISE, [SB_HIGHER] = FALL, [SB_NEITHER] = NONE
	};
	const enum sb_better better = sb_metric[metric].better;

	if (*sign == NONE)
		*sign = worse[better];
	if (*sign == NONE)
		return sb_fail(SB_EXIT_USAGE,
			       "--limit: %s is neither better when it is low nor when it is high; "
			       "expected a sign: +, - or ±",
			       sb_metric[metric].name);
	if (*sign == BOTH || better == SB_NEITHER || *sign == worse[better])
		return 0;
	return sb_fail(SB_EXIT_USAGE,
		       "--limit: %s is better when it is %s; expected a limit for a %s (%c) or ±",
		       sb_metric[metric].name, better == SB_LOWER ? "low" : "high",
		       better == SB_LOWER ? "rise" : "fall", better == SB_LOWER ? '+' : '-');
}

static int add(struct sb_limits *out, enum sb_metric_id metric, bool is_fall, double part)
{
	for (uint32_t i = 0; i < out->n; i++) {
		if (out->limit[i].metric == metric && out->limit[i].is_fall == is_fall)
			return sb_fail(SB_EXIT_USAGE, "--limit: %s has two limits; expected one",
				       sb_metric[metric].name);
	}
	if (out->n == SB_LIMITS_MAX)
		return sb_fail(SB_EXIT_USAGE, "--limit: more than %d limits", SB_LIMITS_MAX);
	if (is_fall && part >= 1)
		return sb_fail(SB_EXIT_USAGE,
			       "--limit: %s cannot fall by 100 %% or more; expected less",
			       sb_metric[metric].name);
	out->limit[out->n++] = (struct sb_limit){ metric, is_fall, part };
	return 0;
}

/* One of them; the text is cut up. */
static int parse_one(struct sb_limits *out, char *text)
{
	char *equals = strchr(text, '=');
	enum sb_metric_id metric = SB_METRICS;
	const char *number;
	enum sign sign;
	double part = 0;
	int rc;

	if (!equals)
		return sb_fail(SB_EXIT_USAGE,
			       "--limit: '%s' is not valid; expected METRIC=+3%%, METRIC=-3%%, "
			       "METRIC=±3%% or METRIC=3%%",
			       text);
	*equals = '\0';
	number = equals + 1;
	sign = take_sign(&number);
	rc = sb_parse_metric("--limit", text, &metric);
	if (!rc && !parse_part(*number == '+' ? "" : number, &part))
		rc = sb_fail(
			SB_EXIT_USAGE,
			"--limit: %s: '%s' is not valid; expected a percentage above 0, as +3%%",
			text, equals + 1);
	rc = rc ? rc : check_sign(metric, &sign);
	if (!rc && sign != FALL)
		rc = add(out, metric, false, part);
	if (!rc && sign != RISE)
		rc = add(out, metric, true, part);
	return rc;
}

int sb_limits_parse(struct sb_limits *out, const char *text)
{
	char *copy = strdup(*text ? text : SB_LIMITS_DEFAULT);
	char *rest = copy;
	char *one;
	int rc = copy ? 0 : sb_fail_memory();

	out->n = 0;
	while (!rc && (one = strsep(&rest, ",")))
		rc = parse_one(out, one);
	free(copy);
	return rc;
}

int sb_limits_of_virtual(struct sb_limits *out)
{
	/* offset: behind the mean, in a latency's metrics. */
	static const struct {
		uint32_t offset;
		double part;
	} percentiles[] = { { 1, 0.05 }, { 3, 0.1 }, { 4, 0.15 } };
	static const enum sb_metric_id means[] = {
		SB_METRIC_sojourn_ns_mean,
		SB_METRIC_ready_to_running_ns_mean,
		SB_METRIC_send_to_step_ns_mean,
		SB_METRIC_submit_to_step_ns_mean,
		SB_METRIC_yield_to_resumed_ns_mean,
		SB_METRIC_wake_to_running_ns_mean,
		SB_METRIC_wake_ns_mean,
		SB_METRIC_wake_long_step_ns_mean,
	};
	static const enum sb_metric_id nearby[] = { SB_METRIC_transfers_core_per_op,
						    SB_METRIC_transfers_cache_per_op,
						    SB_METRIC_transfers_node_per_op };
	int rc = sb_limits_parse(out, SB_LIMITS_VIRTUAL_DEFAULT);

	for (size_t m = 0; m < SB_ARRAY_SIZE(means); m++) {
		for (size_t p = 0; p < SB_ARRAY_SIZE(percentiles) && !rc; p++)
			rc = add(out, (enum sb_metric_id)(means[m] + percentiles[p].offset), false,
				 percentiles[p].part);
	}
	for (size_t m = 0; m < SB_ARRAY_SIZE(nearby) && !rc; m++)
		rc = add(out, nearby[m], false, INFINITY);
	return rc;
}

double sb_limit_least(enum sb_metric_id metric)
{
	return strcmp(sb_metric[metric].unit, "count") ? 0 : 0.01;
}

const struct sb_limit *sb_limit_for(const struct sb_limits *limits, enum sb_metric_id metric,
				    bool is_fall)
{
	const struct sb_limit *other = NULL;

	for (uint32_t i = 0; i < limits->n; i++) {
		if (limits->limit[i].metric != metric)
			continue;
		if (limits->limit[i].is_fall == is_fall)
			return &limits->limit[i];
		other = &limits->limit[i];
	}
	return other;
}

bool sb_limit_event(enum sb_metric_id metric, enum sb_metric_id *count)
{
	static const struct {
		enum sb_metric_id metric, count;
	} event[] = { { SB_METRIC_steals_per_op, SB_METRIC_steal_successes },
		      { SB_METRIC_wakes_per_op, SB_METRIC_wakes },
		      { SB_METRIC_parks_per_op, SB_METRIC_blocks } };

	for (size_t i = 0; i < SB_ARRAY_SIZE(event); i++) {
		if (event[i].metric == metric) {
			*count = event[i].count;
			return true;
		}
	}
	return false;
}

int sb_limits_split(struct sb_limits *times, struct sb_limits *events)
{
	const struct sb_limits all = *times;
	int rc = 0;

	times->n = events->n = 0;
	for (uint32_t i = 0; i < all.n; i++) {
		enum sb_metric_id count;
		struct sb_limits *to = sb_limit_event(all.limit[i].metric, &count) ? events : times;

		to->limit[to->n++] = all.limit[i];
	}
	if (!times->n)
		rc = sb_limits_parse(times, SB_LIMITS_DEFAULT);
	if (!rc && !events->n)
		rc = sb_limits_parse(events, SB_LIMITS_EVENTS_DEFAULT);
	return rc;
}
