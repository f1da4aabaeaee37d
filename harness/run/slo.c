#include "harness/run/slo.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/record/number.h"
#include "results/record/record.h"
#include "workloads/load/quantity.h"

static const struct {
	const char *name;
	enum sb_metric_id metric;
	double share;
} metrics[] = {
	{ "mean", SB_METRIC_sojourn_ns_mean, 0 },	{ "p50", SB_METRIC_sojourn_ns_p50, 0.5 },
	{ "p90", SB_METRIC_sojourn_ns_p90, 0.9 },	{ "p99", SB_METRIC_sojourn_ns_p99, 0.99 },
	{ "p99.9", SB_METRIC_sojourn_ns_p99_9, 0.999 }, { "max", SB_METRIC_sojourn_ns_max, 0 },
};

static bool parse_words(const char *text, struct sb_slo *slo)
{
	const size_t length = strcspn(text, "<");

	if (!text[length] || !sb_quantity_time(text + length + 1, &slo->below_ns))
		return false;
	for (size_t i = 0; i < SB_ARRAY_SIZE(metrics); i++) {
		slo->metric = metrics[i].metric;
		slo->share = metrics[i].share;
		if (strlen(metrics[i].name) == length && !strncmp(metrics[i].name, text, length))
			return true;
	}
	return false;
}

bool sb_slo_parse(const char *text, struct sb_slo *slo)
{
	char words[64];
	size_t n = 0;

	for (; *text && n < sizeof(words) - 1; text++) {
		if (*text != ' ')
			words[n++] = *text;
	}
	words[n] = '\0';
	return !*text && parse_words(words, slo);
}

bool sb_slo_is_met(const struct sb_slo *slo, const struct sb_record *record)
{
	/* NaN is not below anything. */
	return record->value[slo->metric] < slo->below_ns;
}

static bool has_enough(const struct sb_slo *slo, const struct sb_record *record)
{
	const double requests =
		record->value[SB_METRIC_sojourn_timed] + record->value[SB_METRIC_lost];

	return slo->share <= 0 || !(requests < (double)sb_percentile_needs(slo->share));
}

bool sb_slo_is_decided(const struct sb_slo *slo, const struct sb_record *record)
{
	return sb_record_has_numbers(record) && has_enough(slo, record);
}

/* At one rate, before a lower one is tried. */
#define TRIES	2
/* More requests than a percentile needs, for arrivals are random. */
#define MARGIN	1.2
/* Times the duration that was asked for. */
#define LONGEST 20

double sb_search_next(const struct sb_search *search)
{
	const int halvings = 1 + (int)(search->stalled / TRIES);

	return search->met_per_s + ldexp(search->missed_per_s - search->met_per_s, -halvings);
}

uint64_t sb_search_duration(const struct sb_search *search, const struct sb_slo *slo,
			    uint64_t least_ns)
{
	const double needed = slo->share > 0 ? (double)sb_percentile_needs(slo->share) : 0;
	const double ns = 1e9 * MARGIN * needed / sb_search_next(search);

	return ns > (double)least_ns ? (uint64_t)fmin(ns, (double)least_ns * LONGEST) : least_ns;
}

/* Another program on the CPU can cause a miss, so a suspect miss halves the range only when it
 * happens twice. */
static bool is_doubtful(const struct sb_search *search, const struct sb_slo *slo,
			const struct sb_record *record)
{
	return !search->stalled && record->verdict == SB_SUSPECT && !sb_slo_is_met(slo, record);
}

/* The rate at which requests came, which is random; the nominal rate, if nobody counted. */
static double offered_rate(const struct sb_record *record, double nominal_per_s)
{
	const double offered = record->value[SB_METRIC_offered_per_s];

	return isnan(offered) ? nominal_per_s : offered;
}

