#include "affinity/profile/numbers.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* A tag and the text behind it, with a zero behind both. Returns its length; 0: there is none. */
static size_t next_tag(FILE *in, char *tag)
{
	size_t length = 0;
	int c = getc_unlocked(in);

	while (c != '<' && c != EOF && length < SB_XML_TAG_BYTES - 1) {
		tag[length++] = (char)c;
		c = getc_unlocked(in);
	}
	tag[length] = '\0';
	return c == EOF ? length : length + 1;
}

static const char *wrong_in_tag(const char *tag, size_t length, unsigned long *number)
{
	if (length >= SB_XML_TAG_BYTES - 1)
		return " has a tag of more than 64 KiB; expected what lstopo writes";
	/* It declares entities, which may stand for gigabytes. */
	if (!strncmp(tag, "!DOCTYPE", 8) && strchr(tag, '['))
		return " declares a document type of its own; expected what lstopo writes";
	if (!is_large_in_tag(tag, number))
		*number = 0;
	return NULL;
}

const char *sb_xml_wrong(const char *path, unsigned long *number)
{
	FILE *in = fopen(path, "re");
	char *tag = malloc(SB_XML_TAG_BYTES);
	const char *wrong = NULL;
	uint32_t tags = 0;
	size_t length;

	*number = 0;
	while (in && tag && !wrong && !*number && (length = next_tag(in, tag)))
		wrong = tags++ < SB_XML_TAGS ? wrong_in_tag(tag, length, number)
					     : " has more than 1048576 tags; expected fewer";
	free(tag);
	if (in)
		fclose(in);
	return wrong;
}

/* ---- a copy of /sys ---- */

#define FILE_MAX (1 << 20)

FILE *sb_profile_open(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path) ||
	    stat(path, &status) || !S_ISREG(status.st_mode) || status.st_size > FILE_MAX)
		return NULL;
	return fopen(path, "re");
}

bool sb_numbers_of_directory(const char *root, unsigned long *out)
{
	static const char *const lists[] = { "cpu/online", "cpu/possible", "cpu/present",
					     "node/online", "node/possible" };
	char path[PATH_MAX];
	char text[4096];
	bool found = false;

	for (size_t i = 0; i < SB_ARRAY_SIZE(lists) && !found; i++) {
		FILE *in;

		snprintf(path, sizeof(path), "sys/devices/system/%s", lists[i]);
		in = sb_profile_open(root, path);
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
