/* watch.h - what others see of a long step. */
#ifndef SB_CORE_WORKER_WATCH_H
#define SB_CORE_WORKER_WATCH_H

#include "core/platform/base.h"

/* The watcher's last observation of a worker. */
struct sb_watched {
	uint64_t epoch;	   /* of its ticks */
	uint64_t since_ns; /* how long that has not changed */
	uint64_t steps;	   /* at the last look */
	uint64_t held_ns;  /* since when its step holds something; 0: not */
	uint64_t held_steps;
};

/* The watch of the scheduler's reclamation; see sb_reclaim_look. scheduler: struct sb_scheduler. */
uint64_t sb_watch_look(void *scheduler, uint32_t own, uint64_t now_ns);

/* Its chores, on the helper thread. */
uint64_t sb_watch_chores(void *scheduler, uint64_t now_ns);

#endif
