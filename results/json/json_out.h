/*
 * json_out.h - JSON that is written whole, or not and told so. jansson leaves out what it
 * has no memory for, or takes a text for one that ends there.
 */
#ifndef SB_RESULTS_JSON_JSON_OUT_H
#define SB_RESULTS_JSON_JSON_OUT_H

#include <jansson.h>
#include <stdio.h>

#include "core/platform/base.h"

/* Whether this thread's jansson has lacked memory since the last time that this was
 * asked. */
bool sb_json_lacked_memory(void);

/* Writes the value, and frees it. Returns 0, or -ENOMEM if there was no memory for
 * all of it, or it is NULL. The stream remembers write errors. */
SB_MUST_CHECK int sb_json_put(json_t *value, FILE *out, size_t flags);

/* The same of a list of objects, as CSV: a column for each key of any of them. */
SB_MUST_CHECK int sb_json_put_csv(json_t *rows, FILE *out);

#endif
