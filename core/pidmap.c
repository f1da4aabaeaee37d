#include "core/pidmap.h"

#include <errno.h>
#include <urcu/urcu-qsbr.h>
#include <urcu/rculfhash.h>

#include "core/mem.h"

#define INITIAL_BUCKETS 4096

static_assert(sizeof(struct sb_pidmap_node) == sizeof(struct cds_lfht_node),
	      "room for liburcu's node");
static_assert(alignof(struct sb_pidmap_node) >= alignof(struct cds_lfht_node),
	      "alignment of liburcu's node");

/*
 * A table that grows on our request. liburcu can do that by itself when a chain
 * becomes long (CDS_LFHT_AUTO_RESIZE), but in 0.13 it first queues the work and
 * then notes that it has been queued; a helper that is done in between leaves
 * the note standing, and the table never grows again: look-ups among a million
 * took 8 us then. Nor does it need to count: we know how many there are.
 */
struct table {
	struct cds_lfht *hash;
	_Atomic(uint64_t) buckets;
	_Atomic(uint64_t) expected;
	_Atomic(uint32_t) growing;
	struct sb_rcu_head grow;
};

struct sb_pidmap {
	struct table processes;
	struct table claims; /* chosen PIDs that have been used */
	_Atomic(uint64_t) claimed;
};

/* Outlives its process: that is what makes the PID unique. */
struct claim {
	struct cds_lfht_node node;
	sb_pid pid;
	struct sb_rcu_head rcu;
};

static unsigned long hash_of(sb_pid pid)
{
	if (pid < SB_PID_CHOSEN)
		return pid;
	/* Knuth, The Art of Computer Programming, vol. 3, section 6.4. */
	return (pid * UINT64_C(0x9E3779B97F4A7C15)) >> 16;
}

static struct cds_lfht_node *node_of(struct sb_process *process)
{
	return (struct cds_lfht_node *)(void *)&process->map;
}

static struct sb_process *process_of(struct cds_lfht_node *node)
{
	return sb_container_of(node, struct sb_process, map);
}

static int create_table(struct table *table)
{
	table->hash = cds_lfht_new_flavor(INITIAL_BUCKETS, INITIAL_BUCKETS, 0,
					  0, &urcu_qsbr_flavor, NULL);
	sb_store_rlx(&table->buckets, (uint64_t)INITIAL_BUCKETS);
	return table->hash ? 0 : -ENOMEM;
}

/* On the helper thread of core/reclaim.c: filling in a large table takes milliseconds. */
static void grow_table(struct sb_rcu_head *head)
{
	struct table *table = sb_container_of(head, struct table, grow);
	const uint64_t wanted = sb_load_rlx(&table->expected);
	uint64_t buckets = sb_load_rlx(&table->buckets);

	while (buckets <= wanted)
		buckets *= 2;
	cds_lfht_resize(table->hash, buckets);
	sb_store_rlx(&table->buckets, buckets);
	sb_store_rel(&table->growing, 0);
}

static void expect(struct table *table, uint64_t nodes)
{
	if (SB_LIKELY(nodes <= sb_load_rlx(&table->buckets)))
		return;
	sb_store_rlx(&table->expected, nodes);
	if (!sb_load_acq(&table->growing) &&
	    !sb_xchg_acq_rel(&table->growing, 1))
		sb_rcu_defer(&table->grow, grow_table);
}

void sb_pidmap_expect(struct sb_pidmap *map, uint64_t processes)
{
	expect(&map->processes, processes);
}

struct sb_pidmap *sb_pidmap_create(void)
{
	struct sb_pidmap *map = sb_mem_zalloc(SB_HEAP, sizeof(*map), SB_LINE);

	if (!map)
		return NULL;
	if (!create_table(&map->processes) && !create_table(&map->claims))
		return map;
	sb_pidmap_destroy(map);
	return NULL;
}

