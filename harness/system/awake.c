#include "harness/system/awake.h"

#include <sched.h>
#include <stdlib.h>

#include "core/platform/atomic.h"
#include "core/platform/platform.h"

struct sb_awake {
	_Atomic(bool) is_over;
	uint32_t threads;
	struct sb_thread thread[];
};

/* In any other class it would take time from what is measured. */
static bool become_idle(void)
{
	const struct sched_param param = { .sched_priority = 0 };

	return !sched_setscheduler(0, SCHED_IDLE, &param);
}

static void *keep(void *arg)
{
	const struct sb_awake *awake = arg;

	sb_thread_name("sb", "awake", -1);
	if (become_idle()) {
		while (!sb_load_rlx(&awake->is_over))
			sb_thread_yield();
	}
	return NULL;
}

struct sb_awake *sb_awake_begin(const struct sb_placement *placement)
{
	struct sb_awake *awake =
		calloc(1, sizeof(*awake) + placement->workers * sizeof(awake->thread[0]));

	for (uint32_t i = 0; awake && i < placement->workers; i++) {
		const int cpu = placement->place[i].os_cpu;

		if (cpu >= 0 && !sb_thread_start(&awake->thread[awake->threads], cpu, keep, awake))
			awake->threads++;
	}
	if (awake && awake->threads)
		return awake;
	free(awake);
	return NULL;
}

void sb_awake_end(struct sb_awake *awake)
{
	if (!awake)
		return;
	sb_store_rlx(&awake->is_over, true);
	for (uint32_t i = 0; i < awake->threads; i++)
		sb_thread_join(&awake->thread[i]);
	free(awake);
}
