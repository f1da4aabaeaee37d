#include "core/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* True: it is copied, or there is nothing to copy. */
static bool copy_array(void *to, const void *from, size_t bytes)
{
	void *copy = from ? malloc(bytes ? bytes : 1) : NULL;

	if (copy)
		memcpy(copy, from, bytes);
	memcpy(to, &copy, sizeof(copy));
	return copy || !from;
}

int sb_placement_copy(struct sb_placement *to, const struct sb_placement *from)
{
	const size_t nodes = from->nodes;
	bool ok = true;

	*to = (struct sb_placement){ .workers = from->workers, .nodes = from->nodes };
	ok &= copy_array(&to->place, from->place, from->workers * sizeof(*to->place));
	ok &= copy_array(&to->os_node, from->os_node, nodes * sizeof(*to->os_node));
	ok &= copy_array(&to->node_distance, from->node_distance,
			 nodes * nodes * sizeof(*to->node_distance));
	if (ok)
		return 0;
	sb_placement_free(to);
	return -ENOMEM;
}

void sb_placement_free(struct sb_placement *placement)
{
	free(placement->place);
	free(placement->os_node);
	free(placement->node_distance);
	*placement = (struct sb_placement){ .workers = 0 };
}
