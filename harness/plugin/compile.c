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

int sb_plugin_compile(const char *source, char object[SB_PLUGIN_PATH_BYTES])
{
	const char *chosen = getenv("CC");
	const char *compiler = chosen && *chosen ? chosen : "cc";
	char include[SB_PLUGIN_PATH_BYTES];
	const char *words[] = { compiler, "-std=gnu11", "-O2", "-g",   "-fPIC", "-shared", "-Wall",
				"-I",	  include,	"-o",  object, source,	NULL };
	pid_t pid;
	int rc = sb_plugin_include(include);

	rc = rc ? rc : make_object(object);
	if (rc)
		return rc;
	rc = posix_spawnp(&pid, compiler, NULL, NULL, (char *const *)(uintptr_t)words, environ);
	rc = rc ? sb_fail(SB_EXIT_ENVIRONMENT, "%s: %s; expected a C compiler, to compile %s",
			  compiler, strerror(rc), source)
		: wait_for(pid, compiler, source);
	if (rc)
		(void)unlink(object);
	return rc;
}
