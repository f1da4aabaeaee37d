/*
 * lines.h - which CPU holds which cache line, and how long an access waits for it.
 *
 * A line has an owner, the CPU that wrote it last, and a version, which each new owner
 * raises. A CPU remembers the version of the lines that it has read or written; its copy
 * is good while that is the line's version. So a write makes all other copies stale
 * without a list of them. What a CPU remembers is a cache with one place for each line
 * (direct-mapped): a line that another has displaced comes from memory.
 *
 * Writers of one line queue up: a transfer begins when the one before has ended and its CPU
 * has kept the line for cost.hold_ps. Without that time a loop of compare-and-swap
 * on many CPUs hardly ever succeeds, as it does on no machine.
 *
 * Lines are numbered in the order of their first use, so that no result depends on where
 * the allocator has put them. One thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_LINES_H
#define SB_CORE_PLATFORM_VIRTUAL_LINES_H

#include "core/platform/virtual/machine.h"

enum sb_access { SB_ACCESS_READ, SB_ACCESS_WRITE, SB_ACCESS_RMW };

struct sb_lines;

/* NULL: no memory. The machine has to last as long. */
struct sb_lines *sb_lines_create(const struct sb_machine *machine);
void sb_lines_destroy(struct sb_lines *lines);

/* When an access to that address is done that a CPU begins at now_ps. Without memory for
 * another line it aborts the program. */
uint64_t sb_lines_access(struct sb_lines *lines, uint32_t cpu, const volatile void *address,
			 enum sb_access access, uint64_t now_ps);

/* Of all accesses. */
struct sb_lines_counts {
	uint64_t hits, transfers, memory;
	uint64_t queued_ps; /* spent on waiting for another CPU's access to end */
	uint64_t lines;
};

struct sb_lines_counts sb_lines_count(const struct sb_lines *lines);

#endif
