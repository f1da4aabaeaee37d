/* exemplars.c - the slowest events of a row in result.json, and those of all rows with their
 * causes as a file of their own. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/config.h"
#include "results/json/json_out.h"
#include "results/json/values.h"
#include "results/json/write.h"
#include "results/json/write_parts.h"
#include "results/ledger/exemplars.h"

/* Numbers of an exemplar; those that are 0 are left out. */
static const struct field {
	const char *name;
	size_t offset;
	size_t bytes;
} fields[] = {
#define FIELD(member)                                                                              \
	{                                                                                          \
#member, offsetof(struct sb_exemplar, member),                                     \
			sizeof(((struct sb_exemplar *)NULL)->member)                               \
	}
	FIELD(begin_ns),   FIELD(took_ns),     FIELD(late_ns),	FIELD(visible_ns),
	FIELD(wait_ns),	   FIELD(idle_ns),     FIELD(front_ns), FIELD(looked_ns),
	FIELD(cpu_ns),	   FIELD(parked_ns),   FIELD(delay_ns), FIELD(pid),
	FIELD(front_pid),  FIELD(front_steps), FIELD(worker),	FIELD(last_worker),
	FIELD(was_parked), FIELD(has_sleeper), FIELD(sleeper),	FIELD(faults),
	FIELD(preempted),  FIELD(gave_up),
#undef FIELD
};

static uint64_t get_number(const struct sb_exemplar *e, const struct field *field)
{
	const char *at = (const char *)e + field->offset;

	return field->bytes == sizeof(uint32_t) ? *(const uint32_t *)(const void *)at
						: *(const uint64_t *)(const void *)at;
}

/* No worker is the largest number of all, and is left out, too. */
static bool is_none(const struct field *field, uint64_t number)
{
	return field->offset == offsetof(struct sb_exemplar, last_worker) ? number == SB_WORKER_NONE
									  : !number;
}

static json_t *exemplar_to_json(const struct sb_exemplar *e)
{
	json_t *object = json_object();
	bool ok = true;

	for (size_t i = 0; i < SB_ARRAY_SIZE(fields); i++) {
		const uint64_t number = get_number(e, &fields[i]);

		if (!is_none(&fields[i], number))
			ok &= sb_json_set(object, fields[i].name, sb_json_count(number));
	}
	if (*e->name)
		ok &= sb_json_set(object, "name", sb_json_text(e->name));
	return sb_json_whole(object, ok);
}

static json_t *list_to_json(const struct sb_exemplar_list *list)
{
	json_t *array = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < list->n; i++)
		ok &= sb_json_append(array, exemplar_to_json(&list->exemplar[i]));
	return sb_json_whole(array, ok);
}

static json_t *stops_to_json(const struct sb_exemplars *exemplars)
{
	json_t *array = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < exemplars->stops; i++)
		ok &= sb_json_append(array,
				     json_pack("[oo]", sb_json_count(exemplars->stop[i].begin_ns),
					       sb_json_count(exemplars->stop[i].end_ns)));
	return sb_json_whole(array, ok);
}

json_t *sb_json_exemplars(const struct sb_exemplars *exemplars)
{
	json_t *object = json_object();
	bool ok = sb_json_set_number(object, "fault_ns", exemplars->fault_ns);

	if (exemplars->stops)
		ok &= sb_json_set(object, "stops", stops_to_json(exemplars));
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++) {
		if (exemplars->of[kind].n)
			ok &= sb_json_set(object,
					  sb_exemplar_kind_name((enum sb_exemplar_kind)kind),
					  list_to_json(&exemplars->of[kind]));
	}
	return sb_json_whole(object, ok);
}

/* ---- reading ---- */

static bool take_number(struct sb_reader *r, const json_t *object, const struct field *field,
			struct sb_exemplar *e)
{
	const json_t *value = json_object_get(object, field->name);
	char *at = (char *)e + field->offset;
	int64_t number = 0;

	if (!value)
		return true;
	if (!sb_reader_take_integer(r, value, field->name, 0,
				    field->bytes == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX,
				    &number))
		return false;
	if (field->bytes == sizeof(uint32_t))
		*(uint32_t *)(void *)at = (uint32_t)number;
	else
		*(uint64_t *)(void *)at = (uint64_t)number;
	return true;
}

static bool take_name(struct sb_reader *r, const json_t *object, struct sb_exemplar *e)
{
	char *name;

	if (!json_object_get(object, "name"))
		return true;
	if (!sb_reader_get_text(r, object, "name", &name))
		return false;
	strncpy(e->name, name, sizeof(e->name) - 1);
	free(name);
	return true;
}

static bool take_exemplar(struct sb_reader *r, const json_t *object, uint32_t workers,
			  struct sb_exemplar *e)
{
	bool ok = json_is_object(object) || sb_reader_unexpected(r, "", "an object");

	*e = (struct sb_exemplar){ .last_worker = SB_WORKER_NONE };
	for (size_t i = 0; ok && i < SB_ARRAY_SIZE(fields); i++)
		ok = take_number(r, object, &fields[i], e);
	if (ok && (e->wait_ns > e->took_ns || e->idle_ns > e->wait_ns))
		ok = sb_reader_unexpected(r, "wait_ns",
					  "no more than took_ns, and no less than "
					  "idle_ns");
	if (ok && e->worker >= workers)
		ok = sb_reader_unexpected(r, "worker", "one of its series");
	return ok && take_name(r, object, e);
}

