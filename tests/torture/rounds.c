/* rounds.c - rounds in processes of their own, one or several at a time, with deadlines. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/driver.h"
#include "tests/torture/main.h"

/* A round that is still running after that time hangs, although it makes progress. */
#define ROUND_S 240.0

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void jobs_init(void)
{
	sigset_t set;

	/* jobs_wait() waits for the signal. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
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

void job_start(struct job *job, const struct script *script)
{
	if (!job->words)
		job->words = tmpfile();
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (world == MAP_FAILED || !job->words || ftruncate(fileno(job->words), 0))
		exit(4);
	rewind(job->words);
	world->script = *script;
	job->world = world;
	job->start_s = job->since_s = now_s();
	job->progress = 0;
	fflush(stdout);
	job->child = fork();
	if (job->child < 0)
		exit(4);
	if (!job->child)
		run_child(job->words);
}

static bool hangs(struct job *job, double patience_s)
{
	const double now = now_s();
	uint64_t progress = 0;

	for (uint32_t i = 0; i < OWNS_MAX; i++)
		progress += get(&job->world->own[i].progress);
	if (progress != job->progress)
		job->since_s = now;
	job->progress = progress;
	return now - job->since_s > patience_s || now - job->start_s > ROUND_S;
}

static void say_why(struct verdict *verdict, int status)
{
	char *reason = verdict->reason;
	const size_t room = sizeof(verdict->reason);

	if (world->has_failed)
		snprintf(reason, room, "%s", world->failure);
	else if (verdict->hung)
		snprintf(reason, room, "hangs (%s)", world->phase ? world->phase : "begins");
	else if (WIFSIGNALED(status))
		snprintf(reason, room, "signal %d", WTERMSIG(status));
	else
		snprintf(reason, room, "exit status %d", WEXITSTATUS(status));
}

static void judge(struct job *job, struct verdict *verdict, int status)
{
	verdict->failed = verdict->hung || !WIFEXITED(status) || WEXITSTATUS(status);
	verdict->seconds = now_s() - job->start_s;
	verdict->lives = world->lives;
	verdict->parcels = world->parcels;
	if (!verdict->failed)
		return;
	say_why(verdict, status);
	fseek(job->words, 0, SEEK_END);
	model_put(job->words);
	fflush(job->words);
}

bool job_has_ended(struct job *job, double patience_s, struct verdict *verdict)
{
	int status;

	*verdict = (struct verdict){ .failed = false };
	if (waitpid(job->child, &status, WNOHANG) != job->child) {
		if (!hangs(job, patience_s))
			return false;
		verdict->hung = true;
		kill(job->child, SIGKILL);
		waitpid(job->child, &status, 0);
	}
	world = job->world;
	judge(job, verdict, status);
	munmap(job->world, sizeof(*job->world));
	job->child = 0;
	return true;
}

void job_end(struct job *job)
{
	if (!job->child)
		return;
	kill(job->child, SIGKILL);
	waitpid(job->child, NULL, 0);
	munmap(job->world, sizeof(*job->world));
	job->child = 0;
}

void jobs_wait(void)
{
	const struct timespec look = { .tv_nsec = 100000000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigtimedwait(&set, NULL, &look);
}

struct verdict run_round(struct job *job, const struct script *script, double patience_s)
{
	struct verdict verdict;

	job_start(job, script);
	while (!job_has_ended(job, patience_s, &verdict))
		jobs_wait();
	return verdict;
}
