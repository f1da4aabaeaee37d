#include "harness/kernel/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

/* Several reads: the kernel gives long files page by page. */
static int read_all(int fd, char *out, size_t bytes)
{
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && used < bytes - 1) {
		n = read(fd, out + used, bytes - 1 - used);
		if (n > 0)
			used += (size_t)n;
	}
	out[used] = '\0';
	return n < 0 ? -errno : 0;
}

int sb_procfs_read(const char *root, const char *path, char *out, size_t bytes)
{
	char name[PATH_MAX];
	int fd;
	int rc;

	SB_CHECK(bytes, >, 0);
	out[0] = '\0';
	if ((size_t)snprintf(name, sizeof(name), "%s%s", root, path) >= sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	rc = read_all(fd, out, bytes);
	close(fd);
	return rc;
}

bool sb_procfs_line(const char *root, const char *path, char *out, size_t bytes)
{
	if (sb_procfs_read(root, path, out, bytes))
		return false;
	out[strcspn(out, "\n")] = '\0';
	return true;
}

bool sb_procfs_number(const char *root, const char *path, int64_t *out)
{
	char line[64];
	char *end;

	if (!sb_procfs_line(root, path, line, sizeof(line)))
		return false;
	errno = 0;
	*out = strtoll(line, &end, 10);
	return end != line && !*end && !errno;
}

/* ---- texts ---- */

/* A count at *text, after spaces; moves behind it. */
static bool take_count(const char **text, uint64_t *out)
{
	const char *start = *text + strspn(*text, " \t");
	char *end;

	if (*start < '0' || *start > '9')
		return false;
	errno = 0;
	*out = strtoull(start, &end, 10);
	*text = end;
	return !errno && (!*end || strchr(" \t\n", *end));
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

bool sb_procfs_field(const char *text, const char *key, uint64_t *out)
{
	const size_t length = strlen(key);
	bool found = false;

	for (const char *line = text; line; line = next_line(line)) {
		const char *value = line + length;

		if (strncmp(line, key, length) != 0)
			continue;
		value += strspn(value, " \t");
		if (*value++ != ':')
			continue;
		found = take_count(&value, out);
	}
	return found;
}

bool sb_procfs_word(const char *line, unsigned int word, uint64_t *out)
{
	line += strspn(line, " \t");
	for (; word; word--) {
		line += strcspn(line, " \t\n");
		line += strspn(line, " \t");
	}
	return take_count(&line, out);
}

const char *sb_procfs_stat_words(const char *text)
{
	/* The name is in parentheses and may hold any number of them. */
	const char *end = strrchr(text, ')');

	return end ? end + 1 : NULL;
}

bool sb_procfs_stat_faults(const char *text, struct sb_procfs_faults *out)
{
	const char *words = sb_procfs_stat_words(text);

	return words && sb_procfs_word(words, 7, &out->minor) &&
	       sb_procfs_word(words, 9, &out->major);
}

bool sb_procfs_schedstat(const char *text, struct sb_procfs_times *out)
{
	return take_count(&text, &out->run_ns) && take_count(&text, &out->delay_ns);
}

/* user nice system idle iowait irq softirq steal; guests are in user. */
#define TICK_COLUMNS 8

bool sb_procfs_cpu_ticks(const char *text, int cpu, struct sb_procfs_ticks *out)
{
	char key[24] = "cpu ";
	const char *line;

	if (cpu >= 0)
		snprintf(key, sizeof(key), "cpu%d ", cpu);
	for (line = text; line && strncmp(line, key, strlen(key)) != 0;)
		line = next_line(line);
	if (!line)
		return false;
	line += strlen(key);
	out->all = 0;
	for (int column = 0; column < TICK_COLUMNS; column++) {
		if (!take_count(&line, &out->steal))
			return false;
		out->all += out->steal;
	}
	return true;
}
