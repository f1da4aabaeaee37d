#include "affinity/profile/precheck.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity/profile/numbers.h"
#include "affinity/profile/profile.h"

/* A longer name is cut, so that what was expected is still said. */
#define NAME_SHOWN 200

int sb_precheck_refuse(char *why, size_t bytes, int rc, const char *before, const char *text,
		       const char *after)
{
	snprintf(why, bytes, "%s'%.*s%s'%s", before, NAME_SHOWN, text,
		 strlen(text) > NAME_SHOWN ? "..." : "", after);
	return rc;
}

static int refuse_number(const char *text, unsigned long number, char *why, size_t bytes)
{
	char after[120];

	snprintf(after, sizeof(after), " has the OS index %lu; expected less than %d", number,
		 SB_OS_NUMBER_LIMIT);
	return sb_precheck_refuse(why, bytes, -EINVAL, "", text, after);
}

static int refuse_twice(const char *text, unsigned long number, char *why, size_t bytes)
{
	char after[120];

	snprintf(after, sizeof(after), " has the OS index %lu twice; expected each once", number);
	return sb_precheck_refuse(why, bytes, -EINVAL, "", text, after);
}

/* ---- files ---- */

/* Files that look like what is asked for, by how they begin. */
static const struct {
	const char *head;
	size_t bytes;
	const char *what;
} wrong_kinds[] = {
	{ "\xff\xfe", 2, " is in UTF-16; expected UTF-8, as lstopo writes it" },
	{ "\xfe\xff", 2, " is in UTF-16; expected UTF-8, as lstopo writes it" },
	{ "<\0", 2, " is in UTF-16; expected UTF-8, as lstopo writes it" },
	{ "\xef\xbb\xbf", 3,
	  " begins with a byte order mark; expected XML without one, as lstopo writes it" },
	{ "BZh", 3, " is compressed with bzip2; expected the directory that tar -xf makes of it" },
	{ "\x1f\x8b", 2, " is compressed with gzip; expected what it unpacks to" },
};

static int check_head(const char *path, const char *head, size_t n, char *why, size_t bytes)
{
	const char *line = memchr(head, '\n', n);

	for (size_t i = 0; i < SB_ARRAY_SIZE(wrong_kinds); i++) {
		if (n >= wrong_kinds[i].bytes &&
		    !memcmp(head, wrong_kinds[i].head, wrong_kinds[i].bytes))
			return sb_precheck_refuse(why, bytes, -EINVAL, "file ", path,
						  wrong_kinds[i].what);
	}
	if (line && line > head && line[-1] == '\r')
		return sb_precheck_refuse(
			why, bytes, -EINVAL, "file ", path,
			" has lines that end in CR LF; expected LF alone, as lstopo writes it");
	return 0;
}

static int check_contents(const char *path, char *why, size_t bytes)
{
	char head[1024];
	unsigned long number;
	FILE *in = fopen(path, "re");
	const char *wrong;
	size_t n;
	int rc;

	if (!in)
		return sb_precheck_refuse(why, bytes, -errno, "file ", path, " cannot be read");
	n = fread(head, 1, sizeof(head), in);
	fclose(in);
	rc = check_head(path, head, n, why, bytes);
	if (rc)
		return rc;
	wrong = sb_xml_wrong(path, &number);
	if (wrong)
		return sb_precheck_refuse(why, bytes, -EINVAL, "file ", path, wrong);
	return number ? refuse_number(path, number, why, bytes) : 0;
}

int sb_precheck_file(const char *path, off_t size, char *why, size_t bytes)
{
	if ((uint64_t)size > SB_PROFILE_FILE_MAX)
		return sb_precheck_refuse(why, bytes, -EFBIG, "file ", path,
					  " is larger than 64 MiB; expected hwloc's XML");
	/* Also what the kernel makes up, where a read may block for ever. */
	if (!size)
		return sb_precheck_refuse(
			why, bytes, -EINVAL, "file ", path,
			" is empty, which is not XML; expected what lstopo writes");
	return check_contents(path, why, bytes);
}

int sb_precheck_directory(const char *path, char *why, size_t bytes)
{
	char inner[PATH_MAX];
	unsigned long number;

	snprintf(inner, sizeof(inner), "%s/sys/devices/system/cpu", path);
	if (access(inner, F_OK))
		return sb_precheck_refuse(
			why, bytes, -EINVAL, "directory ", path,
			" has no sys/devices/system/cpu; expected what hwloc-gather-topology packs "
			"or hwloc-gather-cpuid writes");
	return sb_numbers_of_directory(path, &number) ? refuse_number(path, number, why, bytes) : 0;
}

/* ---- synthetic descriptions ---- */

/* hwloc makes some five comparisons in a nanosecond, and loads it twice. */
#define COMPARISONS_MAX (UINT64_C(1) << 30)

static int refuse_slow(const char *text, char *why, size_t bytes)
{
	return sb_precheck_refuse(why, bytes, -E2BIG, "", text,
				  " takes hwloc too long; expected no indexes=, or more levels "
				  "with fewer objects side by side");
}

int sb_precheck_synthetic(const char *text, struct sb_shape *shape, char *why, size_t bytes)
{
	unsigned long number;

	if (sb_shape_read(shape, text)) {
		char begin[41];

		snprintf(begin, sizeof(begin), "%s", text);
		return sb_precheck_refuse(why, bytes, -EINVAL, "synthetic description ", begin,
					  " (and so on) is too long");
	}
	if (shape->units > SB_PROFILE_PUS_MAX)
		return sb_precheck_refuse(why, bytes, -E2BIG, "", text, SB_PRECHECK_TOO_MANY);
	if (shape->has_indexes && shape->comparisons > COMPARISONS_MAX)
		return refuse_slow(text, why, bytes);
	if (sb_numbers_of_synthetic(text, &number))
		return refuse_number(text, number, why, bytes);
	return sb_numbers_twice_in_synthetic(text, &number) ? refuse_twice(text, number, why, bytes)
							    : 0;
}

/* ---- what hwloc has loaded ---- */

int sb_precheck_loaded(hwloc_topology_t topology, const char *text, char *why, size_t bytes)
{
	unsigned long number;

	return sb_numbers_twice(topology, &number) ? refuse_twice(text, number, why, bytes) : 0;
}
