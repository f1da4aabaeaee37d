/* spreads.c - the file of spreads between runs: an object for each work, with the standard deviations of
 * its metrics. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/compare/spreads.h"
#include "results/json/json_out.h"
#include "results/json/read.h"

#define KEY    "sched_bench_runs"
#define SCHEMA 1

/* ---- writing ---- */

static bool is_same_work(const struct sb_run_spread *a, const struct sb_run_spread *b)
{
	return !strcmp(a->what, b->what);
}

/* Those of one work, from the first on; *next: behind them. */
static json_t *work_json(const struct sb_spreads *spreads, uint32_t first, uint32_t *next)
{
	const struct sb_run_spread *of = &spreads->spread[first];
	json_t *sd = json_object();
	uint32_t i = first;

	for (; i < spreads->n && is_same_work(of, &spreads->spread[i]); i++)
		json_object_set_new(sd, sb_metric[spreads->spread[i].metric].name,
				    json_real(spreads->spread[i].sd));
	*next = i;
	return json_pack("{ss si sf ss so}", "what", of->what, "runs", (int)of->runs, "span_s",
			 of->span_s, "date", of->date, "sd_of_ln", sd);
}

int sb_spreads_write(const struct sb_spreads *spreads, FILE *out)
{
	json_t *work = json_array();
	int rc;

	for (uint32_t i = 0; i < spreads->n;)
		json_array_append_new(work, work_json(spreads, i, &i));
	rc = sb_json_put(json_pack("{s{si ss ss ss so}}", KEY, "schema", SCHEMA, "boot_id",
				   spreads->boot_id, "cpu_model", spreads->cpu_model, "kernel",
				   spreads->kernel, "measured", work),
			 out, JSON_INDENT(2));
	if (!rc)
		fputc('\n', out);
	return rc;
}

/* ---- reading ---- */

static bool take_text(const json_t *object, const char *key, char *out, size_t bytes)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || strlen(text) >= bytes)
		return false;
	strcpy(out, text);
	return true;
}

static bool is_between(double value, double least, double most)
{
	return value >= least && value <= most;
}

/* A metric of a later version is left out. */
static bool take_metrics(struct sb_spreads *out, const struct sb_run_spread *of, json_t *metrics)
{
	const size_t most = out->n + json_object_size(metrics);
	struct sb_run_spread *grown;
	const char *name;
	json_t *sd;

	if (!json_is_object(metrics) || most > SB_SPREADS_MAX)
		return false;
	grown = reallocarray(out->spread, most + 1, sizeof(*of));
	if (!grown)
		return false;
	out->spread = grown;
	json_object_foreach (metrics, name, sd) {
		struct sb_run_spread *spread = &out->spread[out->n];

		*spread = *of;
		spread->sd = json_number_value(sd);
		spread->metric = sb_metric_find(name);
		if (!json_is_number(sd) || !is_between(spread->sd, 0, 10))
			return false;
		out->n += spread->metric < SB_METRICS;
	}
	return true;
}

static bool take_work(struct sb_spreads *out, const json_t *work)
{
	struct sb_run_spread of = { .runs = 0 };
	const json_int_t runs = json_integer_value(json_object_get(work, "runs"));

	of.span_s = json_number_value(json_object_get(work, "span_s"));
	of.runs = (uint32_t)runs;
	return runs >= SB_SPREAD_RUNS_LEAST && runs <= SB_SPREAD_RUNS_MAX &&
	       is_between(of.span_s, 0, 1e7) && take_text(work, "what", of.what, sizeof(of.what)) &&
	       take_text(work, "date", of.date, sizeof(of.date)) &&
	       take_metrics(out, &of, json_object_get(work, "sd_of_ln"));
}

static bool take(struct sb_spreads *out, const json_t *root)
{
	const json_t *measured = json_object_get(root, "measured");
	size_t i;
	json_t *work;

	if (json_integer_value(json_object_get(root, "schema")) != SCHEMA ||
	    !json_is_array(measured) ||
	    !take_text(root, "boot_id", out->boot_id, sizeof(out->boot_id)) ||
	    !take_text(root, "cpu_model", out->cpu_model, sizeof(out->cpu_model)) ||
	    !take_text(root, "kernel", out->kernel, sizeof(out->kernel)))
		return false;
	json_array_foreach (measured, i, work) {
		if (!take_work(out, work))
			return false;
	}
	return true;
}

int sb_spreads_read(struct sb_spreads *out, const char *path, char *why, size_t bytes)
{
	json_error_t error;
	json_t *file = sb_json_read_file(path, 0, &error);
	int rc = -errno;

	*out = (struct sb_spreads){ .n = 0 };
	if (!file && error.line < 0) {
		snprintf(why, bytes, "'%s' cannot be read: %s", path, error.text);
		return rc;
	}
	rc = take(out, json_object_get(file, KEY)) ? 0 : -EINVAL;
	if (rc) {
		snprintf(why, bytes,
			 "'%s' is not what calibrate --runs writes; expected it to be removed, or "
			 "written again",
			 path);
		sb_spreads_free(out);
	}
	json_decref(file);
	return rc;
}
