/*
 * write.c - result.json and meta.json. A row and a series are a line each:
 * the file stays small, and no more than one of them is in memory.
 */
#include "results/json/write.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json/json.h"
#include "results/json/json_out.h"
#include "results/json/write_parts.h"
#include "results/record/record.h"
#include "results/record/series.h"
#include "results/text/escape.h"

bool sb_json_set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

bool sb_json_append(json_t *array, json_t *value)
{
	return !json_array_append_new(array, value);
}

json_t *sb_json_whole(json_t *value, bool ok)
{
	if (ok)
		return value;
	json_decref(value);
	return NULL;
}

json_t *sb_json_text(const char *text)
{
	json_t *json = json_string(text);
	char *copy = json ? NULL : sb_text_copy(text);

	if (copy)
		json = json_string(copy);
	free(copy);
	return json;
}

json_t *sb_json_count(uint64_t count)
{
	return json_integer((json_int_t)sb_min_u64(count, INT64_MAX));
}

bool sb_json_set_number(json_t *object, const char *key, double value)
{
	if (!isfinite(value))
		return true;
	if (fabs(value) < 9e15 && value == floor(value))
		return sb_json_set(object, key, json_integer((json_int_t)value));
	return sb_json_set(object, key, json_real(value));
}

/* ---- plain structs, by their tables ---- */

static bool set_field(json_t *object, const struct sb_json_field *field, const void *from)
{
	const void *at = (const char *)from + field->offset;

	switch (field->kind) {
	case SB_JSON_BOOL:
		return sb_json_set(object, field->name, json_boolean(*(const bool *)at));
	case SB_JSON_INDEX:
	case SB_JSON_ERROR:
		return sb_json_set(object, field->name, json_integer(*(const int *)at));
	case SB_JSON_COUNT:
		return sb_json_set(object, field->name, sb_json_count(*(const uint64_t *)at));
	case SB_JSON_NUMBER:
	default:
		return sb_json_set_number(object, field->name, *(const double *)at);
	}
}

static bool set_fields(json_t *object, const struct sb_json_field *fields, const void *from)
{
	bool ok = true;

	for (; fields->name; fields++)
		ok &= set_field(object, fields, from);
	return ok;
}

json_t *sb_json_fields(const struct sb_json_field *fields, const void *from)
{
	json_t *object = json_object();

	return sb_json_whole(object, set_fields(object, fields, from));
}

static json_t *added_to_json(void)
{
	json_t *added = json_array();
	bool ok = added;

	for (enum sb_metric_id m = SB_METRICS_BUILT_IN; ok && m < sb_metrics(); m++)
		ok &= sb_json_append(added, json_pack("{ss ss ss ss}", "name", sb_metric[m].name,
						      "unit", sb_metric[m].unit, "better",
						      sb_better_name(sb_metric[m].better),
						      "meaning", sb_metric[m].doc));
	return sb_json_whole(added, ok);
}

/* { group: { key: value } } of all facts. */
static json_t *facts_to_json(const struct sb_result *result)
{
	json_t *facts = json_object();
	bool ok = facts;

	for (uint32_t i = 0; ok && i < result->facts; i++) {
		const struct sb_fact *fact = &result->fact[i];
		json_t *group = json_object_get(facts, fact->group);

		if (!group) {
			ok &= sb_json_set(facts, fact->group, json_object());
			group = json_object_get(facts, fact->group);
		}
		ok &= sb_json_set(group, fact->key, json_string(fact->value));
	}
	return sb_json_whole(facts, ok);
}

/* ---- a series ---- */

static json_t *settings_to_json(const struct sb_series *series)
{
	json_t *settings = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < series->settings; i++) {
		const struct sb_setting *setting = &series->setting[i];
		json_t *object = json_object();

		ok &= sb_json_set(object, "name", json_string(setting->name));
		ok &= sb_json_set(object, "text", json_string(setting->text));
		ok &= sb_json_set_number(object, "number", setting->number);
		ok &= sb_json_set(object, "swept", json_boolean(setting->swept));
		ok &= sb_json_append(settings, object);
	}
	return sb_json_whole(settings, ok);
}

