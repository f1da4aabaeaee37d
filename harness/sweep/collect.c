#include "harness/sweep/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/policy.h"
#include "harness/output/facts.h"
#include "harness/run/load.h"
#include "harness/run/placing.h"
#include "harness/run/row.h"
#include "harness/run/series.h"
#include "harness/terminal/status.h"
#include "results/json/read.h"
#include "results/record/series.h"

int sb_configuration_parse(const struct sb_sweep *sweep,
			   const struct sb_configuration *configuration,
			   struct sb_arguments *arguments, struct sb_options *run)
{
	int rc;

	memset(run, 0, sizeof(*run));
	if (sb_sweep_arguments(sweep, configuration, 0, arguments))
		return sb_fail_memory();
	sb_fail_about(configuration->label);
	rc = sb_options_parse(run, (int)arguments->n - 1, arguments->word + 1);
	if (!rc)
		rc = sb_load_check(run);
	sb_fail_about(NULL);
	return rc;
}

/* ---- series without rows ---- */

/* A parameter is there already; an option is not. */
static int set_swept(struct sb_series *series, const struct sb_dimension *d, const char *value)
{
	for (uint32_t i = 0; i < series->settings; i++) {
		if (!strcmp(series->setting[i].name, d->name)) {
			series->setting[i].swept = true;
			return 0;
		}
	}
	return sb_series_add_setting(series, &(struct sb_setting){
						     .name = d->name,
						     .text = (char *)(uintptr_t)value,
						     .number = sb_sweep_number(value),
						     .swept = true,
					     });
}

/* The values that the policy, which is swept, has or has not set. */
static int set_policy(struct sb_series *series, const struct sb_options *run)
{
	int rc = 0;

	for (int id = 0; id < SB_OPTIONS && !rc; id++) {
		const char *text = run->value[id].text;

		if (sb_policy_decides(run, (enum sb_option_id)id))
			rc = sb_series_add_setting(
				series,
				&(struct sb_setting){ .name = (char *)(uintptr_t)sb_option[id].name,
						      .text = (char *)(uintptr_t)text,
						      .number = sb_sweep_number(text) });
	}
	return rc;
}

static int add_settings(const struct sb_sweep *sweep, const struct sb_configuration *c,
			const struct sb_options *run, struct sb_series *series)
{
	int rc = 0;

	for (uint32_t i = 0; i < sweep->dimensions && !rc; i++) {
		const struct sb_dimension *d = &sweep->dimension[i];

		if (c->level[i] != SB_NO_LEVEL)
			rc = set_swept(series, d, d->value[c->level[i]]);
		if (!rc && d->option == SB_OPT_policy)
			rc = set_policy(series, run);
	}
	return rc;
}

static int init_series(const struct sb_sweep *sweep, const struct sb_configuration *c,
		       const struct sb_topology *topology, struct sb_options *run,
		       struct sb_series *series)
{
	struct sb_machine machine;
	struct sb_plan plan;
	int rc = sb_placing_plan(run, topology, &plan);

	if (rc)
		return rc;
	/* Room for all the rows that there are to be. */
	run->value[SB_OPT_repetitions].number = sweep->repetitions;
	rc = sb_series_init(series, run, run->chosen, &plan.placement);
	for (uint32_t r = 0; r < sweep->repetitions && !rc; r++)
		series->record[r].fork = r;
	rc = rc ? rc : add_settings(sweep, c, run, series);
	sb_plan_free(&plan);
	sb_topology_machine(topology, &machine);
	series->reality = sb_facts_reality(run, machine.emulated);
	return rc ? sb_fail_memory() : 0;
}

static int init_all(const struct sb_sweep *sweep, const struct sb_topology *topology,
		    struct sb_result *result)
{
	static struct sb_options run;
	int rc = 0;

	result->series = calloc(sweep->configurations, sizeof(*result->series));
	if (!result->series)
		return sb_fail_memory();
	for (uint32_t i = 0; i < sweep->configurations && !rc; i++) {
		const struct sb_configuration *c = &sweep->configuration[i];
		struct sb_arguments arguments;

		rc = sb_configuration_parse(sweep, c, &arguments, &run);
		if (!rc)
			rc = init_series(sweep, c, topology, &run,
					 &result->series[result->all_series++]);
		sb_options_free(&run);
		sb_arguments_free(&arguments);
	}
	return rc;
}

/* ---- their rows ---- */

struct collection {
	const struct sb_sweep *sweep;
	struct sb_result *result;
	uint32_t rows; /* that had a result */
};

static int take_result(struct collection *collection, const struct sb_stored_row *row)
{
	struct sb_series *series = &collection->result->series[row->configuration];
	struct sb_record *record = &series->record[row->repetition];
	struct sb_result from;
	char why[SB_REASON_BYTES];
	int rc = 0;

	if (sb_result_read_text(&from, row->result, why, sizeof(why))) {
		sb_record_invalidate(record, why);
		return 0;
	}
	if (!collection->rows++)
		rc = sb_row_take_facts(&from, collection->result);
	if (!sb_rows_adopt(&from, series, row->repetition, 1))
		sb_record_invalidate(record, "what the run wrote is not its row");
	sb_result_free(&from);
	return rc;
}

static int take_row(void *arg, const struct sb_stored_row *row)
{
	struct collection *collection = arg;
	const struct sb_sweep *sweep = collection->sweep;
	struct sb_series *series;

	if (row->configuration >= sweep->configurations || row->repetition >= sweep->repetitions)
		return 0;
	if (row->result)
		return take_result(collection, row);
	series = &collection->result->series[row->configuration];
	if (row->exit_status == SB_EXIT_ENVIRONMENT)
		series->met_limit = true;
	sb_record_invalidate(&series->record[row->repetition],
			     row->reason ? row->reason : "no result");
	return 0;
}

int sb_collect(const struct sb_sweep *sweep, struct sb_store *store,
	       const struct sb_topology *topology, struct sb_result *result)
{
	struct collection collection = { sweep, result, 0 };
	int rc = init_all(sweep, topology, result);

	if (rc)
		return rc;
	rc = sb_store_rows(store, take_row, &collection);
	if (rc < 0)
		rc = sb_fail(sb_status_of(rc), "%s", sb_store_why(store));
	return rc;
}
