#include "harness/run/ground.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "harness/system/pair.h"

/* A list of CPUs is rarely longer; a longer one is cut off in the reason. */
#define LIST_BYTES 40

/* The kernel cuts the thread's mask down with its cpuset. */
static bool usable_is_the_same(struct sb_ground *ground)
{
	struct sb_cpu_mask now;
	char was[LIST_BYTES];
	char is[LIST_BYTES];

	/* A mask that cannot be read is empty. */
	if (!sb_cpu_mask_read(&now) && sb_cpu_mask_is_equal(&now, &ground->usable))
		return true;
	snprintf(ground->lost, sizeof(ground->lost),
		 "the CPUs that may be used changed from %s to %s during the run",
		 sb_cpu_mask_text(&ground->usable, was, sizeof(was)),
		 sb_cpu_mask_text(&now, is, sizeof(is)));
	return false;
}

/* A pinned thread whose CPU is taken away gets what is left of the cpuset. */
static bool workers_are_pinned(struct sb_ground *ground, const struct sb_scheduler *scheduler)
{
	for (uint32_t i = 0; i < ground->placement->workers; i++) {
		if (sb_scheduler_is_pinned(scheduler, i))
			continue;
		snprintf(ground->lost, sizeof(ground->lost),
			 "worker %" PRIu32 " is no longer pinned to CPU %d", i,
			 ground->placement->place[i].os_cpu);
		return false;
	}
	return true;
}

bool sb_ground_holds(struct sb_ground *ground, const struct sb_scheduler *scheduler)
{
	return usable_is_the_same(ground) && workers_are_pinned(ground, scheduler);
}

bool sb_ground_is_lost(struct sb_ground *ground, uint32_t worker, int rc)
{
	if (!ground->held || rc != -EINVAL)
		return false;
	if (usable_is_the_same(ground))
		snprintf(ground->lost, sizeof(ground->lost),
			 "worker %" PRIu32 " can no longer be pinned to CPU %d", worker,
			 ground->placement->place[worker].os_cpu);
	return true;
}

double sb_ground_transfer_ns(const struct sb_ground *ground)
{
	const struct sb_placement *p = ground->placement;
	const int first = p->place[0].os_cpu;
	int other = p->place[p->workers - 1].os_cpu;

	for (int cpu = 0; cpu < SB_CPUS_MAX && other == first; cpu++)
		other = sb_cpu_mask_has(&ground->usable, cpu) ? cpu : other;
	return first < 0 || other == first ? (double)NAN : sb_line_transfer_ns(first, other);
}
