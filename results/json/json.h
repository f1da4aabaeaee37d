/*
 * json.h - what the writer and the reader of result.json share: how each plain
 * struct is laid out as an object, declared once, and the histograms' layout.
 * Private to results/json*.c and results/convert/json.c.
 */
#ifndef SB_RESULTS_JSON_JSON_H
#define SB_RESULTS_JSON_JSON_H

#include <jansson.h>

#include "results/record/record.h"

enum sb_json_kind {
	SB_JSON_BOOL,	/* bool */
	SB_JSON_INDEX,	/* int, -1: there is none */
	SB_JSON_ERROR,	/* int, 0 or -errno */
	SB_JSON_COUNT,	/* uint64_t */
	SB_JSON_NUMBER, /* double, absent: NaN */
};

/* A member of a struct, and the key of its value. */
struct sb_json_field {
	const char *name; /* NULL: the end of the table */
	enum sb_json_kind kind;
	size_t offset;
};

extern const struct sb_json_field sb_json_place[];
extern const struct sb_json_field sb_json_memory[];
extern const struct sb_json_field sb_json_pages[];
extern const struct sb_json_field sb_json_worker[];
extern const struct sb_json_field sb_json_steals[];
extern const struct sb_json_field sb_json_requests[];

/* The name of a command's yields: "sleep", of one that is not built in its
 * number, and SB_LARGER_COMMANDS. */
#define SB_JSON_COMMAND_BYTES 16
void sb_json_command_key(uint32_t index, char out[SB_JSON_COMMAND_BYTES]);

/* The part that Google Benchmark's tools read: of the run, and of a row with numbers,
 * which are given by their indices. NULL: no memory. */
json_t *sb_json_context(const struct sb_result *result);
json_t *sb_json_benchmark(const struct sb_result *result, uint32_t series, uint32_t row);

/* A count of the operating system has the name of its metric. */
static inline const char *sb_json_os_name(uint32_t count)
{
	return sb_metric[SB_METRIC_vol_ctxsw + count].name;
}

/* sb_hist_index() of a value can be undone by who knows these two. */
#define SB_JSON_HIST_LAYOUT "{sisi}"
#define SB_JSON_HIST_KEYS   "linear_bits", SB_HIST_BITS, "value_bits", SB_HIST_VALUE_BITS

#endif
