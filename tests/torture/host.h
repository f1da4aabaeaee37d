/*
 * host.h - what the driver needs of the world it runs in: threads, time, sleep. There are two
 * implementations: the kernel's threads (host_threads.c), and virtual time (host_virtual.c), in
 * which `explore` runs the same scripts under schedules of its choice.
 */
#ifndef SB_TESTS_TORTURE_HOST_H
#define SB_TESTS_TORTURE_HOST_H

#include "core/platform/public.h"

/* In memory that stays where it is until the thread is joined. */
struct host_thread {
	void *(*entry)(void *arg);
	void *arg;
	unsigned long handle;
	int id; /* set by the thread itself */
};

/* The program ends if there can be no more threads. */
void host_start(struct host_thread *thread, void *(*entry)(void *arg), void *arg);
void host_join(struct host_thread *thread);

/* A small number that no other thread of the program has, the same in every call. */
uint32_t host_self(void);

uint64_t host_now_ns(void);
void host_sleep_ns(uint64_t ns);
void host_yield(void);

/* Returns when the thread sleeps in the kernel, or does so as far as anyone can know. */
void host_wait_asleep(struct host_thread *thread);

/* How long the driver waits for what must come by itself before it calls that a hang. */
uint64_t host_patience_ns(void);

/* The next allocations of the library succeed, all after these fail; -1: none fails. Only where
 * the build of the library can refuse them. */
void host_allow_allocations(int64_t allocations);
bool host_can_refuse_allocations(void);

/* A round as large as real threads can do, or one small enough to be explored. */
bool host_is_virtual(void);

#endif
