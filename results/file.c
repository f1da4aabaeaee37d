#include "results/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What temporary names have, before the process. */
#define MARK  ".tmp."
#define STAGE "stage" MARK

char *sb_path_join(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

char *sb_path_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Not every one can be synced. */
int sb_directory_sync(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		rc = -errno;
	close(fd);
	return rc;
}

static int sync_parent(const char *path)
{
	char *parent = sb_path_directory(path);
	const int rc = parent ? sb_directory_sync(parent) : -ENOMEM;

	free(parent);
	return rc;
}

static void forget(struct sb_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct sb_file){ .fd = -1 };
}

/* A stream keeps what it could not write, or does not, and so the reason why would
 * be known later, or not at all. */
static ssize_t write_all(void *cookie, const char *bytes, size_t n)
{
	struct sb_file *file = cookie;
	size_t done = 0;

	while (done < n && !file->error) {
		const ssize_t written = write(file->fd, bytes + done, n - done);

		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			file->error = -errno;
	}
	return (ssize_t)done;
}

/* Returns 0 or -errno. */
static int open_stream(struct sb_file *file)
{
	const cookie_io_functions_t functions = { .write = write_all };

	file->fd = open(file->temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd < 0)
		return -errno;
	file->stream = fopencookie(file, "w", functions);
	if (file->stream)
		return 0;
	close(file->fd);
	unlink(file->temporary);
	return -ENOMEM;
}

/* Takes the path, which may be NULL for want of memory. */
static int begin(struct sb_file *file, char *path)
{
	int rc = -ENOMEM;

	*file = (struct sb_file){ .path = path, .fd = -1 };
	if (file->path && asprintf(&file->temporary, "%s" MARK "%d", file->path,
				   getpid()) < 0)
		file->temporary = NULL;
	if (file->temporary) {
		/* A link of that name would lead elsewhere. */
		unlink(file->temporary);
		rc = open_stream(file);
	}
	if (rc)
		forget(file);
	return rc;
}

int sb_file_begin(struct sb_file *file, const char *directory, const char *name)
{
	return begin(file, sb_path_join(directory, name));
}

int sb_file_begin_path(struct sb_file *file, const char *path)
{
	return begin(file, strdup(path));
}

/* Returns 0 or -errno of the first thing that failed. */
static int close_stream(struct sb_file *file)
{
	int rc;

	(void)fclose(file->stream); /* writes what is left */
	rc = file->error;
	if (!rc && fsync(file->fd))
		rc = -errno;
	if (close(file->fd) && !rc)
		rc = -errno;
	return rc;
}

int sb_file_commit(struct sb_file *file)
{
	int rc = close_stream(file);

	if (!rc && rename(file->temporary, file->path))
		rc = -errno;
	if (rc)
		unlink(file->temporary);
	else
		rc = sync_parent(file->path);
	forget(file);
	return rc;
}

void sb_file_abandon(struct sb_file *file)
{
	(void)fclose(file->stream);
	close(file->fd);
	unlink(file->temporary);
	forget(file);
}

#define COPY_BYTES 16384

int sb_file_copy(const char *path, FILE *out)
{
	FILE *in = fopen(path, "re");
	char buffer[COPY_BYTES];
	size_t n;
	int rc = 0;

	if (!in)
		return -errno;
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		(void)fwrite(buffer, 1, n, out);
	if (ferror(in))
		rc = -EIO;
	fclose(in);
	return rc;
}

static int make_one(const char *path)
{
	struct stat info;

	if (!mkdir(path, 0777))
		return sync_parent(path);
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &info))
		return -errno;
	return S_ISDIR(info.st_mode) ? 0 : -ENOTDIR;
}

int sb_directory_make(const char *path)
{
	char *copy = strdup(path);
	int rc = 0;

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash && !rc;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		rc = make_one(copy);
		*slash = '/';
	}
	if (!rc)
		rc = make_one(copy);
	free(copy);
	return rc;
}

/* ---- stages ---- */

