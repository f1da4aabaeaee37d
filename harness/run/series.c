#include "harness/run/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/measure.h"
#include "results/record/series.h"

static int add_param(struct sb_series *series, const struct sb_chosen *chosen, uint32_t i)
{
	const struct sb_param *param = &chosen->workload->params[i];
	const char *text = chosen->text[i];
	char number[24];

	if (!text && param->choices)
		text = param->choices[chosen->param[i]];
	snprintf(number, sizeof(number), "%" PRIu64, chosen->param[i]);
	return sb_series_add_setting(
		series,
		&(struct sb_setting){ .name = (char *)(uintptr_t)param->name,
				      .text = (char *)(uintptr_t)(text ? text : number),
				      .number = text ? (double)NAN : (double)chosen->param[i] });
}

static int add_params(struct sb_series *series, const struct sb_chosen *chosen)
{
	int rc = 0;

	for (uint32_t i = 0; chosen->workload->params[i].name && !rc; i++)
		rc = add_param(series, chosen, i);
	return rc;
}

static int make_room(struct sb_series *series, const struct sb_options *options)
{
	const uint32_t each = (uint32_t)sb_opt(options, SB_OPT_repetitions);
	const uint32_t most = sb_repetitions_max(options);

	series->record = calloc(most, sizeof(*series->record));
	if (!series->record)
		return -ENOMEM;
	series->records = each * sb_forks_least(options);
	for (uint32_t r = 0; r < most; r++) {
		series->record[r].repetition = r;
		series->record[r].fork = r / each;
		sb_record_invalidate(&series->record[r], "not measured");
	}
	return 0;
}

int sb_series_init(struct sb_series *series, const struct sb_options *options,
		   const struct sb_chosen *chosen, const struct sb_placement *placement)
{
	*series = (struct sb_series){
		.workload = strdup(chosen->workload->name),
		.operation = strdup(chosen->workload->operation),
		.label = strdup(""),
	};
	if (!series->workload || !series->operation || !series->label ||
	    sb_placement_copy(&series->placement, placement) || make_room(series, options))
		return -ENOMEM;
	return add_params(series, chosen);
}
