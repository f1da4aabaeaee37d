/*
 * pool.h - small objects for one owner: slabs by size from the owner's arena.
 * Takes and returns an object in a few instructions, and brings home what
 * another thread frees.
 *
 * Roles
 *   owner   one thread (or whoever holds a lock around it): alloc, free, flush
 *   others  free through their own pool; the object goes back to the pool it
 *           came from, so memory does not wander with the messages
 *
 * A slab is SB_SLAB_BYTES long and aligned to that, so the slab's header, which
 * names the owning pool, is found from an object's address. Slabs come from the
 * arena by the block of SB_BLOCK_SLABS: jemalloc adds a page to each of its large
 * blocks, so one slab at a multiple of its size would take the room of two. 112
 * are the largest of its size classes that fits in a huge page with all that.
 *
 * Each slab has its own free list, and a class's slabs are used up one after the
 * other (Leijen, Zorn and de Moura, Mimalloc: Free List Sharding in Action, APLAS
 * 2019). So what is taken one after the other lies together, in whatever order it
 * was freed. What was freed last is taken first, while it is in the caches: within
 * a slab, and of the slabs the one of which something became free last.
 *
 * Foreign objects are gathered in parcels for one destination: the first object
 * holds the addresses of as many others as fit into it, so nobody has to read one to
 * find the next. They are delivered to the destination's `returned` stack with one
 * CAS when there are enough or the destination changes, and handed out straight from
 * there, fetched some time before they are needed: they were last written on another
 * core. `returned` is push-many/take-all: only exchanges remove from it, so it has no
 * ABA problem. Its exchange has acquire, its push release: the freeing thread's last
 * use happens before the next owner's first.
 */
#ifndef SB_CORE_POOL_H
#define SB_CORE_POOL_H

#include "core/atomic.h"
#include "core/base.h"

#define SB_SLAB_BYTES 16384
/* Slabs taken from the arena at a time. Tests build with 1. */
#ifndef SB_BLOCK_SLABS
#define SB_BLOCK_SLABS 112
#endif
#define SB_POOL_GRAIN	  16
#define SB_POOL_BYTES_MAX 1024
#define SB_POOL_CLASSES	  (SB_POOL_BYTES_MAX / SB_POOL_GRAIN)
#define SB_POOL_CHAIN_MAX 60

struct sb_pool;

struct sb_pool_item {
	struct sb_pool_item *next;
};

/* Objects on their way home; lies in the first of them. */
struct sb_parcel {
	struct sb_parcel *next;
	uint32_t count;
	struct sb_pool_item *item[];
};

/* What lies at the start of every slab. */
struct sb_slab {
	struct sb_pool *owner;
	struct sb_pool_item *free;
	struct sb_slab *next_waiting;
	struct sb_slab *next; /* of all slabs of the pool */
	uint32_t class;
	bool in_turn;  /* current, or waiting to be; else all of it is taken */
	bool is_block; /* the first of its block */
};

struct sb_arena;
struct sb_counters;
struct sb_page_count;

/* Whose memory a pool is. */
struct sb_pool_owner {
	struct sb_arena *arena;
	int node; /* of the owner; -1: not known, and not counted */
	/* Where it counts what it frees of others' memory; NULL: nowhere. */
	struct sb_counters *counters;
};

struct sb_pool {
	/* Lines 0..: the owner. */
	alignas(SB_LINE) struct sb_slab *current[SB_POOL_CLASSES];
	/* Others of which something is free, the latest first. */
	struct sb_slab *waiting[SB_POOL_CLASSES];
	struct sb_slab none; /* the current one of a class without any */
	struct sb_slab *slabs;
	char *fresh; /* the part of the last block that is in no slab yet */
	uint32_t fresh_slabs;
	struct sb_pool_owner owner;
	/* Of objects taken by this owner minus those freed by it, from and to
	 * whatever pool: over all pools together, what is in use. Modulo 2^64:
	 * one pool's share may be below 0. */
	sb_counter used_bytes;
	sb_counter held_bytes; /* from the arena, used or free; likewise */

	/* A chain on its way home to another pool. */
	struct sb_pool *chain_to;
	struct sb_parcel *chain_first;
	struct sb_parcel *chain_last;
	uint32_t chain_count;
	uint32_t chain_room; /* of the first */

