#include "harness/system/fault_cost.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/platform/platform.h"
#include "results/stats/statistics.h"

#define BATCHES 5
#define PAGES	256

/* NaN: there is no memory. Of a page that is given back, because it is also that. */
static double batch_ns(size_t page)
{
	volatile char *block = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start;

	if (block == MAP_FAILED)
		return NAN;
	/* One fault for all of them would tell nothing of one. */
	(void)madvise((void *)(uintptr_t)block, PAGES * page, MADV_NOHUGEPAGE);
	start = sb_clock_ns();
	for (size_t i = 0; i < PAGES; i++)
		block[i * page] = 1;
	(void)munmap((void *)(uintptr_t)block, PAGES * page);
	return (double)(sb_clock_ns() - start) / PAGES;
}

double sb_fault_ns(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	double ns[BATCHES];

	for (int i = 0; i < BATCHES; i++) {
		ns[i] = batch_ns(page);
		if (isnan(ns[i]))
			return NAN;
	}
	sb_sort(ns, BATCHES);
	return ns[BATCHES / 2];
}
