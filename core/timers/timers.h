/* timers.h - timers, and which worker wakes for them. */
#ifndef SB_CORE_TIMERS_TIMERS_H
#define SB_CORE_TIMERS_TIMERS_H

#include "core/platform/platform.h"
#include "core/timers/wheel.h"
#include "core/word.h"

struct sb_arena;
struct sb_scheduler;
struct sb_worker;

/* The timers of one worker. Anyone, under the lock. */
struct sb_timers {
	alignas(SB_LINE) struct sb_lock lock;
	_Atomic(uint64_t) next_ns; /* when to look; see sb_wheel_next_ns */
	struct sb_wheel wheel;
};

/* Which sleeper parks with a deadline; see core/timers/timers.c. */
struct sb_timekeeper {
	alignas(SB_LINE) _Atomic(uint32_t) who; /* a worker, or UINT32_MAX */
	_Atomic(uint32_t) needed;		/* 1: a timer has been started, ever */
	_Atomic(uint64_t) until_ns;
};

struct sb_timer_spec {
	uint64_t delay_ns;
	uint64_t period_ns; /* 0: it fires once */
	sb_pid pid;
	uint64_t tag;
	uint32_t type; /* of the event that is queued */
};

void sb_timers_init(struct sb_timers *timers, struct sb_arena *arena);
void sb_timers_fini(struct sb_timers *timers);

/* Starts a timer of the process that the worker runs, in the worker's wheel.
 * Returns 0 or -ENOMEM. */
int sb_timers_start(struct sb_worker *worker, const struct sb_timer_spec *spec, uint64_t *id);

/* Stops a timer of process pid, whatever wheel it is in. Returns 0: it will not
 * fire (again); -ENOENT: there is none, or it has fired. */
int sb_timers_stop(struct sb_scheduler *scheduler, uint64_t id, sb_pid pid);

/* A step of the process gets a ticker's tick. Returns how many more periods have passed
 * since that was queued; from now on another one may be. */
uint64_t sb_timers_take_missed(struct sb_scheduler *scheduler, uint64_t id,
			       const struct sb_process *process);

/* A process that has an extra ends: stops all of its timers. worker is the
 * caller's own or NULL. */
void sb_timers_end(struct sb_scheduler *scheduler, struct sb_worker *worker,
		   struct sb_process *process);

/* Sends the events of some timers that are due in owner's wheel. */
void sb_timers_run(struct sb_worker *worker, struct sb_worker *owner, uint64_t now_ns);

/* The same, for all wheels. */
void sb_timers_run_all(struct sb_worker *worker);

void sb_timekeeper_init(struct sb_timekeeper *keeper);

/* Before a worker sleeps: until when at the latest, SB_WHEEL_NEVER for ever.
 * Again at each look; and end, when it does not sleep any more. */
uint64_t sb_timekeeper_begin(struct sb_worker *worker);
void sb_timekeeper_end(struct sb_worker *worker);

/* The worker goes on to other work with a timer started. */
void sb_timekeeper_tell(struct sb_worker *worker);

/* The worker has found work, and somebody else is to keep the time. */
void sb_timekeeper_replace(struct sb_worker *worker);

#endif
