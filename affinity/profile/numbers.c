#include "affinity/profile/numbers.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first number of the text, up to its end, that is too large. */
static bool find_large(const char *text, const char *end, unsigned long *out)
{
	while (text < end) {
		char *after;

		if (!isdigit((unsigned char)*text)) {
			text++;
			continue;
		}
		*out = strtoul(text, &after, 10);
		if (*out >= SB_OS_NUMBER_LIMIT)
			return true;
		text = after;
	}
	return false;
}

/* "pu:2(indexes=0,1)" */
bool sb_numbers_of_synthetic(const char *text, unsigned long *out)
{
	while ((text = strstr(text, "indexes="))) {
		const size_t length = strcspn(text, ") ");

		if (find_large(text, text + length, out))
			return true;
		text += length;
	}
	return false;
}

/* Of numbers below the limit alone, "0,1" and not "2*1:1*2". */
static bool is_twice_in_list(const char *list, hwloc_bitmap_t seen, unsigned long *out)
{
	const char *text = list;

	if (!strchr(") ", list[strspn(list, "0123456789,")]))
		return false;
	hwloc_bitmap_zero(seen);
	while (isdigit((unsigned char)*text)) {
		char *after;

		*out = strtoul(text, &after, 10);
		if (hwloc_bitmap_isset(seen, (unsigned)*out))
			return true;
		hwloc_bitmap_set(seen, (unsigned)*out);
		text = after + (*after == ',');
	}
	return false;
}

bool sb_numbers_twice_in_synthetic(const char *text, unsigned long *out)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	bool found = false;

	while (seen && !found && (text = strstr(text, "indexes="))) {
		text += strlen("indexes=");
		found = is_twice_in_list(text, seen, out);
	}
	hwloc_bitmap_free(seen);
	return found;
}

/* ---- XML ---- */

/* The value of an attribute in a tag, or NULL. */
static const char *value_of(const char *tag, const char *name)
{
	const size_t length = strlen(name);

	while ((tag = strstr(tag, name))) {
		const char *value = tag + length;

		if (isspace((unsigned char)tag[-1]) && *value == '=')
			return value + 2; /* after the quote */
		tag = value;
	}
	return NULL;
}

static bool has_number(const char *type)
{
	return type && (!strncmp(type, "PU", 2) || !strncmp(type, "NUMA", 4));
}

/* Cores and packages have numbers of any size: firmware invents them. */
static bool is_large_in_tag(const char *tag, unsigned long *out)
{
	const char *number;

	if (strncmp(tag, "object ", 7) || !has_number(value_of(tag, "type")))
		return false;
	number = value_of(tag, "os_index");
	if (!number || !isdigit((unsigned char)*number))
		return false;
	*out = strtoul(number, NULL, 10);
	return *out >= SB_OS_NUMBER_LIMIT;
}

bool sb_numbers_of_xml(const char *path, unsigned long *out)
{
	FILE *in = fopen(path, "re");
	char *tag = NULL;
	size_t bytes = 0;
	bool found = false;

	if (!in)
		return false;
	while (!found && getdelim(&tag, &bytes, '<', in) > 0)
		found = is_large_in_tag(tag, out);
	free(tag);
	fclose(in);
	return found;
}

/* ---- a copy of /sys ---- */

bool sb_numbers_of_directory(const char *root, unsigned long *out)
{
	static const char *const lists[] = { "cpu/online", "cpu/possible", "cpu/present",
					     "node/online", "node/possible" };
	char path[PATH_MAX];
	char text[4096];
	bool found = false;

	for (size_t i = 0; i < SB_ARRAY_SIZE(lists) && !found; i++) {
		FILE *in;

		snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, lists[i]);
		in = fopen(path, "re");
		if (!in)
			continue;
		text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
		found = find_large(text, text + strlen(text), out);
		fclose(in);
	}
	return found;
}

/* ---- what hwloc has loaded ---- */

static bool is_twice(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_bitmap_t seen,
		     unsigned long *out)
{
	hwloc_obj_t obj = NULL;

	hwloc_bitmap_zero(seen);
	while ((obj = hwloc_get_next_obj_by_type(t, type, obj))) {
		*out = obj->os_index;
		if (hwloc_bitmap_isset(seen, obj->os_index))
			return true;
		hwloc_bitmap_set(seen, obj->os_index);
	}
	return false;
}

bool sb_numbers_twice(hwloc_topology_t topology, unsigned long *out)
{
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	const bool found = seen && (is_twice(topology, HWLOC_OBJ_PU, seen, out) ||
				    is_twice(topology, HWLOC_OBJ_NUMANODE, seen, out));

	hwloc_bitmap_free(seen);
	return found;
}