	/* What others returned, and that is in no slab's list: what is in hand of
	 * each class, to be taken straight from there, and the rest. */
	struct sb_parcel *hand[SB_POOL_CLASSES];
	struct sb_parcel *arrived;

	/* Last line: anyone. */
	alignas(SB_LINE) _Atomic(struct sb_parcel *) returned;
};

static_assert(offsetof(struct sb_pool, returned) % SB_LINE == 0, "own line");

void sb_pool_init(struct sb_pool *pool, const struct sb_pool_owner *owner);

/* Frees all slabs. No object of the pool may be in use. */
void sb_pool_fini(struct sb_pool *pool);

static inline struct sb_slab *sb_slab_of(void *object)
{
	return (struct sb_slab *)((uintptr_t)object &
				  ~(uintptr_t)(SB_SLAB_BYTES - 1));
}

static inline size_t sb_pool_class(size_t size)
{
	return (size - 1) / SB_POOL_GRAIN;
}

static inline size_t sb_pool_class_bytes(size_t class)
{
	return (class + 1) * SB_POOL_GRAIN;
}

/* From a slab of which nothing is free, or what is too large for one; to such a
 * slab, or another pool. */
void *sb_pool_alloc_slowly(struct sb_pool *pool, size_t size);
void sb_pool_free_slowly(struct sb_pool *mine, void *object, size_t size);

/* AddressSanitizer does not know these free lists, so it is told what is free,
 * and that is not done here. */
#if defined(__SANITIZE_ADDRESS__)
#define SB_POOL_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SB_POOL_IS_WATCHED 1
#endif
#endif
#ifndef SB_POOL_IS_WATCHED
#define SB_POOL_IS_WATCHED 0
#endif

/*
 * An object of size bytes (> 0), aligned to 16, and to 64 if size is a multiple
 * of that; its contents are undefined. Owner only. Returns NULL when there is
 * no memory. Objects above SB_POOL_BYTES_MAX come straight from the arena, and
 * go straight back to it.
 */
static inline void *sb_pool_alloc(struct sb_pool *pool, size_t size)
{
	const size_t class = sb_pool_class(size);
	struct sb_pool_item *item;
	struct sb_slab *slab;

	if (SB_UNLIKELY(SB_POOL_IS_WATCHED || size > SB_POOL_BYTES_MAX))
		return sb_pool_alloc_slowly(pool, size);
	slab = pool->current[class];
	item = slab->free;
	if (SB_UNLIKELY(!item))
		return sb_pool_alloc_slowly(pool, size);
	slab->free = item->next;
	sb_counter_add(&pool->used_bytes, sb_pool_class_bytes(class));
	return item;
}

/* Brings the beginning of what the next allocation of this size is likely to
 * return into the caches. Owner only. */
static inline void sb_pool_prefetch(const struct sb_pool *pool, size_t size)
{
	const struct sb_pool_item *item;

	if (SB_UNLIKELY(size > SB_POOL_BYTES_MAX))
		return;
	item = pool->current[sb_pool_class(size)]->free;
	if (item)
		sb_prefetch_object(item);
}

/*
 * Frees an object of any pool; size as at its allocation. mine: the caller's
 * own pool, of which the caller is the owner.
 */
static inline void sb_pool_free(struct sb_pool *mine, void *object, size_t size)
{
	const size_t class = sb_pool_class(size);
	struct sb_slab *slab = sb_slab_of(object);
	struct sb_pool_item *item = object;

	if (SB_UNLIKELY(SB_POOL_IS_WATCHED || size > SB_POOL_BYTES_MAX ||
			slab->owner != mine || !slab->in_turn)) {
		sb_pool_free_slowly(mine, object, size);
		return;
	}
	item->next = slab->free;
	slab->free = item;
	sb_counter_add(&mine->used_bytes,
		       -(uint64_t)sb_pool_class_bytes(class));
}

/* Adds the pages of a pool's slabs to the count; see sb_pages_locate. Owner
 * only. */
int sb_pool_locate(const struct sb_pool *pool, int os_node,
		   struct sb_page_count *count);

/* Sends home what is still gathered for another pool. Owner only. */
void sb_pool_flush(struct sb_pool *pool);

#endif
