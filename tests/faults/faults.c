/*
 * faults.c - a library for LD_PRELOAD that lets the n-th call of one kind fail.
 *
 * SB_FAULTS is "FILE KIND FIRST LAST": of the calls of that kind, counted from 1,
 * those from FIRST to LAST fail; with a KIND that is none they are counted only. FILE
 * has the counts, zero at first: a 64-bit number of calls for each row of kinds.def, then that
 * of calls that failed. Processes that share the file count together.
 * SB_FAULTS_CHILDREN, if set: programs that are started load the library, too.
 * SB_FAULTS_STACK, if set: a file that gets the stack of the first call that failed.
 *
 * Counting begins when the libraries have been set up; before that, a failure
 * would be the loader's. The file is written for 64-bit Linux, where off_t is long
 * and a variadic int is passed as any other.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* fcntl.h and sys/mman.h declare what is defined here with types of their own. */
#define AT_CWD		(-100)
#define FILE_READ_WRITE 02
#define FILE_CREATE	0100
#define FILE_UNNAMED	020000000
#define MAP_READ_WRITE	3
#define MAP_TOGETHER	1

enum kind {
#define KIND(name, error) KIND_##name,
#include "tests/faults/kinds.def"
#undef KIND
	KINDS
};

static const struct {
	const char *name;
	int error;
} kinds[KINDS] = {
#define KIND(name, error) { #name, error },
#include "tests/faults/kinds.def"
#undef KIND
};

struct counts {
	_Atomic(uint64_t) seen[KINDS];
	_Atomic(uint64_t) failed;
};

static struct counts *counts; /* NULL: nothing is counted yet */
static unsigned int chosen = KINDS;
static unsigned long first, last;
static int stack_file = -1;
/* Looking for the stack, or for a function, makes calls of its own. */
static __thread int inside __attribute__((tls_model("initial-exec")));

static void put_stack(void)
{
	void *frame[64];

	inside++;
	backtrace_symbols_fd(frame, backtrace(frame, 64), stack_file);
	inside--;
}

static bool fails(enum kind kind)
{
	uint64_t n;

	if (!counts || inside)
		return false;
	n = atomic_fetch_add(&counts->seen[kind], 1) + 1;
	if ((unsigned int)kind != chosen || n < first || n > last)
		return false;
	if (!atomic_fetch_add(&counts->failed, 1) && stack_file >= 0)
		put_stack();
	errno = kinds[kind].error;
	return true;
}

/* ---- the functions themselves ---- */

static void *find(_Atomic(void *) *known, const char *name)
{
	void *function = atomic_load(known);

	if (!function) {
		inside++;
		function = dlsym(RTLD_NEXT, name);
		inside--;
		atomic_store(known, function);
	}
	return function;
}

