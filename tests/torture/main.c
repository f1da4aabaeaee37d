/*
 * main.c - runs rounds of the torture driver, each in a process of its own, until the time is over
 * or one fails.
 * usage: torture [--seed N] [--seconds N] [--rounds N] [--workers N] [--theme N]
 *                [--without NAME,...] [--leave-out PARTS] [--shrink SECONDS] [--show 1]
 *
 * The seeds of the rounds count up from --seed or SB_SEED. The one that fails is printed with the
 * command that repeats it, what was open when it failed, and a shorter script that fails like it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/driver.h"
#include "tests/torture/main.h"

/* A round that takes so long without a step or an operation hangs; and so does one that goes on
 * for ever. The driver's own patience is shorter, and its message is better. */
#define PATIENCE_S 45.0
#define ROUND_S	   240.0

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- one round ---- */

static uint64_t progress(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < OWNS_MAX; i++)
		sum += get(&world->own[i].progress);
	return sum;
}

/* Of the child, or -1: it hangs. */
static int wait_for(pid_t child, double patience_s)
{
	const struct timespec look = { .tv_nsec = 200000000 };
	const double start = now_s();
	double since = start;
	uint64_t before = 0;
	sigset_t set;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while (waitpid(child, &status, WNOHANG) != child) {
		const uint64_t now = progress();

		if (now != before)
			since = now_s();
		before = now;
		if (now_s() - since > patience_s || now_s() - start > ROUND_S) {
			kill(child, SIGKILL);
			waitpid(child, &status, 0);
			return -1;
		}
		(void)sigtimedwait(&set, NULL, &look);
	}
	return status;
}

static _Noreturn void run_child(FILE *words)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	dup2(fileno(words), STDERR_FILENO);
	dup2(fileno(words), STDOUT_FILENO);
	round_run();
	exit(0); /* a leak is found here */
}

static void judge(struct verdict *verdict, int status)
{
	verdict->hung = status < 0;
	verdict->failed = verdict->hung || !WIFEXITED(status) || WEXITSTATUS(status);
	if (world->has_failed)
		snprintf(verdict->reason, sizeof(verdict->reason), "%s", world->failure);
	else if (verdict->hung)
		snprintf(verdict->reason, sizeof(verdict->reason), "hangs (%s)", world->phase);
	else if (WIFSIGNALED(status))
		snprintf(verdict->reason, sizeof(verdict->reason), "signal %d", WTERMSIG(status));
	else if (verdict->failed)
		snprintf(verdict->reason, sizeof(verdict->reason), "exit status %d",
			 WEXITSTATUS(status));
}

struct verdict run_round(const struct script *script, double patience_s, FILE *words)
{
	struct verdict verdict = { .failed = false };
	pid_t child;

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (world == MAP_FAILED)
		exit(4);
	world->script = *script;
	rewind(words);
	if (ftruncate(fileno(words), 0))
		exit(4);
	fflush(stdout);
	child = fork();
	if (child < 0)
		exit(4);
	if (!child)
		run_child(words);
	judge(&verdict, wait_for(child, patience_s));
	verdict.lives = world->lives;
	verdict.parcels = world->parcels;
	if (verdict.failed) {
		fseek(words, 0, SEEK_END);
		model_put(words);
		fflush(words);
	}
	munmap(world, sizeof(*world));
	return verdict;
}

/* ---- the command line ---- */

static struct options {
	uint64_t seed, seconds, rounds, workers, theme, shrink_s, show;
	const char *without, *leave_out;
} options = { .seconds = 20, .rounds = UINT64_MAX, .shrink_s = 60 };

static _Noreturn void refuse(void)
{
	fputs("usage: torture [--seed N] [--seconds N] [--rounds N] [--workers 1-8] [--theme N] "
	      "[--without NAME,...] [--leave-out PARTS] [--shrink SECONDS] [--show 1]\nNAME is one "
	      "of the actions:",
	      stderr);
	for (uint32_t i = 0; i < ACTION_KINDS; i++)
		fprintf(stderr, " %s", action_info[i].name);
	fputs("\nor of the features:", stderr);
	for (uint32_t i = 0; i < FEATURE_KINDS; i++)
		fprintf(stderr, " %s", feature_name[i]);
	fputc('\n', stderr);
	exit(3);
}

static uint64_t number(const char *text)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 0);

	if (!*text || *end)
		refuse();
	return value;
}

