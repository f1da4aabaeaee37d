#include "harness/kernel/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/kernel/procfs.h"

bool sb_cgroup_own(const char *text, const char *controller, char *out, size_t bytes)
{
	char line[PATH_MAX];

	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *list;
		char *path;
		char *rest;
		char *name;

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		text += length + (text[length] != '\0');
		rest = strchr(line, ':');
		path = rest ? strchr(rest + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		list = rest + 1;
		while ((name = strsep(&list, ","))) {
			if (strcmp(name, controller) != 0)
				continue;
			snprintf(out, bytes, "%s", path);
			return true;
		}
	}
	return false;
}

static const struct hierarchy {
	const char *controller;
	const char *mount;
	const char *field;
	double per_ms;
} hierarchies[] = {
	{ "", "/sys/fs/cgroup", "throttled_usec", 1e3 },
	{ "", "/sys/fs/cgroup/unified", "throttled_usec", 1e3 },
	{ "cpu", "/sys/fs/cgroup/cpu", "throttled_time", 1e6 },
	{ "cpu", "/sys/fs/cgroup/cpu,cpuacct", "throttled_time", 1e6 },
};

/* Adds what one group says; false: it says nothing. version 2 has "key value"
 * without a colon, and so has version 1. */
static bool add_group(const char *root, const struct hierarchy *h, const char *group, double *ms)
{
	char path[2 * PATH_MAX];
	char text[4096];
	const char *at;
	uint64_t n;

	snprintf(path, sizeof(path), "%s%s/cpu.stat", h->mount, group);
	if (sb_procfs_read(root, path, text, sizeof(text)))
		return false;
	at = strstr(text, h->field);
	if (!at || !sb_procfs_word(at, 1, &n))
		return false;
	*ms += (double)n / h->per_ms;
	return true;
}

/* The group itself and all around it; the text is used up. In a container the
 * path may be the host's, and the files are those of the top. */
static bool add_groups(const char *root, const struct hierarchy *h, char *group, double *ms)
{
	bool any = false;
	char *end;

	if (!strcmp(group, "/"))
		*group = '\0';
	do {
		any |= add_group(root, h, group, ms);
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return any;
}

double sb_cgroup_throttled_ms(const char *root)
{
	char text[4096];
	char group[PATH_MAX];
	double most = NAN;

	if (sb_procfs_read(root, "/proc/self/cgroup", text, sizeof(text)))
		return NAN;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hierarchies); i++) {
		double ms = 0;

		/* Some systems have one hierarchy under two names. */
		if (sb_cgroup_own(text, hierarchies[i].controller, group, sizeof(group)) &&
		    add_groups(root, &hierarchies[i], group, &ms))
			most = fmax(most, ms);
	}
	return most;
}
