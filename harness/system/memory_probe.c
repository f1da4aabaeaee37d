#include "harness/system/memory_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/platform/platform.h"

/* More than a core's own caches, less than the cache that cores share. Misses of the TLB are no part of
 * it where there are huge pages. */
#define LINE  64
#define LINES 65536
#define BYTES (LINES * LINE)
#define ALIGN (UINT64_C(2) << 20)

void sb_memory_probe_open(struct sb_memory_probe *probe, int os_cpu)
{
	*probe = (struct sb_memory_probe){ os_cpu, aligned_alloc(ALIGN, BYTES) };
	if (!probe->block)
		return;
	(void)madvise(probe->block, BYTES, MADV_HUGEPAGE);
	memset(probe->block, 0, BYTES);
}

void sb_memory_probe_close(struct sb_memory_probe *probe)
{
	free(probe->block);
}

struct reading {
	const volatile char *block;
	double line_ns;
};

static void *read_block(void *arg)
{
	struct reading *reading = arg;
	const uint64_t start = sb_clock_thread_cpu_ns();

	for (size_t i = 0; i < BYTES; i += LINE)
		(void)reading->block[i];
	reading->line_ns = (double)(sb_clock_thread_cpu_ns() - start) / LINES;
	return NULL;
}

double sb_memory_probe_ns(const struct sb_memory_probe *probe)
{
	struct reading reading = { probe->block, NAN };
	struct sb_thread thread;

	if (probe->block && !sb_thread_start(&thread, probe->os_cpu, read_block, &reading))
		sb_thread_join(&thread);
	return reading.line_ns;
}
