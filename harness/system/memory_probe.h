/*
 * memory_probe.h - what reading memory costs now. Programs on other CPUs take the last-level cache
 * and the bandwidth of memory from the workers, and the operating system counts neither.
 */
#ifndef SB_HARNESS_SYSTEM_MEMORY_PROBE_H
#define SB_HARNESS_SYSTEM_MEMORY_PROBE_H

struct sb_memory_probe {
	int os_cpu; /* to run on; -1: any */
	char *block;
};

/* Without memory for the block, all readings are NaN. */
void sb_memory_probe_open(struct sb_memory_probe *probe, int os_cpu);
void sb_memory_probe_close(struct sb_memory_probe *probe);

/*
 * Returns the CPU time of a read of one cache line, in ns: a new thread reads 4 MiB in order, in 0.1 to
 * 0.3 ms. Between two readings other memory should be used for some milliseconds, or the lines are still
 * in the cache. NaN: no thread can be started.
 */
double sb_memory_probe_ns(const struct sb_memory_probe *probe);

#endif
