/*
 * main.c - sched-bench: chooses the verb.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/help.h"
#include "harness/cli/options.h"
#include "harness/cli/verb.h"
#include "harness/cli/version.h"
#include "harness/guide/complete.h"
#include "harness/guide/manual.h"
#include "harness/guide/names.h"
#include "harness/guide/topics.h"
#include "harness/system/crash.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "workloads/workload.h"

/*
 * jemalloc reads this when it starts (jemalloc(3), TUNING). Each scheduler has an
 * arena for each worker. jemalloc's own arenas, four for each CPU, would use up some
 * of the 4095 that there can be, and only the command's own blocks come from them.
 */
const char *malloc_conf = "narenas:1";

static bool is(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

static const char *verb_name(const void *unused, size_t i)
{
	(void)unused;
	return sb_verbs[i].name;
}

static int unknown_verb(const char *name)
{
	const char *like = sb_habit_of_verb(name);

	if (name[0] == '-')
		return sb_fail(SB_EXIT_USAGE,
			       "a verb is missing before '%s'; expected one, as in sched-bench run "
			       "-w pingpong",
			       name);
	if (sb_workload_find(name))
		return sb_fail(SB_EXIT_USAGE, "unknown verb '%s'; did you mean 'run -w %s'?", name,
			       name);
	if (sb_names_find(name))
		return sb_fail(SB_EXIT_USAGE, "unknown verb '%s'; did you mean 'list %s'?", name,
			       name);
	if (sb_topic_find(name))
		return sb_fail(SB_EXIT_USAGE, "unknown verb '%s'; did you mean 'help %s'?", name,
			       name);
	like = like ? like : sb_most_like(name, verb_name, NULL);
	if (like)
		return sb_fail(SB_EXIT_USAGE, "unknown verb '%s'; did you mean '%s'?", name, like);
	return sb_fail(SB_EXIT_USAGE, "unknown verb '%s'; sched-bench --help names them", name);
}

static int run_verb(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "--help";
	const struct sb_verb_info *verb = sb_verb_find(name);

	if (verb)
		return verb->run(argc, argv);
	/* Not for people, but for `make install` and for shells. */
	if (!strcmp(name, "manual"))
		return sb_manual(argc, argv);
	if (!strcmp(name, "complete"))
		return sb_complete_line(argc, argv);
	if (is(name, "--help", "-h"))
		sb_help();
	else if (is(name, "--version", "-V"))
		puts("sched-bench " SB_VERSION);
	else
		return unknown_verb(name);
	return SB_EXIT_OK;
}

/* Set for processes whose command line a sched-bench has made. */
#define MADE "SB_COMMAND_LINE_IS_MADE"

int main(int argc, char **argv)
{
	int rc;

	/* Command lines of the processes that this one starts go from the general to the
	 * particular. */
	if (!getenv(MADE))
		sb_options_typed(argc, argv);
	(void)setenv(MADE, "1", 1);
	sb_crash_watch();
	/* A bound on the size of files is an error of the write, as a full disk. */
	(void)signal(SIGXFSZ, SIG_IGN);
	rc = run_verb(argc, argv);

	if (!rc && (fflush(stdout) || ferror(stdout)))
		return sb_fail(SB_EXIT_ENVIRONMENT, "standard output cannot be written: %s",
			       strerror(errno));
	return rc;
}
