#include "harness/system/clock_cost.h"

#include "core/platform/platform.h"

#define BATCHES 20
#define LOOKS	1000

static uint64_t batch_ns(void)
{
	const uint64_t start = sb_clock_ns();
	uint64_t end = start;

	for (int i = 0; i < LOOKS; i++)
		end = sb_clock_ns();
	return end - start;
}

double sb_look_ns(void)
{
	uint64_t fastest = UINT64_MAX;

	for (int i = 0; i < BATCHES; i++)
		fastest = sb_min_u64(fastest, batch_ns());
	return (double)fastest / LOOKS;
}
