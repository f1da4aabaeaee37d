/* host_virtual.c - the host of virtual time: threads are fibers, and the run's seed decides which
 * of them goes on. */
#include <stdlib.h>

#include "core/platform/platform.h"
#include "tests/torture/host.h"

/* A schedule delays a thread by some microseconds at a time. */
#define PATIENCE_NS UINT64_C(20000000000)
#define ASLEEP_NS   UINT64_C(2000000)

void host_start(struct host_thread *thread, void *(*entry)(void *arg), void *arg)
{
	struct sb_thread started;

	*thread = (struct host_thread){ .entry = entry, .arg = arg };
	if (sb_thread_start(&started, -1, entry, arg))
		abort();
	thread->handle = (unsigned long)(uintptr_t)started.handle;
}

void host_join(struct host_thread *thread)
{
	struct sb_thread started = { .handle = (void *)(uintptr_t)thread->handle };

	sb_thread_join(&started);
}

uint32_t host_self(void)
{
	return sb_virtual_self();
}

uint64_t host_now_ns(void)
{
	return sb_clock_ns();
}

void host_sleep_ns(uint64_t ns)
{
	sb_thread_sleep(ns);
}

/* A thread that polls must pass virtual time, or no other runs. */
void host_yield(void)
{
	sb_thread_sleep(1000);
}

void host_wait_asleep(struct host_thread *thread)
{
	(void)thread;
	sb_thread_sleep(ASLEEP_NS);
}

uint64_t host_patience_ns(void)
{
	return PATIENCE_NS;
}

void host_allow_allocations(int64_t allocations)
{
	(void)allocations;
}

bool host_can_refuse_allocations(void)
{
	return false;
}

bool host_is_virtual(void)
{
	return true;
}