static void destroy_claims(struct cds_lfht *claims)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	for (cds_lfht_first(claims, &iter);
	     (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(claims, &iter)) {
		SB_CHECK(cds_lfht_del(claims, node), ==, 0);
		sb_mem_free(sb_container_of(node, struct claim, node));
	}
}

static void destroy_table(struct table *table)
{
	if (table->hash)
		SB_CHECK(cds_lfht_destroy(table->hash, NULL), ==, 0);
}

void sb_pidmap_destroy(struct sb_pidmap *map)
{
	sb_rcu_barrier(); /* a table may still be growing */
	if (map->claims.hash) {
		/* A read-side section, though nobody else is there. */
		sb_rcu_foreign_enter();
		destroy_claims(map->claims.hash);
		sb_rcu_foreign_exit();
	}
	destroy_table(&map->claims);
	destroy_table(&map->processes);
	sb_mem_free(map);
}

void sb_pidmap_add(struct sb_pidmap *map, struct sb_process *process)
{
	struct cds_lfht_node *node = node_of(process);

	cds_lfht_node_init(node);
	sb_rcu_tsan_release(process);
	urcu_qsbr_read_lock();
	cds_lfht_add(map->processes.hash, hash_of(process->pid), node);
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
	cds_lfht_lookup(map->processes.hash, hash_of(pid), match_pid, &pid,
			&iter);
	node = cds_lfht_iter_get_node(&iter);
	urcu_qsbr_read_unlock();
	return node ? process_of(node) : NULL;
}

void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *process)
{
	urcu_qsbr_read_lock();
	SB_CHECK(cds_lfht_del(map->processes.hash, node_of(process)), ==, 0);
	urcu_qsbr_read_unlock();
}

void sb_pidmap_for_each(struct sb_pidmap *map,
			void (*visit)(void *arg, struct sb_process *process),
			void *arg)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	urcu_qsbr_read_lock();
	for (cds_lfht_first(map->processes.hash, &iter);
	     (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(map->processes.hash, &iter)) {
		sb_rcu_tsan_acquire(process_of(node));
		visit(arg, process_of(node));
	}
	urcu_qsbr_read_unlock();
}

/* ---- claims ---- */

static int match_claim(struct cds_lfht_node *node, const void *pid)
{
	const struct claim *claim = sb_container_of(node, struct claim, node);

	sb_rcu_tsan_acquire(claim);
	return claim->pid == *(const sb_pid *)pid;
}

int sb_pidmap_claim(struct sb_pidmap *map, sb_pid pid)
{
	struct claim *claim =
		sb_mem_alloc(SB_HEAP, sizeof(*claim), alignof(struct claim));
	struct cds_lfht_node *there;

	if (!claim)
		return -ENOMEM;
	claim->pid = pid;
	cds_lfht_node_init(&claim->node);
	sb_rcu_tsan_release(claim);
	urcu_qsbr_read_lock();
	there = cds_lfht_add_unique(map->claims.hash, hash_of(pid), match_claim,
				    &pid, &claim->node);
	urcu_qsbr_read_unlock();
	if (there != &claim->node) {
		sb_mem_free(claim);
		return -EEXIST;
	}
	expect(&map->claims, sb_add_rlx(&map->claimed, 1) + 1);
	return 0;
}

static void free_claim(struct sb_rcu_head *head)
{
	sb_mem_free(sb_container_of(head, struct claim, rcu));
}

void sb_pidmap_unclaim(struct sb_pidmap *map, sb_pid pid)
{
	struct cds_lfht_iter iter;
	struct claim *claim;

	urcu_qsbr_read_lock();
	cds_lfht_lookup(map->claims.hash, hash_of(pid), match_claim, &pid,
			&iter);
	claim = sb_container_of(cds_lfht_iter_get_node(&iter), struct claim,
				node);
	SB_CHECK(cds_lfht_del(map->claims.hash, &claim->node), ==, 0);
	urcu_qsbr_read_unlock();
	sb_sub_acq_rel(&map->claimed, 1);
	sb_rcu_defer(&claim->rcu, free_claim);
}