static bool take_list(struct sb_reader *r, const json_t *array, uint32_t workers,
		      struct sb_exemplar_list *list)
{
	const size_t n = json_array_size(array);
	bool ok = true;

	if (!json_is_array(array) || n > SB_EXEMPLARS_MAX)
		return sb_reader_unexpected(r, "", "an array of at most 1024 objects");
	list->exemplar = calloc(n + 1, sizeof(*list->exemplar));
	if (!list->exemplar)
		return sb_reader_no_memory(r);
	for (; ok && list->n < n; list->n++) {
		const size_t before = sb_reader_enter(r, "[%" PRIu32 "].", list->n);

		ok = take_exemplar(r, json_array_get(array, list->n), workers,
				   &list->exemplar[list->n]) &&
		     sb_reader_leave(r, before);
	}
	return ok;
}

static bool take_stops(struct sb_reader *r, const json_t *array, struct sb_exemplars *to)
{
	const size_t n = json_array_size(array);

	if (n > SB_STOPS_MAX)
		return sb_reader_unexpected(r, "stops", "fewer");
	for (; to->stops < n; to->stops++) {
		const json_t *pair = json_array_get(array, to->stops);
		struct sb_stop *stop = &to->stop[to->stops];

		if (!sb_reader_take_count(r, json_array_get(pair, 0), "stops", &stop->begin_ns) ||
		    !sb_reader_take_count(r, json_array_get(pair, 1), "stops", &stop->end_ns))
			return false;
	}
	return true;
}

static bool take_lists(struct sb_reader *r, const json_t *object, uint32_t workers,
		       struct sb_exemplars *to)
{
	bool ok = true;

	for (int kind = 0; ok && kind < SB_EXEMPLAR_KINDS; kind++) {
		const char *name = sb_exemplar_kind_name((enum sb_exemplar_kind)kind);
		const json_t *array = json_object_get(object, name);
		const size_t before = sb_reader_enter(r, "exemplars.%s", name);

		ok = (!array || take_list(r, array, workers, &to->of[kind])) &&
		     sb_reader_leave(r, before);
	}
	return ok;
}

bool sb_reader_get_exemplars(struct sb_reader *r, const json_t *own, struct sb_record *record,
			     uint32_t workers)
{
	const json_t *object = json_object_get(own, "exemplars");

	/* An earlier version did not write them. */
	if (!object)
		return true;
	record->exemplars = calloc(1, sizeof(*record->exemplars));
	if (!record->exemplars)
		return sb_reader_no_memory(r);
	return sb_reader_take_number(r, json_object_get(object, "fault_ns"), "fault_ns",
				     &record->exemplars->fault_ns) &&
	       take_stops(r, json_object_get(object, "stops"), record->exemplars) &&
	       take_lists(r, object, workers, record->exemplars);
}

/* ---- exemplars.json ---- */

static json_t *explained(const struct sb_exemplar_spot *spot)
{
	json_t *object = exemplar_to_json(spot->exemplar);
	char text[SB_CAUSE_BYTES];
	const enum sb_cause cause =
		sb_exemplar_explain(text, spot->record->exemplars, spot->exemplar);
	bool ok = sb_json_set(object, "repetition", json_integer(spot->record->repetition));

	ok &= sb_json_set(object, "valid", json_string(sb_verdict_name(spot->record->verdict)));
	ok &= sb_json_set(object, "cause", json_string(sb_cause_name(cause)));
	ok &= sb_json_set(object, "because", sb_json_text(text));
	return sb_json_whole(object, ok);
}

static json_t *kind_to_json(const struct sb_series *series, enum sb_exemplar_kind kind)
{
	uint32_t n;
	struct sb_exemplar_spot *spot = sb_series_slowest(series, kind, &n);
	json_t *array = json_array();
	bool ok = !n || spot;

	for (uint32_t i = 0; ok && i < n; i++)
		ok &= sb_json_append(array, explained(&spot[i]));
	free(spot);
	return sb_json_whole(array, ok);
}

static json_t *series_to_json(const struct sb_result *result, const struct sb_series *series)
{
	json_t *object = json_object();
	char name[SB_NAME_BYTES];
	bool ok = true;

	sb_series_name(name, result, series);
	ok &= sb_json_set(object, "name", json_string(name));
	ok &= sb_json_set(object, "topology", json_string(sb_series_topology(series)));
	for (int kind = 0; kind < SB_EXEMPLAR_KINDS; kind++)
		ok &= sb_json_set(object, sb_exemplar_kind_name((enum sb_exemplar_kind)kind),
				  kind_to_json(series, (enum sb_exemplar_kind)kind));
	return sb_json_whole(object, ok);
}

int sb_write_exemplars(const struct sb_result *result, FILE *out)
{
	json_t *all = json_array();
	bool ok = true;

	for (uint32_t i = 0; i < result->all_series; i++)
		ok &= sb_json_append(all, series_to_json(result, &result->series[i]));
	return sb_json_put(sb_json_whole(all, ok), out, JSON_INDENT(1));
}
