#include "core/platform/virtual/region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/platform/virtual/engine.h"
#include "core/platform/virtual/reserve.h"

/* Blocks of up to 512 bytes have whole lines, larger ones a power of two, at a multiple of it.
 * Those of less than a page share one with others of their class. */
#define LINE_BYTES    (UINT64_C(1) << SB_REGION_LINE_SHIFT)
#define SMALL_CLASSES 8
#define SMALL_BYTES   (SMALL_CLASSES * LINE_BYTES)
#define FIRST_LOG2    10 /* of the smallest block beyond those */
#define PAGE_LOG2     12
#define PAGE_BYTES    (UINT64_C(1) << PAGE_LOG2)
#define ALIGNMENT     (UINT64_C(1) << 30)
#define PAGES	      (SB_REGION_BYTES / PAGE_BYTES)
#define PAGED_CLASSES (SMALL_CLASSES + PAGE_LOG2 - FIRST_LOG2)
#define CLASSES	      (SMALL_CLASSES + 36 - FIRST_LOG2)

struct free_block {
	struct free_block *next;
};

char *sb_region_start;

static struct region {
	bool is_on;
	uint64_t used;
	uint8_t *class_of;	    /* [PAGES], of the blocks that begin there, plus 1 */
	uint64_t at[PAGED_CLASSES]; /* where the next block is; a multiple of a page: nowhere */
	struct free_block *free[CLASSES];
} region;

/* ---- a run ---- */

int sb_region_begin(void)
{
	if (!sb_region_start) {
		char *start = sb_reserve(SB_REGION_BYTES, ALIGNMENT);

		region.class_of = start ? sb_reserve(PAGES, PAGE_BYTES) : NULL;
		if (!region.class_of)
			return -ENOMEM;
		sb_region_start = start;
	}
	region.is_on = true;
	return 0;
}

void sb_region_end(void)
{
	region.is_on = false;
	sb_reserve_clear(sb_region_start, region.used);
	sb_reserve_clear(region.class_of, region.used / PAGE_BYTES);
	region.used = 0;
	memset(region.at, 0, sizeof(region.at));
	memset(region.free, 0, sizeof(region.free));
}

uint64_t sb_region_used(void)
{
	return region.used;
}

/* ---- blocks ---- */

static uint32_t class_for(uint64_t bytes, uint64_t alignment)
{
	uint32_t class = SMALL_CLASSES;

	if (bytes <= SMALL_BYTES && alignment <= LINE_BYTES)
		return bytes ? (uint32_t)((bytes - 1) >> SB_REGION_LINE_SHIFT) : 0;
	bytes = bytes > alignment ? bytes : alignment;
	while (UINT64_C(1) << (class - SMALL_CLASSES + FIRST_LOG2) < bytes)
		class ++;
	return class;
}

static uint64_t bytes_of(uint32_t class)
{
	return class < SMALL_CLASSES ? (class + 1) * LINE_BYTES
				     : UINT64_C(1) << (class - SMALL_CLASSES + FIRST_LOG2);
}

/* Whole pages, at a multiple of their bytes. */
static void *take_pages(uint32_t class, uint64_t bytes)
{
	const uint64_t at = (region.used + bytes - 1) & ~(bytes - 1);

	if (at + bytes > SB_REGION_BYTES)
		return NULL;
	region.used = at + bytes;
	region.class_of[at / PAGE_BYTES] = (uint8_t)(class + 1);
	return sb_region_start + at;
}

static void *take_new(uint32_t class)
{
	const uint64_t bytes = bytes_of(class);
	uint64_t *at = &region.at[class];
	char *page;

	if (class >= PAGED_CLASSES)
		return take_pages(class, bytes);
	if (*at % PAGE_BYTES == 0 || *at % PAGE_BYTES + bytes > PAGE_BYTES) {
		page = take_pages(class, PAGE_BYTES);
		if (!page)
			return NULL;
		*at = (uint64_t)(page - sb_region_start);
	}
	*at += bytes;
	return sb_region_start + *at - bytes;
}

/* *is_new: nobody has written to it. */
static void *take(size_t bytes, size_t alignment, bool *is_new)
{
	const uint32_t class = bytes < SB_REGION_BYTES && alignment < SB_REGION_BYTES
				       ? class_for(bytes, alignment)
				       : CLASSES;
	struct free_block *block;

	if (class >= CLASSES)
		return NULL;
	block = region.free[class];
	*is_new = !block;
	if (!block)
		return take_new(class);
	region.free[class] = block->next;
	return block;
}

static bool has(const void *block)
{
	return sb_region_start && sb_region_line(block) < SB_REGION_LINES;
}

static uint32_t class_of(const void *block)
{
	const uint32_t class = region.class_of[sb_region_line(block) / SB_REGION_PAGE_LINES];

	SB_CHECK(class, >, 0);
	return class - 1;
}

void *sb_region_malloc(size_t bytes)
{
	bool is_new;

	return region.is_on ? take(bytes, LINE_BYTES, &is_new) : malloc(bytes);
}

void *sb_region_aligned_alloc(size_t alignment, size_t bytes)
{
	bool is_new;

	return region.is_on ? take(bytes, alignment, &is_new) : aligned_alloc(alignment, bytes);
}

static void *take_zeroed(size_t bytes, size_t alignment)
{
	bool is_new = true;
	void *block = take(bytes, alignment, &is_new);

	if (block && !is_new)
		memset(block, 0, bytes);
	return block;
}

void *sb_region_calloc(size_t n, size_t bytes)
{
	if (!region.is_on)
		return calloc(n, bytes);
	return bytes && n > SIZE_MAX / bytes ? NULL : take_zeroed(n * bytes, LINE_BYTES);
}

void *sb_region_aligned_calloc(size_t alignment, size_t bytes)
{
	void *block;

	if (region.is_on)
		return take_zeroed(bytes, alignment);
	block = aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
	if (block)
		memset(block, 0, bytes);
	return block;
}

void sb_region_free(void *block)
{
	struct free_block *freed = block;
	uint32_t class;

	if (!has(block)) {
		free(block);
		return;
	}
	/* Of a run that has ended, nothing is left. */
	if (!region.is_on)
		return;
	class = class_of(block);
	sb_virtual_spoil(freed + 1, bytes_of(class) - sizeof(*freed));
	freed->next = region.free[class];
	region.free[class] = freed;
}

void *sb_region_realloc(void *block, size_t bytes)
{
	void *larger;
	uint64_t had;

	if (block && !has(block))
		return realloc(block, bytes);
	had = block ? bytes_of(class_of(block)) : 0;
	if (block && bytes <= had)
		return block;
	larger = sb_region_malloc(bytes);
	if (larger && block) {
		memcpy(larger, block, had);
		sb_region_free(block);
	}
	return larger;
}
