#include "harness/system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "core/platform/platform.h"
#include "harness/system/crash.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"
#include "harness/terminal/text.h"
#include "results/text/escape.h"

#define TICK_MS	      100
#define LAST_WORDS_NS UINT64_C(3000000000) /* for the stacks */

/* ---- the child's side, up to its exec ---- */

/* As the program itself would. */
static void refuse(const char *program, int stderr_fd)
{
	dprintf(stderr_fd, "sched-bench: %s cannot be run: %s\n", program, strerror(errno));
	_exit(SB_EXIT_ENVIRONMENT);
}

/* A second more for its last words. */
static void limit_cpu(uint32_t seconds)
{
	const struct rlimit limit = { .rlim_cur = seconds, .rlim_max = seconds + 1 };

	if (seconds)
		(void)setrlimit(RLIMIT_CPU, &limit);
}

static void become(const struct sb_child *child, int stderr_fd, pid_t parent)
{
	const char *program = child->program ? child->program : "/proc/self/exe";
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It may have died before it could matter. */
	if (getppid() != parent)
		_exit(SB_EXIT_ENVIRONMENT);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(stderr_fd, STDERR_FILENO) < 0)
		refuse(program, stderr_fd);
	limit_cpu(child->limit_cpu_s);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	/* The thread that forked may be one of sb_thread_start's, which block signals. */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	execv(program, child->argv);
	refuse(program, STDERR_FILENO);
}

/* ---- the parent's side ---- */

struct watch {
	struct sb_child *child;
	pid_t pid;
	int out;   /* what it says on standard error */
	int ended; /* readable when it has */
	uint64_t start_ns;
	uint64_t asked_ns; /* for its stacks; 0: not yet */
};

/* Keeps the end. */
static void keep(struct sb_child *child, const char *text, size_t bytes)
{
	size_t over;

	if (bytes > SB_CHILD_STDERR_BYTES) {
		text += bytes - SB_CHILD_STDERR_BYTES;
		bytes = SB_CHILD_STDERR_BYTES;
	}
	over = child->stderr_bytes + bytes > SB_CHILD_STDERR_BYTES
		       ? child->stderr_bytes + bytes - SB_CHILD_STDERR_BYTES
		       : 0;
	memmove(child->stderr_text, child->stderr_text + over, child->stderr_bytes - over);
	child->stderr_bytes -= over;
	memcpy(child->stderr_text + child->stderr_bytes, text, bytes);
	child->stderr_bytes += bytes;
	child->stderr_text[child->stderr_bytes] = '\0';
}

/* The available data; false: nobody can write any more. */
static bool drain(struct watch *watch)
{
	char text[4096];
	ssize_t bytes;

	while ((bytes = read(watch->out, text, sizeof(text))) > 0)
		keep(watch->child, text, (size_t)bytes);
	return bytes < 0;
}

static void see_to_time(struct watch *watch)
{
	const uint64_t now = sb_clock_ns();

	if (!watch->asked_ns && now - watch->start_ns > watch->child->limit_ns) {
		watch->asked_ns = now;
		watch->child->hung = true;
		(void)kill(watch->pid, SIGQUIT);
	} else if (watch->asked_ns && now - watch->asked_ns > LAST_WORDS_NS) {
		(void)kill(watch->pid, SIGKILL);
	}
}

static void see_to_interrupt(struct watch *watch)
{
	if (watch->child->interrupted || !sb_load_rlx(&sb_interrupted))
		return;
	watch->child->interrupted = true;
	(void)kill(watch->pid, SIGINT);
}

static void wait_for_it(struct watch *watch)
{
	struct pollfd fds[] = {
		{ .fd = watch->ended, .events = POLLIN },
		{ .fd = watch->out, .events = POLLIN },
	};

	for (;;) {
		(void)poll(fds, SB_ARRAY_SIZE(fds), TICK_MS);
		if (fds[1].fd >= 0 && !drain(watch))
			fds[1].fd = -1;
		if (fds[0].revents)
			break;
		see_to_time(watch);
		see_to_interrupt(watch);
	}
	while (waitpid(watch->pid, &watch->child->wait_status, 0) < 0 && errno == EINTR)
		continue;
	(void)drain(watch);
}

int sb_child_run(struct sb_child *child)
{
	struct watch watch = { .child = child, .start_ns = sb_clock_ns() };
	const pid_t parent = getpid();
	int rc = 0;
	int pipes[2];

	child->hung = child->interrupted = false;
	child->stderr_bytes = 0;
	child->stderr_text[0] = '\0';
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	(void)fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	watch.out = pipes[0];
	watch.pid = fork();
	if (!watch.pid)
		become(child, pipes[1], parent);
	close(pipes[1]);
	watch.ended = watch.pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, watch.pid, 0);
	if (watch.ended < 0) {
		rc = -errno;
		if (watch.pid > 0) {
			(void)kill(watch.pid, SIGKILL);
			(void)waitpid(watch.pid, NULL, 0);
		}
	} else {
		wait_for_it(&watch);
		close(watch.ended);
	}
	close(pipes[0]);
	child->elapsed_ns = sb_clock_ns() - watch.start_ns;
	return rc;
}

/* ---- several ---- */

/* More would only wait for memory. */
#define THREADS_MAX 64

static uint32_t usable_cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	return n > THREADS_MAX ? THREADS_MAX : (uint32_t)n;
}

