/*
 * main.c - runs scenarios under many schedules.
 * usage: explore [--seed N] [--schedules N] [--seconds N] [--show 1] [--sequence N] [--calls MASK]
 *                [SCENARIO...]
 *
 * Each schedule has a process of its own, so that a seed found in a series replays alone:
 * explore --seed N --schedules 1 SCENARIO. The seed decides the kind of schedule, too. Prints
 * TAP; of what fails the seed, how many schedules it took, and how long; with --show also the
 * operations, a column for each thread.
 *
 * The seed also decides the calls of a sequence, unless --sequence does. Of one that fails the
 * calls without which it fails, too, are left out; --calls has a bit for each that is made.
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/virtual/engine.h"
#include "core/platform/virtual/explore.h"
#include "tests/explore/explore.h"

/* Threads of a scenario are no more than that: each has a CPU of its own. */
#define CPUS 12

#define ALL_CALLS UINT64_MAX

/* To see whether a sequence fails without a call. */
#define SCHEDULES_TO_SHRINK 100

/* Of CPU time; a schedule takes milliseconds. */
#define HANGS_S 10

static struct wanted {
	uint64_t seed, schedules, seconds, show;
	uint64_t sequence; /* 0: the schedule's seed */
	uint64_t calls;	   /* a bit for each that is made */
} wanted = { .schedules = 200, .seconds = 600, .calls = ALL_CALLS };

/* Of the first schedule; the others count on from there. */
static uint64_t first_seed(void)
{
	const char *given = getenv("SB_SEED");
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return given ? strtoull(given, NULL, 0) : (uint64_t)(now.tv_sec ^ now.tv_nsec) & 0xffffff;
}

/* ---- one schedule ---- */

static void *enter(void *arg)
{
	const struct scenario *scenario = arg;

	scenario->run();
	return NULL;
}

static void set_number(const char *variable, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", (unsigned long)number);
	setenv(variable, text, 1);
}

static _Noreturn void run_child(const struct scenario *scenario, uint64_t seed)
{
	const struct rlimit limit = { HANGS_S, HANGS_S + 1 };
	struct sb_explore explore = sb_explore_of_seed(seed);
	const struct sb_model model = sb_model_plain(CPUS);
	const struct sb_virtual_setup setup = {
		.model = &model,
		.seed = seed,
		.explore = &explore,
	};
	struct sb_virtual_counts counts;

	set_number("SB_SEED", seed);
	set_number("SB_SEQUENCE", wanted.sequence ? wanted.sequence : seed);
	set_number("SB_CALLS", wanted.calls);
	explore.shows = wanted.show;
	(void)setrlimit(RLIMIT_CPU, &limit);
	exit(sb_virtual_run(&setup, enter, (void *)(uintptr_t)scenario, &counts) ? 2 : 0);
}