static json_t *places_to_json(const struct sb_placement *placement)
{
	json_t *places = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->workers; i++)
		ok &= sb_json_append(places, sb_json_fields(sb_json_place, &placement->place[i]));
	return sb_json_whole(places, ok);
}

static json_t *os_nodes_to_json(const struct sb_placement *placement)
{
	json_t *nodes = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->nodes; i++)
		ok &= sb_json_append(nodes, json_integer(placement->os_node[i]));
	return sb_json_whole(nodes, ok);
}

static json_t *distances_to_json(const struct sb_placement *placement)
{
	json_t *distances = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < placement->nodes * placement->nodes; i++)
		ok &= sb_json_append(distances, json_integer(placement->node_distance[i]));
	return sb_json_whole(distances, ok);
}

static json_t *placement_to_json(const struct sb_placement *placement)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= sb_json_set(object, "nodes", json_integer(placement->nodes));
	if (placement->os_node)
		ok &= sb_json_set(object, "os_node", os_nodes_to_json(placement));
	if (placement->node_distance)
		ok &= sb_json_set(object, "node_distance", distances_to_json(placement));
	ok &= sb_json_set(object, "workers", places_to_json(placement));
	return sb_json_whole(object, ok);
}

static json_t *residence_to_json(const struct sb_residence *residence)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= sb_json_set(object, "error", json_integer(residence->error));
	for (int kind = 0; kind < SB_MEMORY_KINDS; kind++)
		ok &= sb_json_set(object, sb_memory_kind_name((enum sb_memory_kind)kind),
				  sb_json_fields(sb_json_pages, &residence->kind[kind]));
	return sb_json_whole(object, ok);
}

static json_t *residences_to_json(const struct sb_series *series)
{
	json_t *all = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < series->placement.workers; i++)
		ok &= sb_json_append(all, residence_to_json(&series->residence[i]));
	return sb_json_whole(all, ok);
}

static json_t *series_to_json(const struct sb_series *series)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= sb_json_set(object, "workload", json_string(series->workload));
	ok &= sb_json_set(object, "operation", json_string(series->operation));
	ok &= sb_json_set(object, "label", json_string(series->label));
	if (series->answer)
		ok &= sb_json_set(object, "answer", sb_json_text(series->answer)) &&
		      sb_json_set(object, "answer_row", json_integer(series->answer_row));
	ok &= sb_json_set(object, "rows", json_integer(series->records));
	ok &= sb_json_set(object, "settings", settings_to_json(series));
	ok &= sb_json_set(object, "emulated", json_boolean(series->reality == SB_EMULATED));
	ok &= sb_json_set(object, "virtual", json_boolean(series->reality == SB_SIMULATED));
	ok &= sb_json_set(object, "placement", placement_to_json(&series->placement));
	ok &= sb_json_set(object, "memory", sb_json_fields(sb_json_memory, &series->memory));
	if (series->waiting)
		ok &= sb_json_set(object, "waiting", sb_json_waiting(series->waiting));
	if (series->residence)
		ok &= sb_json_set(object, "residence", residences_to_json(series));
	return sb_json_whole(object, ok);
}

/* ---- the sb_json_whole ---- */

/* Absent where the machine does not say. */
static bool set_scaling(json_t *context, const struct sb_result *result)
{
	const char *governor = sb_result_fact(result, "machine", "governor");

	return !*governor || !strcmp(governor, "unknown") ||
	       sb_json_set(context, "cpu_scaling_enabled",
			   json_boolean(strcmp(governor, "performance")));
}