/* With fewer threads than CPUs it takes longer. */
void sb_child_on_all_cpus(void *(*run)(void *), void *arg)
{
	const uint32_t most = usable_cpus() - 1;
	struct sb_thread thread[THREADS_MAX];
	uint32_t n = 0;

	while (n < most && !sb_thread_start(&thread[n], -1, run, arg))
		n++;
	(void)run(arg);
	while (n)
		sb_thread_join(&thread[--n]);
}

/* ---- what is said of it ---- */

#define WORDS_BYTES 160

/* Its last lines before any stack, as one. */
static void last_words(const struct sb_child *child, char *out, size_t bytes)
{
	const char *from = child->stderr_text;
	const char *dump = strstr(from, SB_CRASH_MARK);
	size_t length = dump ? (size_t)(dump - from) : child->stderr_bytes;

	if (length >= bytes) {
		from += length - bytes + 1;
		length = bytes - 1;
	}
	snprintf(out, bytes, "%.*s", (int)length, from);
	for (char *end = out + strlen(out); end > out && end[-1] == '\n';)
		*--end = '\0';
	for (char *c = out; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
}

/* The names in "program(name+0x12)[0x1234]" lines of the first stack that has
 * any, from the innermost on. */
static void name_frames(const char *dump, char *out, size_t bytes)
{
	const char *end = strstr(dump + 1, SB_CRASH_MARK);
	size_t used = 0;

	out[0] = '\0';
	for (const char *line = strchr(dump, '\n'); line && line[1];
	     line = strchr(line + 1, '\n')) {
		const size_t length = strcspn(line + 1, "\n");
		const char *open = memchr(line + 1, '(', length);
		const size_t name = open ? strcspn(open + 1, "+)\n") : 0;

		if (end && line >= end - 1)
			break;
		/* Of libraries, and static functions', there is none. */
		if (!name || line[1] == '/' || used + name + 4 > bytes)
			continue;
		used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", used ? " < " : "",
					 (int)name, open + 1);
	}
}

static uint32_t count_stacks(const char *text)
{
	uint32_t n = 0;

	while ((text = strstr(text, SB_CRASH_MARK))) {
		text++;
		n++;
	}
	return n;
}

static void how_it_ended(const struct sb_child *child, char *out, size_t bytes)
{
	const int status = child->wait_status;
	const char *dump = strstr(child->stderr_text, SB_CRASH_MARK);
	char limit[SB_TIME_BYTES];
	char frames[WORDS_BYTES] = "";

	sb_format_time(limit, child->limit_ns);
	if (child->hung && !child->stacks)
		snprintf(out, bytes, "hung: killed after %s", limit);
	else if (child->hung)
		snprintf(out, bytes,
			 "hung: killed after %s; the stacks of its %u threads are in %s", limit,
			 count_stacks(child->stderr_text), child->stacks);
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		snprintf(out, bytes, "killed after %u s of CPU time", child->limit_cpu_s);
	else if (WIFSIGNALED(status)) {
		if (dump)
			name_frames(dump, frames, sizeof(frames));
		snprintf(out, bytes, "crashed: SIG%s (%s)%s%s", sigabbrev_np(WTERMSIG(status)),
			 sigdescr_np(WTERMSIG(status)), *frames ? " in " : "", frames);
	} else
		snprintf(out, bytes, "failed with exit status %d", WEXITSTATUS(status));
}

bool sb_child_ended_well(const struct sb_child *child)
{
	return !child->hung && WIFEXITED(child->wait_status) &&
	       (WEXITSTATUS(child->wait_status) == SB_EXIT_OK ||
		WEXITSTATUS(child->wait_status) == SB_EXIT_INVALID);
}

/* A batch system's signal is for all processes of a job, and may reach this one last. */
#define SIGNAL_MS 200

static bool is_interrupted(void)
{
	for (int ms = 0; ms < SIGNAL_MS && !sb_load_rlx(&sb_interrupted); ms++)
		sb_thread_sleep(1000000);
	return sb_load_rlx(&sb_interrupted);
}

bool sb_child_was_cut_short(const struct sb_child *child)
{
	return (!WIFEXITED(child->wait_status) || WEXITSTATUS(child->wait_status)) &&
	       !child->hung && (child->interrupted || is_interrupted());
}

bool sb_child_is_refused(const struct sb_child *child)
{
	const int status = child->wait_status;

	return !child->hung && WIFEXITED(status) &&
	       (WEXITSTATUS(status) == SB_EXIT_USAGE || WEXITSTATUS(status) == SB_EXIT_ENVIRONMENT);
}

int sb_child_refuse(const struct sb_child *child, const char *prefix)
{
	const enum sb_status_code status = (enum sb_status_code)WEXITSTATUS(child->wait_status);
	const char *words = child->stderr_text;
	char *clean;
	int rc;

	if (!strncmp(words, "sched-bench: ", 13))
		words += 13;
	clean = sb_text_copy(words);
	for (size_t n = clean ? strlen(clean) : 0; n && clean[n - 1] == '\n';)
		clean[--n] = '\0';
	rc = sb_fail(status, "%s%s", prefix, clean && *clean ? clean : "its arguments are refused");
	free(clean);
	return rc;
}

void sb_child_describe(const struct sb_child *child, char *out, size_t bytes)
{
	char how[100 + WORDS_BYTES];
	char words[WORDS_BYTES];

	how_it_ended(child, how, sizeof(how));
	last_words(child, words, sizeof(words));
	snprintf(out, bytes, "%s%s%s", how, *words ? "; it said: " : "", words);
}
