#include "core/memory/pages.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/platform/base.h"

/* Newer than some C libraries. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static uintptr_t round_up(uintptr_t value, size_t alignment)
{
	return (value + alignment - 1) & ~(uintptr_t)(alignment - 1);
}

/* ---- binding ---- */

/*
 * The system calls themselves: libnuma's wrapper of mbind is all that would be
 * used of it. maxnode counts one more bit than the mask has (mbind(2), notes).
 */
static int bind(void *start, size_t bytes, const struct sb_page_policy *policy)
{
	const size_t bits = 8 * sizeof(unsigned long);
	unsigned long mask[SB_OS_NODES / (8 * sizeof(unsigned long))] = { 0 };

	if (!policy->nodes)
		return 0;
	for (uint32_t i = 0; i < policy->nodes; i++) {
		const size_t node = (size_t)policy->os_node[i];

		if (node >= SB_OS_NODES)
			return -EINVAL;
		mask[node / bits] |= 1ul << (node % bits);
	}
	return syscall(SYS_mbind, start, bytes, policy->nodes > 1 ? MPOL_INTERLEAVE : MPOL_BIND,
		       mask, (unsigned long)SB_OS_NODES + 1, 0ul)
		       ? -errno
		       : 0;
}

/* ---- mapping ---- */

/* From the pool of huge pages, with every page there, or nothing. */
static struct sb_pages map_explicit(size_t bytes, const struct sb_page_policy *policy)
{
	struct sb_pages pages = { .bytes = round_up(bytes, SB_HUGE_PAGE_BYTES),
				  .is_explicit = true };

	pages.start = mmap(NULL, pages.bytes, PROT_READ | PROT_WRITE,
			   ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
	if (pages.start == MAP_FAILED)
		return (struct sb_pages){ .start = NULL };
	pages.bind_error = bind(pages.start, pages.bytes, policy);
	if (!madvise(pages.start, pages.bytes, MADV_POPULATE_WRITE))
		return pages;
	sb_pages_unmap(&pages);
	return (struct sb_pages){ .start = NULL };
}

/* Maps more than is needed and gives back what is not aligned. */
static void *map_aligned(size_t bytes, size_t alignment)
{
	const size_t room = bytes + alignment;
	char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, ANONYMOUS, -1, 0);
	char *aligned;

	if (start == MAP_FAILED)
		return NULL;
	aligned = start + (round_up((uintptr_t)start, alignment) - (uintptr_t)start);
	if (aligned > start)
		munmap(start, (size_t)(aligned - start));
	munmap(aligned + bytes, (size_t)(start + room - (aligned + bytes)));
	return aligned;
}

static struct sb_pages map_normal(size_t bytes, size_t alignment,
				  const struct sb_page_policy *policy)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct sb_pages pages = { .bytes = round_up(bytes, page) };

	pages.start = map_aligned(pages.bytes, alignment);
	if (!pages.start)
		return pages;
	/* A kernel without transparent huge pages refuses both: all are normal. */
	(void)madvise(pages.start, pages.bytes,
		      policy->huge_pages == SB_HUGE_PAGES_NONE ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	pages.bind_error = bind(pages.start, pages.bytes, policy);
	return pages;
}

struct sb_pages sb_pages_map(size_t bytes, size_t alignment, const struct sb_page_policy *policy)
{
	struct sb_pages pages = { .start = NULL };

	if (policy->huge_pages == SB_HUGE_PAGES_EXPLICIT && alignment <= SB_HUGE_PAGE_BYTES)
		pages = map_explicit(bytes, policy);
	if (!pages.start)
		pages = map_normal(bytes, sb_max_u64(alignment, SB_HUGE_PAGE_BYTES), policy);
	return pages;
}

void sb_pages_unmap(const struct sb_pages *pages)
{
	munmap(pages->start, pages->bytes);
}

int sb_pages_discard(void *start, size_t bytes)
{
	return madvise(start, bytes, MADV_DONTNEED) ? -errno : 0;
}

/* ---- where they lie ---- */

#define BATCH 512

static int locate_batch(char *start, size_t pages, size_t page_bytes, int os_node,
			struct sb_page_count *count)
{
	void *address[BATCH];
	int status[BATCH];

	for (size_t i = 0; i < pages; i++)
		address[i] = start + i * page_bytes;
	if (syscall(SYS_move_pages, 0, pages, address, NULL, status, 0))
		return -errno;
	/* A page that is not there has an error instead of a node. */
	for (size_t i = 0; i < pages; i++) {
		count->own += status[i] == os_node;
		count->other += status[i] >= 0 && status[i] != os_node;
	}
	return 0;
}

int sb_pages_locate(const void *start, size_t bytes, int os_node, struct sb_page_count *count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)start & ~(uintptr_t)(page - 1);
	const uintptr_t end = round_up((uintptr_t)start + bytes, page);
	int rc = 0;

	for (uintptr_t at = first; at < end && !rc; at += BATCH * page)
		rc = locate_batch((char *)at, (size_t)sb_min_u64(BATCH, (end - at) / page), page,
				  os_node, count);
	return rc;
}
