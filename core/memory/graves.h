/* graves.h - the dead, until their memory is used again. */
#ifndef SB_CORE_MEMORY_GRAVES_H
#define SB_CORE_MEMORY_GRAVES_H

#include "core/memory/reclaim.h"

struct sb_process;
struct sb_scheduler;
struct sb_worker;

#define SB_GRAVE_ROOM 256

/*
 * Processes that have ended on one worker. One deferred call is for all of them,
 * and their memory is used again without being read once more, which by then has
 * left the caches.
 */
struct sb_grave {
	struct sb_deferred deferred;
	struct sb_worker *home;
	struct sb_grave *next;
	uint32_t count;
	size_t all_bytes; /* of those in it */
	bool has_chosen;  /* one has a PID that the program may want to choose again */
	struct sb_process *dead[SB_GRAVE_ROOM];
	size_t bytes[SB_GRAVE_ROOM];
};

/* Of a worker whose pool is there. Returns 0 or -ENOMEM. */
int sb_graves_init(struct sb_worker *worker);
void sb_graves_fini(struct sb_worker *worker);

/* A process of so many bytes has ended on the worker. */
void sb_worker_gather_dead(struct sb_worker *worker, struct sb_process *process, size_t bytes);

/* Of a moment or more. Any thread. */
uint64_t sb_dead_bytes(const struct sb_scheduler *scheduler);

/* Starts the grace period of the dead gathered so far. */
void sb_worker_bury(struct sb_worker *worker);

/* The same, if one of them has a chosen PID: a worker that is never idle would keep the PID. */
void sb_worker_bury_chosen(struct sb_worker *worker);

/* Frees the dead whose grace period has passed. */
void sb_worker_take_reclaimed(struct sb_worker *worker);

#endif
