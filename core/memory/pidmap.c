#include "core/memory/pidmap.h"

#include <errno.h>

#include "core/memory/arena.h"
#include "core/memory/table.h"
#include "core/platform/platform.h"

static_assert((SB_PID_BLOCK & (SB_PID_BLOCK - 1)) == 0, "a power of two");

struct sb_pidmap {
	struct sb_reclaim *reclaim;
	struct sb_table blocks;
	struct sb_table claims;
	uint64_t reuse_ns;
	struct sb_lock ended_lock;
	struct claim *ended; /* oldest first */
	struct claim *ended_last;
	_Atomic(uint64_t) started_ns; /* the latest start of a process with a chosen PID */
	alignas(SB_LINE) _Atomic(uint64_t) next; /* the first that nobody has reserved */
};

/* Of PIDs in sequence. Any of its processes may be the last. */
struct block {
	struct cds_lfht_node node;
	uint64_t number;	/* its PIDs, divided by SB_PID_BLOCK */
	_Atomic(uint32_t) left; /* PIDs that are, or may yet be, a process's */
	struct sb_deferred deferred;
	alignas(SB_LINE) struct sb_pid_entry entry[SB_PID_BLOCK];
};

/* A chosen PID. Outlives its process by reuse_ns: so a sender that still means that
 * process by it learns that it is gone, and finds no other. */
struct claim {
	struct cds_lfht_node node;
	sb_pid pid;
	uint64_t ended_ns; /* in the list of those whose process has ended */
	struct claim *next_ended;
	struct sb_pid_entry entry;
	struct sb_deferred deferred;
};

/* Knuth, The Art of Computer Programming, vol. 3, section 6.4. The numbers of
 * blocks come in sequence and are their own hash. */
static unsigned long hash_of_claim(sb_pid pid)
{
	return (pid * UINT64_C(0x9E3779B97F4A7C15)) >> 16;
}

/* ---- blocks ---- */

static struct block *block_of(struct sb_name name)
{
	return sb_container_of(name.entry - name.pid % SB_PID_BLOCK, struct block, entry[0]);
}

static int match_block(struct cds_lfht_node *node, const void *number)
{
	const struct block *block = sb_container_of(node, struct block, node);

	/* The chain's link was read with a dependency that no tool can see. */
	sb_tsan_acquire(block);
	return block->number == *(const uint64_t *)number;
}

static void free_block_node(struct cds_lfht_node *node)
{
	struct block *block = sb_container_of(node, struct block, node);

	for (uint32_t i = 0; i < SB_PID_BLOCK; i++)
		SB_CHECK(sb_load_rlx(&block->entry[i].process) == NULL, ==, true);
	sb_mem_free(block);
}

static void free_block(struct sb_deferred *deferred)
{
	sb_mem_free(sb_container_of(deferred, struct block, deferred));
}

void sb_pids_init(struct sb_pids *pids, struct sb_arena *arena)
{
	*pids = (struct sb_pids){ .arena = arena };
}

/* Blocks whose PIDs an owner reserves at a time. */
#define RESERVED_BLOCKS 16

static void reserve(struct sb_pidmap *map, struct sb_pids *pids)
{
	pids->next = sb_add_rlx(&map->next, RESERVED_BLOCKS * SB_PID_BLOCK);
	pids->reserved_end = pids->next + RESERVED_BLOCKS * SB_PID_BLOCK;
	sb_table_announce(&map->blocks, RESERVED_BLOCKS);
}

int sb_pids_refill(struct sb_pidmap *map, struct sb_pids *pids)
{
	struct block *block = sb_mem_zalloc(pids->arena, sizeof(*block), SB_LINE);
	uint32_t side;
	sb_pid first;

	if (!block)
		return -ENOMEM;
	if (pids->next == pids->reserved_end)
		reserve(map, pids);
	first = pids->next;
	block->number = first / SB_PID_BLOCK;
	/* 0 is no PID. */
	pids->next = first ? first : 1;
	pids->entry = &block->entry[pids->next - first];
	sb_store_rlx(&block->left, (uint32_t)(first + SB_PID_BLOCK - pids->next));
	cds_lfht_node_init(&block->node);
	sb_tsan_release(block);
	side = sb_reclaim_enter(map->reclaim);
	cds_lfht_add(map->blocks.hash, block->number, &block->node);
	sb_reclaim_exit(map->reclaim, side);
	sb_table_note_added(&map->blocks);
	return 0;
}

