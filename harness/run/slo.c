#include "harness/run/slo.h"

#include <inttypes.h>
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

bool sb_slo_parse(const char *text, struct sb_slo *slo)
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

double sb_search_next(const struct sb_search *search)
{
	return (search->met_per_s + search->missed_per_s) / 2;
}

void sb_search_take(struct sb_search *search, const struct sb_slo *slo,
		    const struct sb_record *record)
{
	const double rate = sb_search_next(search);

	search->steps++;
	search->suspect += record->verdict == SB_SUSPECT;
	if (!sb_slo_is_decided(slo, record)) {
		search->undecided++;
	} else if (sb_slo_is_met(slo, record)) {
		search->met_per_s = rate;
		search->met_step = search->steps;
	} else {
		search->missed_per_s = rate;
		search->missed_is_measured = true;
	}
}

void sb_search_describe_step(char *out, double rate_per_s, const struct sb_slo *slo,
			     const struct sb_record *record)
{
	char rate[SB_HUMAN_BYTES];
	char value[SB_HUMAN_BYTES];

	sb_human(rate, rate_per_s, "1/s");
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

void sb_search_describe(char *out, const struct sb_search *search, const char *slo_text)
{
	char met[SB_HUMAN_BYTES];
	char missed[SB_HUMAN_BYTES];

	sb_human(met, search->met_per_s, "1/s");
	sb_human(missed, search->missed_per_s, "1/s");
	snprintf(out, SB_SLO_BYTES,
		 "%s: highest rate between %s/s (%s) and %s/s (%s); of %" PRIu32 " steps %" PRIu32
		 " decided nothing and %" PRIu32 " were suspect",
		 slo_text, met, search->met_per_s > 0 ? "met" : "none has met it", missed,
		 search->missed_is_measured ? "missed" : "the capacity, not tried", search->steps,
		 search->undecided, search->suspect);
}
