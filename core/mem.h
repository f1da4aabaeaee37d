/*
 * mem.h - memory from the operating system's view: arenas, one per worker, so
 * that what a worker allocates lies on pages that no other worker allocates
 * from. The only user of jemalloc.
 *
 * A worker's arena serves only those who name it. Threads are not bound to
 * arenas: what libraries malloc on a worker's thread may outlive the worker (a
 * block that liburcu's helper thread frees stays in that thread's cache), and
 * would then point into a destroyed arena.
 *
 * Built with SB_ALLOC_LIBC=1 (sanitizer modes, whose tools do not see
 * jemalloc's own entry points) all arenas are the C library's heap.
 */
#ifndef SB_CORE_MEM_H
#define SB_CORE_MEM_H

#include "core/atomic.h"
#include "core/base.h"

/* In the tests' builds alone: how many more allocations succeed; below 0, all. */
extern _Atomic(int64_t) sb_test_allocations;

/* The heap that malloc uses. */
#define SB_ARENA_SHARED UINT32_MAX

/* Makes an arena. Returns 0 or -ENOMEM. Any thread. */
SB_MUST_CHECK int sb_arena_create(unsigned int *arena);

/* Frees an arena and every block in it; no block may be in use any more. */
void sb_arena_destroy(unsigned int arena);

/*
 * A block of size bytes (> 0) at a multiple of alignment (a power of two).
 * Returns NULL when there is no memory. Any thread.
 */
void *sb_mem_alloc(unsigned int arena, size_t size, size_t alignment);

/* As above, filled with zero. */
void *sb_mem_zalloc(unsigned int arena, size_t size, size_t alignment);

/* Frees a block of any arena; NULL is allowed. Any thread. */
void sb_mem_free(void *block);

#endif
