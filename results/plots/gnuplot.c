/*
 * gnuplot.c - runs gnuplot: once for all scripts, in a directory of its own, from
 * which the pictures are moved to their names when they are whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/file.h"
#include "results/plots/plot.h"

#define LOG "gnuplot.log"

/* What gnuplot makes of a script, and the script. */
static const char *const ends[] = { ".svg", ".png", ".gp" };

static char *path_of(const char *directory, const char *name, const char *end)
{
	char *path;

	return asprintf(&path, "%s/%s%s", directory, name, end) < 0 ? NULL
								    : path;
}

static int write_script(const char *directory, const struct sb_picture *picture)
{
	char *path = path_of(directory, picture->name, ".gp");
	FILE *out = path ? fopen(path, "we") : NULL;
	int rc = 0;

	free(path);
	if (!out)
		return -errno;
	if (fputs(picture->script, out) < 0)
		rc = -errno;
	if (fclose(out) && !rc)
		rc = -errno;
	return rc;
}

/* gnuplot writes its complaints to a file beside the scripts. */
static int spawn(char *const *argv, const char *directory, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_addchdir_np(&actions, directory);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
						      "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(
			&actions, STDERR_FILENO, LOG,
			O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO,
						      STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Its last line names the place and says what is wrong. */
static void read_log(const char *directory, char *why)
{
	char *path = path_of(directory, LOG, "");
	FILE *in = path ? fopen(path, "re") : NULL;
	char line[300];
	char last[300] = "";

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[strspn(line, " \t^")])
			memcpy(last, line, sizeof(last));
	}
	snprintf(why, SB_PLOT_WHY_BYTES, "gnuplot failed: %s", last);
	if (in)
		fclose(in);
	free(path);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	/* How a spawn says that there is no such program. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int run_gnuplot(const char *directory, const struct sb_picture *picture,
		       uint32_t n, char *why)
{
	char **argv = calloc(n + 2, sizeof(*argv));
	pid_t pid;
	int rc = argv ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = write_script(directory, &picture[i]);
		if (!rc && asprintf(&argv[i + 1], "%s.gp", picture[i].name) < 0)
			rc = -ENOMEM;
	}
	if (!rc) {
		argv[0] = (char[]){ "gnuplot" };
		rc = spawn(argv, directory, &pid);
	}
	if (!rc)
		rc = wait_for(pid);
	if (rc == -EIO)
		read_log(directory, why);
	else if (rc)
		snprintf(why, SB_PLOT_WHY_BYTES, "%s",
			 rc == -ENOENT ? "gnuplot is not installed"
				       : strerror(-rc));
	for (uint32_t i = 0; argv && i < n; i++)
		free(argv[i + 1]);
	free(argv);
	return rc;
}

/* ---- the directory ---- */

static int sync_file(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

static int move_one(const char *from_directory, const char *to_directory,
		    const char *name, const char *end)
{
	char *from = path_of(from_directory, name, end);
	char *to = path_of(to_directory, name, end);
	int rc = from && to ? sync_file(from) : -ENOMEM;

	if (!rc && rename(from, to))
		rc = -errno;
	free(from);
	free(to);
	return rc;
}

static int move_all(const char *from, const char *to,
		    const struct sb_picture *picture, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (size_t e = 0; e < SB_ARRAY_SIZE(ends) && !rc; e++)
			rc = move_one(from, to, picture[i].name, ends[e]);
	}
	return rc;
}

static void remove_one(const char *directory, const char *name, const char *end)
{
	char *path = path_of(directory, name, end);

	if (path)
		unlink(path);
	free(path);
}

static void remove_all(const char *directory, const struct sb_picture *picture,
		       uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		for (size_t e = 0; e < SB_ARRAY_SIZE(ends); e++)
			remove_one(directory, picture[i].name, ends[e]);
	}
	remove_one(directory, LOG, "");
	rmdir(directory);
}

/* A new one inside directory, for the caller to free. */
static int make_work_directory(const char *directory, char **work)
{
	*work = path_of(directory, ".plots-XXXXXX", "");
	if (!*work)
		return -ENOMEM;
	if (mkdtemp(*work))
		return 0;
	free(*work);
	*work = NULL;
	return -errno;
}

int sb_pictures_make(const struct sb_picture *picture, uint32_t n,
		     const char *directory, char *why)
{
	char *work;
	int rc = sb_directory_make(directory);

	if (!rc)
		rc = make_work_directory(directory, &work);
	if (rc) {
		snprintf(why, SB_PLOT_WHY_BYTES, "%s: %s", directory,
			 strerror(-rc));
		return rc;
	}
	rc = run_gnuplot(work, picture, n, why);
	if (!rc) {
		rc = move_all(work, directory, picture, n);
		if (rc)
			snprintf(why, SB_PLOT_WHY_BYTES, "%s: %s", directory,
				 strerror(-rc));
	}
	remove_all(work, picture, n);
	free(work);
	return rc;
}

static int copy_to(FILE *out, const char *path)
{
	FILE *in = path ? fopen(path, "re") : NULL;
	char bytes[16384];
	size_t n;
	int rc = 0;

	if (!in)
		return path ? -errno : -ENOMEM;
	while (!rc && (n = fread(bytes, 1, sizeof(bytes), in)) > 0) {
		if (fwrite(bytes, 1, n, out) != n)
			rc = -errno;
	}
	fclose(in);
	return rc;
}

int sb_picture_put(const struct sb_picture *picture, enum sb_plot_format format,
		   FILE *out, char *why)
{
	const char *given = getenv("TMPDIR");
	const char *parent = given && *given ? given : "/tmp";
	char *work;
	char *path;
	int rc = make_work_directory(parent, &work);

	if (rc) {
		snprintf(why, SB_PLOT_WHY_BYTES, "%s: %s", parent,
			 strerror(-rc));
		return rc;
	}
	rc = run_gnuplot(work, picture, 1, why);
	if (!rc) {
		path = path_of(work, picture->name,
			       format == SB_PLOT_SVG ? ".svg" : ".png");
		rc = copy_to(out, path);
		if (rc)
			snprintf(why, SB_PLOT_WHY_BYTES, "%s", strerror(-rc));
		free(path);
	}
	remove_all(work, picture, 1);
	free(work);
	return rc;
}
