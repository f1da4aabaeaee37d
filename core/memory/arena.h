/*
 * arena.h - memory from arenas, so that what one worker allocates lies on pages
 * that no other allocates from, on nodes and of a size as the arena's policy
 * says. The only user of jemalloc; where the pages come from is core/memory/pages.h.
 *
 * An arena serves only those who name it. Threads are not bound to arenas: what
 * libraries malloc on a worker's thread may outlive the worker (a block that
 * liburcu's helper thread frees stays in that thread's cache), and would then
 * point into a destroyed arena.
 *
 * In a program without jemalloc, as one that loads the library with dlopen may be, all arenas
 * are the C library's heap, and have no pages of their own. So it is in what is built with
 * SB_ALLOC_LIBC=1 (sanitizer modes, whose tools do not see jemalloc's own entry points).
 */
#ifndef SB_CORE_MEMORY_ARENA_H
#define SB_CORE_MEMORY_ARENA_H

#include "core/memory/pages.h"
#include "core/platform/atomic.h"
#include "core/platform/base.h"

/* In the tests' builds alone: how many more allocations succeed; below 0, all. */
extern _Atomic(int64_t) sb_test_allocations;

struct sb_arena;

/* The heap that malloc uses. */
#define SB_HEAP ((struct sb_arena *)NULL)

/* Makes an arena; the policy is copied. Returns 0 or -ENOMEM. Any thread. */
SB_MUST_CHECK int sb_arena_create(struct sb_arena **arena, const struct sb_page_policy *policy);

/* Gives back all pages of an arena; no block may be in use any more. NULL is
 * allowed. */
void sb_arena_destroy(struct sb_arena *arena);

/*
 * Gives the pages of blocks that were freed more than about a second ago back to
 * the system. jemalloc itself does so only while blocks of the arena are allocated
 * and freed; an arena that is not used keeps what a peak has taken until this is
 * called, about once a second. Any thread.
 */
void sb_arena_decay(struct sb_arena *arena);

/* Whether parts of an arena's blocks of `bytes`, at multiples of that, can be
 * discarded (sb_pages_discard). Explicit huge pages would go back to the pool, and
 * might not be there when they are touched again. Any thread. */
bool sb_arena_can_discard(const struct sb_arena *arena, size_t bytes);

/*
 * An arena's memory from the operating system. The mappings stay until it is
 * destroyed, with or without memory. Without jemalloc the bytes are not known, and 0.
 */
struct sb_arena_reading {
	uint64_t mapped_bytes;	 /* also what was never touched */
	uint64_t explicit_bytes; /* of these, explicit huge pages */
	uint64_t missed_bytes;	 /* of these, others where such were asked for */
	bool is_bound;		 /* its policy names nodes */
	int bind_error;		 /* 0, or -errno: some of it is not bound */
};

/* Any thread, at any time. */
void sb_arena_read(struct sb_arena *arena, struct sb_arena_reading *out);

/* Adds an arena's pages to the count; see sb_pages_locate. */
int sb_arena_locate(struct sb_arena *arena, int os_node, struct sb_page_count *count);

/*
 * A block of size bytes (> 0) at a multiple of alignment (a power of two).
 * Returns NULL when there is no memory. Any thread.
 */
void *sb_mem_alloc(struct sb_arena *arena, size_t size, size_t alignment);

/* As above, filled with zero. */
void *sb_mem_zalloc(struct sb_arena *arena, size_t size, size_t alignment);

/* Frees a block of any arena; NULL is allowed. Any thread. */
void sb_mem_free(void *block);

#endif