json_t *sb_json_context(const struct sb_result *result)
{
	const char *mode = sb_result_fact(result, "run", "build_mode");
	const char *pus = sb_result_fact(result, "machine", "pus");
	json_t *context = json_object();
	bool ok = true;

	ok &= sb_json_set(context, "date", json_string(sb_result_fact(result, "run", "date")));
	ok &= sb_json_set(context, "host_name",
			  json_string(sb_result_fact(result, "machine", "host_name")));
	ok &= sb_json_set(context, "executable",
			  json_string(sb_result_fact(result, "run", "executable")));
	ok &= sb_json_set(context, "num_cpus", json_integer(strtol(pus, NULL, 10)));
	ok &= set_scaling(context, result);
	ok &= sb_json_set(context, "caches", json_array());
	ok &= sb_json_set(context, "library_build_type",
			  json_string(strcmp(mode, "release") ? "debug" : "release"));
	ok &= sb_json_set(context, "topology", json_string(sb_result_topology(result)));
	ok &= sb_json_set(context, "json_schema_version", json_integer(1));
	return sb_json_whole(context, ok);
}

/* Everything on one line. The stream remembers write errors. */
static int put(FILE *out, json_t *value)
{
	return sb_json_put(value, out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
}

static bool in_benchmarks(const struct sb_json_spot *spot)
{
	return sb_record_has_numbers(&spot->result->series[spot->series].record[spot->row]);
}

/* Those with numbers, as Google Benchmark's readers need them, or the others. */
static int put_rows(FILE *out, const struct sb_result *result, bool numbers)
{
	struct sb_json_spot spot = { .result = result };
	const char *before = "\n";
	int rc = 0;

	for (; spot.series < result->all_series; spot.series++) {
		const uint32_t rows = result->series[spot.series].records;

		sb_series_name(spot.name, result, &result->series[spot.series]);
		for (spot.row = 0; spot.row < rows && !rc; spot.row++) {
			if (in_benchmarks(&spot) != numbers)
				continue;
			fputs(before, out);
			before = ",\n";
			rc = put(out, numbers ? sb_json_row(&spot) : sb_json_record(&spot));
		}
	}
	return rc;
}

static int put_series(FILE *out, const struct sb_result *result)
{
	int rc = 0;

	for (uint32_t i = 0; i < result->all_series && !rc; i++) {
		fputs(i ? ",\n" : "\n", out);
		rc = put(out, series_to_json(&result->series[i]));
	}
	return rc;
}

int sb_write_json(const struct sb_result *result, FILE *out)
{
	int rc;

	fputs("{\n\"context\": ", out);
	rc = put(out, sb_json_context(result));
	fputs(",\n\"benchmarks\": [", out);
	if (!rc)
		rc = put_rows(out, result, true);
	fprintf(out, "\n],\n\"sched_bench\": {\n\"schema\": %d,\n\"meta\": ", SB_RESULT_SCHEMA);
	if (!rc)
		rc = put(out, facts_to_json(result));
	if (sb_metrics() > SB_METRICS_BUILT_IN) {
		fputs(",\n\"workload_metrics\": ", out);
		if (!rc)
			rc = put(out, added_to_json());
	}
	fputs(",\n\"histogram_layout\": ", out);
	if (!rc)
		rc = put(out, json_pack(SB_JSON_HIST_LAYOUT, SB_JSON_HIST_KEYS));
	fputs(",\n\"series\": [", out);
	if (!rc)
		rc = put_series(out, result);
	fputs("\n],\n\"invalid\": [", out);
	if (!rc)
		rc = put_rows(out, result, false);
	fputs("\n]\n}\n}\n", out);
	return rc;
}

int sb_write_meta(const struct sb_result *result, FILE *out)
{
	json_t *facts = facts_to_json(result);
	int rc;

	if (!facts || !sb_json_set(facts, "schema", json_integer(SB_RESULT_SCHEMA))) {
		json_decref(facts);
		return -ENOMEM;
	}
	rc = sb_json_put(facts, out, JSON_INDENT(1));
	fputc('\n', out);
	return rc;
}
