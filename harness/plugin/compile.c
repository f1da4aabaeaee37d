#include "harness/plugin/compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/terminal/status.h"

/* Below the folder of the command, or beside it. */
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

/* An empty file of a name of its own. */
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

/* What is wrong with the source, the compiler has said. */
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

#define WORDS_MAX 8 /* "ccache gcc" */

/* The compiler's words, which stay in *text. How many there are. */
static size_t split(char *text, char *word[WORDS_MAX])
{
	size_t n = 0;
	char *rest;

	for (char *w = strtok_r(text, " \t", &rest); w && n < WORDS_MAX;
	     w = strtok_r(NULL, " \t", &rest))
		word[n++] = w;
	return n;
}

static int compile(const char *source, char *include, char *object)
{
	const char *rest[] = { "-std=gnu11", "-O2",   "-g", "-fPIC", "-shared", "-Wall",
			       "-I",	     include, "-o", object,  source,	NULL };
	const char *chosen = getenv("CC");
	char compiler[256];
	char *words[WORDS_MAX + SB_ARRAY_SIZE(rest)];
	pid_t pid;
	size_t n;
	int rc;

	snprintf(compiler, sizeof(compiler), "%s",
		 chosen && chosen[strspn(chosen, " \t")] ? chosen : "cc");
	n = split(compiler, words);
	for (size_t i = 0; i < SB_ARRAY_SIZE(rest); i++)
		words[n + i] = (char *)(uintptr_t)rest[i];
	rc = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
	if (rc)
		return sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s; expected a C compiler, to compile %s",
			       words[0], strerror(rc), source);
	return wait_for(pid, words[0], source);
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
