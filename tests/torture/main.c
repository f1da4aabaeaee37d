/*
 * main.c - runs rounds of the torture driver, each in a process of its own, until the time is over
 * or one fails.
 * usage: torture [--seed N] [--seconds N] [--rounds N] [--workers N] [--theme N]
 *                [--jobs N] [--without NAME,...] [--leave-out PARTS] [--shrink SECONDS] [--show 1]
 *
 * The seeds of the rounds count up from --seed or SB_SEED. A failure is printed with its
 * seed, the command that repeats it, what was open when it failed, and a shorter script that fails, too.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/driver.h"
#include "tests/torture/main.h"

/* A round that takes so long without a step or an operation hangs. The driver's own patience is
 * shorter, and its message is better. */
#define PATIENCE_S 45.0

/* Rounds that take longer are named. */
#define SLOW_S 10.0

#define JOBS_MAX 8

/* ---- the command line ---- */

static struct options {
	uint64_t seed, seconds, rounds, workers, theme, jobs, shrink_s, show;
	const char *without, *leave_out;
} options = { .seconds = 20, .rounds = UINT64_MAX, .shrink_s = 60 };

static _Noreturn void refuse(void)
{
	fputs("usage: torture [--seed N] [--seconds N] [--rounds N] [--workers 1-8] [--theme N] "
	      "[--jobs 1-8] "
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
	else if (!strcmp(name, "--jobs"))
		options.jobs = number(value);
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
			struct job *job)
{
	uint32_t fails;

	printf("# seed %lu: %s\n", (unsigned long)script->seed, verdict->reason);
	put_words(job->words);
	put_command(program, script, false);
	fflush(stdout);
	if (!options.shrink_s)
		return;
	fails = shrink(script, verdict, (double)options.shrink_s, job);
	printf("# shorter, fails in %u of %d tries:\n", fails, TRIES);
	put_script(script);
	put_command(program, script, true);
}

/* ---- rounds, several at a time ---- */

static struct state {
	double start_s;
	uint64_t started, ended, lives, parcels;
	struct job job[JOBS_MAX];
	struct script script[JOBS_MAX];
} state;

static bool may_start(void)
{
	return state.started < options.rounds &&
	       (now_s() - state.start_s < (double)options.seconds || !state.started);
}

static void start_round(uint64_t i)
{
	struct script *script = &state.script[i];

	draw(script, options.seed + state.started++);
	if (options.show)
		put_script(script);
	job_start(&state.job[i], script);
}

/* Starts rounds on free jobs. Returns a job whose round has failed, or -1; *runs: some jobs run. */
static int look_at_jobs(struct verdict *verdict, bool *runs)
{
	*runs = false;
	for (uint64_t i = 0; i < options.jobs; i++) {
		struct job *job = &state.job[i];

		if (job->child && job_has_ended(job, PATIENCE_S, verdict)) {
			state.ended++;
			if (verdict->seconds > SLOW_S)
				fprintf(stderr, "# seed %lu took %.1f s\n",
					(unsigned long)state.script[i].seed, verdict->seconds);
			state.lives += verdict->lives;
			state.parcels += verdict->parcels;
			if (verdict->failed)
				return (int)i;
		}
		if (!job->child && may_start())
			start_round(i);
		*runs |= job->child != 0;
	}
	return -1;
}

static int run_rounds(struct verdict *verdict)
{
	bool runs = true;
	int failed = -1;

	state.start_s = now_s();
	while (failed < 0 && runs) {
		failed = look_at_jobs(verdict, &runs);
		if (failed < 0 && runs)
			jobs_wait();
	}
	for (int i = 0; i < JOBS_MAX; i++)
		job_end(&state.job[i]);
	return failed;
}

static uint64_t processors(void)
{
	const long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : min_u64((uint64_t)n, JOBS_MAX);
}

int main(int argc, char **argv)
{
	const char *given = getenv("SB_SEED");
	struct verdict verdict;
	int failed;

	options.seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000 % 1000000000;
	options.jobs = processors();
	for (int i = 1; i < argc; i += 2)
		take_option(argv[i], i + 1 < argc ? argv[i + 1] : "");
	if (options.workers > WORKERS_MAX || options.theme > script_themes() || !options.jobs ||
	    options.jobs > JOBS_MAX)
		refuse();
	fprintf(stderr, "# SB_SEED=%lu\n", (unsigned long)options.seed);
	jobs_init();
	failed = run_rounds(&verdict);
	printf("%sok 1 - torture: %lu rounds, %.1f s, %lu processes, %lu messages and "
	       "completions\n",
	       failed < 0 ? "" : "not ", (unsigned long)state.ended, now_s() - state.start_s,
	       (unsigned long)state.lives, (unsigned long)state.parcels);
	if (failed >= 0)
		put_failure(argv[0], &state.script[failed], &verdict, &state.job[failed]);
	printf("1..1\n");
	return failed >= 0;
}
