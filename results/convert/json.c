/*
 * json.c - the formats that are JSON: Google Benchmark's own, and that of
 * github-action-benchmark.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/convert/convert.h"
#include "results/json/json.h"
#include "results/json/json_out.h"
#include "results/record/number.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"

static int dump(json_t *document, FILE *out)
{
	const int rc = sb_json_put(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));

	fputc('\n', out);
	return rc;
}

/* ---- gbench: what result.json is to Google Benchmark, with the aggregates ---- */

static double mean_of(double *value, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += value[i];
	return sum / n;
}

static double median_of(double *value, uint32_t n)
{
	return sb_spread_of(value, n).median;
}

/* Of a sample: divided by n - 1. */
static double stddev_of(double *value, uint32_t n)
{
	const double mean = mean_of(value, n);
	double squares = 0;

	for (uint32_t i = 0; i < n; i++)
		squares += (value[i] - mean) * (value[i] - mean);
	return sqrt(squares / (n - 1));
}

static double cv_of(double *value, uint32_t n)
{
	return stddev_of(value, n) / mean_of(value, n);
}

static const struct aggregate {
	const char *name;
	const char *unit;
	double (*of)(double *value, uint32_t n);
} aggregates[] = {
	{ "mean", "time", mean_of },
	{ "median", "time", median_of },
	{ "stddev", "time", stddev_of },
	{ "cv", "percentage", cv_of },
};

/* Of those rows that have the key; NaN: too few have it. */
static double aggregate_key(const struct aggregate *aggregate, json_t *rows, const char *key,
			    double *room)
{
	uint32_t n = 0;
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		const json_t *number = json_object_get(row, key);

		if (json_is_number(number))
			room[n++] = json_number_value(number);
	}
	return n < 2 ? (double)NAN : aggregate->of(room, n);
}

/* The keys of a repetition that are not its measurements. */
static bool is_measured(const char *key, const json_t *value)
{
	static const char *const others[] = { "family_index",	  "per_family_instance_index",
					      "repetitions",	  "threads",
					      "repetition_index", "iterations" };

	for (size_t i = 0; i < SB_ARRAY_SIZE(others); i++) {
		if (!strcmp(key, others[i]))
			return false;
	}
	return json_is_number(value);
}

/* A row in the keys of Google Benchmark 1.7; rows: the repetitions. */
static json_t *aggregate_rows(const struct aggregate *aggregate, json_t *rows, double *room)
{
	json_t *row = json_copy(json_array_get(rows, 0));
	json_t *name = json_sprintf("%s_%s", json_string_value(json_object_get(row, "name")),
				    aggregate->name);
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(row, next, key, value)
	{
		double number;

		if (!is_measured(key, value))
			continue;
		number = aggregate_key(aggregate, rows, key, room);
		/* The coefficient of variation of zeros is not a number. */
		if (!isfinite(number))
			json_object_del(row, key);
		else
			json_object_set_new(row, key, json_real(number));
	}
	json_object_del(row, "repetition_index");
	json_object_set_new(row, "name", name);
	json_object_set_new(row, "run_type", json_string("aggregate"));
	json_object_set_new(row, "aggregate_name", json_string(aggregate->name));
	json_object_set_new(row, "aggregate_unit", json_string(aggregate->unit));
	json_object_set_new(row, "iterations", json_integer((json_int_t)json_array_size(rows)));
	return row;
}

/* To Google Benchmark our metrics are counters. */
static json_t *repetition_to_json(const struct sb_result *result, uint32_t i, uint32_t r)
{
	const struct sb_record *record = &result->series[i].record[r];
	json_t *row = sb_json_benchmark(result, i, r);

	for (enum sb_metric_id m = 0; row && m < sb_metrics(); m++) {
		if (isfinite(record->value[m]))
			json_object_set_new(row, sb_metric[m].name, json_real(record->value[m]));
	}
	return row;
}

