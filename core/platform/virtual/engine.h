/*
 * engine.h - virtual time: threads are fibers of one operating-system thread, on virtual
 * CPUs with clocks of their own.
 *
 * The engine always continues the CPU whose clock is furthest behind. A thread runs on
 * while its CPU's clock is ahead of all others by no more than the look-ahead, so that
 * most operations cost no switch. By that much CPUs' clocks differ for what is not on a line
 * of the machine's: counters. Between two operations of this file nothing
 * happens at the same time: a switch is possible only within them.
 *
 * Threads of one CPU take turns: a slice each, and whoever is woken comes next, once the
 * running one has had its least share. A thread without a CPU of its own takes one that
 * is idle. Starting, blocking and waking take what the machine's costs say.
 *
 * Nothing depends on real time, on addresses, or on anything random but the seed.
 *
 * All functions: virtual threads, within sb_virtual_run.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_ENGINE_H
#define SB_CORE_PLATFORM_VIRTUAL_ENGINE_H

#include "core/platform/virtual/lines.h"

struct sb_explore;
struct sb_virtual_thread;

struct sb_virtual_setup {
	const struct sb_model *model;
	uint64_t seed;
	uint64_t lookahead_ps;
	/* Instead of costs, with a look-ahead of its own; NULL: by costs. See explore.h. */
	const struct sb_explore *explore;
	/* The CPU of the first thread, and those on which threads that are not pinned may run, by
	 * their numbers; NULL: all, and the first thread begins on the last one. */
	uint32_t first_cpu;
	const bool *may_run;
};

/* Of a run that has ended. */
struct sb_virtual_counts {
	uint64_t end_ps;   /* the latest time of any CPU */
	uint64_t switches; /* from one thread to another */
	uint32_t threads;
	struct sb_lines_counts lines;
};

/*
 * Runs entry(arg) as the first virtual thread until it and all that were started have ended.
 * Returns 0, -EBUSY (this is a virtual thread already) or -ENOMEM. When all threads wait for each
 * other, the program ends with a line for each and SIGABRT. Any thread, one at a time.
 */
SB_MUST_CHECK int sb_virtual_run(const struct sb_virtual_setup *setup, void *(*entry)(void *),
				 void *arg, struct sb_virtual_counts *counts);

/* Threads that wait for the same. All zero: none. */
struct sb_virtual_queue {
	struct sb_virtual_thread *first, *last;
};

/* Until it is woken, which is true, or the time has come (UINT64_MAX: never). queue may be NULL. */
bool sb_virtual_wait(struct sb_virtual_queue *queue, uint64_t deadline_ps);

/* The first of them; false: there is none. */
bool sb_virtual_wake(struct sb_virtual_queue *queue);

/* The same, but nobody else runs before the caller's next operation. */
bool sb_virtual_wake_quietly(struct sb_virtual_queue *queue);

/* On that CPU, or on any that is idle (cpu < 0). NULL: no such CPU, or no memory. */
struct sb_virtual_thread *sb_virtual_start(int cpu, void *(*entry)(void *), void *arg);

/* Until it has ended; frees it. Once, by one thread. */
void sb_virtual_join(struct sb_virtual_thread *thread);

/* Whose turn it is on the same CPU, if anyone's. */
void sb_virtual_yield(void);

/* Of the calling thread: its number, from 1, in the order of starting. */
uint32_t sb_virtual_self(void);

/* Its memory of that many bytes, all zero at first. */
void *sb_virtual_own(void);
#define SB_VIRTUAL_OWN 64

bool sb_virtual_is_pinned(const struct sb_virtual_thread *thread, int cpu);

uint64_t sb_virtual_now_ps(void);

/* CPU time of the calling thread, and of all. */
uint64_t sb_virtual_cpu_ps(void);
uint64_t sb_virtual_all_cpus_ps(void);

/* Passes time. Others may run. */
void sb_virtual_charge(uint64_t ps);

/* Passes the time of code that takes ps on an otherwise idle core: longer while other hardware
 * threads of the core are busy. */
void sb_virtual_compute(uint64_t ps);

/* An access to a line, at that place in the code. Others may run before it; the caller does it
 * next. Outside of a run it is free. */
void sb_virtual_access(const volatile void *address, enum sb_access access, struct sb_site *site);

/* Whether stores wait until others see them: while a run explores, see explore.h. */
extern bool sb_virtual_delays_stores;

/* Directly after the access, on the same address. False: the caller stores. */
bool sb_virtual_delay(volatile void *address, const void *value, uint32_t bytes);

/* Where the caller's own latest store to that address waits, or the address. */
const volatile void *sb_virtual_latest(const volatile void *address);

/* Others see all that the caller has stored. */
void sb_virtual_drain(void);

/* The same of all threads. */
void sb_virtual_drain_all(void);

/* While a run explores: fills memory that has been freed with what is no address. */
void sb_virtual_spoil(void *memory, size_t bytes);

/* Brings the lines of an object to the calling CPU, to be written: what they cost beyond hits. */
void sb_virtual_touch(const void *object, size_t bytes, struct sb_site *site);

/* Begins to bring a line to the calling CPU, to be written. Free while a run explores. */
void sb_virtual_prefetch(const void *address, struct sb_site *site);

/* The straight code of an operation. */
void sb_virtual_straight(enum sb_straight kind);

void sb_virtual_fence(void);

const struct sb_costs *sb_virtual_costs(void);
uint32_t sb_virtual_cpus(void);

/* Whether the caller is a virtual thread. */
bool sb_virtual_runs(void);

/* The places that have waited for lines in this run so far, a list in no order of meaning. */
const struct sb_site *sb_virtual_sites(void);

#endif
