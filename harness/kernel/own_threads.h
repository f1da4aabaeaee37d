/*
 * own_threads.h - the CPU time that threads of this process which are no workers take on the
 * workers' CPUs, over a repetition. A thread that exists at its end counts by its own CPU time, if
 * it is on one of these CPUs then. Threads that have ended meanwhile count by what the process's
 * CPU time has beyond that of all others; they had the CPUs of the thread that measures.
 */
#ifndef SB_HARNESS_KERNEL_OWN_THREADS_H
#define SB_HARNESS_KERNEL_OWN_THREADS_H

#include "affinity/mask.h"

/* Threads that are no workers, at the start of a repetition; there may be more later. */
#define SB_OWN_THREADS_MAX 320

struct sb_own_threads {
	const char *root; /* of /proc */
	const int *worker;
	uint32_t workers;
	const struct sb_cpu_mask *cpus; /* the workers' */

	/* At the start of the repetition. */
	uint64_t process_ns;
	uint64_t workers_ns;
	uint32_t n;
	struct sb_own_thread {
		uint64_t id;
		uint64_t run_ns;
	} thread[SB_OWN_THREADS_MAX];
};

/* The start of a repetition, and its end; workers_ns: the workers' CPU time so far. Returns the CPU
 * time since the start in milliseconds; NaN: the kernel does not list the threads. */
void sb_own_threads_begin(struct sb_own_threads *own, uint64_t workers_ns);
double sb_own_threads_ms(const struct sb_own_threads *own, uint64_t workers_ns);

#endif