/* words: a file for what it says. */
static bool survives(const struct scenario *scenario, uint64_t seed, FILE *words)
{
	pid_t pid;
	int status;

	fflush(stdout);
	rewind(words);
	(void)!ftruncate(fileno(words), 0);
	pid = fork();
	if (!pid) {
		dup2(fileno(words), STDERR_FILENO);
		run_child(scenario, seed);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static void put_words(FILE *words)
{
	char line[300];

	rewind(words);
	while (fgets(line, sizeof(line), words))
		printf("# %s", line);
}

/* ---- all of them ---- */

static const struct scenario *const groups[] = { queue_scenarios,    scheduler_scenarios,
						 process_scenarios,  message_scenarios,
						 sequence_scenarios, torture_scenarios };

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How many parts the seed draws that may be left out; 0: the scenario is always the same. */
static uint32_t calls_of(const struct scenario *scenario)
{
	if (scenario == sequence_scenarios)
		return SEQUENCE_CALLS;
	return scenario == torture_scenarios ? TORTURE_CALLS : 0;
}

/* Whether one of some schedules fails; *seed is it then. */
static bool fails_still(const struct scenario *scenario, uint64_t *seed, FILE *words)
{
	for (uint64_t i = 0; i < SCHEDULES_TO_SHRINK; i++) {
		if (!survives(scenario, *seed + i, words)) {
			*seed += i;
			return true;
		}
	}
	return false;
}

/* Leaves out one call after the other, as long as the sequence fails all the same. seed: a
 * schedule under which it does. Returns such a schedule, and has run it last. */
static uint64_t shrink(const struct scenario *scenario, uint64_t seed, FILE *words)
{
	wanted.sequence = wanted.sequence ? wanted.sequence : seed;
	for (uint32_t i = 0; i < calls_of(scenario); i++) {
		const uint64_t call = UINT64_C(1) << i;

		if (!(wanted.calls & call))
			continue;
		wanted.calls -= call;
		if (!fails_still(scenario, &seed, words))
			wanted.calls += call;
	}
	(void)survives(scenario, seed, words);
	return seed;
}

static void put_replay(const struct scenario *scenario, uint64_t seed)
{
	printf("# seed %lu: explore --seed %lu --schedules 1", (unsigned long)seed,
	       (unsigned long)seed);
	if (wanted.sequence)
		printf(" --sequence %lu --calls %lu", (unsigned long)wanted.sequence,
		       (unsigned long)wanted.calls);
	printf(" %s\n", scenario->name);
}

static void try(const struct scenario *scenario, FILE *words)
{
	static int number;
	const double start = now_s();
	const struct wanted all = wanted;
	uint64_t seed = wanted.seed;
	uint64_t i = 0;
	bool ok = true;

	while (ok && i < wanted.schedules && now_s() - start < (double)wanted.seconds) {
		seed = wanted.seed + i++;
		ok = survives(scenario, seed, words);
	}
	printf("%sok %d - %s: %lu schedules, %.1f s\n", ok ? "" : "not ", ++number, scenario->name,
	       (unsigned long)i, now_s() - start);
	if (!ok && calls_of(scenario))
		seed = shrink(scenario, seed, words);
	if (!ok || wanted.show)
		put_words(words);
	if (!ok)
		put_replay(scenario, seed);
	wanted = all;
	fflush(stdout);
}

static bool is_named(const struct scenario *scenario, char **names)
{
	bool any = false;

	for (; *names; names++) {
		if (!strcmp(*names, scenario->name))
			return true;
		any = true;
	}
	return !any;
}

static uint32_t try_all(const struct scenario *scenario, char **names)
{
	FILE *words = tmpfile();
	uint32_t n = 0;

	if (!words)
		exit(4);
	for (; scenario->name; scenario++) {
		if (!is_named(scenario, names))
			continue;
		try(scenario, words);
		n++;
	}
	fclose(words);
	return n;
}

static _Noreturn void refuse(void)
{
	fputs("usage: explore [--seed N] [--schedules N] [--seconds N] [--show 1] [--sequence N] "
	      "[--calls MASK] [SCENARIO...]\n",
	      stderr);
	for (size_t g = 0; g < SB_ARRAY_SIZE(groups); g++) {
		for (const struct scenario *s = groups[g]; s->name; s++)
			fprintf(stderr, "  %-15s %s\n", s->name, s->meaning);
	}
	exit(3);
}

static uint64_t *option(const char *name)
{
	if (!strcmp(name, "--seed"))
		return &wanted.seed;
	if (!strcmp(name, "--schedules"))
		return &wanted.schedules;
	if (!strcmp(name, "--show"))
		return &wanted.show;
	if (!strcmp(name, "--sequence"))
		return &wanted.sequence;
	if (!strcmp(name, "--calls"))
		return &wanted.calls;
	return !strcmp(name, "--seconds") ? &wanted.seconds : NULL;
}

int main(int argc, char **argv)
{
	uint32_t n = 0;
	int i;

	wanted.seed = first_seed();
	for (i = 1; i < argc && argv[i][0] == '-'; i += 2) {
		uint64_t *value = option(argv[i]);
		char *end;

		if (!value || i + 1 == argc)
			refuse();
		*value = strtoull(argv[i + 1], &end, 10);
		if (*end)
			refuse();
	}
	fprintf(stderr, "# SB_SEED=%lu\n", (unsigned long)wanted.seed);
	for (size_t g = 0; g < SB_ARRAY_SIZE(groups); g++)
		n += try_all(groups[g], &argv[i]);
	if (!n)
		refuse();
	printf("1..%u\n", n);
	return 0;
}
