/*
 * json_read.c - result.json back into a result. Nothing in the file is believed:
 * each value is of its type and possible, or reading ends; and before anything
 * is allocated for a part, the file is known to hold that part.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/scheduler.h"
#include "results/file.h"
#include "results/json.h"
#include "results/read.h"
#include "results/write.h"

/* More of any of these than a result can have. */
#define FACTS_MAX    4096
#define SETTINGS_MAX 256
#define SERIES_MAX   1000000

#define WHERE_BYTES 160

struct reader {
	const char *path;
	char *why;
	size_t bytes;
	char where[WHERE_BYTES]; /* of the object at hand, "sched_bench." */
	size_t depth;		 /* how much of it is in use */
	uint64_t memory;	 /* that the result's rows take */
	int rc;
};

/* ---- what is wrong ---- */

/* The file's own text may hold anything. */
static void make_printable(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

static bool SB_PRINTF(3, 4)
	refuse(struct reader *r, int rc, const char *format, ...)
{
	va_list args;
	int used;

	r->rc = rc;
	used = snprintf(r->why, r->bytes, "%s: ", r->path);
	va_start(args, format);
	if (used >= 0 && (size_t)used < r->bytes)
		vsnprintf(r->why + used, r->bytes - (size_t)used, format, args);
	va_end(args);
	make_printable(r->why);
	return false;
}

static bool no_memory(struct reader *r)
{
	return refuse(r, -ENOMEM, "no memory");
}

/* The value of a key of the object at hand. */
static bool unexpected(struct reader *r, const char *key, const char *expected)
{
	return refuse(r, -EINVAL, "%s%s: expected %s", r->where, key, expected);
}

/* Goes into a part of the object at hand; returns where it was before. */
static size_t SB_PRINTF(2, 3) enter(struct reader *r, const char *format, ...)
{
	const size_t before = r->depth;
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(r->where + before, WHERE_BYTES - before, format, args);
	va_end(args);
	if (used > 0)
		r->depth = sb_min_u64(before + (size_t)used, WHERE_BYTES - 1);
	return before;
}

static bool leave(struct reader *r, size_t before)
{
	r->depth = before;
	r->where[before] = '\0';
	return true;
}

/* ---- values ---- */

static const char *const type_names[] = {
	[JSON_OBJECT] = "an object",	[JSON_ARRAY] = "an array",
	[JSON_STRING] = "a text",	[JSON_INTEGER] = "an integer",
	[JSON_REAL] = "a number",	[JSON_TRUE] = "true or false",
	[JSON_FALSE] = "true or false",
};

/* NULL: it is not there, or of another type; the reader then says so. */
static json_t *get(struct reader *r, const json_t *object, const char *key,
		   json_type type)
{
	json_t *value = json_object_get(object, key);

	if (value && json_typeof(value) == type)
		return value;
	unexpected(r, key, type_names[type]);
	return NULL;
}

static bool take_integer(struct reader *r, const json_t *value, const char *key,
			 int64_t least, int64_t most, int64_t *out)
{
	char expected[80];

	*out = json_integer_value(value);
	if (json_is_integer(value) && *out >= least && *out <= most)
		return true;
	snprintf(expected, sizeof(expected),
		 "an integer from %" PRId64 " to %" PRId64, least, most);
	return unexpected(r, key, expected);
}

static bool get_uint32(struct reader *r, const json_t *object, const char *key,
		       uint32_t least, uint32_t most, uint32_t *out)
{
	int64_t value = 0;

	if (!take_integer(r, json_object_get(object, key), key, least, most,
			  &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool take_count(struct reader *r, const json_t *value, const char *key,
		       uint64_t *out)
{
	int64_t count = 0;

	if (!take_integer(r, value, key, 0, INT64_MAX, &count))
		return false;
	*out = (uint64_t)count;
	return true;
}

static bool take_int(struct reader *r, const json_t *value, const char *key,
		     int least, int most, int *out)
{
	int64_t integer = 0;

	if (!take_integer(r, value, key, least, most, &integer))
		return false;
	*out = (int)integer;
	return true;
}

/* Absent: not measured. */
static bool take_number(struct reader *r, const json_t *value, const char *key,
			double *out)
{
	*out = value ? json_number_value(value) : (double)NAN;
	return !value || json_is_number(value) ||
	       unexpected(r, key, "a number");
}

static bool get_bool(struct reader *r, const json_t *object, const char *key,
		     bool *out)
{
	const json_t *value = json_object_get(object, key);

	*out = json_is_true(value);
	return json_is_boolean(value) || unexpected(r, key, "true or false");
}

static bool get_text(struct reader *r, const json_t *object, const char *key,
		     char **out)
{
	const json_t *value = get(r, object, key, JSON_STRING);

	if (!value)
		return false;
	*out = sb_text_copy(json_string_value(value));
	return *out || no_memory(r);
}

/* An array of exactly so many. */
static json_t *get_array(struct reader *r, const json_t *object,
			 const char *key, uint64_t length)
{
	json_t *array = get(r, object, key, JSON_ARRAY);
	char expected[80];

	if (!array || json_array_size(array) == length)
		return array;
	snprintf(expected, sizeof(expected),
		 "an array of %" PRIu64 ", not of %zu", length,
		 json_array_size(array));
	unexpected(r, key, expected);
	return NULL;
}

/* ---- plain structs, by their tables ---- */

static bool get_field(struct reader *r, const json_t *object,
		      const struct sb_json_field *field, void *to)
{
	const json_t *value = json_object_get(object, field->name);
	void *at = (char *)to + field->offset;

	switch (field->kind) {
	case SB_JSON_BOOL:
		return get_bool(r, object, field->name, at);
	case SB_JSON_INDEX:
		return take_int(r, value, field->name, -1, INT_MAX, at);
	case SB_JSON_ERROR:
		return take_int(r, value, field->name, -4095, 0, at);
	case SB_JSON_COUNT:
		return take_count(r, value, field->name, at);
	case SB_JSON_NUMBER:
	default:
		return take_number(r, value, field->name, at);
	}
}

/* key: of the object, for what is wrong. */
static bool get_fields(struct reader *r, const json_t *object, const char *key,
		       const struct sb_json_field *fields, void *to)
{
	if (!json_is_object(object))
		return unexpected(r, key, "an object");
	for (; fields->name; fields++) {
		if (!get_field(r, object, fields, to))
			return false;
	}
	return true;
}

/* ---- histograms ---- */

static bool read_bucket(struct reader *r, const json_t *pair,
			struct sb_hist_counts *hist)
{
	int64_t index = 0;
	uint64_t *count;

	if (json_array_size(pair) != 2)
		return unexpected(r, "buckets", "pairs of index and count");
	if (!take_integer(r, json_array_get(pair, 0), "bucket's index", 0,
			  SB_HIST_BUCKETS - 1, &index))
		return false;
	count = &hist->bucket[index];
	if (*count)
		return unexpected(r, "buckets", "each bucket once");
	if (!take_count(r, json_array_get(pair, 1), "bucket's count", count))
		return false;
	hist->count += *count;
	return true;
}

/* The count is there twice, once by bucket. */
static bool read_hist(struct reader *r, const json_t *object,
		      struct sb_hist_counts *hist)
{
	const json_t *buckets = get(r, object, "buckets", JSON_ARRAY);
	uint64_t count = 0;

	if (!buckets ||
	    !take_count(r, json_object_get(object, "sum"), "sum", &hist->sum) ||
	    !take_count(r, json_object_get(object, "count"), "count", &count))
		return false;
	for (size_t i = 0; i < json_array_size(buckets); i++) {
		if (!read_bucket(r, json_array_get(buckets, i), hist))
			return false;
		if (hist->count > count)
			break;
	}
	return hist->count == count ||
	       unexpected(r, "count", "the sum of its buckets");
}

static bool read_named_hist(struct reader *r, const json_t *hists,
			    const char *name, struct sb_hist_counts *hist)
{
	const json_t *object = json_object_get(hists, name);
	const size_t before = enter(r, "histograms.%s.", name);

	return (!object || read_hist(r, object, hist)) && leave(r, before);
}

static bool read_hists(struct reader *r, const json_t *own,
		       struct sb_record *record)
{
	const json_t *hists = get(r, own, "histograms", JSON_OBJECT);
	bool ok = hists;

	record->hist = calloc(SB_HISTS, sizeof(*record->hist));
	if (!record->hist)
		return no_memory(r);
	for (uint32_t h = 0; ok && h < SB_HISTS; h++)
		ok = read_named_hist(r, hists, sb_hist_info[h].name,
				     &record->hist[h]);
	return ok;
}

/* ---- requests ---- */

static bool read_request_hists(struct reader *r, const json_t *object,
			       struct sb_requests *requests)
{
	const json_t *hists = get(r, object, "histograms", JSON_OBJECT);
	struct sb_hist_counts *hist;
	const char *name;
	bool ok = hists;

	for (uint32_t i = 0;
	     ok && (hist = sb_json_request_hist(requests, i, &name)); i++)
		ok = read_named_hist(r, hists, name, hist);
	return ok;
}

static bool read_requests(struct reader *r, const json_t *own,
			  struct sb_record *record)
{
	const json_t *object = json_object_get(own, "requests");
	size_t before;

	if (!object)
		return true;
	record->requests = calloc(1, sizeof(*record->requests));
	if (!record->requests)
		return no_memory(r);
	if (!get_fields(r, object, "requests", sb_json_requests,
			record->requests))
		return false;
	before = enter(r, "requests.");
	return (record->requests->completed <= record->requests->intended ||
		unexpected(r, "completed", "no more than intended")) &&
	       read_request_hists(r, object, record->requests) &&
	       leave(r, before);
}

/* ---- workers ---- */

static bool read_counters(struct reader *r, const json_t *object,
			  struct sb_worker_reading *worker)
{
	const json_t *counters = get(r, object, "counters", JSON_OBJECT);
	bool ok = counters;

	for (uint32_t c = 0; ok && c < SB_COUNTERS; c++) {
		const char *name = sb_counter_info[c].name;
		const json_t *value = json_object_get(counters, name);

		ok = !value || take_count(r, value, name, &worker->counter[c]);
	}
	return ok;
}

/* Of the first worker, and so of all, or of none. */
static bool read_os(struct reader *r, const json_t *object,
		    struct sb_record *record, uint32_t worker)
{
	const json_t *os;
	bool ok = true;

	if (!record->os)
		return true;
	os = get(r, object, "os", JSON_OBJECT);
	for (uint32_t c = 0; ok && os && c < SB_OS_COUNTS; c++) {
		const char *name = sb_json_os_name(c);

		ok = take_number(r, json_object_get(os, name), name,
				 &record->os[worker].value[c]);
	}
	return ok && os;
}

static bool read_worker(struct reader *r, const json_t *object,
			struct sb_record *record, uint32_t i, uint32_t workers)
{
	struct sb_worker_reading *worker = &record->worker[i];
	const size_t before = enter(r, "workers[%" PRIu32 "].", i);

	worker->steals = calloc(workers, sizeof(*worker->steals));
	if (!worker->steals)
		return no_memory(r);
	return get_fields(r, object, "", sb_json_worker, worker) &&
	       read_counters(r, object, worker) &&
	       read_os(r, object, record, i) && leave(r, before);
}

static bool read_workers(struct reader *r, const json_t *own,
			 struct sb_record *record, uint32_t workers)
{
	const json_t *all = get_array(r, own, "workers", workers);
	bool ok = true;

	if (!all)
		return false;
	record->worker = calloc(workers, sizeof(*record->worker));
	if (!record->worker)
		return no_memory(r);
	if (json_object_get(json_array_get(all, 0), "os")) {
		record->os = calloc(workers, sizeof(*record->os));
		if (!record->os)
			return no_memory(r);
	}
	for (uint32_t i = 0; ok && i < workers; i++)
		ok = read_worker(r, json_array_get(all, i), record, i, workers);
	return ok;
}

/* One member of all cells. */
static bool read_matrix(struct reader *r, const json_t *steals,
			const struct sb_json_field *field,
			struct sb_record *record, uint32_t workers)
{
	const json_t *matrix = get_array(r, steals, field->name, workers);

	for (uint64_t i = 0; matrix && i < (uint64_t)workers * workers; i++) {
		const json_t *row = json_array_get(matrix, i / workers);
		char *cell = (char *)&record->worker[i / workers]
				     .steals[i % workers];

		if (json_array_size(row) != workers)
			return unexpected(r, field->name,
					  "as many rows and columns as there "
					  "are workers");
		if (!take_count(r, json_array_get(row, i % workers),
				field->name,
				(uint64_t *)(void *)(cell + field->offset)))
			return false;
	}
	return matrix;
}

static bool read_steals(struct reader *r, const json_t *own,
			struct sb_record *record, uint32_t workers)
{
	const json_t *steals = json_object_get(own, "steals_thief_by_victim");
	const size_t before = enter(r, "steals_thief_by_victim.");
	bool ok = true;

	for (const struct sb_json_field *f = sb_json_steals;
	     ok && steals && f->name; f++)
		ok = read_matrix(r, steals, f, record, workers);
	return ok && leave(r, before);
}

/* ---- one row ---- */

static bool read_measured(struct reader *r, const json_t *own,
			  struct sb_record *record, uint32_t workers)
{
	bool ok = true;

	for (uint32_t m = 0; ok && m < SB_METRICS; m++)
		ok = take_number(r, json_object_get(own, sb_metric[m].name),
				 sb_metric[m].name, &record->value[m]);
	return ok && read_workers(r, own, record, workers) &&
	       read_steals(r, own, record, workers) &&
	       read_hists(r, own, record) && read_requests(r, own, record);
}

static bool read_reason(struct reader *r, const json_t *own,
			struct sb_record *record)
{
	const json_t *value = json_object_get(own, "reason");
	char *text = NULL;
	bool ok;

	if (!value)
		return true;
	if (!get_text(r, own, "reason", &text))
		return false;
	ok = strlen(text) < sizeof(record->reason);
	if (ok)
		memcpy(record->reason, text, strlen(text) + 1);
	else
		unexpected(r, "reason", "a shorter text");
	free(text);
	return ok;
}

/* Rows with numbers are in "benchmarks", the others in "invalid". */
static bool read_verdict(struct reader *r, const json_t *own, bool numbers,
			 enum sb_verdict *verdict)
{
	const char *name = json_string_value(json_object_get(own, "valid"));

	for (int v = SB_VALID; name && v <= SB_INVALID; v++) {
		if (strcmp(name, sb_verdict_name((enum sb_verdict)v)) ||
		    (v != SB_INVALID) != numbers)
			continue;
		*verdict = (enum sb_verdict)v;
		return true;
	}
	return unexpected(r, "valid",
			  numbers ? "\"valid\" or \"suspect\"" : "\"invalid\"");
}

/* The row that it is, still empty; NULL: there is none. */
static struct sb_record *find_row(struct reader *r, const json_t *own,
				  struct sb_result *out,
				  struct sb_series **series, bool **seen)
{
	uint32_t i = 0;
	uint32_t row = 0;

	if (!out->all_series) {
		unexpected(r, "series", "a series that is there");
		return NULL;
	}
	if (!get_uint32(r, own, "series", 0, out->all_series - 1, &i))
		return NULL;
	*series = &out->series[i];
	if (!(*series)->records) {
		unexpected(r, "row", "a row that its series has");
		return NULL;
	}
	if (!get_uint32(r, own, "row", 0, (*series)->records - 1, &row))
		return NULL;
	if (seen[i][row]) {
		unexpected(r, "row", "each row once");
		return NULL;
	}
	seen[i][row] = true;
	return &(*series)->record[row];
}

static bool read_row(struct reader *r, const json_t *own, bool numbers,
		     struct sb_result *out, bool **seen)
{
	struct sb_series *series = NULL;
	struct sb_record *record = find_row(r, own, out, &series, seen);

	if (!record ||
	    !get_uint32(r, own, "repetition", 0, UINT32_MAX,
			&record->repetition) ||
	    !read_verdict(r, own, numbers, &record->verdict) ||
	    !read_reason(r, own, record))
		return false;
	return !numbers ||
	       read_measured(r, own, record, series->placement.workers);
}

static bool read_rows(struct reader *r, const json_t *rows, bool numbers,
		      struct sb_result *out, bool **seen)
{
	bool ok = true;

	for (size_t i = 0; ok && i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		const json_t *own =
			numbers ? json_object_get(row, "sched_bench") : row;
		const size_t before =
			numbers ? enter(r, "benchmarks[%zu].sched_bench.", i)
				: enter(r, "sched_bench.invalid[%zu].", i);

		ok = read_row(r, own, numbers, out, seen) && leave(r, before);
	}
	return ok;
}

/* ---- a series ---- */

static bool read_setting(struct reader *r, const json_t *object,
			 struct sb_series *series)
{
	struct sb_setting setting = { .name = NULL };
	bool ok = get_text(r, object, "name", &setting.name) &&
		  get_text(r, object, "text", &setting.text) &&
		  take_number(r, json_object_get(object, "number"), "number",
			      &setting.number) &&
		  get_bool(r, object, "swept", &setting.swept);

	if (ok && sb_series_add_setting(series, &setting))
		ok = no_memory(r);
	free(setting.name);
	free(setting.text);
	return ok;
}

static bool read_settings(struct reader *r, const json_t *object,
			  struct sb_series *series)
{
	const json_t *settings = get(r, object, "settings", JSON_ARRAY);
	const size_t n = json_array_size(settings);
	bool ok = settings;

	if (n > SETTINGS_MAX)
		return unexpected(r, "settings", "fewer of them");
	for (size_t i = 0; ok && i < n; i++) {
		const size_t before = enter(r, "settings[%zu].", i);

		ok = read_setting(r, json_array_get(settings, i), series) &&
		     leave(r, before);
	}
	/* The label is the file's. */
	free(series->label);
	series->label = NULL;
	return ok;
}

static bool read_places(struct reader *r, const json_t *object,
			struct sb_placement *placement)
{
	const json_t *places = get(r, object, "workers", JSON_ARRAY);
	const size_t workers = json_array_size(places);
	bool ok = true;

	if (!places)
		return false;
	if (!workers || workers > SB_WORKERS_MAX)
		return unexpected(r, "workers", "1 to 4000 of them");
	placement->place = calloc(workers, sizeof(*placement->place));
	if (!placement->place)
		return no_memory(r);
	placement->workers = (uint32_t)workers;
	for (size_t i = 0; ok && i < workers; i++) {
		const size_t before = enter(r, "workers[%zu].", i);

		ok = get_fields(r, json_array_get(places, i), "", sb_json_place,
				&placement->place[i]) &&
		     leave(r, before);
	}
	return ok;
}

/* An array of integers, if it is there. out: NULL else. */
static bool read_integers(struct reader *r, const json_t *object,
			  const char *key, uint64_t length, int least,
			  int **out)
{
	const json_t *array;
	bool ok = true;

	*out = NULL;
	if (!json_object_get(object, key))
		return true;
	array = get_array(r, object, key, length);
	if (!array)
		return false;
	*out = calloc(length + 1, sizeof(**out));
	if (!*out)
		return no_memory(r);
	for (uint64_t i = 0; ok && i < length; i++)
		ok = take_int(r, json_array_get(array, i), key, least, INT_MAX,
			      &(*out)[i]);
	return ok;
}

static bool read_nodes(struct reader *r, const json_t *object,
		       struct sb_placement *placement)
{
	int *distance = NULL;
	bool ok = get_uint32(r, object, "nodes", 0, UINT16_MAX,
			     &placement->nodes) &&
		  read_integers(r, object, "os_node", placement->nodes, -1,
				&placement->os_node);

	ok = ok && read_integers(r, object, "node_distance",
				 (uint64_t)placement->nodes * placement->nodes,
				 0, &distance);
	placement->node_distance = (uint32_t *)distance;
	return ok;
}

static bool read_placement(struct reader *r, const json_t *object,
			   struct sb_series *series)
{
	const json_t *placement = get(r, object, "placement", JSON_OBJECT);
	const size_t before = enter(r, "placement.");

	return placement && read_places(r, placement, &series->placement) &&
	       read_nodes(r, placement, &series->placement) && leave(r, before);
}

static bool read_residence(struct reader *r, const json_t *object,
			   struct sb_residence *residence)
{
	bool ok = take_int(r, json_object_get(object, "error"), "error", -4095,
			   0, &residence->error);

	for (int kind = 0; ok && kind < SB_MEMORY_KINDS; kind++) {
		const char *name =
			sb_memory_kind_name((enum sb_memory_kind)kind);

		ok = get_fields(r, json_object_get(object, name), name,
				sb_json_pages, &residence->kind[kind]);
	}
	return ok;
}

static bool read_residences(struct reader *r, const json_t *object,
			    struct sb_series *series)
{
	const uint32_t workers = series->placement.workers;
	const json_t *all;
	bool ok = true;

	if (!json_object_get(object, "residence"))
		return true;
	all = get_array(r, object, "residence", workers);
	if (!all)
		return false;
	series->residence = calloc(workers, sizeof(*series->residence));
	if (!series->residence)
		return no_memory(r);
	for (uint32_t i = 0; ok && i < workers; i++) {
		const size_t before = enter(r, "residence[%" PRIu32 "].", i);

		ok = read_residence(r, json_array_get(all, i),
				    &series->residence[i]) &&
		     leave(r, before);
	}
	return ok;
}

/* Reckons the memory of rows before any of it is taken. */
static bool reserve_rows(struct reader *r, uint64_t rows, uint64_t workers)
{
	const uint64_t each =
		SB_HISTS * sizeof(struct sb_hist_counts) +
		sizeof(struct sb_requests) +
		workers * (sizeof(struct sb_worker_reading) +
			   sizeof(struct sb_os_counts)) +
		workers * workers * sizeof(struct sb_steal_counts);

	r->memory += rows * each;
	return r->memory <= SB_READ_MEMORY_BYTES ||
	       refuse(r, -EFBIG,
		      "too large: its rows take more than %" PRIu64
		      " GiB of memory",
		      SB_READ_MEMORY_BYTES >> 30);
}

/* rows: how many the file has that are nobody's yet. */
static bool make_records(struct reader *r, const json_t *object,
			 struct sb_series *series, size_t *rows)
{
	uint32_t records = 0;

	if (!get_uint32(r, object, "rows", 0, UINT32_MAX, &records))
		return false;
	if (records > *rows)
		return unexpected(r, "rows",
				  "no more than the file has: are some lost?");
	if (!reserve_rows(r, records, series->placement.workers))
		return false;
	*rows -= records;
	series->record = calloc(records + 1, sizeof(*series->record));
	if (!series->record)
		return no_memory(r);
	series->records = records;
	for (uint32_t i = 0; i < records; i++)
		sb_record_invalidate(&series->record[i], "");
	return true;
}

static bool read_series(struct reader *r, const json_t *object,
			struct sb_series *series, size_t *rows)
{
	return get_text(r, object, "workload", &series->workload) &&
	       get_text(r, object, "operation", &series->operation) &&
	       (!json_object_get(object, "answer") ||
		get_text(r, object, "answer", &series->answer)) &&
	       read_settings(r, object, series) &&
	       get_text(r, object, "label", &series->label) &&
	       get_bool(r, object, "emulated", &series->emulated) &&
	       read_placement(r, object, series) &&
	       get_fields(r, json_object_get(object, "memory"), "memory",
			  sb_json_memory, &series->memory) &&
	       read_residences(r, object, series) &&
	       make_records(r, object, series, rows);
}

static bool read_all_series(struct reader *r, const json_t *own,
			    struct sb_result *out, size_t rows)
{
	const json_t *all = get(r, own, "series", JSON_ARRAY);
	const size_t n = json_array_size(all);
	bool ok = true;

	if (!all)
		return false;
	if (n > SERIES_MAX)
		return unexpected(r, "series", "fewer of them");
	out->series = calloc(n + 1, sizeof(*out->series));
	if (!out->series)
		return no_memory(r);
	for (size_t i = 0; ok && i < n; i++) {
		const size_t before = enter(r, "series[%zu].", i);

		ok = read_series(r, json_array_get(all, i),
				 &out->series[out->all_series++], &rows) &&
		     leave(r, before);
	}
	if (ok && rows)
		return unexpected(r, "series",
				  "as many rows as \"benchmarks\" and "
				  "\"invalid\" have");
	return ok;
}

/* ---- the whole ---- */

static bool read_group(struct reader *r, const char *name, json_t *group,
		       struct sb_result *out)
{
	const char *key;
	json_t *value;

	json_object_foreach(group, key, value)
	{
		if (out->facts >= FACTS_MAX)
			return unexpected(r, "meta", "fewer facts");
		if (!json_is_string(value))
			return unexpected(r, "meta", "texts");
		if (sb_result_add_fact(out, name, key,
				       json_string_value(value)))
			return no_memory(r);
	}
	return true;
}

static bool read_facts(struct reader *r, const json_t *own,
		       struct sb_result *out)
{
	json_t *meta = get(r, own, "meta", JSON_OBJECT);
	const char *name;
	json_t *group;

	json_object_foreach(meta, name, group)
	{
		if (!read_group(r, name, group, out))
			return false;
	}
	return meta;
}

static bool check_schema(struct reader *r, const json_t *own)
{
	const json_t *schema = json_object_get(own, "schema");
	const json_int_t version = json_integer_value(schema);

	if (!json_is_integer(schema) || version < 1)
		return unexpected(r, "schema", "an integer of 1 or more");
	if (version > SB_RESULT_SCHEMA)
		return refuse(r, -EINVAL,
			      "schema %lld; this sched-bench reads up to %d",
			      (long long)version, SB_RESULT_SCHEMA);
	return true;
}

static bool check_layout(struct reader *r, const json_t *own)
{
	json_t *expected = json_pack(SB_JSON_HIST_LAYOUT, SB_JSON_HIST_KEYS);
	const bool same =
		json_equal(json_object_get(own, "histogram_layout"), expected);

	json_decref(expected);
	return same || unexpected(r, "histogram_layout",
				  "linear_bits 6 and value_bits 42");
}

/* Which rows have been read: one array, one part of it for each series. */
static bool **make_seen(const struct sb_result *out, size_t rows)
{
	bool **seen = calloc(out->all_series + 1, sizeof(*seen));
	bool *all = calloc(rows + 1, sizeof(*all));

	if (!seen || !all) {
		free(seen);
		free(all);
		return NULL;
	}
	seen[0] = all;
	for (uint32_t i = 0; i < out->all_series; i++) {
		seen[i] = all;
		all += out->series[i].records;
	}
	return seen;
}

static bool read_numbers(struct reader *r, const json_t *benchmarks,
			 const json_t *invalid, struct sb_result *out)
{
	bool **seen = make_seen(out, json_array_size(benchmarks) +
					     json_array_size(invalid));
	bool ok;

	if (!seen)
		return no_memory(r);
	ok = read_rows(r, benchmarks, true, out, seen) &&
	     read_rows(r, invalid, false, out, seen);
	free(seen[0]);
	free(seen);
	return ok;
}

static bool read_document(struct reader *r, const json_t *document,
			  struct sb_result *out)
{
	const json_t *benchmarks = json_object_get(document, "benchmarks");
	const json_t *own = json_object_get(document, "sched_bench");
	const json_t *invalid = json_object_get(own, "invalid");
	size_t before;

	if (!json_is_array(benchmarks))
		return refuse(r, -EINVAL,
			      "not a result of sched-bench: it has no "
			      "\"benchmarks\"");
	if (!json_is_object(own))
		return refuse(r, -EINVAL,
			      "a Google Benchmark file of another program: it "
			      "has no \"sched_bench\"");
	before = enter(r, "sched_bench.");
	if (!check_schema(r, own) || !check_layout(r, own) ||
	    !read_facts(r, own, out))
		return false;
	if (!json_is_array(invalid))
		return unexpected(r, "invalid", "an array");
	return read_all_series(r, own, out,
			       json_array_size(benchmarks) +
				       json_array_size(invalid)) &&
	       leave(r, before) && read_numbers(r, benchmarks, invalid, out);
}

/* ---- the file ---- */

/* What jansson will take at most for a text, by the characters that begin its
 * values: it is not asked before that is known to be bearable. */
static uint64_t memory_for(const char *text, size_t size)
{
	uint64_t bytes = size;

	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '{':
			bytes += 384;
			break;
		case '[':
			bytes += 160;
			break;
		case ':':
			bytes += 112;
			break;
		case ',':
			bytes += 64;
			break;
		default:
			break;
		}
	}
	return bytes;
}

static bool is_cut_off(const json_error_t *error, size_t size)
{
	return json_error_code(error) == json_error_premature_end_of_input ||
	       (size_t)error->position >= size;
}

static json_t *parse(struct reader *r, const char *text, size_t size)
{
	json_error_t error;
	json_t *document;

	if (!size) {
		refuse(r, -EINVAL, "the file is empty");
		return NULL;
	}
	if (memory_for(text, size) > SB_READ_MEMORY_BYTES / 2) {
		refuse(r, -EFBIG,
		       "too large: it takes more than %" PRIu64
		       " GiB of memory",
		       SB_READ_MEMORY_BYTES >> 31);
		return NULL;
	}
	document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (document)
		return document;
	if (is_cut_off(&error, size))
		refuse(r, -EINVAL, "truncated: it ends at line %d, column %d",
		       error.line, error.column);
	else
		refuse(r, -EINVAL, "not JSON: line %d, column %d: %s",
		       error.line, error.column, error.text);
	return NULL;
}

/* Reads until the end, or until there is no more room. Returns -errno or how
 * much it was. */
static ssize_t read_whole(int fd, char *text, size_t size)
{
	size_t used = 0;

	while (used < size) {
		const ssize_t n = read(fd, text + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static json_t *parse_open_file(struct reader *r, int fd)
{
	struct stat info;
	json_t *document = NULL;
	ssize_t size;
	char *text;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode)) {
		refuse(r, -EINVAL, "not a file");
		return NULL;
	}
	if ((uint64_t)info.st_size > SB_READ_FILE_BYTES) {
		refuse(r, -EFBIG,
		       "too large: it has %lld bytes; expected up to 1 GiB",
		       (long long)info.st_size);
		return NULL;
	}
	text = malloc((size_t)info.st_size + 1);
	if (!text) {
		no_memory(r);
		return NULL;
	}
	size = read_whole(fd, text, (size_t)info.st_size);
	if (size < 0)
		refuse(r, (int)size, "%s", strerror((int)-size));
	else
		document = parse(r, text, (size_t)size);
	free(text);
	return document;
}

/* A pipe without a writer would never open otherwise. */
static json_t *parse_file(struct reader *r)
{
	const int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	json_t *document;

	if (fd < 0) {
		refuse(r, -errno, "%s", strerror(errno));
		return NULL;
	}
	document = parse_open_file(r, fd);
	close(fd);
	return document;
}

static bool is_directory(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/")
			     : strndup(path, (size_t)(slash - path));
}

int sb_result_read(struct sb_result *out, const char *path, char *why,
		   size_t bytes)
{
	const bool is_inside = is_directory(path);
	char *file =
		is_inside ? sb_path_join(path, "result.json") : strdup(path);
	struct reader r = { .path = file, .why = why, .bytes = bytes };
	json_t *document;

	*out = (struct sb_result){ .directory = is_inside
							? strdup(path)
							: directory_of(path) };
	if (!file || !out->directory) {
		r.path = path;
		no_memory(&r);
	} else {
		document = parse_file(&r);
		if (document)
			(void)read_document(&r, document, out);
		json_decref(document);
	}
	free(file);
	if (!r.rc)
		return 0;
	sb_result_free(out);
	*out = (struct sb_result){ .directory = NULL };
	return r.rc;
}
