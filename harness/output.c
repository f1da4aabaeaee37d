#include "harness/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

int sb_output(const char *path, sb_output_writer write, const void *what)
{
	char *real;
	struct stat status;
	int rc;

	if (!strcmp(path, "-"))
		return write(what, stdout);
	real = realpath(path, NULL); /* what a link points to */
	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		rc = write_to(path, write, what);
	else
		rc = write_whole(real ? real : path, write, what);
	free(real);
	return rc;
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
