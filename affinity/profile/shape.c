#include "affinity/profile/shape.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "affinity/profile/profile.h"

static void add_level(struct sb_shape *shape, uint64_t count)
{
	/* A product of two numbers below the bound cannot overflow. */
	shape->units = count > SB_PROFILE_PUS_MAX ? count : shape->units * count;
	shape->comparisons += count;
	if (count > 1 && shape->levels < SB_SHAPE_LEVELS)
		shape->count[shape->levels++] = (uint32_t)count;
}

/*
 * Brackets hold memory, parentheses attributes; neither makes processing units.
 * hwloc compares each object that it adds with all its siblings, bit by bit.
 */
int sb_shape_read(struct sb_shape *shape, const char *text)
{
	const char *at = text;
	char *small = shape->small;
	int depth = 0;

	*shape = (struct sb_shape){ .units = 1 };
	if (strlen(text) >= sizeof(shape->small))
		return -ENAMETOOLONG;
	shape->has_indexes = strstr(text, "indexes=") != NULL;
	while (*at && shape->units <= SB_PROFILE_PUS_MAX) {
		char *end;
		uint64_t count;

		depth += (*at == '[') + (*at == '(');
		depth -= (*at == ']') + (*at == ')');
		if (depth || !isdigit((unsigned char)*at) ||
		    (at > text && at[-1] != ':' && at[-1] != ' ')) {
			*small++ = *at++;
			continue;
		}
		count = strtoull(at, &end, 0);
		add_level(shape, count);
		if (count > 2) {
			*small++ = '2';
		} else {
			memcpy(small, at, (size_t)(end - at));
			small += end - at;
		}
		at = end;
	}
	shape->comparisons *= shape->units * (shape->units / 64 + 1);
	return 0;
}