#define FAULT(kind, type, failed, name, params, args)                                              \
	type name params;                                                                          \
	type name params                                                                           \
	{                                                                                          \
		static _Atomic(void *) known;                                                      \
		type(*real) params = (type(*) params)find(&known, #name);                          \
                                                                                                   \
		return fails(KIND_##kind) ? failed : real args;                                    \
	}
#define FAULT_CODE(kind, name, params, args)                                                       \
	int name params;                                                                           \
	int name params                                                                            \
	{                                                                                          \
		static _Atomic(void *) known;                                                      \
		int(*real) params = (int(*) params)find(&known, #name);                            \
                                                                                                   \
		return fails(KIND_##kind) ? errno : real args;                                     \
	}
#define ALLOCATION(name, params, args) FAULT(memory, void *, NULL, name, params, args)
#include "tests/faults/kinds.def"

/* ---- those that are not like the others ---- */

int posix_memalign(void **to, size_t alignment, size_t n)
{
	static _Atomic(void *) known;
	int (*real)(void **to, size_t alignment, size_t n) =
		(int (*)(void **, size_t, size_t))find(&known, "posix_memalign");

	return fails(KIND_memory) ? ENOMEM : real(to, alignment, n);
}

/* jemalloc(3): of what it is asked, only an arena needs memory. */
int mallctl(const char *name, void *old, size_t *old_n, void *new, size_t new_n);
int mallctl(const char *name, void *old, size_t *old_n, void *new, size_t new_n)
{
	static _Atomic(void *) known;
	int (*real)(const char *name, void *old, size_t *old_n, void *new, size_t new_n) =
		(int (*)(const char *, void *, size_t *, void *, size_t))find(&known, "mallctl");

	return !strcmp(name, "arenas.create") && fails(KIND_memory)
		       ? EAGAIN
		       : real(name, old, old_n, new, new_n);
}

/* jemalloc has these of C++, too. */
#define NEW(name, params, args)                                                                    \
	void *name params;                                                                         \
	void *name params                                                                          \
	{                                                                                          \
		static _Atomic(void *) known;                                                      \
		static _Atomic(void *) thrower;                                                    \
		void *(*real)params = (void *(*)params)find(&known, #name);                        \
                                                                                                   \
		if (fails(KIND_memory))                                                            \
			((void (*)(void))find(&thrower, "_ZSt17__throw_bad_allocv"))();            \
		return real args;                                                                  \
	}
NEW(_Znwm, (size_t n), (n))
NEW(_Znam, (size_t n), (n))

static enum kind kind_of_open(int flags)
{
	return (flags & FILE_CREATE) || (flags & FILE_UNNAMED) ? KIND_create : KIND_open;
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, unsigned int mode);                                  \
	int name(const char *path, int flags, unsigned int mode)                                   \
	{                                                                                          \
		if (fails(kind_of_open(flags)))                                                    \
			return -1;                                                                 \
		return (int)syscall(SYS_openat, AT_CWD, path, flags, mode);                        \
	}
#define OPENAT(name)                                                                               \
	int name(int fd, const char *path, int flags, unsigned int mode);                          \
	int name(int fd, const char *path, int flags, unsigned int mode)                           \
	{                                                                                          \
		if (fails(kind_of_open(flags)))                                                    \
			return -1;                                                                 \
		return (int)syscall(SYS_openat, fd, path, flags, mode);                            \
	}
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* ---- setting it up ---- */

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
	(void)cookie;
	return write(STDOUT_FILENO, bytes, n);
}

/* The C library's own writes to standard output do not come by here. */
static void take_stdout(void)
{
	const cookie_io_functions_t functions = { .write = put };
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream)
		stdout = stream;
}

static int open_file(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_CWD, path, flags, 0666);
}

/* Returns whether there is all that is expected. */
static bool parse(char *text)
{
	const char *path = strtok(text, " ");
	const char *kind = strtok(NULL, " ");
	const char *from = strtok(NULL, " ");
	const char *to = strtok(NULL, " ");

	if (!to)
		return false;
	for (chosen = 0; chosen < KINDS && strcmp(kinds[chosen].name, kind);)
		chosen++;
	first = strtoul(from, NULL, 10);
	last = strtoul(to, NULL, 10);
	counts = mmap(NULL, sizeof(*counts), MAP_READ_WRITE, MAP_TOGETHER,
		      open_file(path, FILE_READ_WRITE), 0);
	return counts != (void *)-1;
}

__attribute__((constructor)) static void set_up(void)
{
	const char *stack = getenv("SB_FAULTS_STACK");
	const char *what = getenv("SB_FAULTS");
	char *copy = what ? strdup(what) : NULL;
	void *frame[1];

	inside++;
	(void)backtrace(frame, 1); /* loads what it needs */
	if (stack)
		stack_file = open_file(stack, FILE_READ_WRITE | FILE_CREATE);
	if (!copy || !parse(copy)) {
		fputs("faults.so: SB_FAULTS is missing or wrong\n", stderr);
		_exit(99);
	}
	if (!getenv("SB_FAULTS_CHILDREN"))
		unsetenv("LD_PRELOAD");
	take_stdout();
	free(copy);
	inside--;
}
