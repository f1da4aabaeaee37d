#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/write.h"

/* All of jansson's "_new" calls take the reference and return -1 on NULL, so
 * one check at the end of a chain is enough; `ok` gathers them. */
static bool set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

/* Integers stay integers; NaN has no JSON and is left out. */
static bool set_number(json_t *object, const char *key, double value)
{
	if (isnan(value))
		return true;
	if (fabs(value) < 9e15 && value == floor(value))
		return set(object, key, json_integer((json_int_t)value));
	return set(object, key, json_real(value));
}

/* { group: { key: value } } of all facts. */
static json_t *facts_to_json(const struct sb_result *result)
{
	json_t *facts = json_object();

	for (uint32_t i = 0; facts && i < result->facts; i++) {
		const struct sb_fact *fact = &result->fact[i];
		json_t *group = json_object_get(facts, fact->group);

		if (!group) {
			set(facts, fact->group, json_object());
			group = json_object_get(facts, fact->group);
		}
		if (!set(group, fact->key, json_string(fact->value))) {
			json_decref(facts);
			return NULL;
		}
	}
	return facts;
}

/* Google Benchmark's own keys, which its tools read. */
static bool set_benchmark_keys(json_t *row, const struct sb_series *series,
			       const struct sb_record *record, uint32_t family)
{
	char *name = sb_series_name(series);
	const double *value = record->value;
	bool ok = true;

	ok &= set(row, "name", json_string(name));
	ok &= set(row, "family_index", json_integer(family));
	ok &= set(row, "per_family_instance_index", json_integer(0));
	ok &= set(row, "run_name", json_string(name));
	free(name);
	ok &= set(row, "run_type", json_string("iteration"));
	ok &= set(row, "repetitions", json_integer(series->records));
	ok &= set(row, "repetition_index", json_integer(record->repetition));
	ok &= set(row, "threads", json_integer(series->placement.workers));
	ok &= set_number(row, "iterations", value[SB_METRIC_operations]);
	ok &= set_number(row, "real_time", value[SB_METRIC_ns_per_op]);
	ok &= set_number(row, "cpu_time", value[SB_METRIC_cpu_ns_per_op]);
	ok &= set(row, "time_unit", json_string("ns"));
	ok &= set_number(row, "items_per_second", value[SB_METRIC_ops_per_s]);
	ok &= set(row, "label", json_string(series->label));
	return ok;
}

static json_t *steals_to_json(const struct sb_record *record, uint32_t workers)
{
	json_t *matrix = json_array();

	for (uint32_t t = 0; t < workers; t++) {
		json_t *row = json_array();

		for (uint32_t v = 0; v < workers; v++) {
			const struct sb_steal_counts *c =
				&record->worker[t].steals[v];

			json_array_append_new(
				row,
				json_pack("{sIsIsIsIsI}", "attempts",
					  (json_int_t)c->attempts, "successes",
					  (json_int_t)c->successes, "items",
					  (json_int_t)c->items, "lost",
					  (json_int_t)c->lost, "empty",
					  (json_int_t)c->empty));
		}
		json_array_append_new(matrix, row);
	}
	return matrix;
}

static json_t *record_to_json(const struct sb_series *series,
			      const struct sb_record *record, uint32_t family)
{
	json_t *row = json_object();
	json_t *own = json_object();
	bool ok = set_benchmark_keys(row, series, record, family);

	ok &= set(own, "valid", json_string(sb_verdict_name(record->verdict)));
	if (*record->reason)
		ok &= set(own, "reason", json_string(record->reason));
	ok &= set(own, "topology", json_string(sb_series_topology(series)));
	ok &= set(own, "workload", json_string(series->workload));
	ok &= set(own, "operation", json_string(series->operation));
	for (uint32_t m = 0; m < SB_METRICS; m++)
		ok &= set_number(own, sb_metric[m].name, record->value[m]);
	if (record->worker[0].recorded)
		ok &= set(own, "steals_thief_by_victim",
			  steals_to_json(record, series->placement.workers));
	ok &= set(row, "sched_bench", own);
	if (ok)
		return row;
	json_decref(row);
	return NULL;
}

/* Rows without numbers cannot be in "benchmarks": its readers need them. */
static json_t *invalid_to_json(const struct sb_series *series,
			       const struct sb_record *record)
{
	return json_pack("{sssssssssi}", "valid", "invalid", "reason",
			 record->reason, "workload", series->workload, "label",
			 series->label, "repetition", (int)record->repetition);
}

static json_t *context_to_json(const struct sb_result *result)
{
	json_t *context = json_object();

	set(context, "date",
	    json_string(sb_result_fact(result, "run", "date")));
	set(context, "host_name",
	    json_string(sb_result_fact(result, "machine", "host_name")));
	set(context, "executable",
	    json_string(sb_result_fact(result, "run", "executable")));
	set(context, "num_cpus",
	    json_integer(strtol(sb_result_fact(result, "machine", "pus"), NULL,
				10)));
	set(context, "mhz_per_cpu", json_integer(0));
	set(context, "cpu_scaling_enabled", json_false());
	set(context, "caches", json_array());
	set(context, "library_build_type",
	    json_string(strcmp(sb_result_fact(result, "run", "build_mode"),
			       "release")
				? "debug"
				: "release"));
	set(context, "topology", json_string(sb_result_topology(result)));
	set(context, "json_schema_version", json_integer(1));
	return context;
}

static json_t *result_to_json(const struct sb_result *result)
{
	json_t *benchmarks = json_array();
	json_t *invalid = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < result->all_series; i++) {
		const struct sb_series *series = &result->series[i];

		for (uint32_t r = 0; r < series->records; r++) {
			const struct sb_record *record = &series->record[r];

			if (sb_record_has_numbers(record))
				ok &= !json_array_append_new(
					benchmarks,
					record_to_json(series, record, i));
			else
				ok &= !json_array_append_new(
					invalid,
					invalid_to_json(series, record));
		}
	}
	if (!ok) {
		json_decref(benchmarks);
		json_decref(invalid);
		return NULL;
	}
	return json_pack("{sosos{sisoso}}", "context", context_to_json(result),
			 "benchmarks", benchmarks, "sched_bench", "schema",
			 SB_RESULT_SCHEMA, "meta", facts_to_json(result),
			 "invalid", invalid);
}

static int dump(json_t *document, FILE *out)
{
	int rc;

	if (!document)
		return -ENOMEM;
	rc = json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	json_decref(document);
	fputc('\n', out);
	return rc ? -EIO : 0;
}

int sb_write_json(const struct sb_result *result, FILE *out)
{
	return dump(result_to_json(result), out);
}

int sb_write_meta(const struct sb_result *result, FILE *out)
{
	json_t *facts = facts_to_json(result);

	if (!facts)
		return -ENOMEM;
	set(facts, "schema", json_integer(SB_RESULT_SCHEMA));
	return dump(facts, out);
}
