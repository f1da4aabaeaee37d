/*
 * region.h - the memory of a virtual run: one region, whose blocks begin on cache lines and lie
 * at the same offsets in each run of the same seed. So a cache line is found by its address in
 * one step, and no result depends on where another allocator would put a block.
 *
 * In a virtual build, malloc and its like in core/ and workloads/ are these functions (see the
 * Makefile). Outside of a run they are the C library's, and the C library's blocks may be freed
 * here. One thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_REGION_H
#define SB_CORE_PLATFORM_VIRTUAL_REGION_H

#include "core/platform/base.h"

#define SB_REGION_BYTES	     (UINT64_C(32) << 30)
#define SB_REGION_LINE_SHIFT 6
#define SB_REGION_LINES	     (SB_REGION_BYTES >> SB_REGION_LINE_SHIFT)
#define SB_REGION_PAGE_LINES 64

extern char *sb_region_start; /* NULL: it has not been reserved */

/* Begins a run with an empty region. Returns 0 or -ENOMEM: its addresses cannot be reserved. */
SB_MUST_CHECK int sb_region_begin(void);

/* All blocks are gone; their memory goes back to the system. */
void sb_region_end(void);

/* The number of the line at that address; SB_REGION_LINES or more: it is not in the region. */
static inline uint64_t sb_region_line(const volatile void *address)
{
	return ((uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)sb_region_start) >>
	       SB_REGION_LINE_SHIFT;
}

void *sb_region_malloc(size_t bytes);
void *sb_region_calloc(size_t n, size_t bytes);
void *sb_region_realloc(void *block, size_t bytes);
void *sb_region_aligned_alloc(size_t alignment, size_t bytes);
void *sb_region_aligned_calloc(size_t alignment, size_t bytes);
#define sb_aligned_calloc sb_region_aligned_calloc
void sb_region_free(void *block);

/* Bytes of the region that blocks have ever taken in this run. */
uint64_t sb_region_used(void);

#endif
