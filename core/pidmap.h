/*
 * pidmap.h - from a PID to its process: liburcu's lock-free resizable hash
 * table (split-ordered lists; Shalev and Shavit, JACM 53(3), 2006), read under
 * RCU. PIDs that the scheduler gives out come in sequence and are their own
 * hash; those that callers choose are spread by multiplication.
 *
 * All but create and destroy are called by a registered, online thread
 * (core/reclaim.h). What lookup returns stays a process until the caller's next
 * quiescent state; that it is still alive, only its state word says.
 */
#ifndef SB_CORE_PIDMAP_H
#define SB_CORE_PIDMAP_H

#include "core/process.h"

struct sb_pidmap;

/* Returns NULL when there is no memory. */
struct sb_pidmap *sb_pidmap_create(void);

/* No process is in the map, and no other thread uses it any more. Not a
 * worker. */
void sb_pidmap_destroy(struct sb_pidmap *map);

/*
 * There are about so many processes now: grows the table, in the background, if
 * it is too small for them. It never shrinks. A load and a compare otherwise.
 */
void sb_pidmap_expect(struct sb_pidmap *map, uint64_t processes);

/* Makes process->pid known. The PID must not be in the map. Lock-free. */
void sb_pidmap_add(struct sb_pidmap *map, struct sb_process *process);

/*
 * Takes a PID that a caller has chosen, for ever: 0, -EEXIST (it has been taken
 * before) or -ENOMEM. Unclaim: the process did not come to be.
 */
SB_MUST_CHECK int sb_pidmap_claim(struct sb_pidmap *map, sb_pid pid);
void sb_pidmap_unclaim(struct sb_pidmap *map, sb_pid pid);

/* Returns the process, or NULL. Wait-free. */
struct sb_process *sb_pidmap_lookup(struct sb_pidmap *map, sb_pid pid);

/* Forgets a process; its memory may be used again after a grace period. */
void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *process);

/* Calls visit for each process; those that come or go meanwhile may be missed
 * or seen. visit may remove the process it is given. */
void sb_pidmap_for_each(struct sb_pidmap *map,
			void (*visit)(void *arg, struct sb_process *process),
			void *arg);

#endif
