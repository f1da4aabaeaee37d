/*
 * pages.h - memory by the page, straight from the operating system: mapped,
 * bound to NUMA nodes, of a chosen size, and asked where it lies.
 *
 * A mapping is bound before its first page is touched, so any thread that touches it
 * gets memory of the bound nodes. Nodes are the operating system's numbers.
 *
 * Huge pages, and what happens when the machine has none: explicit ones come
 * from the pool that the administrator has set aside (vm.nr_hugepages). They are
 * populated at once: a page that turns out to be missing later, on the bound
 * node, would kill the program. Pages that the pool cannot give are mapped as for
 * transparent ones, and those the kernel makes of normal pages as it can.
 */
#ifndef SB_CORE_MEMORY_PAGES_H
#define SB_CORE_MEMORY_PAGES_H

#include "core/config.h"

/* Every mapping is aligned to this, and explicit ones are of this size. */
#define SB_HUGE_PAGE_BYTES (UINT64_C(2) << 20)

/* The operating system's numbers that can be bound to: 0 to SB_OS_NODES - 1. */
#define SB_OS_NODES 1024

struct sb_page_policy {
	enum sb_huge_pages huge_pages;
	/* On these nodes alone: page by page in turn, or, if there is only
	 * one, on that. 0: as the thread's own policy says. */
	uint32_t nodes;
	const int *os_node; /* [nodes] */
};

struct sb_pages {
	void *start; /* NULL: no memory */
	size_t bytes;
	bool is_explicit; /* made of explicit huge pages */
	int bind_error;	  /* 0, or -errno: it is not bound */
};

/* Maps at least so many bytes, filled with zero, at a multiple of alignment (a
 * power of two). Any thread. */
struct sb_pages sb_pages_map(size_t bytes, size_t alignment, const struct sb_page_policy *policy);
void sb_pages_unmap(const struct sb_pages *pages);

/*
 * Gives the memory of [start, start + bytes), whole normal pages, back to the
 * system. The range stays mapped, bound as it was, and reads as zero. Any thread.
 * Returns 0, or -errno when the system refuses, as for locked pages.
 */
int sb_pages_discard(void *start, size_t bytes);

/* Pages of a range, by where they lie; those never touched are in neither. */
struct sb_page_count {
	uint64_t own;
	uint64_t other;
};

/*
 * Adds the pages of [start, start + bytes), also the ones that are partly in
 * it, to the count; own: those on os_node. Asks the kernel about each page
 * (move_pages). Any thread. Returns 0, or -errno when the kernel does not say.
 */
int sb_pages_locate(const void *start, size_t bytes, int os_node, struct sb_page_count *count);

#endif
