#include "harness/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/status.h"
#include "results/file.h"

/* A device or pipe is nothing that could be replaced. */
static int write_to(const char *path, sb_output_writer write, const void *what)
{
	FILE *out = fopen(path, "we");
	int rc;

	if (!out)
		return -errno;
	rc = write(what, out);
	if (!rc && (ferror(out) || fflush(out)))
		rc = errno ? -errno : -EIO;
	return fclose(out) && !rc ? -errno : rc;
}

static int write_whole(const char *path, sb_output_writer write,
		       const void *what)
{
	const char *slash = strrchr(path, '/');
	char *directory =
		slash ? strndup(path,
				slash == path ? 1 : (size_t)(slash - path))
		      : strdup(".");
	struct sb_file file;
	int rc = -ENOMEM;

	if (directory)
		rc = sb_file_begin(&file, directory, slash ? slash + 1 : path);
	free(directory);
	if (rc)
		return rc;
	rc = write(what, file.stream);
	if (!rc)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return rc;
}

/* The name is that file's, and beside it is the other one. */
static bool is_beside(const char *path, const char *name, const char *other)
{
	const char *slash = strrchr(path, '/');
	const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
	char *beside;
	bool found;

	if (strcmp(path + directory, name) != 0 ||
	    asprintf(&beside, "%.*s%s", (int)directory, path, other) < 0)
		return false;
	found = !access(path, F_OK) && !access(beside, F_OK);
	free(beside);
	return found;
}

bool sb_output_is_kept(const char *path)
{
	char *real = realpath(path, NULL);
	const bool kept =
		real && (is_beside(real, "result.json", "meta.json") ||
			 is_beside(real, "meta.json", "result.json"));

	free(real);
	return kept;
}

int sb_output(const char *path, sb_output_writer write, const void *what)
{
	char *real;
	struct stat status;
	int rc;

	if (!strcmp(path, "-"))
		return write(what, stdout);
	if (sb_output_is_kept(path))
		return -EEXIST;
	real = realpath(path, NULL); /* what a link points to */
	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		rc = write_to(path, write, what);
	else
		rc = write_whole(real ? real : path, write, what);
	free(real);
	return rc;
}

const char *sb_output_why(int rc)
{
	return rc == -EEXIST ? "it is a result's own file" : strerror(-rc);
}

int sb_output_status(int rc)
{
	switch (-rc) {
	case ENOMEM:
		return SB_EXIT_BUG;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
	case EIO:
		return SB_EXIT_ENVIRONMENT;
	default:
		return SB_EXIT_USAGE;
	}
}
