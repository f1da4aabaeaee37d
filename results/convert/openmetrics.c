/*
 * openmetrics.c - OpenMetrics 1.0 text. A metric is a gauge, the median of the
 * repetitions with numbers; a histogram has all of their values, in buckets of
 * a power of two each, which are sums of our own. Units are base units.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/convert/convert.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"

#define PREFIX "sched_bench_"

/*
 * How a metric's unit becomes OpenMetrics': the word of our name that is the
 * unit leaves its place, the unit ends the name. In its place stands what is
 * measured when it was the first word: "bytes_per_process" without "bytes" is
 * no name.
 */
static const struct unit {
	const char *ours;
	const char *word;
	const char *theirs;
	double ours_per_theirs; /* divided by: a power of ten that is exact */
	const char *quantity;
} units[] = {
	{ "ns", "ns", "seconds", 1e9, "time" },
	{ "ms", "ms", "seconds", 1e3, "time" },
	{ "s", "s", "seconds", 1, "time" },
	{ "bytes", "bytes", "bytes", 1, "memory" },
	{ "%", "pct", "ratio", 1e2, "share" },
	{ "1/s", "per_s", "per_second", 1, "rate" },
	{ NULL, "", "", 1, "" }, /* counts have none */
};

static const struct unit *unit_of(const char *ours)
{
	const struct unit *unit = units;

	while (unit->ours && strcmp(unit->ours, ours) != 0)
		unit++;
	return unit;
}

/* The unit's word in a name, a whole one; NULL: it has none. */
static const char *find_word(const char *name, const char *word)
{
	const size_t length = strlen(word);
	const char *at = name;

	while (length && (at = strstr(at, word))) {
		if ((at == name || at[-1] == '_') && (at[length] == '_' || !at[length]))
			return at;
		at++;
	}
	return NULL;
}

/* A family's name without the prefix. */
#define NAME_BYTES 96

static void name_family(char *out, const char *name, const struct unit *unit)
{
	const char *at = find_word(name, unit->word);
	const char *behind = at ? at + strlen(unit->word) : "";

	if (!unit->ours)
		snprintf(out, NAME_BYTES, "%s", name);
	else if (!at)
		snprintf(out, NAME_BYTES, "%s_%s", name, unit->theirs);
	else if (at == name)
		snprintf(out, NAME_BYTES, "%s%s_%s", unit->quantity, behind, unit->theirs);
	else
		snprintf(out, NAME_BYTES, "%.*s%s_%s", (int)(at - name) - 1, name, behind,
			 unit->theirs);
}

static void put_head(const char *family, const char *type, const struct unit *unit,
		     const char *help, FILE *out)
{
	fprintf(out, "# TYPE " PREFIX "%s %s\n", family, type);
	if (unit && unit->ours)
		fprintf(out, "# UNIT " PREFIX "%s %s\n", family, unit->theirs);
	fprintf(out, "# HELP " PREFIX "%s ", family);
	sb_put_openmetrics(out, help);
	fputc('\n', out);
}

static void put_label(const char *name, const char *value, FILE *out)
{
	fprintf(out, "%s=\"", name);
	sb_put_openmetrics(out, value);
	fputc('"', out);
}

/* The labels of a series, open for more; the first tells two that are alike
 * apart. */
static void put_labels(const struct sb_result *result, uint32_t i, FILE *out)
{
	const struct sb_series *series = &result->series[i];

	fprintf(out, "{series=\"%" PRIu32 "\",", i);
	put_label("workload", series->workload, out);
	fputc(',', out);
	put_label("settings", series->label, out);
	fprintf(out, ",workers=\"%" PRIu32 "\",topology=\"%s\"", series->placement.workers,
		sb_series_topology(series));
}

/* Thresholds of buckets must have a point or an exponent. */
static void put_number(double value, bool has_point, FILE *out)
{
	char text[SB_EXACT_BYTES];

	sb_exact(text, value);
	fprintf(out, "%s%s", text, has_point && !strpbrk(text, ".e") ? ".0" : "");
}

/* ---- metrics ---- */

static bool has_metric(const struct sb_result *result, enum sb_metric_id m)
{
	for (uint32_t i = 0; i < result->all_series; i++) {
		if (sb_series_spread(&result->series[i], m).n)
			return true;
	}
	return false;
}

static void put_metric(const struct sb_result *result, enum sb_metric_id m, FILE *out)
{
	const struct unit *unit = unit_of(sb_metric[m].unit);
	char family[NAME_BYTES];

	if (!has_metric(result, m))
		return;
	name_family(family, sb_metric[m].name, unit);
	put_head(family, "gauge", unit, sb_metric[m].doc, out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_spread spread = sb_series_spread(&result->series[i], m);

		if (!spread.n)
			continue;
		fprintf(out, PREFIX "%s", family);
		put_labels(result, i, out);
		fputs("} ", out);
		put_number(spread.median / unit->ours_per_theirs, false, out);
		fputc('\n', out);
	}
}

