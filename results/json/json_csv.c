/* json_csv.c - a list of objects as CSV. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "results/files/csv.h"
#include "results/json/json_out.h"

/* Every key of any row, in the order in which they first appear. */
static json_t *columns_of(const json_t *rows)
{
	json_t *columns = json_object();
	const char *key;
	json_t *row;
	json_t *value;
	size_t i;

	json_array_foreach (rows, i, row) {
		json_object_foreach (row, key, value)
			json_object_set_new(columns, key, json_true());
	}
	return columns;
}

/* A text as it is, nothing for null, all else as JSON. */
static void put_cell(FILE *out, const json_t *value)
{
	char *text;

	if (!value || json_is_null(value))
		return;
	if (json_is_string(value)) {
		sb_csv_put_text(out, json_string_value(value));
		return;
	}
	if (json_is_number(value)) {
		sb_csv_put_number(out, json_number_value(value));
		return;
	}
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text)
		sb_csv_put_text(out, text);
	free(text);
}

static void put_row(FILE *out, const json_t *row, json_t *columns)
{
	const char *before = "";
	const char *key;
	json_t *unused;

	json_object_foreach (columns, key, unused) {
		fputs(before, out);
		put_cell(out, json_object_get(row, key));
		before = ",";
	}
	fputc('\n', out);
}

static void put_header(FILE *out, json_t *columns)
{
	const char *before = "";
	const char *key;
	json_t *unused;

	json_object_foreach (columns, key, unused) {
		fputs(before, out);
		sb_csv_put_text(out, key);
		before = ",";
	}
	fputc('\n', out);
}

int sb_json_put_csv(json_t *rows, FILE *out)
{
	json_t *columns = columns_of(rows);
	bool lacked = sb_json_lacked_memory() || !rows || !columns;
	json_t *row;
	size_t i;

	if (!lacked) {
		put_header(out, columns);
		json_array_foreach (rows, i, row)
			put_row(out, row, columns);
	}
	json_decref(columns);
	json_decref(rows);
	lacked |= sb_json_lacked_memory();
	return lacked ? -ENOMEM : 0;
}
