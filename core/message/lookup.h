/* lookup.h - a worker's cache of PIDs that it has looked up. */
#ifndef SB_CORE_MESSAGE_LOOKUP_H
#define SB_CORE_MESSAGE_LOOKUP_H

#include "core/word.h"

/*
 * A PID's process, as looked up when its worker's reader had seen that period
 * (core/memory/reclaim.h); it holds until the reader has seen a later one. Spares a
 * conversation the hash table, and reads nothing that other workers write.
 *
 * Why that is enough: a process's memory is used again after a period that began
 * after the removal of its PID, and that all readers have seen. A reader that had
 * seen that period when it looked the PID up did not find the process any more.
 * Of another one the stamp is older than what it has seen when the memory is used
 * again. A stop begins a period, so no route outlives one, by force or not.
 */
struct sb_route {
	sb_pid pid;
	struct sb_process *process;
	uint64_t period;
};

#define SB_ROUTES 2048

#endif
