#include "results/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/record/record.h"

bool sb_directory_holds(const char *directory, const char *name)
{
	char *path = sb_path_join(directory, name);
	const bool found = path && !access(path, F_OK);

	free(path);
	return found;
}

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

char *sb_path_temporary(const char *suffix)
{
	const char *root = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/sched-bench-XXXXXX%s", root && *root ? root : "/tmp", suffix) < 0)
		return NULL;
	return path;
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

/* ---- names ---- */

#define NAMES_MAX 100

/* Finds a free name beside the path: make returns -EEXIST if this one is not. */
static int make_temporary(struct sb_file *file, int (*make)(struct sb_file *file))
{
	int rc = -EEXIST;

	for (int n = 0; n < NAMES_MAX && rc == -EEXIST; n++) {
		if (asprintf(&file->temporary, "%s.tmp.%d.%d", file->path, getpid(), n) < 0) {
			file->temporary = NULL;
			return -ENOMEM;
		}
		rc = make(file);
		if (rc) {
			free(file->temporary);
			file->temporary = NULL;
		}
	}
	return rc;
}

static int create_temporary(struct sb_file *file)
{
	file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file->fd < 0 ? -errno : 0;
}

#define SOURCE_BYTES 40

/* The only name of a file without a name. */
static const char *source_of(const struct sb_file *file, char *out)
{
	snprintf(out, SOURCE_BYTES, "/proc/self/fd/%d", file->fd);
	return out;
}

static int link_to(const struct sb_file *file, const char *path)
{
	char from[SOURCE_BYTES];

	return linkat(AT_FDCWD, source_of(file, from), AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno
											  : 0;
}

static int link_temporary(struct sb_file *file)
{
	return link_to(file, file->temporary);
}

/* Without a name where the file system can do that and /proc is there to give it one at the end:
 * then a process that is killed leaves nothing. */
static int open_unnamed(struct sb_file *file)
{
	char *directory = sb_path_directory(file->path);
	char source[SOURCE_BYTES];
	int rc = 0;

	if (!directory)
		return -ENOMEM;
	file->fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	if (file->fd < 0)
		rc = -errno;
	free(directory);
	if (!rc && access(source_of(file, source), F_OK)) {
		rc = -errno;
		close(file->fd);
		file->fd = -1;
	}
	return rc;
}

/* A link cannot replace a file, and a rename needs a name. */
static int give_name(struct sb_file *file)
{
	int rc = file->temporary ? 0 : link_to(file, file->path);

	if (rc == -EEXIST)
		rc = make_temporary(file, link_temporary);
	if (!rc && file->temporary && rename(file->temporary, file->path))
		rc = -errno;
	if (rc && file->temporary)
		unlink(file->temporary);
	return rc;
}

/* ---- files ---- */

static void close_file(struct sb_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	forget(file);
}

/* Takes the path, which may be NULL for want of memory. */
static int begin(struct sb_file *file, char *path)
{
	const cookie_io_functions_t functions = { .write = write_all };
	int rc;

	*file = (struct sb_file){ .path = path, .fd = -1 };
	rc = path ? open_unnamed(file) : -ENOMEM;
	/* The way that file systems refuse differs; any other error is that of the second, too. */
	if (path && rc)
		rc = make_temporary(file, create_temporary);
	if (!rc) {
		file->stream = fopencookie(file, "w", functions);
		if (!file->stream) {
			rc = -ENOMEM;
			if (file->temporary)
				unlink(file->temporary);
		}
	}
	if (rc)
		close_file(file);
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

/* Returns 0 or -errno of the first write that failed. */
static int finish_writing(struct sb_file *file)
{
	(void)fclose(file->stream); /* writes what is left */
	if (!file->error && fsync(file->fd))
		file->error = -errno;
	return file->error;
}

int sb_file_commit(struct sb_file *file)
{
	int rc = finish_writing(file);

	if (!rc)
		rc = give_name(file);
	else if (file->temporary)
		unlink(file->temporary);
	if (!rc)
		rc = sync_parent(file->path);
	close_file(file);
	return rc;
}

void sb_file_abandon(struct sb_file *file)
{
	(void)fclose(file->stream);
	if (file->temporary)
		unlink(file->temporary);
	close_file(file);
}

int sb_file_write(const struct sb_result *result, const char *name,
		  int (*write)(const struct sb_result *result, FILE *out))
{
	struct sb_file file;
	int rc = sb_file_begin(&file, result->directory, name);

	if (rc)
		return rc;
	rc = write(result, file.stream);
	if (!rc)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return rc;
}

static int check_open(int fd, uint64_t most)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info))
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	return (uint64_t)info.st_size > most ? -EFBIG : 0;
}

FILE *sb_file_open(const char *path, uint64_t most, int *error)
{
	/* A pipe without a writer would never open otherwise. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *in = NULL;

	*error = check_open(fd, most);
	if (!*error) {
		in = fdopen(fd, "r");
		*error = in ? 0 : -errno;
	}
	if (!in && fd >= 0)
		close(fd);
	return in;
}

#define COPY_BYTES 16384

int sb_file_copy(const char *path, FILE *out)
{
	char buffer[COPY_BYTES];
	size_t n;
	int rc;
	FILE *in = sb_file_open(path, UINT64_MAX, &rc);

	if (!in)
		return rc;
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
	for (char *slash = strchr(copy + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		rc = make_one(copy);
		*slash = '/';
	}
	if (!rc)
		rc = make_one(copy);
	free(copy);
	return rc;
}

int sb_directory_check(const char *path)
{
	struct stat info;

	return !lstat(path, &info) && S_ISLNK(info.st_mode) ? -ELOOP : 0;
}

static int remove_found(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

void sb_directory_remove(const char *path)
{
	/* An empty one needs no memory and no file. */
	if (rmdir(path))
		(void)nftw(path, remove_found, 16, FTW_DEPTH | FTW_PHYS);
}
