/*
 * reserve.h - addresses for tables that are as large as they may ever have to be, and take
 * memory only where they are written.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_RESERVE_H
#define SB_CORE_PLATFORM_VIRTUAL_RESERVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Zero-filled, at a multiple of the alignment, which is a power of two of at least a page. NULL:
 * the system does not give so many addresses. They are never given back. */
static inline void *sb_reserve(uint64_t bytes, uint64_t alignment)
{
	char *start = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (start == MAP_FAILED)
		return NULL;
	return start + (-(uint64_t)(uintptr_t)start & (alignment - 1));
}

/* Zero again; its memory goes back to the system. */
static inline void sb_reserve_clear(void *start, uint64_t bytes)
{
	if (bytes)
		(void)madvise(start, (bytes + 4095) & ~UINT64_C(4095), MADV_DONTNEED);
}

#endif
