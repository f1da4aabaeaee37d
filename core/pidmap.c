#include "core/pidmap.h"

#include <urcu/urcu-qsbr.h>
#include <urcu/rculfhash.h>

#define INITIAL_BUCKETS 4096

static_assert(sizeof(struct sb_pidmap_node) == sizeof(struct cds_lfht_node),
	      "room for liburcu's node");
static_assert(alignof(struct sb_pidmap_node) >= alignof(struct cds_lfht_node),
	      "alignment of liburcu's node");

static struct cds_lfht *table_of(struct sb_pidmap *map)
{
	return (struct cds_lfht *)(void *)map;
}

static struct cds_lfht_node *node_of(struct sb_process *process)
{
	return (struct cds_lfht_node *)(void *)&process->map;
}

static struct sb_process *process_of(struct cds_lfht_node *node)
{
	return sb_container_of(node, struct sb_process, map);
}

/*
 * No accounting: the table then grows when a chain becomes long, which costs
 * add nothing, instead of counting every add and remove in a locked operation.
 */
struct sb_pidmap *sb_pidmap_create(void)
{
	return (struct sb_pidmap *)(void *)cds_lfht_new_flavor(
		INITIAL_BUCKETS, INITIAL_BUCKETS, 0, CDS_LFHT_AUTO_RESIZE,
		&urcu_qsbr_flavor, NULL);
}

void sb_pidmap_destroy(struct sb_pidmap *map)
{
	SB_CHECK(cds_lfht_destroy(table_of(map), NULL), ==, 0);
}

void sb_pidmap_add(struct sb_pidmap *map, struct sb_process *process)
{
	struct cds_lfht_node *node = node_of(process);

	cds_lfht_node_init(node);
	sb_rcu_tsan_release(process);
	urcu_qsbr_read_lock();
	cds_lfht_add(table_of(map), process->pid, node);
	urcu_qsbr_read_unlock();
}

static int match_pid(struct cds_lfht_node *node, const void *pid)
{
	/* The chain's link was read with a dependency that no tool can see. */
	sb_rcu_tsan_acquire(process_of(node));
	return process_of(node)->pid == *(const sb_pid *)pid;
}

struct sb_process *sb_pidmap_lookup(struct sb_pidmap *map, sb_pid pid)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	urcu_qsbr_read_lock();
	cds_lfht_lookup(table_of(map), pid, match_pid, &pid, &iter);
	node = cds_lfht_iter_get_node(&iter);
	urcu_qsbr_read_unlock();
	return node ? process_of(node) : NULL;
}

void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *process)
{
	urcu_qsbr_read_lock();
	SB_CHECK(cds_lfht_del(table_of(map), node_of(process)), ==, 0);
	urcu_qsbr_read_unlock();
}

void sb_pidmap_for_each(struct sb_pidmap *map,
			void (*visit)(void *arg, struct sb_process *process),
			void *arg)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	urcu_qsbr_read_lock();
	for (cds_lfht_first(table_of(map), &iter);
	     (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(table_of(map), &iter)) {
		sb_rcu_tsan_acquire(process_of(node));
		visit(arg, process_of(node));
	}
	urcu_qsbr_read_unlock();
}
