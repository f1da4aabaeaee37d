#include "core/mem.h"

#include <errno.h>
#include <string.h>

#ifndef SB_ALLOC_LIBC
#define SB_ALLOC_LIBC 0
#endif

#if SB_ALLOC_LIBC

#include <stdlib.h>

int sb_arena_create(unsigned int *arena)
{
	*arena = 0;
	return 0;
}

void sb_arena_destroy(unsigned int arena)
{
	(void)arena;
}

static void *take(unsigned int arena, size_t size, size_t alignment)
{
	(void)arena;
	/* aligned_alloc wants a multiple of the alignment. */
	return aligned_alloc(alignment,
			     (size + alignment - 1) & ~(alignment - 1));
}

void sb_mem_free(void *block)
{
	free(block);
}

#else

#include <jemalloc/jemalloc.h>
#include <stdio.h>

int sb_arena_create(unsigned int *arena)
{
	size_t size = sizeof(*arena);

	return mallctl("arenas.create", arena, &size, NULL, 0) ? -ENOMEM : 0;
}

void sb_arena_destroy(unsigned int arena)
{
	char name[40];

	snprintf(name, sizeof(name), "arena.%u.destroy", arena);
	SB_CHECK(mallctl(name, NULL, NULL, NULL, 0), ==, 0);
}

/*
 * No thread cache: its blocks could come from another arena. That costs about
 * 140 ns a call, so hot paths take slabs from here and carve them (core/pool).
 */
static void *take(unsigned int arena, size_t size, size_t alignment)
{
	const int where = arena == SB_ARENA_SHARED ? 0 : MALLOCX_ARENA(arena);

	return mallocx(size,
		       MALLOCX_ALIGN(alignment) | MALLOCX_TCACHE_NONE | where);
}

void sb_mem_free(void *block)
{
	if (block)
		dallocx(block, MALLOCX_TCACHE_NONE);
}

#endif

#ifdef SB_TEST_DELAYS
_Atomic(int64_t) sb_test_allocations = -1;

static bool may_allocate(void)
{
	int64_t left = sb_load_rlx(&sb_test_allocations);

	while (left > 0 &&
	       !sb_cas_weak_acq_rel(&sb_test_allocations, &left, left - 1))
		continue;
	return left != 0;
}
#else
static bool may_allocate(void)
{
	return true;
}
#endif

void *sb_mem_alloc(unsigned int arena, size_t size, size_t alignment)
{
	return may_allocate() ? take(arena, size, alignment) : NULL;
}

void *sb_mem_zalloc(unsigned int arena, size_t size, size_t alignment)
{
	void *block = sb_mem_alloc(arena, size, alignment);

	if (block)
		memset(block, 0, size);
	return block;
}
