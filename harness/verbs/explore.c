/*
 * explore.c - the verb `explore`: small workloads under schedules that look for mistakes.
 *
 * Each schedule has a process of its own, so that a seed found in a series replays alone, and a
 * mistake may end it in any way: the workload checks the answer of its round, and those who wait
 * for ever, use freed memory or fail an assertion end the process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/platform/platform.h"
#include "core/platform/virtual/explore.h"
#include "harness/cli/help.h"
#include "harness/cli/reading.h"
#include "harness/plugin/plugin.h"
#include "harness/run/placing.h"
#include "harness/run/series.h"
#include "harness/terminal/status.h"
#include "harness/verbs/verbs.h"
#include "harness/virtual/virtual.h"
#include "results/record/series.h"
#include "results/text/escape.h"

/* Of CPU time; a schedule takes milliseconds. */
#define HANGS_S 20

#define REQUESTS_NS UINT64_C(1000000)

struct exploration {
	struct sb_options *options;
	struct sb_topology *topology;
	struct sb_plan plan;
	struct sb_virtual_ground ground;
	struct sb_explore explore; /* of the schedule */
	FILE *words;		   /* what a schedule says on standard error */
};

/* ---- sizes ---- */

#define SIZES_MAX 4

static const struct small {
	const char *workload;
	struct size {
		const char *name;
		uint64_t value;
	} size[SIZES_MAX + 1];
} smalls[] = {
#define SIZE(name, value)      { name, value },
#define SMALL(workload, sizes) { workload, { sizes } },
#include "harness/virtual/explore.def"
#undef SMALL
#undef SIZE
};

/* Without -w: all that have small sizes. */
static int choose_all(struct sb_options *options)
{
	static char names[SB_ARRAY_SIZE(smalls) * 32];

	for (size_t i = 0; i < SB_ARRAY_SIZE(smalls); i++) {
		const size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s", i ? "," : "",
			 smalls[i].workload);
	}
	return sb_options_set(options, SB_OPT_workload, names, "default");
}

static void set_size(struct sb_chosen *chosen, const struct size *size)
{
	const struct sb_param *param = chosen->workload->params;

	for (uint32_t i = 0; param[i].name; i++) {
		if (!strcmp(param[i].name, size->name))
			chosen->param[i] = size->value;
	}
}

static void make_small(const struct sb_options *options, struct sb_chosen *chosen)
{
	for (size_t i = 0; i < SB_ARRAY_SIZE(smalls); i++) {
		if (strcmp(smalls[i].workload, chosen->workload->name) != 0)
			continue;
		for (const struct size *size = smalls[i].size; size->name; size++) {
			if (!sb_param_is_given(options, size->name))
				set_size(chosen, size);
		}
	}
}

/* ---- one schedule ---- */

/* Its process. */
static int run_schedule(struct exploration *e, const struct sb_chosen *chosen, uint64_t seed)
{
	const struct rlimit limit = { HANGS_S, HANGS_S + 1 };
	struct sb_series series = { .workload = NULL };
	int rc;

	(void)setrlimit(RLIMIT_CPU, &limit);
	e->explore = sb_explore_of_seed(seed);
	e->explore.shows = sb_opt(e->options, SB_OPT_show);
	e->ground.explore = &e->explore;
	e->options->value[SB_OPT_seed].number = seed;
	/* Requests come for that long; all others have one round. */
	e->options->value[SB_OPT_duration].number =
		chosen->workload->takes_requests ? REQUESTS_NS : 1;
	if (sb_series_init(&series, e->options, chosen, &e->plan.placement))
		return sb_fail_memory();
	series.reality = SB_SIMULATED;
	rc = sb_virtual_measure(&series, chosen, e->options, &e->ground, NULL);
	if (rc || series.record[0].verdict != SB_INVALID)
		return rc;
	fprintf(stderr, "%s\n", sb_terminal_text(series.record[0].reason));
	return SB_EXIT_INVALID;
}

