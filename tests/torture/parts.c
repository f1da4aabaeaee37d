/* parts.c - the parts of a script that shrinking leaves out. */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/torture/script.h"

/* The switch of a part. Operations and acts come first, because explore can leave out the first 64
 * parts only. */
static bool *switch_of(struct script *script, uint32_t part, bool *is_on)
{
	*is_on = false;
	if (part < script->ops)
		return &script->op[part].off;
	part -= script->ops;
	for (uint32_t t = 0; t < script->types; t++) {
		if (part < script->type[t].acts)
			return &script->type[t].act[part].off;
		part -= script->type[t].acts;
	}
	if (part < script->types)
		return &script->type[part].is_plain;
	part -= script->types;
	for (uint32_t s = 0; s < script->schedulers; s++) {
		if (part < KNOWN_SETTINGS)
			return &script->scheduler[s].setting[part].off;
		part -= KNOWN_SETTINGS;
		if (part == 0)
			return &script->scheduler[s].is_plain;
		part--;
	}
	if (part-- == 0)
		return &script->runs_once;
	*is_on = true;
	return part < FEATURE_KINDS ? &script->feature[part] : NULL;
}

uint32_t script_parts(const struct script *script)
{
	uint32_t parts = script->ops + script->types + 1 + FEATURE_KINDS;

	for (uint32_t t = 0; t < script->types; t++)
		parts += script->type[t].acts;
	return parts + script->schedulers * (KNOWN_SETTINGS + 1);
}

bool script_has_part(const struct script *script, uint32_t part)
{
	bool is_on;
	const bool *at = switch_of((struct script *)(uintptr_t)script, part, &is_on);

	return *at == is_on;
}

void script_leave_out(struct script *script, uint32_t part, bool out)
{
	bool is_on;
	bool *at = switch_of(script, part, &is_on);

	*at = out != is_on;
}

void script_put_left_out(const struct script *script, FILE *to)
{
	const uint32_t parts = script_parts(script);
	const char *comma = "";

	for (uint32_t i = 0; i < parts; i++) {
		const uint32_t first = i;

		if (script_has_part(script, i))
			continue;
		while (i + 1 < parts && !script_has_part(script, i + 1))
			i++;
		if (first == i)
			fprintf(to, "%s%" PRIu32, comma, i);
		else
			fprintf(to, "%s%" PRIu32 "-%" PRIu32, comma, first, i);
		comma = ",";
	}
}

/* Leaves out these parts and no others. */
bool script_take_left_out(struct script *script, const char *text)
{
	const uint32_t parts = script_parts(script);

	for (uint32_t i = 0; i < parts; i++)
		script_leave_out(script, i, false);
	while (*text) {
		char *end;
		unsigned long last;
		unsigned long first = strtoul(text, &end, 10);

		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		if (end == text || last >= parts || (*end && *end != ','))
			return false;
		for (; first <= last; first++)
			script_leave_out(script, (uint32_t)first, true);
		text = end + (*end == ',');
	}
	return true;
}
