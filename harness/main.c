/*
 * main.c - sched-bench: chooses the verb.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/command_check.h"
#include "harness/command_calibrate.h"
#include "harness/command_micro.h"
#include "harness/command_run.h"
#include "harness/command_topo.h"
#include "harness/help.h"
#include "harness/status.h"
#include "harness/version.h"

static bool is(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

static int run_verb(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "--help";

	if (is(verb, "--help", "-h") || !strcmp(verb, "help"))
		sb_help();
	else if (is(verb, "--version", "-V"))
		puts("sched-bench " SB_VERSION);
	else if (!strcmp(verb, "run"))
		return sb_command_run(argc, argv);
	else if (!strcmp(verb, "topo"))
		return sb_command_topo(argc, argv);
	else if (!strcmp(verb, "check"))
		return sb_command_check(argc, argv);
	else if (!strcmp(verb, "calibrate"))
		return sb_command_calibrate(argc, argv);
	else if (!strcmp(verb, "micro"))
		return sb_command_micro(argc, argv);
	else if (!strcmp(verb, "list"))
		return sb_command_list(argc - 1, argv + 1);
	else
		return sb_fail(SB_EXIT_USAGE,
			       "unknown verb '%s'; expected run, topo, check, "
			       "calibrate, micro or list (sched-bench --help)",
			       verb);
	return SB_EXIT_OK;
}

int main(int argc, char **argv)
{
	const int rc = run_verb(argc, argv);

	if (!rc && (fflush(stdout) || ferror(stdout)))
		return sb_fail(SB_EXIT_ENVIRONMENT,
			       "standard output cannot be written: %s",
			       strerror(errno));
	return rc;
}