static json_t *repetitions_to_json(const struct sb_result *result, uint32_t i)
{
	const struct sb_series *series = &result->series[i];
	json_t *rows = json_array();
	int rc = rows ? 0 : -1;

	for (uint32_t r = 0; r < series->records && !rc; r++) {
		if (sb_record_has_numbers(&series->record[r]))
			rc = json_array_append_new(rows, repetition_to_json(result, i, r));
	}
	if (!rc)
		return rows;
	json_decref(rows);
	return NULL;
}

/* The repetitions of a series, and behind them what they come to. */
static int put_family(json_t *out, const struct sb_result *result, uint32_t family)
{
	json_t *rows = repetitions_to_json(result, family);
	double *room = calloc(result->series[family].records + 1, sizeof(*room));
	int rc = rows && room ? json_array_extend(out, rows) : -1;

	for (size_t i = 0; i < SB_ARRAY_SIZE(aggregates) && !rc; i++) {
		if (json_array_size(rows) > 1)
			rc = json_array_append_new(out, aggregate_rows(&aggregates[i], rows, room));
	}
	free(room);
	json_decref(rows);
	return rc;
}

int sb_convert_gbench(const struct sb_result *result, FILE *out)
{
	json_t *rows = json_array();
	int rc = rows ? 0 : -1;

	for (uint32_t i = 0; i < result->all_series && !rc; i++)
		rc = put_family(rows, result, i);
	if (!rc)
		return dump(
			json_pack("{soso}", "context", sb_json_context(result), "benchmarks", rows),
			out);
	json_decref(rows);
	return -ENOMEM;
}

/* ---- gh-action: the medians of the metrics that are better one way ---- */

static json_t *extra_of(const struct sb_series *series, enum sb_metric_id m)
{
	const uint32_t suspect = sb_series_count(series, SB_SUSPECT);
	const uint32_t invalid = sb_series_count(series, SB_INVALID);

	return json_sprintf("%s\n%s\n%" PRIu32 " repetitions, %" PRIu32 " suspect, %" PRIu32
			    " invalid",
			    sb_metric[m].doc, series->label, series->records, suspect, invalid);
}

static int put_metric(json_t *list, const struct sb_series *series, const char *name,
		      enum sb_metric_id m)
{
	const struct sb_spread spread = sb_series_spread(series, m);
	char min[SB_EXACT_BYTES];
	char max[SB_EXACT_BYTES];
	json_t *entry;

	if (!spread.n)
		return 0;
	sb_exact(min, spread.min);
	sb_exact(max, spread.max);
	entry = json_pack("{sosssfso*so}", "name", json_sprintf("%s %s", name, sb_metric[m].name),
			  "unit", sb_metric[m].unit, "value", spread.median, "range",
			  spread.n > 1 ? json_sprintf("%s .. %s", min, max) : NULL, "extra",
			  extra_of(series, m));
	return json_array_append_new(list, entry);
}

static int put_metrics(json_t *list, const struct sb_result *result, const struct sb_series *series,
		       enum sb_better better)
{
	char cut[SB_NAME_BYTES];
	char *name;
	int rc;

	sb_series_name(cut, result, series);
	name = sb_text_copy(cut); /* it may have been cut within a letter */
	rc = name ? 0 : -1;
	for (enum sb_metric_id m = 0; m < sb_metrics() && !rc; m++) {
		if (sb_metric[m].better == better)
			rc = put_metric(list, series, name, m);
	}
	free(name);
	return rc;
}

static int convert_action(const struct sb_result *result, enum sb_better better, FILE *out)
{
	json_t *list = json_array();
	int rc = 0;

	for (uint32_t i = 0; i < result->all_series && !rc; i++)
		rc = put_metrics(list, result, &result->series[i], better);
	if (!rc)
		return dump(list, out);
	json_decref(list);
	return -ENOMEM;
}

int sb_convert_smaller(const struct sb_result *result, FILE *out)
{
	return convert_action(result, SB_LOWER, out);
}

int sb_convert_bigger(const struct sb_result *result, FILE *out)
{
	return convert_action(result, SB_HIGHER, out);
}
