/*
 * pidmap.h - from a PID to its process: liburcu's lock-free resizable hash
 * table (split-ordered lists; Shalev and Shavit, JACM 53(3), 2006), read in
 * sections of core/memory/reclaim.h.
 *
 * PIDs that the scheduler gives out come in sequence, and an owner takes them by
 * the block. The table holds the block, with an entry for the process of
 * each of its PIDs; so a process comes and goes with a store, and one in
 * SB_PID_BLOCK pays for the table. A block is there from its first PID until the
 * last process of it has ended. PIDs that callers choose are in a table of their
 * own, one by one, for some time after their process has ended.
 *
 * Lookup and for_each are called in a section, by a reader that is online or by a
 * visitor. A process that they find stays one until that ends; that it is still alive,
 * only its state word says.
 */
#ifndef SB_CORE_MEMORY_PIDMAP_H
#define SB_CORE_MEMORY_PIDMAP_H

#include "core/memory/reclaim.h"
#include "core/word.h"

/* PIDs of a block, a power of two. Tests build with fewer. */
#ifndef SB_PID_BLOCK
#define SB_PID_BLOCK 64
#endif

struct sb_pidmap;
struct sb_arena;

/* PIDs that one thread gives out, or the holder of the lock around it. */
struct sb_pids {
	sb_pid next;		    /* a block's first: there is none left */
	sb_pid reserved_end;	    /* of the blocks that come next */
	struct sb_pid_entry *entry; /* of next */
	struct sb_arena *arena;
};

/* reclaim: in whose sections it is read; it outlives the map. reuse_ns: how long
 * after the end of its process a chosen PID cannot be chosen. Returns NULL when
 * there is no memory. */
struct sb_pidmap *sb_pidmap_create(struct sb_reclaim *reclaim, uint64_t reuse_ns);

/* Forgets the chosen PIDs that can be chosen again. Any thread. Returns when there
 * is more to forget; UINT64_MAX: not until another process ends. */
uint64_t sb_pidmap_expire(struct sb_pidmap *map, uint64_t now_ns);

/* No process is in the map, and no other thread uses it any more; nor is any
 * struct sb_pids of it used again. Not a worker. */
void sb_pidmap_destroy(struct sb_pidmap *map);

/* No PIDs yet; arena: where blocks come from. */
void sb_pids_init(struct sb_pids *pids, struct sb_arena *arena);

/* Whether the next one is of another block. Any thread; a hint for others than
 * the owner. */
static inline bool sb_pids_are_used_up(const struct sb_pids *pids)
{
	return pids->next % SB_PID_BLOCK == 0;
}

/* Takes another block for pids. Returns 0 or -ENOMEM. Lock-free. */
SB_MUST_CHECK int sb_pids_refill(struct sb_pidmap *map, struct sb_pids *pids);

/* The next PID; pid is 0 when there is no memory. */
static inline struct sb_name sb_pids_take(struct sb_pidmap *map, struct sb_pids *pids)
{
	if (SB_UNLIKELY(pids->next % SB_PID_BLOCK == 0) && sb_pids_refill(map, pids))
		return (struct sb_name){ .pid = 0 };
	return (struct sb_name){ .pid = pids->next++, .entry = pids->entry++ };
}

/* A PID that a caller has chosen: 0, -EEXIST (it is, or has lately been, taken), or
 * -ENOMEM. */
SB_MUST_CHECK int sb_pidmap_choose(struct sb_pidmap *map, sb_pid pid, struct sb_name *name);

/* A start time for a process with a chosen PID: about now, and different for each, so that
 * PID and start time tell a process from an earlier one with the same PID. */
uint64_t sb_pidmap_start_ns(struct sb_pidmap *map);

/* There will be no process of that name. If the PID was chosen, it may be chosen
 * again. */
void sb_pidmap_give_back(struct sb_pidmap *map, struct sb_name name);

/* Makes a process known by its name, which it knows, too. Wait-free. */
static inline void sb_pidmap_add(struct sb_name name, struct sb_process *process)
{
	sb_store_rel(&name.entry->process, process);
}

/* Forgets n processes; their memory may be used again after a grace period. Those
 * whose PIDs are of one block, side by side, cost one operation that others see. */
void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *const *process, uint32_t n);

/* Returns the process, or NULL. Wait-free. */
struct sb_process *sb_pidmap_lookup(struct sb_pidmap *map, sb_pid pid);

/* How many blocks of PIDs there are. */
uint64_t sb_pidmap_blocks(const struct sb_pidmap *map);

/* Calls visit for each process; those that come or go meanwhile may be missed
 * or seen. visit may remove the process it is given. */
void sb_pidmap_for_each(struct sb_pidmap *map, void (*visit)(void *arg, struct sb_process *process),
			void *arg);

#endif
