#include "results/files/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "results/files/file.h"

#define STAGE "stage.tmp."

/* In each stage, locked as long as its process lives: so a stage that is left over is
 * told from one in use, and from a directory of somebody else's. */
#define OWNER	   ".sched-bench"
#define OWNER_TEXT "sched-bench writes here\n"

typedef int (*visitor)(void *arg, const char *directory, const char *name);

/* Calls visit for each entry but . and .., until one returns an error. Returns
 * that, or 0. */
static int visit_open(DIR *directory, const char *path, visitor visit, void *arg)
{
	const struct dirent *entry;
	int rc = 0;

	rewinddir(directory);
	while (!rc && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = visit(arg, path, entry->d_name);
	}
	return rc;
}

static void visit_entries(const char *path, visitor visit, void *arg)
{
	DIR *directory = opendir(path);

	if (!directory)
		return;
	(void)visit_open(directory, path, visit, arg);
	closedir(directory);
}

/* Without memory, which there may be none of. */
static int remove_entry(void *entries, const char *directory, const char *name)
{
	(void)directory;
	(void)unlinkat(dirfd(entries), name, 0);
	return 0;
}

static void remove_directory(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);

	if (!entries)
		return;
	(void)visit_open(entries, path, remove_entry, entries);
	closedir(entries);
	rmdir(path);
}

static const struct ending {
	const char *suffix;
	const char *bytes;
	size_t length;
} endings[] = {
	{ ".svg", "</svg>\n", 7 },
	{ ".png", "IEND\xae\x42\x60\x82", 8 },
};

static const struct ending *find_ending(const char *path)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(endings); i++) {
		const char *suffix = endings[i].suffix;
		const size_t length = strlen(path);

		if (length > strlen(suffix) && !strcmp(path + length - strlen(suffix), suffix))
			return &endings[i];
	}
	return NULL;
}

/* SVG may have blank lines behind its end. */
static bool has_ending(int fd, const struct ending *ending)
{
	char tail[64];
	const off_t size = lseek(fd, 0, SEEK_END);
	const off_t from = size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) : 0;
	const ssize_t n = pread(fd, tail, sizeof(tail), from);

	return n > 0 && memmem(tail, (size_t)n, ending->bytes, ending->length);
}

static int check_and_sync(const char *path)
{
	const struct ending *ending = find_ending(path);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ending && !has_ending(fd, ending))
		rc = -ENOSPC;
	else if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

/* Returns the locked file, or -errno. */
static int take_ownership(const char *stage)
{
	char *path = sb_path_join(stage, OWNER);
	const size_t length = strlen(OWNER_TEXT);
	int fd = -ENOMEM;

	if (path) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		fd = fd < 0 ? -errno : fd;
	}
	free(path);
	if (fd >= 0 &&
	    (write(fd, OWNER_TEXT, length) != (ssize_t)length || flock(fd, LOCK_EX | LOCK_NB))) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* A stage whose process is no more. */
static bool is_left_over(const char *stage)
{
	char *path = sb_path_join(stage, OWNER);
	char text[sizeof(OWNER_TEXT)] = "";
	const int fd = path ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool is = false;

	free(path);
	if (fd < 0)
		return false;
	is = read(fd, text, sizeof(text) - 1) > 0 && !strcmp(text, OWNER_TEXT) &&
	     !flock(fd, LOCK_EX | LOCK_NB);
	close(fd);
	return is;
}

static int clear_entry(void *unused, const char *directory, const char *name)
{
	char *path;

	(void)unused;
	if (strncmp(name, STAGE, strlen(STAGE)) != 0)
		return 0;
	path = sb_path_join(directory, name);
	if (path && is_left_over(path))
		remove_directory(path);
	free(path);
	return 0;
}

void sb_stage_clear_leftovers(const char *path)
{
	visit_entries(path, clear_entry, NULL);
}

static void clear(struct sb_stage *stage)
{
	if (stage->entries) {
		(void)visit_open(stage->entries, stage->path, remove_entry, stage->entries);
		closedir(stage->entries);
	}
	rmdir(stage->path);
}

/* Where it is. Returns 0 or -errno. */
static int make_stage(struct sb_stage *stage)
{
	if (asprintf(&stage->path, "%s/" STAGE "XXXXXX", stage->directory) < 0) {
		stage->path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(stage->path))
		return -errno;
	stage->entries = opendir(stage->path);
	stage->owner = stage->entries ? take_ownership(stage->path) : -errno;
	if (stage->owner >= 0)
		return 0;
	clear(stage);
	return stage->owner;
}

int sb_stage_begin(struct sb_stage *stage, const char *directory)
{
	int rc = sb_directory_check(directory);

	rc = rc ? rc : sb_directory_make(directory);
	if (!rc)
		sb_stage_clear_leftovers(directory);
	*stage = (struct sb_stage){ .directory = strdup(directory), .owner = -1 };
	if (!stage->directory)
		rc = -ENOMEM;
	if (!rc)
		rc = make_stage(stage);
	if (rc) {
		free(stage->path);
		free(stage->directory);
		*stage = (struct sb_stage){ .owner = -1 };
	}
	return rc;
}

static int check_entry(void *unused, const char *directory, const char *name)
{
	char *path;
	int rc;

	(void)unused;
	if (!strcmp(name, OWNER))
		return 0;
	path = sb_path_join(directory, name);
	rc = path ? check_and_sync(path) : -ENOMEM;
	free(path);
	return rc;
}

static int move_entry(void *to, const char *directory, const char *name)
{
	char *from;
	char *path;
	int rc;

	if (!strcmp(name, OWNER))
		return 0;
	from = sb_path_join(directory, name);
	path = sb_path_join(to, name);
	rc = from && path ? 0 : -ENOMEM;
	if (!rc && rename(from, path))
		rc = -errno;
	free(from);
	free(path);
	return rc;
}

int sb_stage_commit(struct sb_stage *stage)
{
	int rc = visit_open(stage->entries, stage->path, check_entry, NULL);

	if (!rc)
		rc = visit_open(stage->entries, stage->path, move_entry, stage->directory);
	if (!rc)
		rc = sb_directory_sync(stage->directory);
	sb_stage_abandon(stage);
	return rc;
}

void sb_stage_abandon(struct sb_stage *stage)
{
	clear(stage);
	close(stage->owner);
	free(stage->path);
	free(stage->directory);
	*stage = (struct sb_stage){ .owner = -1 };
}
