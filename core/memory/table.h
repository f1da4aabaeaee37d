/*
 * table.h - liburcu's lock-free hash table, which grows on our request; read in sections of
 * core/memory/reclaim.h.
 *
 * liburcu can grow it by itself when a chain becomes long (CDS_LFHT_AUTO_RESIZE), but in 0.13 it
 * first queues the work and then notes that it has been queued; a helper that is done in between
 * leaves the note standing, and the table never grows again: look-ups among a million took 8 us
 * then. And it would count nodes in lines that all threads write.
 *
 * A thread announces the nodes that it is going to add, many at a time. The table counts its nodes,
 * in stripes (reclaim.h), only when as many have been announced as a quarter of the buckets.
 * So there are fewer nodes than buckets until the next count. The table never shrinks.
 */
#ifndef SB_CORE_MEMORY_TABLE_H
#define SB_CORE_MEMORY_TABLE_H

#include <urcu/rculfhash.h>

#include "core/memory/reclaim.h"

/* Nodes that a thread has added, less those that it has removed; modulo 2^64. */
struct sb_node_count {
	alignas(SB_LINE) _Atomic(uint64_t) nodes;
};

struct sb_table {
	struct sb_reclaim *reclaim;
	struct cds_lfht *hash;	     /* in which callers look up, and add */
	struct sb_node_count *count; /* [sb_reclaim_stripes()] */
	_Atomic(uint64_t) buckets;
	_Atomic(uint32_t) growing;
	struct sb_deferred grow;
	alignas(SB_LINE) _Atomic(uint64_t) announced; /* ever */
	_Atomic(uint64_t) count_at;		      /* so many announced: count again */
};

/* Returns 0 or -ENOMEM, and then fini is called all the same. */
SB_MUST_CHECK int sb_table_init(struct sb_table *table, struct sb_reclaim *reclaim);

/* Calls free_node for what is still in it. Nobody else uses it any more, and what has been
 * deferred has been done (sb_reclaim_barrier). */
void sb_table_fini(struct sb_table *table, void (*free_node)(struct cds_lfht_node *node));

/* The caller is going to add n nodes. Any thread. */
void sb_table_announce(struct sb_table *table, uint64_t n);

/* The caller has added one. Any thread. */
void sb_table_note_added(struct sb_table *table);

/* Removes one that is in the table; it is freed after a grace period. Any thread, in no section. */
void sb_table_remove(struct sb_table *table, struct cds_lfht_node *node);

/* How many there are, or were during the call. Any thread. */
uint64_t sb_table_nodes(const struct sb_table *table);

#endif
