/*
 * unchanged.c - the process of a program that embeds the scheduler is the program's own.
 *
 * Property: no call of the library, from sb_placement_here to sb_scheduler_destroy, changes the
 * environment, signal dispositions, timers, the working directory, the locale, the standard
 * streams, file descriptors, limits, children, the allocator's settings, or the calling thread's
 * own state. While workers run, only the program's own threads get its signals, and each new file
 * descriptor is closed by exec. Prints each difference, and how many.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <schedbench.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the program has jemalloc. */
int mallctl(const char *name, void *old, size_t *old_bytes, void *value, size_t bytes)
	__attribute__((weak));

static int differences;

/* ---- the process, a line for each thing ---- */

static void put_environment(FILE *out)
{
	fprintf(out, "environ %p\n", (void *)environ);
	for (char **e = environ; *e; e++)
		fprintf(out, "variable %p %s\n", (void *)*e, *e);
}

static void put_signals(FILE *out)
{
	sigset_t set;
	stack_t stack;

	for (int i = 1; i < NSIG; i++) {
		struct sigaction action = { .sa_flags = 0 };

		if (!sigaction(i, NULL, &action))
			fprintf(out, "signal %d: %p flags %#x\n", i, (void *)action.sa_handler,
				(unsigned int)action.sa_flags);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(&set, i) == 1)
			fprintf(out, "blocked %d\n", i);
	}
	sigaltstack(NULL, &stack);
	fprintf(out, "signal stack %p\n", stack.ss_sp);
}

/* What is left of a timer may only become less. */
static void put_timers(FILE *out)
{
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		struct itimerval timer;

		getitimer(which, &timer);
		fprintf(out, "timer %d: every %ld s, %s\n", which, (long)timer.it_interval.tv_sec,
			timer.it_value.tv_sec > 500 ? "runs" : "does not run, or anew");
	}
}

static void put_stream(FILE *out, const char *name, FILE *stream)
{
	struct stat status = { .st_ino = 0 };

	fstat(fileno(stream), &status);
	fprintf(out, "%s: file %d (%lu), flags %#x, buffer %zu, by line %d, pending %zu\n", name,
		fileno(stream), (unsigned long)status.st_ino,
		(unsigned int)fcntl(fileno(stream), F_GETFL), __fbufsize(stream), __flbf(stream),
		__fpending(stream));
}

/* The entries of a folder, and what they are links to. */
static void put_folder(FILE *out, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char link[512] = "";

		if (strtol(entry->d_name, NULL, 10) == dirfd(folder) || *entry->d_name == '.')
			continue;
		(void)!readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);
		fprintf(out, "%s/%s %s\n", path, entry->d_name, link);
	}
	if (folder)
		closedir(folder);
}

static void put_limits(FILE *out)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit((__rlimit_resource_t)i, &limit))
			fprintf(out, "limit %d: %ju %ju\n", i, (uintmax_t)limit.rlim_cur,
				(uintmax_t)limit.rlim_max);
	}
}

static void put_thread(FILE *out)
{
	static const int options[] = { PR_GET_DUMPABLE,	   PR_GET_KEEPCAPS,   PR_GET_NO_NEW_PRIVS,
				       PR_GET_THP_DISABLE, PR_GET_SECUREBITS, PR_GET_TIMERSLACK };
	cpu_set_t set;
	char name[16] = "";

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set))
			fprintf(out, "may run on CPU %d\n", i);
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		fprintf(out, "prctl %d: %d\n", options[i], prctl(options[i], 0, 0, 0, 0));
	prctl(PR_GET_NAME, name);
	fprintf(out, "name %s, policy %d, priority %d, personality %#x\n", name,
		sched_getscheduler(0), getpriority(PRIO_PROCESS, 0),
		(unsigned int)personality(0xffffffff));
}

/* The mask of new files, as the kernel shows it without changing it. */
static void put_umask(FILE *out)
{
	FILE *in = fopen("/proc/self/status", "re");
	char line[256];

	while (in && fgets(line, sizeof(line), in)) {
		if (!strncmp(line, "Umask:", 6))
			fputs(line, out);
	}
	if (in)
		fclose(in);
}

static void put_allocator(FILE *out)
{
	static const char *const settings[] = { "arenas.dirty_decay_ms", "arenas.muzzy_decay_ms" };
	bool in_background = false;
	size_t bytes = sizeof(in_background);

	if (!mallctl)
		return;
	mallctl("background_thread", &in_background, &bytes, NULL, 0);
	fprintf(out, "jemalloc: background threads %d\n", in_background);
	for (size_t i = 0; i < 2; i++) {
		ssize_t value = 0;

		bytes = sizeof(value);
		mallctl(settings[i], &value, &bytes, NULL, 0);
		fprintf(out, "jemalloc: %s %zd\n", settings[i], value);
	}
}

static char *describe(void)
{
	char directory[4096] = "";
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	put_environment(out);
	put_signals(out);
	put_timers(out);
	fprintf(out, "working directory %s\n", getcwd(directory, sizeof(directory)));
	fprintf(out, "locale %s\n", setlocale(LC_ALL, NULL));
	put_stream(out, "stdin", stdin);
	put_stream(out, "stdout", stdout);
	put_stream(out, "stderr", stderr);
	put_limits(out);
	put_thread(out);
	put_umask(out);
	put_allocator(out);
	fprintf(out, "child processes: %s\n",
		waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "none" : "some");
	fclose(out);
	return text;
}

