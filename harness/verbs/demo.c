/*
 * demo.c - the verb `demo`: a short `run`, the picture of where its workers' time went, and
 * what to do next.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness/cli/help.h"
#include "harness/cli/job.h"
#include "harness/terminal/status.h"
#include "harness/verbs/run_session.h"
#include "harness/verbs/verbs.h"
#include "results/files/file.h"
#include "results/page/page.h"

#define WORKLOAD "skynet"
#define PICTURE	 "plots/account-" WORKLOAD ".svg"
#define PAGE	 "report.html"

/* Six forks are the fewest whose median has an interval of 95 %. */
static const char *const words[] = { "run", "-w", WORKLOAD, "-d", "60ms", "--forks", "6" };

static const struct {
	const char *does;
	const char *command;
} next[] = {
	{ "Compare two settings, in about a minute:",
	  "sched-bench ab -w pingpong -A '--handover direct' -B '--handover queue'" },
	{ "Find the best setting for latency and for CPU, in about two minutes:",
	  "sched-bench sweep -w trickle -P spin-time=0us..100us:20us \\\n"
	  "        --objective wake_ns_p90,cpu_ns_per_op" },
	{ "See which command answers which question:", "sched-bench help questions" },
};

/* The picture says what it shows, if gnuplot has drawn it. */
static void put_picture(const char *directory)
{
	char *path = sb_path_join(directory, PICTURE);
	char *title = path ? sb_svg_title(path) : NULL;

	if (title) {
		printf("picture: %s\n  ", sb_terminal_text(path));
		sb_help_wrapped(sb_terminal_text(title), 2);
	}
	free(title);
	free(path);
}

static void put_next(const char *directory)
{
	printf("\nWhat next:\n  Open the page of this run in a browser:\n    %s/" PAGE "\n",
	       sb_terminal_text(directory));
	for (size_t i = 0; i < SB_ARRAY_SIZE(next); i++)
		printf("  %s\n    %s\n", next[i].does, next[i].command);
}

static int run_words(int argc, char **argv)
{
	char *directory = NULL;
	struct sb_jobs jobs;
	int rc = sb_jobs_parse(&jobs, SB_VERB_RUN, argc - 1, argv + 1);

	if (!rc) {
		printf("$ sched-bench");
		for (int i = 1; i < argc; i++) {
			putchar(' ');
			sb_put_shell(stdout, argv[i]);
		}
		puts("");
		fflush(stdout);
		rc = sb_run_new(&jobs, argc, argv, &directory);
	}
	/* In both cases there is a result; a run that was refused may have met another's. */
	if (rc == SB_EXIT_OK || rc == SB_EXIT_INVALID) {
		put_picture(directory);
		put_next(directory);
	}
	free(directory);
	sb_jobs_free(&jobs);
	return rc;
}

static int demonstrate(char *program, const char *output)
{
	enum { WORDS = SB_ARRAY_SIZE(words) };
	char *argv[1 + WORDS + 2 + 1] = { program };
	int argc = 1;

	for (int i = 0; i < WORDS; i++)
		argv[argc++] = (char *)(uintptr_t)words[i];
	if (*output) {
		argv[argc++] = (char *)(uintptr_t) "-o";
		argv[argc++] = (char *)(uintptr_t)output;
	}
	/* It is the same whatever is set for other runs. */
	sb_options_clear_environment();
	return run_words(argc, argv);
}

int sb_command_demo(int argc, char **argv)
{
	static struct sb_options options;
	int rc = sb_options_parse_for(&options, SB_VERB_DEMO, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help))
		sb_help_verb(SB_VERB_DEMO);
	else if (!rc)
		rc = demonstrate(argv[0], options.value[SB_OPT_output].text);
	sb_options_free(&options);
	return rc;
}
