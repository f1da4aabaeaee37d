/* write.h - result.json and meta.json. */
#ifndef SB_RESULTS_JSON_WRITE_H
#define SB_RESULTS_JSON_WRITE_H

#include <stdio.h>

#include "results/record/record.h"

/* One JSON document in Google Benchmark's schema, with a sched_bench object.
 * Returns 0 or -ENOMEM. */
int sb_write_json(const struct sb_result *result, FILE *out);

/* exemplars.json: the slowest events of each series, with their causes. The same. */
int sb_write_exemplars(const struct sb_result *result, FILE *out);

/* meta.json: everything known about the run but its numbers. */
int sb_write_meta(const struct sb_result *result, FILE *out);

#endif
