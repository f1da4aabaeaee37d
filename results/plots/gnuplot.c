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

#include "results/files/file.h"
#include "results/files/stage.h"
#include "results/plots/plot.h"

#define LOG "gnuplot.log"

static char *path_of(const char *directory, const char *name, const char *end)
{
	char *path;

	return asprintf(&path, "%s/%s%s", directory, name, end) < 0 ? NULL : path;
}

static int write_script(const char *directory, const struct sb_picture *picture)
{
	char *path = path_of(directory, picture->name, ".gp");
	FILE *out = path ? fopen(path, "we") : NULL;
	int rc = path ? 0 : -ENOMEM;

	free(path);
	if (!out)
		return rc ? rc : -errno;
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
		rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
						      0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, LOG,
						      O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
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

static int run_gnuplot(const char *directory, const struct sb_picture *picture, uint32_t n,
		       char *why)
{
	/* The words before the scripts. */
	enum { WORDS = 2 };
	char **argv = calloc(n + WORDS + 1, sizeof(*argv));
	pid_t pid = -1;
	int rc = argv ? 0 : -ENOMEM;

	SB_CHECK(directory != NULL, ==, true);
	for (uint32_t i = 0; i < n && !rc; i++) {
		rc = write_script(directory, &picture[i]);
		if (!rc && asprintf(&argv[WORDS + i], "%s.gp", picture[i].name) < 0)
			rc = -ENOMEM;
	}
	if (!rc) {
		argv[0] = (char[]){ "gnuplot" };
		/* Without the user's own settings: they may be anything. */
		argv[1] = (char[]){ "-d" };
		rc = spawn(argv, directory, &pid);
	}
	if (!rc)
		rc = wait_for(pid);
	if (rc == -EIO)
		read_log(directory, why);
	else if (rc)
		snprintf(why, SB_PLOT_WHY_BYTES, "%s",
			 rc == -ENOENT ? "gnuplot is not installed" : strerror(-rc));
	for (uint32_t i = 0; argv && i < n; i++)
		free(argv[WORDS + i]);
	free(argv);
	return rc;
}

/* ---- the directory ---- */

static int failed(const char *where, int rc, char *why)
{
	snprintf(why, SB_PLOT_WHY_BYTES, "%s: %s", where, strerror(-rc));
	return rc;
}

static void remove_log(const char *directory)
{
	char *path = sb_path_join(directory, LOG);

	if (path)
		unlink(path);
	free(path);
}

int sb_pictures_make(const struct sb_picture *picture, uint32_t n, const char *directory, char *why)
{
	struct sb_stage stage;
	int rc = sb_stage_begin(&stage, directory);

	if (rc)
		return failed(directory, rc, why);
	rc = run_gnuplot(stage.path, picture, n, why);
	if (rc) {
		sb_stage_abandon(&stage);
		return rc;
	}
	remove_log(stage.path);
	rc = sb_stage_commit(&stage);
	return rc ? failed(directory, rc, why) : 0;
}

int sb_picture_put(const struct sb_picture *picture, enum sb_plot_format format, FILE *out,
		   char *why)
{
	const char *given = getenv("TMPDIR");
	const char *parent = given && *given ? given : "/tmp";
	char *unique;
	struct sb_stage stage = { .owner = -1 };
	char *path;
	int rc;

	/* A name that nobody else has, where everybody writes. */
	if (asprintf(&unique, "%s/sched-bench-XXXXXX", parent) < 0)
		return failed(parent, -ENOMEM, why);
	rc = mkdtemp(unique) ? sb_stage_begin(&stage, unique) : -errno;
	if (rc) {
		rmdir(unique);
		free(unique);
		return failed(parent, rc, why);
	}
	rc = run_gnuplot(stage.path, picture, 1, why);
	if (!rc) {
		path = path_of(stage.path, picture->name, format == SB_PLOT_SVG ? ".svg" : ".png");
		rc = path ? sb_file_copy(path, out) : -ENOMEM;
		if (rc)
			failed(parent, rc, why);
		free(path);
	}
	sb_stage_abandon(&stage);
	rmdir(unique);
	free(unique);
	return rc;
}