/* n PIDs of the block are done with. */
static void release(struct sb_pidmap *map, struct block *block, uint32_t n)
{
	if (sb_sub_acq_rel(&block->left, n) != n)
		return;
	sb_table_remove(&map->blocks, &block->node);
	sb_reclaim_defer(map->reclaim, &block->deferred, free_block);
}

static struct sb_process *lookup_given(struct sb_pidmap *map, sb_pid pid)
{
	const uint64_t number = pid / SB_PID_BLOCK;
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_lookup(map->blocks.hash, number, match_block, &number, &iter);
	node = cds_lfht_iter_get_node(&iter);
	if (!node)
		return NULL;
	SB_WINDOW();
	return sb_load_acq(
		&sb_container_of(node, struct block, node)->entry[pid % SB_PID_BLOCK].process);
}

/* ---- claims ---- */

static struct claim *claim_of(struct sb_name name)
{
	return sb_container_of(name.entry, struct claim, entry);
}

static int match_claim(struct cds_lfht_node *node, const void *pid)
{
	const struct claim *claim = sb_container_of(node, struct claim, node);

	sb_tsan_acquire(claim);
	return claim->pid == *(const sb_pid *)pid;
}

static void free_claim_node(struct cds_lfht_node *node)
{
	struct claim *claim = sb_container_of(node, struct claim, node);

	SB_CHECK(sb_load_rlx(&claim->entry.process) == NULL, ==, true);
	sb_mem_free(claim);
}

static void free_claim(struct sb_deferred *deferred)
{
	sb_mem_free(sb_container_of(deferred, struct claim, deferred));
}

/* The process of a chosen PID has ended. */
static void end_claim(struct sb_pidmap *map, struct claim *claim)
{
	claim->ended_ns = sb_clock_ns();
	claim->next_ended = NULL;
	sb_lock_acquire(&map->ended_lock);
	if (map->ended)
		map->ended_last->next_ended = claim;
	else
		map->ended = claim;
	map->ended_last = claim;
	sb_lock_release(&map->ended_lock);
}

/* One that has ended for long enough; NULL: there is none. */
static struct claim *take_expired(struct sb_pidmap *map, uint64_t now)
{
	struct claim *claim;

	sb_lock_acquire(&map->ended_lock);
	claim = map->ended;
	if (claim && sb_clock_passed(claim->ended_ns, now) >= map->reuse_ns)
		map->ended = claim->next_ended;
	else
		claim = NULL;
	sb_lock_release(&map->ended_lock);
	return claim;
}

static void unclaim(struct sb_pidmap *map, struct claim *claim)
{
	sb_table_remove(&map->claims, &claim->node);
	sb_reclaim_defer(map->reclaim, &claim->deferred, free_claim);
}

uint64_t sb_pidmap_expire(struct sb_pidmap *map, uint64_t now_ns)
{
	struct claim *claim;
	uint64_t next = UINT64_MAX;

	while ((claim = take_expired(map, now_ns)))
		unclaim(map, claim);
	sb_lock_acquire(&map->ended_lock);
	if (map->ended && map->ended->ended_ns < UINT64_MAX - map->reuse_ns)
		next = map->ended->ended_ns + map->reuse_ns;
	sb_lock_release(&map->ended_lock);
	return next;
}

int sb_pidmap_choose(struct sb_pidmap *map, sb_pid pid, struct sb_name *name)
{
	struct claim *claim = sb_mem_zalloc(SB_HEAP, sizeof(*claim), alignof(struct claim));
	struct cds_lfht_node *there;
	uint32_t side;

	if (!claim)
		return -ENOMEM;
	(void)sb_pidmap_expire(map, sb_clock_ns());
	claim->pid = pid;
	cds_lfht_node_init(&claim->node);
	sb_tsan_release(claim);
	side = sb_reclaim_enter(map->reclaim);
	there = cds_lfht_add_unique(map->claims.hash, hash_of_claim(pid), match_claim, &pid,
				    &claim->node);
	sb_reclaim_exit(map->reclaim, side);
	if (there != &claim->node) {
		sb_mem_free(claim);
		return -EEXIST;
	}
	sb_table_announce(&map->claims, 1);
	sb_table_note_added(&map->claims);
	*name = (struct sb_name){ .pid = pid, .entry = &claim->entry };
	return 0;
}

uint64_t sb_pidmap_start_ns(struct sb_pidmap *map)
{
	uint64_t latest = sb_load_rlx(&map->started_ns);
	uint64_t start;

	do {
		start = sb_max_u64(sb_clock_ns(), latest + 1);
	} while (!sb_cas_weak_acq_rel(&map->started_ns, &latest, start));
	return start;
}

