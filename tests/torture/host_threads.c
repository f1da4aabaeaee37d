/* host_threads.c - the host of real threads. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/host.h"
#include "tests/torture/model.h"

/* Twenty seconds: a sanitizer on a loaded machine needs a tenth of that. */
#define PATIENCE_NS UINT64_C(20000000000)

static void *enter(void *arg)
{
	struct host_thread *thread = arg;

	put(&thread->id, gettid());
	return thread->entry(thread->arg);
}

void host_start(struct host_thread *thread, void *(*entry)(void *arg), void *arg)
{
	*thread = (struct host_thread){ .entry = entry, .arg = arg };
	if (pthread_create(&thread->handle, NULL, enter, thread)) {
		perror("torture: a thread");
		exit(4);
	}
}

void host_join(struct host_thread *thread)
{
	pthread_join(thread->handle, NULL);
}

uint32_t host_self(void)
{
	static uint32_t threads;
	static _Thread_local uint32_t self;

	if (!self)
		self = add(&threads, 1) + 1;
	return self;
}

uint64_t host_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void host_sleep_ns(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&time, NULL);
}

void host_yield(void)
{
	sched_yield();
}

/* The state of a thread in /proc, or 0. */
static char state_of(int id)
{
	char path[64];
	char state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/* The thread must be asleep three times in a row: it may sleep on a lock before it really waits. */
void host_wait_asleep(struct host_thread *thread)
{
	for (int seen = 0; seen < 3;) {
		seen = get(&thread->id) && state_of(get(&thread->id)) == 'S' ? seen + 1 : 0;
		host_sleep_ns(200000);
	}
}

uint64_t host_patience_ns(void)
{
	return PATIENCE_NS;
}

#ifdef SB_TEST_DELAYS
/* A switch of the tests' builds of the library: core/memory/arena.c. */
extern int64_t sb_test_allocations;

void host_allow_allocations(int64_t allocations)
{
	put(&sb_test_allocations, allocations);
}

bool host_can_refuse_allocations(void)
{
	return true;
}
#else
void host_allow_allocations(int64_t allocations)
{
	(void)allocations;
}

bool host_can_refuse_allocations(void)
{
	return false;
}
#endif

bool host_is_virtual(void)
{
	return false;
}
