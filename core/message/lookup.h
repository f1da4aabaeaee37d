/* lookup.h - a worker's cache of PIDs that it has looked up. */
#ifndef SB_CORE_MESSAGE_LOOKUP_H
#define SB_CORE_MESSAGE_LOOKUP_H

#include "core/word.h"

/*
 * A PID's process, as looked up when there had been so many burials; it holds
 * until there is another one. Spares a conversation the hash table.
 *
 * Why that is enough: a process's memory is used again a grace period after the
 * burial that it is in. A worker that does not see that burial in the count has
 * not been quiescent since, and the grace period waits for it.
 */
struct sb_route {
	sb_pid pid;
	struct sb_process *process;
	uint64_t burials;
};

#define SB_ROUTES 2048

#endif