static void put_repetitions(const struct sb_result *result, FILE *out)
{
	put_head("repetitions", "gauge", NULL,
		 "repetitions by validity; invalid ones have no numbers", out);
	for (uint32_t i = 0; i < result->all_series; i++) {
		for (enum sb_verdict v = SB_VALID; v < SB_VERDICTS; v++) {
			fputs(PREFIX "repetitions", out);
			put_labels(result, i, out);
			fprintf(out, ",verdict=\"%s\"} %" PRIu32 "\n", sb_verdict_name(v),
				sb_series_count(&result->series[i], v));
		}
	}
}

/* ---- histograms ---- */

/* Thresholds are 2^k - 1, for each k up to the largest. */
#define LARGEST_NS    40 /* 18 minutes */
#define LARGEST_COUNT 19 /* written without an exponent */

/* A line of one histogram, up to its value. */
static void put_sample(const struct sb_result *result, uint32_t i, const char *family,
		       const char *suffix, FILE *out)
{
	fprintf(out, PREFIX "%s_%s", family, suffix);
	put_labels(result, i, out);
}

static void put_buckets(const struct sb_result *result, uint32_t i, const char *family,
			const struct unit *unit, const struct sb_hist_counts *counts, FILE *out)
{
	const int largest = unit->ours ? LARGEST_NS : LARGEST_COUNT;
	uint64_t below = 0;
	uint32_t b = 0;

	for (int k = 0; k <= largest; k++) {
		const uint64_t bound = UINT64_C(1) << k;

		while (sb_hist_bucket_low(b) < bound)
			below += counts->bucket[b++];
		put_sample(result, i, family, "bucket", out);
		fputs(",le=\"", out);
		put_number((double)(bound - 1) / unit->ours_per_theirs, true, out);
		fprintf(out, "\"} %" PRIu64 "\n", below);
	}
	put_sample(result, i, family, "bucket", out);
	fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", counts->count);
}

static void put_totals(const struct sb_result *result, uint32_t i, const char *family,
		       const struct unit *unit, const struct sb_hist_counts *counts, FILE *out)
{
	put_sample(result, i, family, "count", out);
	fprintf(out, "} %" PRIu64 "\n", counts->count);
	put_sample(result, i, family, "sum", out);
	fputs("} ", out);
	put_number((double)counts->sum / unit->ours_per_theirs, false, out);
	fputc('\n', out);
}

static void put_hist(const struct sb_result *result, uint32_t hist, FILE *out)
{
	static struct sb_hist_counts counts;
	const struct sb_metric *info = &sb_record_hist_info[hist];
	const struct unit *unit = unit_of(info->unit);
	bool is_begun = false;
	char family[NAME_BYTES];

	name_family(family, info->name, unit);
	for (uint32_t i = 0; i < result->all_series; i++) {
		sb_series_hist(&result->series[i], hist, &counts);
		if (!counts.count)
			continue;
		if (!is_begun)
			put_head(family, "histogram", unit, info->doc, out);
		is_begun = true;
		put_buckets(result, i, family, unit, &counts, out);
		put_totals(result, i, family, unit, &counts, out);
	}
}

/* ---- the run ---- */

static const struct {
	const char *group;
	const char *key;
} run_facts[] = {
	{ "run", "date" },	 { "run", "version" },	     { "run", "git_revision" },
	{ "run", "build_mode" }, { "machine", "host_name" }, { "machine", "cpu_model" },
	{ "machine", "kernel" },
};

static void put_run(const struct sb_result *result, FILE *out)
{
	/* A gauge: in Prometheus' older text there are no infos. */
	put_head("run_info", "gauge", NULL, "when and where it was measured", out);
	fputs(PREFIX "run_info{", out);
	for (size_t i = 0; i < SB_ARRAY_SIZE(run_facts); i++) {
		if (i)
			fputc(',', out);
		put_label(run_facts[i].key,
			  sb_result_fact(result, run_facts[i].group, run_facts[i].key), out);
	}
	fputs("} 1\n", out);
}

int sb_convert_openmetrics(const struct sb_result *result, FILE *out)
{
	put_run(result, out);
	put_repetitions(result, out);
	for (enum sb_metric_id m = 0; m < sb_metrics(); m++)
		put_metric(result, m, out);
	for (uint32_t i = 0; i < SB_RECORD_HISTS; i++)
		put_hist(result, i, out);
	fputs("# EOF\n", out);
	return 0;
}
