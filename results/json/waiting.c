/* waiting.c - the profile of waiting of a virtual run, to JSON and from it. */
#include <errno.h>
#include <stdlib.h>

#include "results/json/read.h"
#include "results/json/values.h"
#include "results/json/write_parts.h"
#include "results/record/waiting.h"

#define MOST_NS 1e18 /* 31 years */

static json_t *place_to_json(const struct sb_waiting_place *place)
{
	json_t *object = json_object();
	json_t *fetches = json_object();
	json_t *ns = json_object();
	bool ok = true;

	for (int way = 0; way < SB_WAITING_WAYS; way++) {
		if (!place->fetches[way])
			continue;
		ok &= sb_json_set(fetches, sb_waiting_way[way], sb_json_count(place->fetches[way]));
		ok &= sb_json_set(ns, sb_waiting_way[way], json_real(place->fetch_ns[way]));
	}
	ok &= sb_json_set(object, "file", json_string(place->file));
	ok &= sb_json_set(object, "function", json_string(place->function));
	ok &= sb_json_set(object, "queued_ns", json_real(place->queued_ns));
	ok &= sb_json_set(object, "fetches", fetches);
	ok &= sb_json_set(object, "ns", ns);
	return sb_json_whole(object, ok);
}

json_t *sb_json_waiting(const struct sb_waiting *waiting)
{
	json_t *places = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < waiting->places; i++)
		ok &= sb_json_append(places, place_to_json(&waiting->place[i]));
	return sb_json_whole(places, ok);
}

/* Nanoseconds, which must be given; so few that sums of them are finite. */
static bool take_ns(struct sb_reader *r, const json_t *object, const char *key, double *out)
{
	const json_t *value = json_object_get(object, key);

	if (!sb_reader_take_number(r, value, key, out))
		return false;
	return (*out >= 0 && *out <= MOST_NS) ||
	       sb_reader_unexpected(r, key, "a number of ns from 0 to 1e18");
}

/* A way without fetches is not there. */
static bool take_ways(struct sb_reader *r, const json_t *object, struct sb_waiting_place *place)
{
	const json_t *fetches = sb_reader_get(r, object, "fetches", JSON_OBJECT);
	const json_t *ns = fetches ? sb_reader_get(r, object, "ns", JSON_OBJECT) : NULL;

	for (int way = 0; ns && way < SB_WAITING_WAYS; way++) {
		const json_t *count = json_object_get(fetches, sb_waiting_way[way]);

		if (count && (!sb_reader_take_count(r, count, "fetches", &place->fetches[way]) ||
			      !take_ns(r, ns, sb_waiting_way[way], &place->fetch_ns[way])))
			return false;
	}
	return ns;
}

static bool take_place(struct sb_reader *r, const json_t *object, struct sb_waiting *waiting)
{
	struct sb_waiting_place place = { .queued_ns = 0 };
	const json_t *file = sb_reader_get(r, object, "file", JSON_STRING);
	const json_t *function = file ? sb_reader_get(r, object, "function", JSON_STRING) : NULL;

	if (!function || !take_ns(r, object, "queued_ns", &place.queued_ns) ||
	    !take_ways(r, object, &place))
		return false;
	return !sb_waiting_add(waiting, &place, json_string_value(file),
			       json_string_value(function)) ||
	       sb_reader_no_memory(r);
}

bool sb_reader_get_waiting(struct sb_reader *r, const json_t *object, struct sb_series *series)
{
	json_t *places = json_object_get(object, "waiting");
	bool ok = true;

	/* Of virtual time alone. */
	if (!places)
		return true;
	if (!json_is_array(places))
		return sb_reader_unexpected(r, "waiting", "an array");
	series->waiting = calloc(1, sizeof(*series->waiting));
	if (!series->waiting)
		return sb_reader_no_memory(r);
	for (size_t i = 0; i < json_array_size(places) && ok; i++) {
		const size_t before = sb_reader_enter(r, "waiting[%zu].", i);

		ok = take_place(r, json_array_get(places, i), series->waiting);
		sb_reader_leave(r, before);
	}
	return ok;
}