/* Calls visit for each entry but . and .., until one returns an error. Returns
 * that, or 0 or -errno. */
static int visit_entries(const char *path,
			 int (*visit)(void *arg, const char *directory,
				      const char *name),
			 void *arg)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int rc = 0;

	if (!directory)
		return -errno;
	while (!rc && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = visit(arg, path, entry->d_name);
	}
	closedir(directory);
	return rc;
}

static int remove_entry(void *unused, const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);

	(void)unused;
	if (path)
		unlink(path);
	free(path);
	return 0;
}

static void remove_directory(const char *path)
{
	(void)visit_entries(path, remove_entry, NULL);
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

		if (length > strlen(suffix) &&
		    !strcmp(path + length - strlen(suffix), suffix))
			return &endings[i];
	}
	return NULL;
}

/* SVG may have blank lines behind its end. */
static bool has_ending(int fd, const struct ending *ending)
{
	char tail[64];
	const off_t size = lseek(fd, 0, SEEK_END);
	const off_t from =
		size > (off_t)sizeof(tail) ? size - (off_t)sizeof(tail) : 0;
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

/* NAME.tmp.PID of a process that is no more; this one has none yet. */
static bool is_leftover(const char *name)
{
	const char *mark = strstr(name, MARK);
	char *end;
	long pid;

	if (!mark)
		return false;
	pid = strtol(mark + strlen(MARK), &end, 10);
	return !*end && pid > 0 && pid <= INT32_MAX &&
	       (pid == getpid() || (kill((pid_t)pid, 0) && errno == ESRCH));
}

static int clear_entry(void *unused, const char *directory, const char *name)
{
	char *path;

	(void)unused;
	if (!is_leftover(name))
		return 0;
	path = sb_path_join(directory, name);
	/* Another directory of such a name is not ours. */
	if (path && unlink(path) && !strncmp(name, STAGE, strlen(STAGE)))
		remove_directory(path);
	free(path);
	return 0;
}

void sb_directory_clear_leftovers(const char *path)
{
	(void)visit_entries(path, clear_entry, NULL);
}

int sb_stage_begin(struct sb_stage *stage, const char *directory)
{
	int rc = sb_directory_make(directory);

	sb_directory_clear_leftovers(directory);
	*stage = (struct sb_stage){ .directory = strdup(directory) };
	if (asprintf(&stage->path, "%s/" STAGE "%d", directory, getpid()) < 0)
		stage->path = NULL;
	if (!stage->path || !stage->directory)
		rc = -ENOMEM;
	if (!rc && mkdir(stage->path, 0777))
		rc = -errno;
	if (rc) {
		free(stage->path);
		free(stage->directory);
		*stage = (struct sb_stage){ NULL, NULL };
	}
	return rc;
}

static int check_entry(void *unused, const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	const int rc = path ? check_and_sync(path) : -ENOMEM;

	(void)unused;
	free(path);
	return rc;
}

static int move_entry(void *to, const char *directory, const char *name)
{
	char *from = sb_path_join(directory, name);
	char *path = sb_path_join(to, name);
	int rc = from && path ? 0 : -ENOMEM;

	if (!rc && rename(from, path))
		rc = -errno;
	free(from);
	free(path);
	return rc;
}

int sb_stage_commit(struct sb_stage *stage)
{
	int rc = visit_entries(stage->path, check_entry, NULL);

	if (!rc)
		rc = visit_entries(stage->path, move_entry, stage->directory);
	if (!rc)
		rc = sb_directory_sync(stage->directory);
	sb_stage_abandon(stage);
	return rc;
}

void sb_stage_abandon(struct sb_stage *stage)
{
	remove_directory(stage->path);
	free(stage->path);
	free(stage->directory);
	*stage = (struct sb_stage){ NULL, NULL };
}

static int remove_found(const char *path, const struct stat *info, int type,
			struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void sb_directory_remove(const char *path)
{
	(void)nftw(path, remove_found, 16, FTW_DEPTH | FTW_PHYS);
}
