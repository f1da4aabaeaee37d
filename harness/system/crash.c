#include "harness/system/crash.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/platform/atomic.h"
#include "core/platform/base.h"
#include "core/platform/platform.h"
#include "harness/plugin/plugin.h"
#include "harness/terminal/interrupts.h"
#include "harness/terminal/status.h"

#define FRAMES 64

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static const struct {
	int number;
	const char *what;
} crashes[] = {
	{ SIGSEGV, ", SIGSEGV" }, { SIGBUS, ", SIGBUS" }, { SIGABRT, ", SIGABRT" },
	{ SIGFPE, ", SIGFPE" },	  { SIGILL, ", SIGILL" }, { SIGPROF, ", too slow" },
};

/* ---- safe in a handler ---- */

static void put(const char *text)
{
	/* If it cannot be said, nobody can be told so. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void put_number(long number)
{
	char digits[24];
	char *at = &digits[sizeof(digits) - 1];

	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	put(at);
}

static long own_id(void)
{
	return syscall(SYS_gettid);
}

/* Its own frame and the handler's, which nobody wants to see. */
#define OWN_FRAMES 2

static __attribute__((noinline)) void put_stack(const char *why)
{
	void *frame[FRAMES];
	const int frames = backtrace(frame, FRAMES);
	const int skip = frames > OWN_FRAMES ? OWN_FRAMES : 0;

	put(SB_CRASH_MARK);
	put_number(own_id());
	put(why);
	put(":\n");
	backtrace_symbols_fd(&frame[skip], frames - skip, STDERR_FILENO);
}

/* ---- crashes ---- */

/*
 * These do not look whether there was memory. (What else they crash of, a build with a
 * sanitizer shows.)
 */
static const char *const unchecking[] = { "libhwloc.", "liburcu" };

/* The crash may be in the C library. */
static const char *const below[] = { "libc.", "ld-linux", "libgcc_s.", "libstdc++." };

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	}
	return false;
}

/* The library or plug-in that has crashed; its name is NULL if it was the command itself. */
struct blamed {
	const char *name;
	const char *why;
	int status;
};

static bool blame(struct blamed *out, const char *object)
{
	const char *plugin = sb_plugin_of_object(object);
	const char *slash = strrchr(object, '/');
	const char *name = slash ? slash + 1 : object;

	if (plugin)
		*out = (struct blamed){ plugin, "", SB_EXIT_INVALID };
	else if (is_one_of(name, unchecking, SB_ARRAY_SIZE(unchecking)))
		*out = (struct blamed){ name, "; it does not check whether there is memory",
					SB_EXIT_ENVIRONMENT };
	else
		return is_one_of(name, below, SB_ARRAY_SIZE(below));
	return true;
}

static struct blamed find_blamed(void)
{
	struct blamed blamed = { .name = NULL };
	void *frame[FRAMES];
	const int frames = backtrace(frame, FRAMES);

	for (int i = OWN_FRAMES; i < frames; i++) {
		Dl_info info;

		if (!dladdr(frame[i], &info) || !blame(&blamed, info.dli_fname) || blamed.name)
			break;
	}
	return blamed;
}

static void say(const struct blamed *blamed, const char *why)
{
	put("sched-bench: ");
	put(blamed->name);
	put(" has crashed");
	put(why);
	put(blamed->why);
	put("\n");
}

/* The handler is gone when it runs: raised again, the signal kills. */
static void on_crash(int number)
{
	const int before = errno;
	const char *why = "";
	struct blamed blamed;

	for (size_t i = 0; i < SB_ARRAY_SIZE(crashes); i++) {
		if (crashes[i].number == number)
			why = crashes[i].what;
	}
	blamed = find_blamed();
	if (blamed.name) {
		say(&blamed, why);
		_exit(blamed.status);
	}
	put_stack(why);
	errno = before;
	(void)raise(number);
}

/* ---- what does not return ---- */

static const char *limited;
static const char *limited_why;

static void on_limit(int number)
{
	(void)number;
	put("sched-bench: ");
	put(limited);
	put(": ");
	put(sb_load_rlx(&sb_interrupted) ? "interrupted, and it does not end" : limited_why);
	put("; what the run has measured before is kept\n");
	_exit(SB_EXIT_INVALID);
}

void sb_crash_limit(const char *workload, const char *why, uint64_t limit_ns)
{
	const struct sigaction action = { .sa_handler = on_limit };
	const uint64_t seconds = (limit_ns + 999999999) / 1000000000;

	(void)alarm(0);
	limited = workload;
	limited_why = why;
	if (!limit_ns)
		return;
	(void)sigaction(SIGALRM, &action, NULL);
	(void)alarm(sb_load_rlx(&sb_interrupted) ? SB_INTERRUPT_S : (unsigned int)seconds);
}

/* ---- all threads ---- */

static _Atomic(bool) quitting;
static _Atomic(long) asked; /* the thread whose turn it is */
static _Atomic(long) answered;

#define ANSWER_WAITS 300 /* of a millisecond */

static void ask(long thread)
{
	const struct timespec while_ = { .tv_nsec = 1000000 };

	sb_store_rel(&asked, thread);
	if (syscall(SYS_tgkill, getpid(), thread, SIGQUIT))
		return;
	for (int i = 0; i < ANSWER_WAITS; i++) {
		if (sb_load_acq(&answered) == thread)
			return;
		nanosleep(&while_, NULL);
	}
	put(SB_CRASH_MARK);
	put_number(thread);
	put(": it does not answer\n");
}

static long number_of(const char *name)
{
	long number = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		number = 10 * number + (*name - '0');
	return number;
}

static void ask_some(const char *entries, long bytes)
{
	for (long at = 0; at < bytes;) {
		const struct dirent64 *entry = (const void *)&entries[at];
		const long thread = number_of(entry->d_name);

		if (thread && thread != own_id())
			ask(thread);
		at += entry->d_reclen;
	}
}

/* opendir() allocates. */
static void ask_all(void)
{
	_Alignas(struct dirent64) char entries[4096];
	const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	long bytes;

	while (fd >= 0 && (bytes = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		ask_some(entries, bytes);
	close(fd);
}

/* The first thread that gets it asks the others, one after the other. */
static void on_quit(int number)
{
	const int before = errno;

	if (sb_xchg_acq_rel(&quitting, true)) {
		if (sb_load_acq(&asked) == own_id()) {
			put_stack("");
			sb_store_rel(&answered, own_id());
		}
		errno = before;
		return;
	}
	put_stack(", asked by SIGQUIT");
	ask_all();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
	errno = before;
}

/* ---- setting it up ---- */

static void on_own_stack(struct sigaction *action)
{
	static char stack[64 * 1024];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };

	/* For a main thread whose stack is what has overflown. */
	if (!sigaltstack(&other, NULL))
		action->sa_flags |= SA_ONSTACK;
}

void sb_crash_watch(void)
{
	struct sigaction quit = { .sa_handler = on_quit, .sa_flags = SA_RESTART };
	struct sigaction crash = { .sa_handler = on_crash,
				   .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	void *frame[1];

	(void)backtrace(frame, 1);
	(void)sigaction(SIGQUIT, &quit, NULL);
	sb_thread_open_signal(SIGQUIT);
#ifdef SANITIZED
	return;
#endif
	on_own_stack(&crash);
	for (size_t i = 0; i < SB_ARRAY_SIZE(crashes); i++)
		(void)sigaction(crashes[i].number, &crash, NULL);
}
