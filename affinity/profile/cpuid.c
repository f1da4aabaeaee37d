#include "affinity/profile/cpuid.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "affinity/profile/numbers.h"
#include "affinity/profile/precheck.h"
#include "affinity/profile/profile.h"

#define SUMMARY	   "hwloc-cpuid-info"
#define LINE_BYTES 128 /* hwloc's own limit */

bool sb_cpuid_is_dump(const char *directory)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s/" SUMMARY, directory);
	return !stat(path, &status);
}

static bool is_of_x86(const char *directory)
{
	FILE *in = sb_profile_open(directory, SUMMARY);
	char line[LINE_BYTES];
	bool found = false;

	if (!in)
		return false;
	while (!found && fgets(line, sizeof(line), in))
		found = !strncmp(line, "Architecture: x86", 17);
	fclose(in);
	return found;
}

/* "1 b 0 0 0 => 0 1 100 0": which registers count, what they are set to, and the
 * answer. */
static bool is_answer(const char *line)
{
	for (int i = 0; i < 9; i++) {
		char *end;

		if (i == 5) {
			if (strncmp(line, " => ", 4) != 0)
				return false;
			line += 3;
		}
		errno = 0;
		if (strtoul(line, &end, 16) > UINT32_MAX || errno || end == line)
			return false;
		line = end;
	}
	return *line == '\n';
}

/* The number of the first line that is none of a dump, 0: there is none. */
static uint32_t find_bad_line(FILE *in)
{
	char line[LINE_BYTES];
	uint32_t answers = 0;
	uint32_t number = 0;

	while (fgets(line, sizeof(line), in)) {
		number++;
		if (*line != '#' && !is_answer(line))
			return number;
		answers += *line != '#';
	}
	return answers ? 0 : number + 1;
}

static int check_unit(const char *directory, uint32_t unit, char *why, size_t bytes)
{
	char name[24];
	char after[120];
	uint32_t bad;
	FILE *in;

	snprintf(name, sizeof(name), "pu%" PRIu32, unit);
	in = sb_profile_open(directory, name);
	if (!in) {
		snprintf(after, sizeof(after),
			 " has no file %s that can be read; expected pu0, pu1 and so on without a "
			 "gap",
			 name);
		return sb_precheck_refuse(why, bytes, -EINVAL, "directory ", directory, after);
	}
	bad = find_bad_line(in);
	fclose(in);
	if (!bad)
		return 0;
	snprintf(after, sizeof(after),
		 ": %s:%" PRIu32
		 ": expected what hwloc-gather-cpuid writes, such as '1 b 0 0 0 => 0 1 100 0'",
		 name, bad);
	return sb_precheck_refuse(why, bytes, -EINVAL, "directory ", directory, after);
}

/* Files pu0, pu1 and so on; any of them may be missing. */
static uint32_t count_units(const char *directory)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;
	uint32_t units = 0;

	while (entries && (entry = readdir(entries))) {
		const char *digits = entry->d_name + 2;

		units += !strncmp(entry->d_name, "pu", 2) && *digits &&
			 strspn(digits, "0123456789") == strlen(digits);
	}
	if (entries)
		closedir(entries);
	return units;
}

int sb_cpuid_check(const char *directory, uint32_t *units, char *why, size_t bytes)
{
	int rc = 0;

	if (!is_of_x86(directory))
		return sb_precheck_refuse(why, bytes, -EINVAL, "directory ", directory,
					  ": " SUMMARY " does not say 'Architecture: x86'; "
					  "expected what hwloc-gather-cpuid writes");
	*units = count_units(directory);
	if (*units > SB_PROFILE_PUS_MAX)
		return sb_precheck_refuse(why, bytes, -E2BIG, "", directory, SB_PRECHECK_TOO_MANY);
	for (uint32_t i = 0; !rc && i < (*units ? *units : 1); i++)
		rc = check_unit(directory, i, why, bytes);
	return rc;
}
