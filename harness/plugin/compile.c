#include "harness/plugin/compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/terminal/shell_words.h"
#include "harness/terminal/status.h"

/* Relative to the folder of the command: installed, and in the tree. */
static const char *const places[] = { "../include/schedbench", "../.." };

int sb_plugin_include(char out[SB_PLUGIN_PATH_BYTES])
{
	char program[SB_PLUGIN_PATH_BYTES / 2];
	const ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[bytes > 0 ? bytes : 0] = '\0';
	for (size_t i = 0; i < SB_ARRAY_SIZE(places) && strrchr(program, '/'); i++) {
		char header[SB_PLUGIN_PATH_BYTES];
		char *folder;

		snprintf(header, sizeof(header), "%.*s/%s", (int)(strrchr(program, '/') - program),
			 program, places[i]);
		folder = realpath(header, NULL);
		snprintf(out, SB_PLUGIN_PATH_BYTES, "%s", folder ? folder : "");
		snprintf(header, sizeof(header), "%s/workloads/plugin.h", folder ? folder : "");
		free(folder);
		if (!access(header, R_OK))
			return 0;
	}
	return sb_fail(SB_EXIT_ENVIRONMENT,
		       "the headers for plug-ins are missing; expected them where make install "
		       "puts them, in ../include/schedbench seen from the command");
}

/* Creates an empty file with a unique name. */
static int make_object(char object[SB_PLUGIN_PATH_BYTES])
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(object, SB_PLUGIN_PATH_BYTES, "%s/sched-bench-XXXXXX.so",
		 folder && *folder ? folder : "/tmp");
	fd = mkstemps(object, (int)strlen(".so"));
	if (fd < 0)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s", object, strerror(errno));
	close(fd);
	return 0;
}

/* The compiler itself reports errors in the source. */
static int wait_for(pid_t pid, const char *compiler, const char *source)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s", compiler, strerror(errno));
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return sb_fail(SB_EXIT_USAGE, "%s: %s cannot compile it", source, compiler);
}

static int run_compiler(struct sb_words *words, const char *source)
{
	pid_t pid;
	const int rc = posix_spawnp(&pid, words->word[0], NULL, NULL, words->word, environ);

	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s; expected a C compiler, to compile %s",
			       words->word[0], strerror(rc), source);
	return wait_for(pid, words->word[0], source);
}

static int compile(const char *source, const char *include, const char *object)
{
	const char *const rest[] = { "-I", include, "-o", object, source };
	const char *given = getenv("CC");
	const char *chosen = given && given[strspn(given, " \t")] ? given : "cc";
	char line[400];
	struct sb_words words;
	int rc;

	snprintf(line, sizeof(line), "%s " SB_PLUGIN_FLAGS, chosen);
	rc = sb_words_split(&words, line);
	if (!rc && words.n + SB_ARRAY_SIZE(rest) > SB_WORDS_MAX) {
		sb_words_free(&words);
		rc = -E2BIG;
	}
	if (rc)
		return sb_fail(SB_EXIT_USAGE, "CC: '%s': %s; expected the words of a compiler",
			       chosen, strerror(-rc));
	memcpy(&words.word[words.n], rest, sizeof(rest));
	words.word[words.n + SB_ARRAY_SIZE(rest)] = NULL;
	rc = run_compiler(&words, source);
	sb_words_free(&words);
	return rc;
}

int sb_plugin_compile(const char *source, char object[SB_PLUGIN_PATH_BYTES])
{
	char include[SB_PLUGIN_PATH_BYTES];
	int rc = sb_plugin_include(include);

	rc = rc ? rc : make_object(object);
	if (rc)
		return rc;
	rc = compile(source, include, object);
	if (rc)
		(void)unlink(object);
	return rc;
}
