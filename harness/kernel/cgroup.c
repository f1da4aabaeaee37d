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
	const char *controller; /* "": version 2 */
	const char *mount;
} hierarchies[] = {
	{ "", "/sys/fs/cgroup" },
	{ "", "/sys/fs/cgroup/unified" },
	{ "cpu", "/sys/fs/cgroup/cpu" },
	{ "cpu", "/sys/fs/cgroup/cpu,cpuacct" },
	{ "cpu", "/sys/fs/cgroup/cpuacct,cpu" },
};

/* Adds what a group's files say; false: they say nothing. */
typedef bool (*add_group)(const char *root, const struct hierarchy *h, const char *group,
			  void *sum);

/* "/sys/fs/cgroup/a/b/cpu.max" */
#define FILE_BYTES (PATH_MAX + 96)

/* The group itself and all around it, from the text of /proc/self/cgroup. In a container the path
 * may be the host's, and the files are those of the top. */
static bool add_groups(const char *root, const struct hierarchy *h, const char *text, add_group add,
		       void *sum)
{
	char group[PATH_MAX];
	bool any = false;
	char *end;

	if (!sb_cgroup_own(text, h->controller, group, sizeof(group)))
		return false;
	if (!strcmp(group, "/"))
		*group = '\0';
	do {
		any |= add(root, h, group, sum);
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return any;
}

/* ---- waiting for quotas ---- */

/* Both versions have "key value" without a colon. */
static bool add_throttled(const char *root, const struct hierarchy *h, const char *group, void *sum)
{
	const bool is_v2 = !*h->controller;
	double *ms = sum;
	char path[FILE_BYTES];
	char text[2048];
	const char *at;
	uint64_t n;

	snprintf(path, sizeof(path), "%s%s/cpu.stat", h->mount, group);
	if (sb_procfs_read(root, path, text, sizeof(text)))
		return false;
	at = strstr(text, is_v2 ? "throttled_usec" : "throttled_time");
	if (!at || !sb_procfs_word(at, 1, &n))
		return false;
	*ms += (double)n / (is_v2 ? 1e3 : 1e6);
	return true;
}

double sb_cgroup_throttled_ms(const char *root)
{
	char text[8192];
	double most = NAN;

	if (sb_procfs_read(root, "/proc/self/cgroup", text, sizeof(text)))
		return NAN;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hierarchies); i++) {
		double ms = 0;

		/* Some systems have one hierarchy under two names. */
		if (add_groups(root, &hierarchies[i], text, add_throttled, &ms))
			most = fmax(most, ms);
	}
	return most;
}

/* ---- quotas ---- */

/* "max 100000" or "50000 100000". */
static bool read_quota_v2(const char *root, const struct hierarchy *h, const char *group,
			  double *cpus)
{
	char path[FILE_BYTES];
	char line[64];
	uint64_t quota;
	uint64_t period;

	snprintf(path, sizeof(path), "%s%s/cpu.max", h->mount, group);
	if (!sb_procfs_line(root, path, line, sizeof(line)))
		return false;
	if (!strncmp(line, "max", 3))
		return true;
	if (!sb_procfs_word(line, 0, &quota) || !sb_procfs_word(line, 1, &period) || !period)
		return false;
	*cpus = (double)quota / (double)period;
	return true;
}

/* The same in two files; -1 is none. */
static bool read_quota_v1(const char *root, const struct hierarchy *h, const char *group,
			  double *cpus)
{
	char path[FILE_BYTES];
	int64_t quota;
	int64_t period;

	snprintf(path, sizeof(path), "%s%s/cpu.cfs_quota_us", h->mount, group);
	if (!sb_procfs_number(root, path, &quota))
		return false;
	if (quota < 0)
		return true;
	snprintf(path, sizeof(path), "%s%s/cpu.cfs_period_us", h->mount, group);
	if (!sb_procfs_number(root, path, &period) || period <= 0)
		return false;
	*cpus = (double)quota / (double)period;
	return true;
}

static bool add_quota(const char *root, const struct hierarchy *h, const char *group, void *sum)
{
	const bool is_v2 = !*h->controller;
	struct sb_quota *all = sum;
	double cpus = INFINITY;

	if (!(is_v2 ? read_quota_v2 : read_quota_v1)(root, h, group, &cpus))
		return false;
	all->groups += !isinf(cpus);
	if (cpus >= all->cpus)
		return true;
	all->cpus = cpus;
	/* The top of a hierarchy has no quota, except in a container that sees its group there. */
	if (*group)
		snprintf(all->lift, sizeof(all->lift),
			 is_v2 ? "echo max > '%s%s/cpu.max'" : "echo -1 > '%s%s/cpu.cfs_quota_us'",
			 h->mount, group);
	else
		snprintf(all->lift, sizeof(all->lift),
			 "start the container with more CPUs (docker run --cpus=N, "
			 "resources.limits.cpu of a pod)");
	return true;
}

bool sb_cgroup_quota(const char *root, struct sb_quota *quota)
{
	char text[8192];
	bool found[2] = { false, false }; /* of each version: the first that is mounted */

	*quota = (struct sb_quota){ .cpus = INFINITY };
	if (sb_procfs_read(root, "/proc/self/cgroup", text, sizeof(text)))
		return false;
	for (size_t i = 0; i < SB_ARRAY_SIZE(hierarchies); i++) {
		bool *is_found = &found[!*hierarchies[i].controller];

		*is_found = *is_found || add_groups(root, &hierarchies[i], text, add_quota, quota);
	}
	return found[0] || found[1];
}
