#include "results/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/commands.h"
#include "results/json/json_out.h"

#define FIELD(type, member, kind)                                                                  \
	{                                                                                          \
#member, kind, offsetof(struct type, member)                                       \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, SB_JSON_BOOL, 0                                                              \
	}

const struct sb_json_field sb_json_place[] = {
	FIELD(sb_place, os_cpu, SB_JSON_INDEX),
	FIELD(sb_place, pu, SB_JSON_INDEX),
	FIELD(sb_place, core, SB_JSON_INDEX),
	FIELD(sb_place, cache, SB_JSON_INDEX),
	FIELD(sb_place, node, SB_JSON_INDEX),
	FIELD(sb_place, package, SB_JSON_INDEX),
	END,
};

const struct sb_json_field sb_json_memory[] = {
	FIELD(sb_memory, mapped_bytes, SB_JSON_COUNT),
	FIELD(sb_memory, explicit_bytes, SB_JSON_COUNT),
	FIELD(sb_memory, missed_bytes, SB_JSON_COUNT),
	FIELD(sb_memory, is_bound, SB_JSON_BOOL),
	FIELD(sb_memory, bind_error, SB_JSON_ERROR),
	FIELD(sb_memory, held_bytes, SB_JSON_COUNT),
	FIELD(sb_memory, used_bytes, SB_JSON_COUNT),
	END,
};

const struct sb_json_field sb_json_pages[] = {
	FIELD(sb_page_count, own, SB_JSON_COUNT),
	FIELD(sb_page_count, other, SB_JSON_COUNT),
	END,
};

const struct sb_json_field sb_json_worker[] = {
	FIELD(sb_worker_reading, recorded, SB_JSON_BOOL),
	FIELD(sb_worker_reading, read_ns, SB_JSON_COUNT),
	FIELD(sb_worker_reading, account_ns, SB_JSON_COUNT),
	END,
};

const struct sb_json_field sb_json_steals[] = {
#define X(name, doc) FIELD(sb_steal_counts, name, SB_JSON_COUNT),
#include "core/steals.def"
#undef X
	END,
};

const struct sb_json_field sb_json_requests[] = {
	FIELD(sb_requests, is_open, SB_JSON_BOOL),
	FIELD(sb_requests, intended, SB_JSON_COUNT),
	FIELD(sb_requests, submitted, SB_JSON_COUNT),
	FIELD(sb_requests, completed, SB_JSON_COUNT),
	FIELD(sb_requests, on_time, SB_JSON_COUNT),
	FIELD(sb_requests, late_ns, SB_JSON_COUNT),
	FIELD(sb_requests, schedule_ns, SB_JSON_COUNT),
	FIELD(sb_requests, sending_ns, SB_JSON_COUNT),
	FIELD(sb_requests, wall_ns, SB_JSON_COUNT),
	FIELD(sb_requests, asked_ns, SB_JSON_NUMBER),
	FIELD(sb_requests, asked_mean_ns, SB_JSON_NUMBER),
	FIELD(sb_requests, observed_ns, SB_JSON_NUMBER),
	FIELD(sb_requests, in_system, SB_JSON_NUMBER),
	FIELD(sb_requests, in_system_error, SB_JSON_NUMBER),
	FIELD(sb_requests, in_system_unknown, SB_JSON_NUMBER),
	FIELD(sb_requests, in_system_expected, SB_JSON_NUMBER),
	FIELD(sb_requests, not_replayed, SB_JSON_BOOL),
	END,
};

void sb_json_command_key(uint32_t index, char out[SB_JSON_COMMAND_BYTES])
{
	const char *name = sb_command_name(index);

	if (name)
		snprintf(out, SB_JSON_COMMAND_BYTES, "%s", name);
	else if (index < SB_COMMAND_ARRAY)
		snprintf(out, SB_JSON_COMMAND_BYTES, "%" PRIu32, index);
	else
		snprintf(out, SB_JSON_COMMAND_BYTES, SB_LARGER_COMMANDS);
}

/* ---- what there is no memory for ---- */

static _Thread_local bool has_lacked;

static void *take(size_t bytes)
{
	void *block = malloc(bytes);

	has_lacked |= !block;
	return block;
}

/* jansson is not to have allocated anything before. */
static __attribute__((constructor)) void watch_memory(void)
{
	json_set_alloc_funcs(take, free);
}

bool sb_json_lacked_memory(void)
{
	const bool lacked = has_lacked;

	has_lacked = false;
	return lacked;
}

int sb_json_put(json_t *value, FILE *out, size_t flags)
{
	bool lacked = sb_json_lacked_memory() || !value;

	if (!lacked)
		(void)json_dumpf(value, out, flags);
	json_decref(value);
	lacked |= sb_json_lacked_memory();
	return lacked ? -ENOMEM : 0;
}
