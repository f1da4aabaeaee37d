#include "core/memory/table.h"

#include <errno.h>
#include <urcu/urcu-qsbr.h>

#include "core/memory/arena.h"

#define INITIAL_BUCKETS 1024

/*
 * liburcu never waits for readers of its own here: it would when a table shrinks,
 * or resizes by itself. A node is freed after a period of our own (reclaim.h).
 */
int sb_table_init(struct sb_table *table, struct sb_reclaim *reclaim)
{
	table->reclaim = reclaim;
	table->count = sb_mem_zalloc(SB_HEAP, sb_reclaim_stripes(reclaim) * sizeof(*table->count),
				     SB_LINE);
	table->hash = cds_lfht_new_flavor(INITIAL_BUCKETS, INITIAL_BUCKETS, 0, 0, &urcu_qsbr_flavor,
					  NULL);
	sb_store_rlx(&table->buckets, (uint64_t)INITIAL_BUCKETS);
	sb_store_rlx(&table->count_at, (uint64_t)INITIAL_BUCKETS / 4);
	return table->count && table->hash ? 0 : -ENOMEM;
}

uint64_t sb_table_nodes(const struct sb_table *table)
{
	const uint32_t stripes = sb_reclaim_stripes(table->reclaim);
	uint64_t nodes = 0;

	for (uint32_t i = 0; i < stripes; i++)
		nodes += sb_load_rlx(&table->count[i].nodes);
	/* A node that came and went while we counted may have been seen to go alone. */
	return nodes > INT64_MAX ? 0 : nodes;
}

static bool is_nearly_full(uint64_t nodes, uint64_t buckets)
{
	return nodes > buckets - buckets / 4;
}

/* On the helper thread of core/memory/reclaim.c: filling in a large table takes milliseconds. */
static void grow_table(struct sb_deferred *deferred)
{
	struct sb_table *table = sb_container_of(deferred, struct sb_table, grow);
	const uint64_t nodes = sb_table_nodes(table);
	uint64_t buckets = sb_load_rlx(&table->buckets);

	while (is_nearly_full(nodes, buckets))
		buckets *= 2;
	cds_lfht_resize(table->hash, buckets);
	sb_store_rlx(&table->buckets, buckets);
	sb_store_rel(&table->growing, 0);
}

void sb_table_announce(struct sb_table *table, uint64_t n)
{
	const uint64_t announced = sb_add_rlx(&table->announced, n) + n;
	const uint64_t buckets = sb_load_rlx(&table->buckets);

	if (SB_LIKELY(announced < sb_load_rlx(&table->count_at)))
		return;
	sb_store_rlx(&table->count_at, announced + buckets / 4);
	if (is_nearly_full(sb_table_nodes(table), buckets) && !sb_load_acq(&table->growing) &&
	    !sb_xchg_acq_rel(&table->growing, 1))
		sb_reclaim_errand(table->reclaim, &table->grow, grow_table);
}

/* change: 1, or the same modulo 2^64 as -1. */
static void note(struct sb_table *table, uint64_t change)
{
	sb_add_rlx(&table->count[sb_reclaim_stripe(table->reclaim)].nodes, change);
}

void sb_table_note_added(struct sb_table *table)
{
	note(table, 1);
}

void sb_table_remove(struct sb_table *table, struct cds_lfht_node *node)
{
	const uint32_t side = sb_reclaim_enter(table->reclaim);

	SB_CHECK(cds_lfht_del(table->hash, node), ==, 0);
	sb_reclaim_exit(table->reclaim, side);
	note(table, UINT64_MAX);
}

void sb_table_fini(struct sb_table *table, void (*free_node)(struct cds_lfht_node *node))
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	sb_mem_free(table->count);
	if (!table->hash)
		return;
	for (cds_lfht_first(table->hash, &iter); (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(table->hash, &iter)) {
		SB_CHECK(cds_lfht_del(table->hash, node), ==, 0);
		free_node(node);
	}
	SB_CHECK(cds_lfht_destroy(table->hash, NULL), ==, 0);
}
