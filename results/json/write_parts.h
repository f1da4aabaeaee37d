/* write_parts.h - pieces of JSON that the writers share. NULL: no memory. */
#ifndef SB_RESULTS_JSON_WRITE_PARTS_H
#define SB_RESULTS_JSON_WRITE_PARTS_H

#include "results/json/json.h"
#include "results/record/record.h"
#include "results/record/series.h"

/* Where a row is: which series, and which row of it. */
struct sb_json_spot {
	const struct sb_result *result;
	uint32_t series;
	uint32_t row;
	char name[SB_NAME_BYTES]; /* of the series */
};

/* All of jansson's "_new" calls take the reference and return -1 on NULL, so
 * one check at the end of a chain is enough; `ok` gathers them. */
bool sb_json_set(json_t *object, const char *key, json_t *value);

bool sb_json_append(json_t *array, json_t *value);

/* The object or array, if all of it is there. */
json_t *sb_json_whole(json_t *value, bool ok);

/* A reason that was cut may end within a letter. */
json_t *sb_json_text(const char *text);

/* JSON's integers are signed here; no count is as large. */
json_t *sb_json_count(uint64_t count);

/* Integers stay integers; what was not measured has no JSON and is left out. */
bool sb_json_set_number(json_t *object, const char *key, double value);

/* A struct by its table. */
json_t *sb_json_fields(const struct sb_json_field *fields, const void *from);

/* Our own object: all of a row, or of one without numbers what there is. */
json_t *sb_json_record(const struct sb_json_spot *spot);

json_t *sb_json_timeseries(const struct sb_timeseries *timeseries);

json_t *sb_json_waiting(const struct sb_waiting *waiting);

json_t *sb_json_exemplars(const struct sb_exemplars *exemplars);

/* A row of the array `rows`. */
json_t *sb_json_row(const struct sb_json_spot *spot);

#endif
