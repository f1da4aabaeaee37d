/* series.h - a series before it is measured. */
#ifndef SB_HARNESS_RUN_SERIES_H
#define SB_HARNESS_RUN_SERIES_H

#include "harness/cli/options.h"
#include "results/record/record.h"

/*
 * Names, settings and the placement of one chosen workload, and room for all the
 * repetitions that there may be, each "not measured" until it is. Returns 0 or
 * -ENOMEM; in both cases sb_result_free frees it as part of its result.
 */
SB_MUST_CHECK int sb_series_init(struct sb_series *series, const struct sb_options *options,
				 const struct sb_chosen *chosen,
				 const struct sb_placement *placement);

#endif