void sb_search_take(struct sb_search *search, const struct sb_slo *slo,
		    const struct sb_record *record)
{
	const double rate = sb_search_next(search);
	const double offered = offered_rate(record, rate);

	if (!search->steps)
		search->capacity_per_s = search->missed_per_s;
	search->steps++;
	search->suspect += record->verdict == SB_SUSPECT;
	if (!sb_slo_is_decided(slo, record) || is_doubtful(search, slo, record)) {
		search->undecided++;
		search->stalled++;
		return;
	}
	search->stalled = 0;
	if (sb_slo_is_met(slo, record)) {
		search->met_per_s = rate;
		search->met_step = search->steps;
		search->met_offered_per_s = fmax(search->met_offered_per_s, offered);
	} else {
		search->missed_offered_per_s = search->missed_is_measured
						       ? fmin(search->missed_offered_per_s, offered)
						       : offered;
		search->missed_per_s = rate;
		search->missed_is_measured = true;
	}
}

void sb_search_describe_step(char *out, double rate_per_s, const struct sb_slo *slo,
			     const struct sb_record *record)
{
	char rate[SB_HUMAN_BYTES];
	char value[SB_HUMAN_BYTES];

	sb_human(rate, offered_rate(record, rate_per_s), "1/s");
	sb_human(value, record->value[slo->metric], "ns");
	if (!sb_record_has_numbers(record))
		snprintf(out, SB_SLO_BYTES, "%s/s: not used: %s (%s)", rate,
			 sb_verdict_name(record->verdict), record->reason);
	else if (!has_enough(slo, record))
		snprintf(out, SB_SLO_BYTES,
			 "%s/s: not used: %.0f requests are too few for the percentile; expected "
			 "at least %" PRIu64 " (a longer --duration)",
			 rate, record->value[SB_METRIC_sojourn_timed],
			 sb_percentile_needs(slo->share));
	else if (record->verdict == SB_SUSPECT)
		snprintf(out, SB_SLO_BYTES, "%s/s: %s, %s; suspect (%s)", rate, value,
			 sb_slo_is_met(slo, record) ? "met" : "missed", record->reason);
	else
		snprintf(out, SB_SLO_BYTES, "%s/s: %s, %s", rate, value,
			 sb_slo_is_met(slo, record) ? "met" : "missed");
}

/* The rates between which the answer lies, as the requests came. */
static void describe_bounds(char *out, size_t bytes, const struct sb_search *search)
{
	const char *which = search->undecided ? "that decided anything" : "tried";
	char met[SB_HUMAN_BYTES];
	char missed[SB_HUMAN_BYTES];

	sb_human(met, search->met_offered_per_s, "1/s");
	sb_human(missed, search->missed_offered_per_s, "1/s");
	if (search->met_per_s > 0 && search->missed_is_measured)
		snprintf(out, bytes,
			 search->met_offered_per_s < search->missed_offered_per_s
				 ? "met up to %s/s, missed from %s/s on"
				 : "met up to %s/s, and missed at %s/s: a longer --duration tells "
				   "more",
			 met, missed);
	else if (search->met_per_s > 0)
		snprintf(out, bytes, "met up to %s/s, the highest rate %s", met, which);
	else if (search->missed_is_measured)
		snprintf(out, bytes, "missed at every rate %s, down to %s/s", which, missed);
	else
		snprintf(out, bytes, "no step has decided");
}

void sb_search_describe(char *out, const struct sb_search *search, const char *slo_text)
{
	char bounds[4 * SB_HUMAN_BYTES + 80];
	char capacity[SB_HUMAN_BYTES];

	describe_bounds(bounds, sizeof(bounds), search);
	sb_human(capacity, search->capacity_per_s, "1/s");
	snprintf(out, SB_SLO_BYTES,
		 "%s: %s (capacity %s/s; %" PRIu32 " step%s, %" PRIu32 " decided nothing, %" PRIu32
		 " suspect)",
		 slo_text, bounds, capacity, search->steps, search->steps == 1 ? "" : "s",
		 search->undecided, search->suspect);
}