static void take_option(const char *name, const char *value)
{
	if (!strcmp(name, "--seed"))
		options.seed = number(value);
	else if (!strcmp(name, "--seconds"))
		options.seconds = number(value);
	else if (!strcmp(name, "--rounds"))
		options.rounds = number(value);
	else if (!strcmp(name, "--workers"))
		options.workers = number(value);
	else if (!strcmp(name, "--theme"))
		options.theme = number(value);
	else if (!strcmp(name, "--shrink"))
		options.shrink_s = number(value);
	else if (!strcmp(name, "--show"))
		options.show = number(value);
	else if (!strcmp(name, "--without"))
		options.without = value;
	else if (!strcmp(name, "--leave-out"))
		options.leave_out = value;
	else
		refuse();
}

static bool is_named(const char *known, const char *name, size_t length)
{
	return strlen(known) == length && !strncasecmp(known, name, length);
}

/* Actions, features, or both. */
static void leave_out_named(const char *names, struct script_limits *limits)
{
	while (names && *names) {
		const size_t length = strcspn(names, ",");
		bool is_known = false;

		for (uint32_t i = 0; i < ACTION_KINDS; i++) {
			if (is_named(action_info[i].name, names, length)) {
				limits->without |= UINT64_C(1) << i;
				is_known = true;
			}
		}
		for (uint32_t i = 0; i < FEATURE_KINDS; i++) {
			if (is_named(feature_name[i], names, length)) {
				limits->without_features |= 1u << i;
				is_known = true;
			}
		}
		if (!is_known)
			refuse();
		names += length + (names[length] == ',');
	}
}

static void draw(struct script *script, uint64_t seed)
{
	struct script_limits limits = { .workers = (uint32_t)options.workers,
					.theme = (uint32_t)options.theme };

	leave_out_named(options.without, &limits);
	script_draw(script, seed, &limits);
	if (options.leave_out && !script_take_left_out(script, options.leave_out))
		refuse();
}

/* ---- what is said ---- */

static void put_words(FILE *words)
{
	char line[400];

	rewind(words);
	while (fgets(line, sizeof(line), words))
		printf("# %s", line);
}

static void put_script(const struct script *script)
{
	FILE *words = tmpfile();

	if (!words)
		exit(4);
	script_put(script, words);
	put_words(words);
	fclose(words);
}

static void put_command(const char *program, const struct script *script, bool is_shorter)
{
	printf("# again: %s --seed %lu --rounds 1 --shrink 0", program,
	       (unsigned long)script->seed);
	if (options.workers)
		printf(" --workers %lu", (unsigned long)options.workers);
	if (options.theme)
		printf(" --theme %lu", (unsigned long)options.theme);
	if (options.without)
		printf(" --without %s", options.without);
	if (is_shorter || options.leave_out) {
		printf(" --leave-out ");
		script_put_left_out(script, stdout);
	}
	printf("\n");
}

static void put_failure(const char *program, struct script *script, const struct verdict *verdict,
			FILE *words)
{
	uint32_t fails;

	printf("# seed %lu: %s\n", (unsigned long)script->seed, verdict->reason);
	put_words(words);
	put_command(program, script, false);
	fflush(stdout);
	if (!options.shrink_s)
		return;
	fails = shrink(script, verdict, (double)options.shrink_s, words);
	printf("# shorter, fails in %u of %d tries:\n", fails, TRIES);
	put_script(script);
	put_command(program, script, true);
}

int main(int argc, char **argv)
{
	const char *given = getenv("SB_SEED");
	const double start = now_s();
	struct verdict verdict = { .failed = false };
	struct script script;
	FILE *words = tmpfile();
	uint64_t rounds = 0;
	uint64_t lives = 0;
	uint64_t parcels = 0;
	sigset_t set;

	options.seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000 % 1000000000;
	for (int i = 1; i < argc; i += 2)
		take_option(argv[i], i + 1 < argc ? argv[i + 1] : "");
	if (!words || options.workers > WORKERS_MAX || options.theme > script_themes())
		refuse();
	fprintf(stderr, "# SB_SEED=%lu\n", (unsigned long)options.seed);
	/* wait_for() takes it. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (!verdict.failed && rounds < options.rounds &&
	       (now_s() - start < (double)options.seconds || !rounds)) {
		draw(&script, options.seed + rounds);
		if (options.show)
			put_script(&script);
		verdict = run_round(&script, PATIENCE_S, words);
		lives += verdict.lives;
		parcels += verdict.parcels;
		rounds++;
	}
	printf("%sok 1 - torture: %lu rounds, %.1f s, %lu processes, %lu messages and "
	       "completions\n",
	       verdict.failed ? "not " : "", (unsigned long)rounds, now_s() - start,
	       (unsigned long)lives, (unsigned long)parcels);
	if (verdict.failed)
		put_failure(argv[0], &script, &verdict, words);
	printf("1..1\n");
	return verdict.failed;
}
