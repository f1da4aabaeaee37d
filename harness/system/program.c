#include "harness/system/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int start(pid_t *pid, const char *const *argv, int output)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	rc = rc ? rc
		: posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
			       environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* All that comes, until nobody can write any more. Closes it. */
static int read_all(int input, char **text)
{
	size_t bytes = 0;
	FILE *in = fdopen(input, "r");
	int rc = 0;

	if (!in) {
		close(input);
		return -ENOMEM;
	}
	/* A text ends with the first 0. */
	errno = 0;
	if (getdelim(text, &bytes, '\0', in) < 0 && errno)
		rc = -errno;
	fclose(in);
	return rc;
}

int sb_program_run(struct sb_program *program)
{
	int ends[2] = { -1, -1 };
	pid_t pid = -1;
	int rc;

	program->text = NULL;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	rc = start(&pid, program->argv, ends[1]);
	close(ends[1]);
	if (rc) {
		close(ends[0]);
		return rc;
	}
	rc = read_all(ends[0], &program->text);
	while (waitpid(pid, &program->wait_status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return rc;
}

bool sb_program_succeeded(const struct sb_program *program)
{
	return WIFEXITED(program->wait_status) && !WEXITSTATUS(program->wait_status);
}

const char *sb_program_line(struct sb_program *program)
{
	if (!program->text)
		return "";
	program->text[strcspn(program->text, "\n")] = '\0';
	return program->text;
}

void sb_program_free(struct sb_program *program)
{
	free(program->text);
	program->text = NULL;
}

int sb_program_own_path(char *out, size_t bytes)
{
	const ssize_t length = readlink("/proc/self/exe", out, bytes - 1);

	if (length < 0)
		return -errno;
	out[length] = '\0';
	return 0;
}