/* Returns as waitpid's status; -1: there is no process. */
static int try_schedule(struct exploration *e, const struct sb_chosen *chosen, uint64_t seed)
{
	pid_t pid;
	int status;

	rewind(e->words);
	if (ftruncate(fileno(e->words), 0))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(fileno(e->words), STDERR_FILENO);
		_exit(run_schedule(e, chosen, seed));
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static void put_words(const struct exploration *e, FILE *out)
{
	char line[1000];

	rewind(e->words);
	while (fgets(line, sizeof(line), e->words))
		fputs(line, out);
}

/* ---- a workload ---- */

static void describe(int status, char *out, size_t bytes)
{
	if (WIFSIGNALED(status))
		snprintf(out, bytes, "signal %d, %s", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(out, bytes, "exit status %d", WEXITSTATUS(status));
}

static void put_option(const char *name, const char *text)
{
	fputs(" --", stdout);
	sb_put_shell(stdout, name);
	putchar(' ');
	sb_put_shell(stdout, text);
}

/* The command that runs that schedule alone. */
static void print_replay(const struct exploration *e, const struct sb_chosen *chosen, uint64_t seed)
{
	const struct sb_options *options = e->options;

	printf("again: sched-bench explore -w ");
	sb_put_shell(stdout, sb_plugin_word(chosen->workload));
	printf(" --seed %" PRIu64 " --schedules 1", seed);
	for (int id = 0; id < SB_OPTIONS; id++) {
		if (sb_option_is_said(options, (enum sb_option_id)id) && id != SB_OPT_workload &&
		    id != SB_OPT_seed && id != SB_OPT_schedules && id != SB_OPT_show)
			put_option(sb_option[id].name, options->value[id].text);
	}
	for (uint32_t i = 0; i < options->givens; i++)
		put_option(options->given[i].name, options->given[i].text);
	puts(" --show");
}

/* Returns SB_EXIT_REGRESSED: one of its schedules ends badly. */
static int explore_workload(struct exploration *e, const struct sb_chosen *chosen)
{
	const uint64_t first = sb_opt(e->options, SB_OPT_seed);
	const uint64_t schedules = sb_opt(e->options, SB_OPT_schedules);
	const uint64_t start_ns = sb_clock_ns();
	char end[80];
	int status = 0;
	uint64_t i = 0;

	while (!status && i < schedules)
		status = try_schedule(e, chosen, first + i++);
	if (status == -1)
		return sb_fail(SB_EXIT_ENVIRONMENT, "a schedule's process cannot be started");
	/* An option was wrong, which each schedule would find. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == SB_EXIT_USAGE) {
		put_words(e, stderr);
		return SB_EXIT_USAGE;
	}
	printf("%-24s %" PRIu64 " schedule%s, %.1f s", sb_terminal_text(chosen->workload->name), i,
	       i == 1 ? "" : "s", 1e-9 * (double)(sb_clock_ns() - start_ns));
	if (status) {
		describe(status, end, sizeof(end));
		printf("; seed %" PRIu64 ": %s", first + i - 1, end);
	}
	putchar('\n');
	if (status || sb_opt(e->options, SB_OPT_show))
		put_words(e, stdout);
	if (status)
		print_replay(e, chosen, first + i - 1);
	fflush(stdout);
	return status ? SB_EXIT_REGRESSED : 0;
}

static int explore_all(struct exploration *e)
{
	struct sb_options *options = e->options;
	const uint64_t first = sb_opt(options, SB_OPT_seed);
	uint32_t bad = 0;

	for (uint32_t i = 0; i < options->chosens; i++) {
		int rc;

		make_small(options, &options->chosen[i]);
		rc = explore_workload(e, &options->chosen[i]);
		if (rc && rc != SB_EXIT_REGRESSED)
			return rc;
		bad += rc == SB_EXIT_REGRESSED;
	}
	if (bad)
		printf("explore: mistakes in %" PRIu32 " of", bad);
	else
		printf("explore: no mistake in");
	printf(" %" PRIu32 " workload%s, seeds from %" PRIu64 " to %" PRIu64 "\n", options->chosens,
	       options->chosens == 1 ? "" : "s", first,
	       first + sb_opt(options, SB_OPT_schedules) - 1);
	return bad ? SB_EXIT_REGRESSED : 0;
}

/* ---- all of it ---- */

/* One repetition, on CPUs that share a cache: what operations cost does not count. */
static int set_machine(struct sb_options *options)
{
	static char profile[24];
	const struct {
		enum sb_option_id id;
		const char *text;
	} values[] = {
		{ SB_OPT_profile, profile },
		{ SB_OPT_workers, options->value[SB_OPT_explore_workers].text },
		{ SB_OPT_warmup, "0s" },
		{ SB_OPT_repetitions, "1" },
		{ SB_OPT_series, "none" },
	};
	int rc = 0;

	snprintf(profile, sizeof(profile), "core:%d pu:1", SB_VIRTUAL_EXPLORE_CPUS);
	for (size_t i = 0; i < SB_ARRAY_SIZE(values) && !rc; i++)
		rc = sb_options_set(options, values[i].id, values[i].text, "default");
	return rc;
}

static int prepare(struct exploration *e)
{
	struct sb_options *options = e->options;
	int rc = *options->value[SB_OPT_workload].text ? 0 : choose_all(options);

	rc = rc ? rc : set_machine(options);
	rc = rc ? rc : sb_options_choose(options);
	rc = rc ? rc : sb_placing_open(options, &e->topology);
	rc = rc ? rc : sb_placing_plan(options, e->topology, &e->plan);
	if (rc)
		return rc;
	e->words = tmpfile();
	if (!e->words || sb_placement_copy(&e->ground.placement, &e->plan.placement))
		return sb_fail_memory();
	for (uint32_t i = 0; i < e->ground.placement.workers; i++)
		e->ground.placement.place[i].os_cpu = e->ground.placement.place[i].pu;
	return 0;
}

static void close_all(struct exploration *e)
{
	if (e->words)
		fclose(e->words);
	sb_placement_free(&e->ground.placement);
	sb_plan_free(&e->plan);
	sb_topology_free(e->topology);
	sb_options_free(e->options);
}

int sb_command_explore(int argc, char **argv)
{
	static struct sb_options options;
	struct exploration e = { .options = &options };
	int rc = sb_options_parse_for(&options, SB_VERB_EXPLORE, argc - 1, argv + 1);

	if (!rc && sb_opt(&options, SB_OPT_help)) {
		sb_help_verb(SB_VERB_EXPLORE);
	} else if (!rc) {
		rc = sb_virtual_check();
		rc = rc ? rc : prepare(&e);
		rc = rc ? rc : explore_all(&e);
	}
	close_all(&e);
	return rc;
}
