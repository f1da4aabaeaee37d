#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/registry.h"

void sb_dispatch_init(struct sb_dispatch *dispatch)
{
	memset(dispatch, 0, sizeof(*dispatch));
}

void sb_dispatch_fini(struct sb_dispatch *dispatch)
{
	free(dispatch->table);
	dispatch->table = NULL;
	dispatch->table_length = 0;
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t x = ((const struct sb_dispatch_entry *)a)->id;
	const uint32_t y = ((const struct sb_dispatch_entry *)b)->id;

	return (x > y) - (x < y);
}

static int append(struct sb_dispatch *dispatch, const struct sb_dispatch_entry *entry)
{
	const uint32_t n = dispatch->table_length;
	struct sb_dispatch_entry *table;

	for (uint32_t i = 0; i < n; i++) {
		if (dispatch->table[i].id == entry->id)
			return -EEXIST;
	}
	table = realloc(dispatch->table, (n + 1) * sizeof(*table));
	if (!table)
		return -ENOMEM;
	table[n] = *entry;
	dispatch->table = table;
	dispatch->table_length = n + 1;
	return 0;
}

int sb_dispatch_register(struct sb_dispatch *dispatch, uint32_t id, sb_handler handler,
			 void *context)
{
	const struct sb_dispatch_entry entry = { .id = id, .handler = handler, .context = context };

	if (dispatch->frozen)
		return -EROFS;
	if (!handler)
		return -EINVAL;
	if (id >= SB_COMMAND_ARRAY)
		return append(dispatch, &entry);
	if (dispatch->array[id].handler)
		return -EEXIST;
	dispatch->array[id] = entry;
	return 0;
}

void sb_dispatch_freeze(struct sb_dispatch *dispatch)
{
	if (dispatch->frozen)
		return;
	if (dispatch->table_length)
		qsort(dispatch->table, dispatch->table_length, sizeof(dispatch->table[0]),
		      compare_ids);
	dispatch->frozen = true;
}

const struct sb_dispatch_entry *sb_dispatch_search(const struct sb_dispatch *dispatch, uint32_t id)
{
	const struct sb_dispatch_entry key = { .id = id };

	if (!dispatch->table_length)
		return NULL;
	return bsearch(&key, dispatch->table, dispatch->table_length, sizeof(key), compare_ids);
}
