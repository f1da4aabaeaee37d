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

struct sb_pidmap {
	struct cds_lfht *processes;
	struct cds_lfht *claims; /* chosen PIDs that have been used */
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

/*
 * No accounting: the table then grows when a chain becomes long, which costs
 * add nothing, instead of counting every add and remove in a locked operation.
 */
static struct cds_lfht *create_table(unsigned long buckets)
{
	return cds_lfht_new_flavor(buckets, buckets, 0, CDS_LFHT_AUTO_RESIZE,
				   &urcu_qsbr_flavor, NULL);
}

struct sb_pidmap *sb_pidmap_create(void)
{
	struct sb_pidmap *map =
		sb_mem_zalloc(SB_ARENA_SHARED, sizeof(*map), SB_LINE);

	if (!map)
		return NULL;
	map->processes = create_table(INITIAL_BUCKETS);
	map->claims = create_table(1);
	if (map->processes && map->claims)
		return map;
	sb_pidmap_destroy(map);
	return NULL;
}

static void free_claim(struct sb_rcu_head *head)
{
	sb_mem_free(sb_container_of(head, struct claim, rcu));
}

/* Nobody looks a PID up any more, but liburcu's own thread may be making the
 * table larger, and walks the chains for that. */
static void destroy_claims(struct cds_lfht *claims)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	for (cds_lfht_first(claims, &iter);
	     (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(claims, &iter)) {
		SB_CHECK(cds_lfht_del(claims, node), ==, 0);
		sb_rcu_defer(&sb_container_of(node, struct claim, node)->rcu,
			     free_claim);
	}
}

/* The caller is registered for this: walking the claims is a read-side section,
 * though nobody else is there. */
void sb_pidmap_destroy(struct sb_pidmap *map)
{
	if (map->claims) {
		sb_rcu_foreign_enter();
		destroy_claims(map->claims);
		sb_rcu_foreign_exit();
		SB_CHECK(cds_lfht_destroy(map->claims, NULL), ==, 0);
	}
	if (map->processes)
		SB_CHECK(cds_lfht_destroy(map->processes, NULL), ==, 0);
	sb_mem_free(map);
}

void sb_pidmap_add(struct sb_pidmap *map, struct sb_process *process)
{
	struct cds_lfht_node *node = node_of(process);

	cds_lfht_node_init(node);
	sb_rcu_tsan_release(process);
	urcu_qsbr_read_lock();
	cds_lfht_add(map->processes, hash_of(process->pid), node);
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
	cds_lfht_lookup(map->processes, hash_of(pid), match_pid, &pid, &iter);
	node = cds_lfht_iter_get_node(&iter);
	urcu_qsbr_read_unlock();
	return node ? process_of(node) : NULL;
}

void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *process)
{
	urcu_qsbr_read_lock();
	SB_CHECK(cds_lfht_del(map->processes, node_of(process)), ==, 0);
	urcu_qsbr_read_unlock();
}

void sb_pidmap_for_each(struct sb_pidmap *map,
			void (*visit)(void *arg, struct sb_process *process),
			void *arg)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	urcu_qsbr_read_lock();
	for (cds_lfht_first(map->processes, &iter);
	     (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(map->processes, &iter)) {
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
		sb_mem_alloc(SB_ARENA_SHARED, sizeof(*claim), alignof(*claim));
	struct cds_lfht_node *there;

	if (!claim)
		return -ENOMEM;
	claim->pid = pid;
	cds_lfht_node_init(&claim->node);
	sb_rcu_tsan_release(claim);
	urcu_qsbr_read_lock();
	there = cds_lfht_add_unique(map->claims, hash_of(pid), match_claim,
				    &pid, &claim->node);
	urcu_qsbr_read_unlock();
	if (there == &claim->node)
		return 0;
	sb_mem_free(claim);
	return -EEXIST;
}

void sb_pidmap_unclaim(struct sb_pidmap *map, sb_pid pid)
{
	struct cds_lfht_iter iter;
	struct claim *claim;

	urcu_qsbr_read_lock();
	cds_lfht_lookup(map->claims, hash_of(pid), match_claim, &pid, &iter);
	claim = sb_container_of(cds_lfht_iter_get_node(&iter), struct claim,
				node);
	SB_CHECK(cds_lfht_del(map->claims, &claim->node), ==, 0);
	urcu_qsbr_read_unlock();
	sb_rcu_defer(&claim->rcu, free_claim);
}
