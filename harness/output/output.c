#include "harness/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/terminal/status.h"
#include "results/files/file.h"

/* The writer's status, and whether all of it has gone out. */
static int end_writing(FILE *out, int rc)
{
	/* Unwritten data is still there, so flushing tells why. */
	errno = 0;
	if (!rc && (fflush(out) || ferror(out)))
		rc = errno ? -errno : -EIO;
	return rc;
}

static int write_special(const char *path, sb_output_writer write, const void *what)
{
	FILE *out = fopen(path, "we");
	int rc;

	if (!out)
		return -errno;
	rc = end_writing(out, write(what, out));
	return fclose(out) && !rc ? -errno : rc;
}

int sb_output_inside(const char *path, sb_output_writer write, const void *what)
{
	struct sb_file file;
	int rc = sb_file_begin_path(&file, path);

	if (rc)
		return rc;
	rc = write(what, file.stream);
	if (!rc)
		return sb_file_commit(&file);
	sb_file_abandon(&file);
	return rc;
}

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

/* A device or pipe is nothing that could be replaced. */
static bool is_special(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode);
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
	const bool kept = real && (is_beside(real, "result.json", "meta.json") ||
				   is_beside(real, "meta.json", "result.json"));

	free(real);
	return kept;
}

int sb_output(const char *path, sb_output_writer write, const void *what)
{
	char *real;
	int rc;

	if (is_stdout(path))
		return end_writing(stdout, write(what, stdout));
	if (sb_output_is_kept(path))
		return -EEXIST;
	if (is_special(path))
		return write_special(path, write, what);
	real = realpath(path, NULL); /* what a link points to */
	rc = sb_output_inside(real ? real : path, write, what);
	free(real);
	return rc;
}

static int write_nothing(const void *unused, FILE *out)
{
	(void)unused;
	(void)out;
	return -ECANCELED;
}

int sb_output_try(const char *path)
{
	struct stat status;
	int rc;

	if (is_stdout(path))
		return 0;
	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		return -EISDIR;
	if (sb_output_is_kept(path))
		return -EEXIST;
	/* Opened, a pipe would wait for its reader. */
	if (is_special(path))
		return access(path, W_OK) ? -errno : 0;
	rc = sb_output(path, write_nothing, NULL);
	return rc == -ECANCELED ? 0 : rc;
}

/* A calibration is read, except by --calibrate, which tries it itself. */
static bool is_output(enum sb_option_id id, enum sb_verb verb)
{
	const unsigned int kind = SB_WRITES_FILE | verb;

	return (sb_option[id].verbs & kind) == kind && id != SB_OPT_calibration;
}

int sb_outputs_try(const struct sb_options *options, enum sb_verb verb)
{
	for (int id = 0; id < SB_OPTIONS; id++) {
		const char *path = options->value[id].text;
		const int rc = is_output(id, verb) && *path ? sb_output_try(path) : 0;

		if (rc)
			return sb_fail(sb_status_of(rc), "--%s: '%s' cannot be written: %s",
				       sb_option[id].name, path, sb_output_why(rc));
	}
	return 0;
}

const char *sb_output_why(int rc)
{
	return rc == -EEXIST ? "it is a result's own file" : strerror(-rc);
}

int sb_output_failed(const char *path, int rc)
{
	if (rc == -ENOMEM)
		return sb_fail_memory();
	return sb_fail(sb_status_of(rc), "'%s' cannot be written: %s", path, sb_output_why(rc));
}

char *sb_cache_path(const char *name)
{
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *directory = NULL;
	char *path;

	/* A relative one is to be ignored, says the specification. */
	if (xdg && *xdg == '/')
		directory = sb_path_join(xdg, "sched-bench");
	else if (home && *home)
		directory = sb_path_join(home, ".cache/sched-bench");
	if (!directory || sb_directory_make(directory)) {
		free(directory);
		return NULL;
	}
	path = sb_path_join(directory, name);
	free(directory);
	return path;
}
