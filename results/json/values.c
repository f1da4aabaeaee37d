#include "results/json/values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/text/escape.h"

/* ---- what is wrong ---- */

bool sb_reader_refuse(struct sb_reader *r, int rc, const char *format, ...)
{
	va_list args;
	int used;

	r->rc = rc;
	used = snprintf(r->why, r->bytes, "%s: ", r->path);
	va_start(args, format);
	if (used >= 0 && (size_t)used < r->bytes)
		vsnprintf(r->why + used, r->bytes - (size_t)used, format, args);
	va_end(args);
	return false;
}

bool sb_reader_no_memory(struct sb_reader *r)
{
	return sb_reader_refuse(r, -ENOMEM, "no memory");
}

bool sb_reader_unexpected(struct sb_reader *r, const char *key, const char *expected)
{
	return sb_reader_refuse(r, -EINVAL, "%s%s: expected %s", r->where, key, expected);
}

size_t sb_reader_enter(struct sb_reader *r, const char *format, ...)
{
	const size_t before = r->depth;
	va_list args;
	int used;

	va_start(args, format);
	used = vsnprintf(r->where + before, SB_WHERE_BYTES - before, format, args);
	va_end(args);
	if (used > 0)
		r->depth = sb_min_u64(before + (size_t)used, SB_WHERE_BYTES - 1);
	return before;
}

bool sb_reader_leave(struct sb_reader *r, size_t before)
{
	r->depth = before;
	r->where[before] = '\0';
	return true;
}

/* ---- values ---- */

static const char *const type_names[] = {
	[JSON_OBJECT] = "an object",	[JSON_ARRAY] = "an array", [JSON_STRING] = "a text",
	[JSON_INTEGER] = "an integer",	[JSON_REAL] = "a number",  [JSON_TRUE] = "true or false",
	[JSON_FALSE] = "true or false",
};

json_t *sb_reader_get(struct sb_reader *r, const json_t *object, const char *key, json_type type)
{
	json_t *value = json_object_get(object, key);

	if (value && json_typeof(value) == type)
		return value;
	sb_reader_unexpected(r, key, type_names[type]);
	return NULL;
}

bool sb_reader_take_integer(struct sb_reader *r, const json_t *value, const char *key,
			    int64_t least, int64_t most, int64_t *out)
{
	char expected[80];

	*out = json_integer_value(value);
	if (json_is_integer(value) && *out >= least && *out <= most)
		return true;
	snprintf(expected, sizeof(expected), "an integer from %" PRId64 " to %" PRId64, least,
		 most);
	return sb_reader_unexpected(r, key, expected);
}

bool sb_reader_get_uint32(struct sb_reader *r, const json_t *object, const char *key,
			  uint32_t least, uint32_t most, uint32_t *out)
{
	int64_t value = 0;

	if (!sb_reader_take_integer(r, json_object_get(object, key), key, least, most, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

bool sb_reader_take_count(struct sb_reader *r, const json_t *value, const char *key, uint64_t *out)
{
	int64_t count = 0;

	if (!sb_reader_take_integer(r, value, key, 0, INT64_MAX, &count))
		return false;
	*out = (uint64_t)count;
	return true;
}

bool sb_reader_take_int(struct sb_reader *r, const json_t *value, const char *key, int least,
			int most, int *out)
{
	int64_t integer = 0;

	if (!sb_reader_take_integer(r, value, key, least, most, &integer))
		return false;
	*out = (int)integer;
	return true;
}

bool sb_reader_take_number(struct sb_reader *r, const json_t *value, const char *key, double *out)
{
	*out = value ? json_number_value(value) : (double)NAN;
	return !value || json_is_number(value) || sb_reader_unexpected(r, key, "a number");
}

bool sb_reader_get_bool(struct sb_reader *r, const json_t *object, const char *key, bool *out)
{
	const json_t *value = json_object_get(object, key);

	*out = json_is_true(value);
	return json_is_boolean(value) || sb_reader_unexpected(r, key, "true or false");
}

bool sb_reader_get_text(struct sb_reader *r, const json_t *object, const char *key, char **out)
{
	const json_t *value = sb_reader_get(r, object, key, JSON_STRING);

	if (!value)
		return false;
	*out = sb_text_copy(json_string_value(value));
	return *out || sb_reader_no_memory(r);
}

json_t *sb_reader_get_array(struct sb_reader *r, const json_t *object, const char *key,
			    uint64_t length)
{
	json_t *array = sb_reader_get(r, object, key, JSON_ARRAY);
	char expected[80];

	if (!array || json_array_size(array) == length)
		return array;
	snprintf(expected, sizeof(expected), "an array of %" PRIu64 ", not of %zu", length,
		 json_array_size(array));
	sb_reader_unexpected(r, key, expected);
	return NULL;
}

/* ---- plain structs, by their tables ---- */

static bool get_field(struct sb_reader *r, const json_t *object, const struct sb_json_field *field,
		      void *to)
{
	const json_t *value = json_object_get(object, field->name);
	void *at = (char *)to + field->offset;

	switch (field->kind) {
	case SB_JSON_BOOL:
		return sb_reader_get_bool(r, object, field->name, at);
	case SB_JSON_INDEX:
		return sb_reader_take_int(r, value, field->name, -1, INT_MAX, at);
	case SB_JSON_ERROR:
		return sb_reader_take_int(r, value, field->name, -4095, 0, at);
	case SB_JSON_COUNT:
		return sb_reader_take_count(r, value, field->name, at);
	case SB_JSON_NUMBER:
	default:
		return sb_reader_take_number(r, value, field->name, at);
	}
}

bool sb_reader_get_fields(struct sb_reader *r, const json_t *object, const char *key,
			  const struct sb_json_field *fields, void *to)
{
	if (!json_is_object(object))
		return sb_reader_unexpected(r, key, "an object");
	for (; fields->name; fields++) {
		if (!get_field(r, object, fields, to))
			return false;
	}
	return true;
}
