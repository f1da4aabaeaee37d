/*
 * load.c - a plug-in's host: loads the library with dlopen, runs processes, unloads it, many times.
 *
 * Property: each time the library loads, works, and leaves neither a mapping nor a thread; a thread
 * of the host's that has called it ends after it is unloaded without harm; with jemalloc in the
 * host (LD_PRELOAD) workers have arenas of their own, without it none. Prints the allocator.
 *
 * usage: load LIBRARY
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <schedbench.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than there would be room for, if the library's thread-local memory were not given back. */
#define TIMES	  60
#define WORKERS	  3
#define PROCESSES 2000

/* Where the host has jemalloc. */
int mallctl(const char *name, void *old, size_t *old_bytes, void *value, size_t bytes)
	__attribute__((weak));

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* ---- the library's functions, by name ---- */

#define FUNCTIONS(F)                                                                               \
	F(sb_config_init)                                                                          \
	F(sb_placement_here)                                                                       \
	F(sb_placement_free)                                                                       \
	F(sb_scheduler_create)                                                                     \
	F(sb_scheduler_start)                                                                      \
	F(sb_scheduler_submit)                                                                     \
	F(sb_scheduler_execute)                                                                    \
	F(sb_scheduler_stop)                                                                       \
	F(sb_scheduler_destroy)

static struct {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
} lib;

static void *load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fail("dlopen", dlerror());
#define FIND(name)                                                                                 \
	*(void **)&lib.name = dlsym(handle, #name);                                                \
	if (!lib.name)                                                                             \
		fail(#name, "not found");
	FUNCTIONS(FIND)
	return handle;
}

/* ---- what is there ---- */

static unsigned int count_arenas(void)
{
	unsigned int arenas = 0;
	size_t bytes = sizeof(arenas);

	if (mallctl)
		mallctl("arenas.narenas", &arenas, &bytes, NULL, 0);
	return arenas;
}

static int count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = -2; /* . and .. */

	while (tasks && readdir(tasks))
		n++;
	closedir(tasks);
	return n;
}

static void check_unloaded(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "libschedbench"))
			fail("after dlclose", line);
	}
	fclose(maps);
	/* The other thread and this one; the kernel lists one that was joined for a moment longer. */
	for (int i = 0; count_threads() != 2; i++) {
		if (i == 1000)
			fail("after dlclose", "there is a thread of the library's");
		usleep(1000);
	}
}

/* ---- the processes ---- */

static int init(void *state, const char *method, union sb_value input)
{
	(void)method;
	*(uint64_t *)state = input.u64;
	return 0;
}

static int step(void *state, struct sb_step *out, const struct sb_event *events, uint32_t count)
{
	uint64_t *left = (uint64_t *)state;

	(void)events;
	(void)count;
	if ((*left)--)
		return SB_CONTINUE;
	sb_step_result(out, sb_value_u64(42));
	return SB_DONE;
}

static const struct sb_process_ops counter = { "counter", sizeof(uint64_t), init, step, NULL };
static struct sb_scheduler *scheduler;

static void run_processes(void)
{
	struct sb_exit result;

	for (int i = 0; i < PROCESSES; i++) {
		if (lib.sb_scheduler_submit(scheduler, &counter, "count", sb_value_u64(2), NULL))
			fail("sb_scheduler_submit", "refused");
	}
	if (lib.sb_scheduler_execute(scheduler, &counter, "count", sb_value_u64(9), &result) ||
	    result.result.u64 != 42)
		fail("sb_scheduler_execute", "wrong result");
}

/* A thread of the host's that calls the library, and outlives it. */
static sem_t begins, has_called, ends;

static void *call(void *unused)
{
	sem_wait(&begins);
	run_processes();
	sem_post(&has_called);
	sem_wait(&ends);
	return unused;
}

static void live(void)
{
	struct sb_placement placement;
	struct sb_config config;

	lib.sb_config_init(&config);
	if (lib.sb_placement_here(WORKERS, &placement) ||
	    lib.sb_scheduler_create(&scheduler, &config, &placement))
		fail("sb_scheduler_create", "refused");
	if (lib.sb_scheduler_start(scheduler, NULL))
		fail("sb_scheduler_start", "refused");
	run_processes();
	sem_post(&begins);
	sem_wait(&has_called);
	lib.sb_scheduler_stop(scheduler, UINT64_MAX);
	lib.sb_scheduler_destroy(scheduler);
	lib.sb_placement_free(&placement);
}

int main(int argc, char **argv)
{
	const unsigned int before = count_arenas();

	if (argc != 2)
		fail("usage", "load LIBRARY");
	for (int i = 0; i < TIMES; i++) {
		pthread_t other;
		void *handle;

		sem_init(&begins, 0, 0);
		sem_init(&has_called, 0, 0);
		sem_init(&ends, 0, 0);
		pthread_create(&other, NULL, call, NULL);
		handle = load(argv[1]);
		live();
		if (dlclose(handle))
			fail("dlclose", dlerror());
		check_unloaded();
		sem_post(&ends);
		pthread_join(other, NULL);
	}
	/* A worker's each, and one for other threads; those of a destroyed scheduler are used again. */
	if (mallctl)
		printf("%d times, %u arenas of jemalloc's\n", TIMES, count_arenas() - before);
	else
		printf("%d times, the heap of the C library\n", TIMES);
	return 0;
}