/* The kernel lists a thread that was joined for a moment longer. */
static void wait_for_threads(void)
{
	struct stat status;

	for (int i = 0; i < 1000 && !stat("/proc/self/task", &status) && status.st_nlink > 3; i++)
		usleep(1000);
}

/* Which open files and threads there are. */
static char *describe_use(void)
{
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	wait_for_threads();
	put_folder(out, "/proc/self/fd");
	put_folder(out, "/proc/self/task");
	fclose(out);
	return text;
}

/* Prints the first line that differs. Frees now. */
static void compare(const char *when, const char *before, char *now)
{
	const char *a = before;
	const char *b = now;

	while (*a && strcspn(a, "\n") == strcspn(b, "\n") && !strncmp(a, b, strcspn(a, "\n"))) {
		a += strcspn(a, "\n") + 1;
		b += strcspn(b, "\n") + 1;
	}
	if (*a || *b) {
		dprintf(STDERR_FILENO, "after %s: '%.*s', before '%.*s'\n", when,
			(int)strcspn(b, "\n"), b, (int)strcspn(a, "\n"), a);
		differences++;
	}
	free(now);
}

/* ---- while workers run ---- */

static atomic_int handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

static void fail(const char *what)
{
	dprintf(STDERR_FILENO, "%s\n", what);
	differences++;
}

/* A signal that this thread blocks can only go to a thread of the library; it is not taken. */
static void send_signals(void)
{
	static const int numbers[] = { SIGUSR1, SIGALRM, SIGPROF, SIGCHLD, SIGURG };
	const int count = sizeof(numbers) / sizeof(numbers[0]);
	sigset_t set;
	sigset_t before;

	sigemptyset(&set);
	for (int i = 0; i < count; i++)
		sigaddset(&set, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	for (int i = 0; i < count; i++)
		kill(getpid(), numbers[i]);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	sigpending(&set);
	for (int i = 0; i < count; i++) {
		if (sigismember(&set, numbers[i]) != 1)
			fail("a thread of the library took a signal of the program's");
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (handled != count)
		fail("the program did not get its own signals");
}

static void check_files(void)
{
	for (int fd = 3; fd < 256; fd++) {
		const int flags = fcntl(fd, F_GETFD);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			fail("a file of the library would outlive exec");
	}
}

/* ---- the program ---- */

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(uint64_t *)state = input.u64;
	return 0;
}

static int step(void *state, struct sb_step *out, const struct sb_event *events, uint32_t count)
{
	uint64_t *left = (uint64_t *)state;

	(void)out;
	(void)events;
	(void)count;
	return (*left)-- ? SB_CONTINUE : SB_DONE;
}

static void require(int rc, const char *what)
{
	if (!rc)
		return;
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(-rc));
	exit(1);
}

/* A life of a scheduler, with a look after each call. */
static void live(const char *before)
{
	static const struct sb_process_ops counter = { "counter", sizeof(uint64_t), init, step,
						       NULL };
	struct sb_placement placement;
	struct sb_scheduler *s;
	struct sb_config config;
	struct sb_exit exit;

	require(sb_placement_here(3, &placement), "sb_placement_here");
	compare("sb_placement_here", before, describe());
	sb_config_init(&config);
	require(sb_scheduler_create(&s, &config, &placement), "sb_scheduler_create");
	compare("sb_scheduler_create", before, describe());
	require(sb_scheduler_start(s, NULL), "sb_scheduler_start");
	compare("sb_scheduler_start", before, describe());
	require(sb_scheduler_execute(s, &counter, "count", sb_value_u64(1000), &exit), "execute");
	/* Enough for the table of processes to grow, which starts threads of liburcu's. */
	for (int i = 0; i < 20000; i++)
		require(sb_scheduler_submit(s, &counter, "count", sb_value_u64(1), NULL), "submit");
	check_files();
	handled = 0;
	send_signals();
	require(sb_scheduler_stop(s, UINT64_MAX), "sb_scheduler_stop");
	compare("sb_scheduler_stop", before, describe());
	sb_scheduler_destroy(s);
	sb_placement_free(&placement);
	compare("sb_scheduler_destroy", before, describe());
}

/* None of these fires during the test. */
static void start_timers(void)
{
	const struct itimerval timer = { { 1000, 0 }, { 1000, 0 } };

	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++)
		setitimer(which, &timer, NULL);
}

int main(void)
{
	static const int numbers[] = { SIGUSR1, SIGALRM, SIGPROF, SIGCHLD, SIGURG };
	struct sigaction action = { .sa_handler = handle };
	static char buffer[300];
	char *before;
	char *used;

	close_range(3, ~0U, 0); /* what the program itself was given */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	setenv("HWLOC_XMLFILE", "a_file_that_is_not_there.xml", 1);
	setenv("HWLOC_COMPONENTS", "-gl", 1);
	setenv("MINE", "value", 1);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	printf("differences: "); /* stays in the buffer */
	start_timers();
	before = describe();
	used = describe_use();
	for (int i = 0; i < 3; i++) {
		live(before);
		compare("a life of a scheduler", used, describe_use());
	}
	free(before);
	free(used);
	printf("%d\n", differences);
	return 0;
}
