/*
 * gate.c - a gate's verdict as JSON, and calibrations.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/gate/gate.h"
#include "results/json/json_out.h"
#include "results/json/read.h"

/* Values that were not measured are null. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *test_json(const struct sb_gate_test *test)
{
	static const char *const difference[] = { [SB_GATE_NOT_VIRTUAL] = "",
						  [SB_GATE_CLEAR] = "clear",
						  [SB_GATE_LUCK] = "as seeds",
						  [SB_GATE_NONE] = "none" };

	return json_pack("{ss ss ss ss ss ss so si so so so so so so ss}", "workload",
			 test->workload, "metric", test->metric, "unit", test->unit, "verdict",
			 sb_gate_verdict_name(test->rule.verdict), "difference",
			 difference[test->difference], "worse_if",
			 test->is_fall ? "falls" : "rises", "limit", number(test->limit), "values",
			 (int)test->values, "baseline", number(test->base), "candidate",
			 number(test->candidate), "change", number(test->change), "low",
			 number(test->low), "high", number(test->high), "deviation",
			 number(test->deviation), "why", test->why);
}

static json_t *workload_json(const struct sb_gate_workload *w)
{
	return json_pack("{ss si si si sb so so ss}", "name", w->name, "runs", (int)w->pairs,
			 "invalid", (int)w->invalid, "suspect", (int)w->suspect, "kept_awake",
			 w->is_kept_awake, "elapsed_s", number(w->elapsed_s), "cpu_ns_per_op_ratio",
			 number(w->ratio), "reason", w->reason);
}

/* NULL: no memory. */
static json_t *tests_json(const struct sb_gate_report *gate)
{
	json_t *tests = json_array();
	bool bad = !tests;

	for (uint32_t i = 0; i < gate->tests; i++)
		bad |= json_array_append_new(tests, test_json(&gate->test[i])) != 0;
	if (!bad)
		return tests;
	json_decref(tests);
	return NULL;
}

static json_t *gate_json(const struct sb_gate_report *gate)
{
	json_t *tests = tests_json(gate);
	json_t *workloads = json_array();
	bool bad = !tests;

	for (uint32_t i = 0; i < gate->workloads; i++)
		bad |= json_array_append_new(workloads, workload_json(&gate->workload[i])) != 0;
	if (bad) {
		json_decref(tests);
		json_decref(workloads);
		return NULL;
	}
	return json_pack("{s{si ss ss ss ss ss ss ss so so sI so so so}}", "sched_bench_gate",
			 "schema", SB_GATE_SCHEMA, "verdict", sb_gate_verdict_name(gate->verdict),
			 "why", gate->why, "baseline", gate->baseline, "candidate", gate->candidate,
			 "method", gate->method, "machine", gate->machine ? gate->machine : "",
			 "calibration", gate->calibration, "alpha", number(gate->alpha), "beta",
			 number(gate->beta), "seed", (json_int_t)gate->seed, "elapsed_s",
			 number(gate->elapsed_s), "tests", tests, "workloads", workloads);
}

static int dump(json_t *root, FILE *out)
{
	const int rc = sb_json_put(root, out, JSON_INDENT(2));

	if (!rc)
		fputc('\n', out);
	return rc;
}

int sb_gate_write_json(const struct sb_gate_report *gate, FILE *out)
{
	return dump(gate_json(gate), out);
}

int sb_gate_write_csv(const struct sb_gate_report *gate, FILE *out)
{
	return sb_json_put_csv(tests_json(gate), out);
}

/* ---- calibrations ---- */

#define CALIBRATION "sched_bench_gate_calibration"

/* The texts of a calibration, with their keys. */
static const struct text {
	const char *key;
	size_t offset, bytes;
} texts[] = {
#define TEXT(name)                                                                                 \
	{                                                                                          \
#name, offsetof(struct sb_calibration, name),                                      \
			sizeof(((struct sb_calibration *)NULL)->name)                              \
	}
	TEXT(fingerprint), TEXT(model), TEXT(date), TEXT(build), TEXT(setup),
#undef TEXT
};

static const struct count {
	const char *key;
	size_t offset;
} counts[] = {
	{ "gates", offsetof(struct sb_calibration, gates) },
	{ "false_alarms", offsetof(struct sb_calibration, false_alarms) },
	{ "undecided", offsetof(struct sb_calibration, undecided) },
};

static uint32_t count_at(const struct sb_calibration *c, const struct count *count)
{
	uint32_t n;

	memcpy(&n, (const char *)c + count->offset, sizeof(n));
	return n;
}