static struct sb_process *lookup_chosen(struct sb_pidmap *map, sb_pid pid)
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	cds_lfht_lookup(map->claims.hash, hash_of_claim(pid), match_claim, &pid, &iter);
	node = cds_lfht_iter_get_node(&iter);
	if (!node)
		return NULL;
	return sb_load_acq(&sb_container_of(node, struct claim, node)->entry.process);
}

/* ---- the map ---- */

struct sb_pidmap *sb_pidmap_create(struct sb_reclaim *reclaim, uint64_t reuse_ns)
{
	struct sb_pidmap *map = sb_mem_zalloc(SB_HEAP, sizeof(*map), SB_LINE);

	if (!map)
		return NULL;
	map->reclaim = reclaim;
	map->reuse_ns = reuse_ns;
	sb_lock_init(&map->ended_lock);
	if (!sb_table_init(&map->blocks, reclaim) && !sb_table_init(&map->claims, reclaim))
		return map;
	sb_pidmap_destroy(map);
	return NULL;
}

void sb_pidmap_destroy(struct sb_pidmap *map)
{
	sb_reclaim_barrier(map->reclaim); /* a table may still be growing */
	sb_table_fini(&map->claims, free_claim_node);
	sb_table_fini(&map->blocks, free_block_node);
	sb_mem_free(map);
}

void sb_pidmap_give_back(struct sb_pidmap *map, struct sb_name name)
{
	if (name.pid < SB_PID_CHOSEN)
		release(map, block_of(name), 1);
	else
		unclaim(map, claim_of(name));
}

/* Those of one block; returns how many of the n. */
static uint32_t remove_some(struct sb_pidmap *map, struct sb_process *const *process, uint32_t n)
{
	struct block *block = block_of(process[0]->name);
	uint32_t i = 0;

	do {
		sb_store_rlx(&process[i]->name.entry->process, NULL);
		i++;
	} while (i < n && process[i]->pid < SB_PID_CHOSEN && block_of(process[i]->name) == block);
	release(map, block, i);
	return i;
}

void sb_pidmap_remove(struct sb_pidmap *map, struct sb_process *const *process, uint32_t n)
{
	uint32_t i = 0;

	while (i < n) {
		if (process[i]->pid < SB_PID_CHOSEN) {
			i += remove_some(map, &process[i], n - i);
			continue;
		}
		sb_store_rlx(&process[i]->name.entry->process, NULL);
		end_claim(map, claim_of(process[i]->name));
		i++;
	}
}

struct sb_process *sb_pidmap_lookup(struct sb_pidmap *map, sb_pid pid)
{
	struct sb_process *process;

	process = pid < SB_PID_CHOSEN ? lookup_given(map, pid) : lookup_chosen(map, pid);
	return process;
}

uint64_t sb_pidmap_blocks(const struct sb_pidmap *map)
{
	return sb_table_nodes(&map->blocks);
}

/* ---- all processes ---- */

struct visit {
	void (*function)(void *arg, struct sb_process *process);
	void *arg;
};

static void visit_entry(const struct visit *visit, const struct sb_pid_entry *entry)
{
	struct sb_process *process = sb_load_acq(&entry->process);

	if (process)
		visit->function(visit->arg, process);
}

static void visit_block(const struct visit *visit, struct cds_lfht_node *node)
{
	const struct block *block = sb_container_of(node, struct block, node);

	sb_tsan_acquire(block);
	for (uint32_t i = 0; i < SB_PID_BLOCK; i++)
		visit_entry(visit, &block->entry[i]);
}

static void visit_claim(const struct visit *visit, struct cds_lfht_node *node)
{
	const struct claim *claim = sb_container_of(node, struct claim, node);

	sb_tsan_acquire(claim);
	visit_entry(visit, &claim->entry);
}

static void visit_table(const struct visit *visit, struct sb_table *table,
			void (*visit_node)(const struct visit *visit, struct cds_lfht_node *node))
{
	struct cds_lfht_iter iter;
	struct cds_lfht_node *node;

	for (cds_lfht_first(table->hash, &iter); (node = cds_lfht_iter_get_node(&iter));
	     cds_lfht_next(table->hash, &iter))
		visit_node(visit, node);
}

void sb_pidmap_for_each(struct sb_pidmap *map, void (*visit)(void *arg, struct sb_process *process),
			void *arg)
{
	const struct visit each = { visit, arg };

	visit_table(&each, &map->blocks, visit_block);
	visit_table(&each, &map->claims, visit_claim);
}
