/* timeseries.c - the time series of a row, to JSON and from it: an array for each column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/json/values.h"
#include "results/json/write_parts.h"
#include "results/ledger/timeseries.h"

/* A column of numbers or counts: where it is in a point. */
struct column {
	const char *name;
	size_t offset;
};

#define COUNT(name, doc)	 { #name, offsetof(struct sb_point, count[SB_POINT_##name]) },
#define STEAL(name, member, doc) COUNT(name, doc)
#define REQUEST(name, doc)
static const struct column counts[] = {
	{ "end_ns", offsetof(struct sb_point, end_ns) },
	{ "timed", offsetof(struct sb_point, timed) },
#include "results/ledger/timeseries.def"
};

/* Absent where the workload takes none. */
#define REQUEST(name, doc) { #name, offsetof(struct sb_point, count[SB_POINT_##name]) },
static const struct column requests[] = {
#include "results/ledger/timeseries.def"
};

/* Null where there is none. */
#define KERNEL(name, doc)      { #name, offsetof(struct sb_point, kernel[SB_POINT_##name]) },
#define DEPTH(name, doc)       { #name, offsetof(struct sb_point, depth[SB_POINT_##name]) },
#define QUANTILE(name, q, doc) { #name, offsetof(struct sb_point, quantile[SB_POINT_##name]) },
static const struct column numbers[] = {
#include "results/ledger/timeseries.def"
};

static void *cell(const struct sb_timeseries *t, uint32_t point, const struct column *column)
{
	return (char *)(uintptr_t)&t->point[point] + column->offset;
}

/* ---- to JSON ---- */

static bool set_counts(json_t *object, const struct sb_timeseries *t, const struct column *column)
{
	json_t *array = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < t->points; i++)
		ok &= sb_json_append(array, sb_json_count(*(uint64_t *)cell(t, i, column)));
	return sb_json_set(object, column->name, sb_json_whole(array, ok));
}

static json_t *number_to_json(double value)
{
	if (isnan(value))
		return json_null();
	return value == floor(value) && value < 1e15 ? json_integer((json_int_t)value)
						     : json_real(value);
}

static bool set_numbers(json_t *object, const struct sb_timeseries *t, const struct column *column)
{
	json_t *array = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < t->points; i++)
		ok &= sb_json_append(array, number_to_json(*(double *)cell(t, i, column)));
	return sb_json_set(object, column->name, sb_json_whole(array, ok));
}

json_t *sb_json_timeseries(const struct sb_timeseries *t)
{
	json_t *object = json_object();
	bool ok = true;

	ok &= sb_json_set(object, "interval_ns", sb_json_count(t->interval_ns));
	ok &= sb_json_set(object, "latency", json_string(sb_latency[t->latency].name));
	for (size_t c = 0; c < SB_ARRAY_SIZE(counts); c++)
		ok &= set_counts(object, t, &counts[c]);
	for (size_t c = 0; c < SB_ARRAY_SIZE(requests) && t->has_requests; c++)
		ok &= set_counts(object, t, &requests[c]);
	for (size_t c = 0; c < SB_ARRAY_SIZE(numbers); c++)
		ok &= set_numbers(object, t, &numbers[c]);
	return sb_json_whole(object, ok);
}

/* ---- from JSON ---- */

static bool take_counts(struct sb_reader *r, const json_t *object, struct sb_timeseries *t,
			const struct column *column)
{
	const json_t *array = sb_reader_get_array(r, object, column->name, t->points);
	bool ok = array;

	for (uint32_t i = 0; ok && i < t->points; i++)
		ok = sb_reader_take_count(r, json_array_get(array, i), column->name,
					  cell(t, i, column));
	return ok;
}

/* An earlier version has fewer columns: then nothing is known. */
static bool take_numbers(struct sb_reader *r, const json_t *object, struct sb_timeseries *t,
			 const struct column *column)
{
	const bool is_there = json_object_get(object, column->name);
	const json_t *array =
		is_there ? sb_reader_get_array(r, object, column->name, t->points) : NULL;
	bool ok = array || !is_there;

	for (uint32_t i = 0; ok && i < t->points; i++) {
		const json_t *value = json_array_get(array, i);

		ok = sb_reader_take_number(r, json_is_null(value) ? NULL : value, column->name,
					   cell(t, i, column));
	}
	return ok;
}

static bool take_latency(struct sb_reader *r, const json_t *object, struct sb_timeseries *t)
{
	const char *name = json_string_value(json_object_get(object, "latency"));

	for (uint32_t i = 0; name && i < sb_latencies; i++) {
		t->latency = i;
		if (!strcmp(sb_latency[i].name, name))
			return true;
	}
	return sb_reader_unexpected(r, "latency", "the name of a latency");
}

static bool are_in_order(struct sb_reader *r, const struct sb_timeseries *t)
{
	for (uint32_t i = 0; i < t->points; i++) {
		if (t->point[i].end_ns <= sb_point_begin_ns(t, i))
			return sb_reader_unexpected(r, "end_ns", "each later than the one before");
	}
	return true;
}

static bool take_all(struct sb_reader *r, const json_t *object, struct sb_timeseries *t)
{
	bool ok = sb_reader_take_count(r, json_object_get(object, "interval_ns"), "interval_ns",
				       &t->interval_ns) &&
		  take_latency(r, object, t);

	t->has_requests = json_object_get(object, requests[0].name);
	for (size_t c = 0; ok && c < SB_ARRAY_SIZE(counts); c++)
		ok = take_counts(r, object, t, &counts[c]);
	for (size_t c = 0; ok && c < SB_ARRAY_SIZE(requests) && t->has_requests; c++)
		ok = take_counts(r, object, t, &requests[c]);
	for (size_t c = 0; ok && c < SB_ARRAY_SIZE(numbers); c++)
		ok = take_numbers(r, object, t, &numbers[c]);
	return ok && are_in_order(r, t);
}

bool sb_reader_get_timeseries(struct sb_reader *r, const json_t *own, struct sb_record *record)
{
	const json_t *object = json_object_get(own, "timeseries");
	const size_t before = sb_reader_enter(r, "timeseries.");
	size_t points;

	/* An earlier version kept none. */
	if (!object)
		return sb_reader_leave(r, before);
	points = json_array_size(json_object_get(object, "end_ns"));
	if (!points || points > SB_POINTS_MAX)
		return sb_reader_unexpected(r, "end_ns", "an array of 1 to 256 times");
	record->timeseries = sb_timeseries_new((uint32_t)points);
	if (!record->timeseries)
		return sb_reader_no_memory(r);
	return take_all(r, object, record->timeseries) && sb_reader_leave(r, before);
}
