/*
 * registry.h - from a command's id to its handler.
 *
 * Registration comes first, by one thread; then freeze; from then on look-ups
 * take no lock and registration is an error. Ids 0 to 255 index an array,
 * larger ones a sorted table.
 */
#ifndef SB_CORE_PROCESS_REGISTRY_H
#define SB_CORE_PROCESS_REGISTRY_H

#include "core/commands.h"
#include "core/dispatch.h"

struct sb_dispatch_entry {
	uint32_t id;
	sb_handler handler;
	void *context;
};

struct sb_dispatch {
	struct sb_dispatch_entry array[SB_COMMAND_ARRAY];
	struct sb_dispatch_entry *table; /* sorted by id after freeze */
	uint32_t table_length;
	bool frozen;
};

void sb_dispatch_init(struct sb_dispatch *dispatch);
void sb_dispatch_fini(struct sb_dispatch *dispatch);

/* Returns 0, -EEXIST (the id has a handler), -EROFS (frozen), -EINVAL (no
 * handler) or -ENOMEM. */
SB_MUST_CHECK int sb_dispatch_register(struct sb_dispatch *dispatch, uint32_t id,
				       sb_handler handler, void *context);

/* Ends registration. Idempotent. */
void sb_dispatch_freeze(struct sb_dispatch *dispatch);

/* Of an id that is not in the array. */
const struct sb_dispatch_entry *sb_dispatch_search(const struct sb_dispatch *dispatch, uint32_t id);

/* Returns NULL for an id without a handler. Any thread, after freeze. */
static inline const struct sb_dispatch_entry *sb_dispatch_lookup(const struct sb_dispatch *dispatch,
								 uint32_t id)
{
	if (SB_UNLIKELY(id >= SB_COMMAND_ARRAY))
		return sb_dispatch_search(dispatch, id);
	return dispatch->array[id].handler ? &dispatch->array[id] : NULL;
}

#endif
