/*
 * trail.h - from where a worker last fetched a process, and how often it has been stolen: one
 * word in the process. Written by the worker that has just taken the process from a queue, as
 * its next step is that worker's to run; so nobody else looks.
 *
 *   bits 0..2    enum sb_wait_place; 0: it has not been fetched yet
 *   bits 3..14   its steps then, modulo 4096: if it has run since, they differ, but for a
 *                process that has run 4096 times, or twice as often
 *   bits 15..19  how often it has been stolen, at most SB_TRAIL_MOVES
 *   bits 20..31  from whom the last time
 */
#ifndef SB_CORE_RECORD_TRAIL_H
#define SB_CORE_RECORD_TRAIL_H

#include "core/config.h"
#include "core/word.h"

/* Where a process waited for a worker, in the order of the counters missed_*_ns. */
enum sb_wait_place {
	SB_WAIT_OWN,	/* the deque of the worker that ran it, or those that continue */
	SB_WAIT_STOLEN, /* the same of another worker */
	SB_WAIT_INJECT, /* its worker's inject queue */
	SB_WAIT_REMOTE, /* another worker's */
	SB_WAIT_GLOBAL,
	SB_WAIT_HELD, /* its message was held by the step that sent it */
	SB_WAIT_PLACES
};

#define SB_TRAIL_STEPS 4095u
#define SB_TRAIL_MOVES 31u

static_assert(SB_WAIT_PLACES <= 8 && SB_WORKERS_MAX <= 4096, "they fit into the word");

static inline uint32_t sb_trail_moves(const struct sb_process *process)
{
	return process->trail >> 15 & SB_TRAIL_MOVES;
}

static inline uint32_t sb_trail_victim(const struct sb_process *process)
{
	return process->trail >> 20;
}

/* From where it was fetched for its next step, or SB_WAIT_OWN. */
static inline enum sb_wait_place sb_trail_place(struct sb_process *process)
{
	const uint32_t steps = (uint32_t)sb_counter_read(&process->steps);

	return ((process->trail >> 3 ^ steps) & SB_TRAIL_STEPS) == 0
		       ? (enum sb_wait_place)(process->trail & 7)
		       : SB_WAIT_OWN;
}

static inline void sb_trail_fetched(struct sb_process *process, enum sb_wait_place place)
{
	const uint32_t steps = (uint32_t)sb_counter_read(&process->steps) & SB_TRAIL_STEPS;

	process->trail = (process->trail & ~UINT32_C(0x7fff)) | steps << 3 | place;
}

static inline void sb_trail_stolen(struct sb_process *process, uint32_t victim)
{
	const uint32_t moves = sb_trail_moves(process);

	process->trail = victim << 20 | (moves < SB_TRAIL_MOVES ? moves + 1 : moves) << 15;
	sb_trail_fetched(process, SB_WAIT_STOLEN);
}

#endif
