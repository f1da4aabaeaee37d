/*
 * pool.h - small objects for one owner: slabs by size from the owner's arena.
 * Takes and returns an object in a few instructions, and brings home what
 * another thread frees.
 *
 * Roles
 *   owner   one thread (or the holder of a lock around it): alloc, free, flush,
 *           trim
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
 * was freed. The object freed last is taken first, while it is in the caches: within
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
#ifndef SB_CORE_MEMORY_POOL_H
#define SB_CORE_MEMORY_POOL_H

#include "core/platform/platform.h"
#include "core/platform/base.h"

#define SB_SLAB_BYTES 16384
/* Slabs taken from the arena at a time. Tests build with 1. */
#ifndef SB_BLOCK_SLABS
#define SB_BLOCK_SLABS 112
#endif
#define SB_POOL_GRAIN	  16
#define SB_POOL_BYTES_MAX 1024
#define SB_POOL_CLASSES	  (SB_POOL_BYTES_MAX / SB_POOL_GRAIN)
#define SB_POOL_CHAIN_MAX 60

/* How long a slab is not needed before its memory goes back. */
#define SB_POOL_PERIOD_NS UINT64_C(1000000000)

/* A trim works for about half a millisecond at a time; then it rests. */
#define SB_POOL_TRIM_PAUSE_NS UINT64_C(2000000)

/* Free slabs that a pool keeps though it does not need them. Beside these it keeps
 * the current one of each class. */
#define SB_POOL_SPARE_SLABS 16

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

/* The header at the start of every slab. */
struct sb_slab {
	struct sb_pool *owner;
	struct sb_pool_item *free;
	struct sb_slab *next_waiting;
	struct sb_pool_block *block;
	uint32_t class;
	bool in_turn; /* current, or waiting to be; else all of it is taken */
	/* `free` when a trim has found objects in use. While the slab waits its list
	 * only grows, so with the same first one it is the same list. */
	const struct sb_pool_item *seen;
};

/* A block's data outside of its slabs. */
struct sb_pool_block {
	struct sb_pool_block *next;
	struct sb_pool_block *next_roomy;
	char *slabs;				     /* [SB_BLOCK_SLABS] of SB_SLAB_BYTES */
	uint32_t used;				     /* slabs in use: those that have a header */
	uint64_t in_use[(SB_BLOCK_SLABS + 63) / 64]; /* a bit for each */
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
	struct sb_pool_block *blocks;
	struct sb_pool_block *roomy; /* those with a slab that is not in use */
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

	/* A trim's data on the period. Slabs that were waiting when it began
	 * and have had no turn since; they come behind `waiting`. */
	struct sb_slab *older[SB_POOL_CLASSES];
	struct sb_slab *waiting_last[SB_POOL_CLASSES]; /* if any is waiting */
	struct sb_parcel *stale;		       /* to be put back to their slabs */
	uint64_t trim_ns;			       /* when to go on */
	uint64_t period_used;			       /* used_bytes when it began */
	uint64_t hands_old; /* a bit for each class: in hand since then */
	bool arrived_old;   /* so has been what has arrived */
	bool is_examining;  /* the period has ended; the next has not begun */
	bool is_quiet;	    /* no slab has had its turn since the period began */
	bool is_settled;    /* unless it changes, nothing is left to give back */
	bool is_fixed;	    /* the system refuses to discard its pages */
	uint32_t class_examined;
	uint32_t spared;

	/* Last line: anyone. */
	alignas(SB_LINE) _Atomic(struct sb_parcel *) returned;
};

static_assert(offsetof(struct sb_pool, returned) % SB_LINE == 0, "own line");
static_assert(SB_POOL_CLASSES <= 64, "hands_old has a bit for each");

void sb_pool_init(struct sb_pool *pool, const struct sb_pool_owner *owner);

/* Frees all slabs. No object of the pool may be in use. */
void sb_pool_fini(struct sb_pool *pool);

static inline struct sb_slab *sb_slab_of(void *object)
{
	return (struct sb_slab *)((uintptr_t)object & ~(uintptr_t)(SB_SLAB_BYTES - 1));
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
 * and that is not done here. Schedules that look for mistakes are run with it, too. */
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

/* The same as sb_pool_alloc, of an object that is at hand; NULL: none is. */
static inline void *sb_pool_take(struct sb_pool *pool, size_t size)
{
	const size_t class = sb_pool_class(size);
	struct sb_pool_item *item;
	struct sb_slab *slab;

	if (SB_UNLIKELY(SB_POOL_IS_WATCHED || size > SB_POOL_BYTES_MAX))
		return NULL;
	slab = pool->current[class];
	item = slab->free;
	if (SB_UNLIKELY(!item))
		return NULL;
	sb_touch(item, size);
	slab->free = item->next;
	sb_counter_add(&pool->used_bytes, sb_pool_class_bytes(class));
	return item;
}

/*
 * An object of size bytes (> 0), aligned to 16, and to 64 if size is a multiple
 * of that; its contents are undefined. Owner only. Returns NULL when there is
 * no memory. Objects above SB_POOL_BYTES_MAX come straight from the arena, and
 * go straight back to it.
 */
static inline void *sb_pool_alloc(struct sb_pool *pool, size_t size)
{
	void *object = sb_pool_take(pool, size);

	return SB_LIKELY(object) ? object : sb_pool_alloc_slowly(pool, size);
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

	if (SB_UNLIKELY(SB_POOL_IS_WATCHED || size > SB_POOL_BYTES_MAX || slab->owner != mine ||
			!slab->in_turn)) {
		sb_pool_free_slowly(mine, object, size);
		return;
	}
	item->next = slab->free;
	slab->free = item;
	sb_counter_add(&mine->used_bytes, -(uint64_t)sb_pool_class_bytes(class));
}

/* Adds the pages of a pool's blocks to the count; see sb_pages_locate. Owner
 * only. */
int sb_pool_locate(const struct sb_pool *pool, int os_node, struct sb_page_count *count);

/* Sends home what is still gathered for another pool. Owner only. */
void sb_pool_flush(struct sb_pool *pool);

/* For sb_pool_trim alone. */
void sb_pool_trim_now(struct sb_pool *pool, uint64_t now_ns);

/*
 * Gives memory that has not been needed for a period back to the system, a bounded
 * part at a time; to be called often. Makes system calls, and allocates nothing.
 * now_ns: any clock that does not go back. Owner only.
 */
static inline void sb_pool_trim(struct sb_pool *pool, uint64_t now_ns)
{
	if (SB_UNLIKELY(now_ns >= pool->trim_ns))
		sb_pool_trim_now(pool, now_ns);
}

/*
 * When the next trim is due; UINT64_MAX: none is, as long as the owner does nothing
 * and nothing is returned. The next trims can give something back, or find that
 * nothing is left to give back, about two periods after the last change. Owner only.
 */
uint64_t sb_pool_trim_due(const struct sb_pool *pool);

/* Whether others have returned objects that the owner has not looked at: as long as
 * it sleeps their memory is kept. A hint. Any thread. */
static inline bool sb_pool_has_returned(const struct sb_pool *pool)
{
	return sb_load_rlx(&pool->returned);
}

#endif
