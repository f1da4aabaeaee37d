#include "workloads/lib/cputime.h"

#include "core/platform/platform.h"

#define NS_PER_MS UINT64_C(1000000)
#define TRIES	  9

static uint64_t time_of(void (*work)(void *arg, uint64_t units), void *arg, uint64_t units)
{
	const uint64_t start = sb_clock_thread_cpu_ns();

	work(arg, units);
	return sb_clock_thread_cpu_ns() - start;
}

uint64_t sb_cputime_units_per_ms(void (*work)(void *arg, uint64_t units), void *arg)
{
	uint64_t units = 1000;
	uint64_t best = UINT64_MAX;

	/* So many that one try takes long against a reading of the clock. */
	while (time_of(work, arg, units) < NS_PER_MS)
		units *= 2;
	for (int i = 0; i < TRIES; i++)
		best = sb_min_u64(best, time_of(work, arg, units));
	return sb_max_u64(1, units * NS_PER_MS / sb_max_u64(1, best));
}
