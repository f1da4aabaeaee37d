#include "harness/run/row.h"

#include <stdlib.h>

#include "harness/terminal/status.h"
#include "results/files/file.h"
#include "results/json/write.h"
#include "results/record/record.h"
#include "results/record/series.h"

char *sb_row_text(const struct sb_result *result, const struct sb_series *series,
		  uint32_t repetition)
{
	struct sb_series one = *series;
	struct sb_result row = *result;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (!out)
		return NULL;
	one.record = &series->record[repetition];
	one.records = 1;
	row.series = &one;
	row.all_series = 1;
	rc = sb_write_json(&row, out);
	if (!fclose(out) && !rc)
		return text;
	free(text);
	return NULL;
}

char *sb_row_read(const char *directory)
{
	char *path = sb_path_join(directory, "result.json");
	FILE *in = path ? fopen(path, "re") : NULL;
	char *text = NULL;
	size_t bytes = 0;
	/* A text ends with the first 0, which no JSON has. */
	const ssize_t length = in ? getdelim(&text, &bytes, '\0', in) : -1;

	if (in)
		fclose(in);
	free(path);
	if (length > 0)
		return text;
	free(text);
	return NULL;
}

int sb_row_take_facts(const struct sb_result *from, struct sb_result *to)
{
	int rc = 0;

	for (uint32_t i = 0; i < from->facts && !rc; i++)
		rc = sb_result_add_fact(to, from->fact[i].group, from->fact[i].key,
					from->fact[i].value);
	return rc ? sb_fail_memory() : 0;
}

static bool fits(const struct sb_result *from, const struct sb_series *series, uint32_t rows)
{
	return from->all_series == 1 && from->series->records == rows &&
	       from->series->placement.workers == series->placement.workers;
}

/* Whether it has numbers. */
static bool adopt_row(struct sb_record *from, struct sb_record *record, uint32_t repetition)
{
	const uint32_t fork = record->fork;

	*record = *from;
	*from = (struct sb_record){ .repetition = 0 };
	record->repetition = repetition;
	record->fork = fork;
	record->is_measured = true;
	return sb_record_has_numbers(record);
}

bool sb_rows_adopt(struct sb_result *from, struct sb_series *series, uint32_t repetition,
		   uint32_t rows)
{
	struct sb_series *its = from->series;
	bool has_numbers = false;

	if (!fits(from, series, rows))
		return false;
	for (uint32_t r = 0; r < rows; r++)
		has_numbers |=
			adopt_row(&its->record[r], &series->record[repetition + r], repetition + r);
	if (series->residence || !has_numbers)
		return true;
	series->memory = its->memory;
	series->residence = its->residence;
	its->residence = NULL;
	return true;
}
