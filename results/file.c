#include "results/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *sb_path_join(const char *directory, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static void forget(struct sb_file *file)
{
	free(file->path);
	free(file->temporary);
	*file = (struct sb_file){ NULL, NULL, NULL };
}

/* Takes the path, which may be NULL for want of memory. */
static int begin(struct sb_file *file, char *path)
{
	int rc = -ENOMEM;

	*file = (struct sb_file){ .path = path };
	if (file->path &&
	    asprintf(&file->temporary, "%s.tmp.%d", file->path, getpid()) < 0)
		file->temporary = NULL;
	if (file->temporary) {
		file->stream = fopen(file->temporary, "we");
		rc = file->stream ? 0 : -errno;
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

static int flush_and_close(FILE *stream)
{
	int rc = 0;

	if (ferror(stream) || fflush(stream) || fsync(fileno(stream)))
		rc = errno ? -errno : -EIO;
	if (fclose(stream) && !rc)
		rc = -errno;
	return rc;
}

int sb_file_commit(struct sb_file *file)
{
	int rc = flush_and_close(file->stream);

	if (!rc && rename(file->temporary, file->path))
		rc = -errno;
	if (rc)
		unlink(file->temporary);
	forget(file);
	return rc;
}

void sb_file_abandon(struct sb_file *file)
{
	fclose(file->stream);
	unlink(file->temporary);
	forget(file);
}

static int make_one(const char *path)
{
	struct stat info;

	if (!mkdir(path, 0777))
		return 0;
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