int sb_calibration_write(const struct sb_calibration *c, FILE *out)
{
	json_t *noise = json_array();
	json_t *root = json_pack("{si}", "schema", SB_GATE_SCHEMA);
	int bad = 0;

	for (size_t i = 0; i < SB_ARRAY_SIZE(texts); i++)
		bad |= json_object_set_new(root, texts[i].key,
					   json_string((const char *)c + texts[i].offset));
	for (size_t i = 0; i < SB_ARRAY_SIZE(counts); i++)
		bad |= json_object_set_new(root, counts[i].key,
					   json_integer(count_at(c, &counts[i])));
	for (uint32_t i = 0; i < c->noises; i++)
		bad |= json_array_append_new(noise, json_pack("{ss ss so}", "workload",
							      c->noise[i].workload, "metric",
							      c->noise[i].metric, "deviation",
							      number(c->noise[i].deviation)));
	bad |= json_object_set_new(root, "noise", noise);
	if (bad) {
		json_decref(root);
		return -ENOMEM;
	}
	return dump(json_pack("{so}", CALIBRATION, root), out);
}

static bool take_texts(struct sb_calibration *out, const json_t *root)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(texts); i++) {
		const char *text = json_string_value(json_object_get(root, texts[i].key));

		if (!text || strlen(text) >= texts[i].bytes)
			return false;
		strcpy((char *)out + texts[i].offset, text);
	}
	return true;
}

static bool take_counts(struct sb_calibration *out, const json_t *root)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(counts); i++) {
		const json_t *value = json_object_get(root, counts[i].key);
		const json_int_t n = json_integer_value(value);

		if (!json_is_integer(value) || n < 0 || n > 1000000)
			return false;
		memcpy((char *)out + counts[i].offset, &(uint32_t){ (uint32_t)n },
		       sizeof(uint32_t));
	}
	return out->gates > 0 && out->false_alarms <= out->gates;
}

static bool take_noise(struct sb_noise *out, const json_t *item)
{
	const char *workload = json_string_value(json_object_get(item, "workload"));
	const char *metric = json_string_value(json_object_get(item, "metric"));

	if (!workload || !metric || strlen(workload) >= sizeof(out->workload) ||
	    strlen(metric) >= sizeof(out->metric))
		return false;
	strcpy(out->workload, workload);
	strcpy(out->metric, metric);
	out->deviation = json_number_value(json_object_get(item, "deviation"));
	return out->deviation >= 0;
}

static bool take_noises(struct sb_calibration *out, const json_t *root)
{
	const json_t *noise = json_object_get(root, "noise");
	size_t i;
	json_t *item;

	if (!json_is_array(noise) || json_array_size(noise) > SB_NOISES_MAX)
		return false;
	json_array_foreach (noise, i, item) {
		if (!take_noise(&out->noise[out->noises++], item))
			return false;
	}
	return true;
}

static int take(struct sb_calibration *out, const json_t *root, const char *path, char *why,
		size_t bytes)
{
	const json_t *schema = json_object_get(root, "schema");

	*out = (struct sb_calibration){ .gates = 0 };
	if (!root || !json_is_integer(schema)) {
		snprintf(why, bytes,
			 "'%s' is no calibration of a gate; expected what gate --calibrate has "
			 "written",
			 path);
		return -EINVAL;
	}
	if (json_integer_value(schema) != SB_GATE_SCHEMA) {
		snprintf(why, bytes,
			 "calibration '%s' has schema %lld; expected %d: gate --calibrate makes it "
			 "again",
			 path, (long long)json_integer_value(schema), SB_GATE_SCHEMA);
		return -EINVAL;
	}
	if (take_texts(out, root) && take_counts(out, root) && take_noises(out, root))
		return 0;
	snprintf(why, bytes, "calibration '%s' is damaged; gate --calibrate makes it again", path);
	return -EINVAL;
}

int sb_calibration_read(struct sb_calibration *out, const char *path, char *why, size_t bytes)
{
	json_error_t error;
	json_t *file = sb_json_read_file(path, 0, &error);
	int rc = -errno;

	if (!file && error.line < 0) {
		snprintf(why, bytes, "calibration '%s' cannot be read: %s", path, error.text);
		return rc;
	}
	rc = take(out, json_object_get(file, CALIBRATION), path, why, bytes);
	if (sb_json_lacked_memory()) {
		snprintf(why, bytes, "no memory");
		rc = -ENOMEM;
	}
	json_decref(file);
	return rc;
}

void sb_calibration_describe(const struct sb_calibration *c, char *out, size_t bytes)
{
	const struct sb_rate rate = sb_rate_of(c->false_alarms, c->gates);

	snprintf(out, bytes,
		 "A/A on this machine: %u false alarm%s in %u gates, %.2g .. %.2g %%; %u undecided",
		 c->false_alarms, c->false_alarms == 1 ? "" : "s", c->gates, 100 * rate.low,
		 100 * rate.high, c->undecided);
}
