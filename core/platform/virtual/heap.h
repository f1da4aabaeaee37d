/*
 * heap.h - what happens next: events by their time; among those of one time, by a random
 * number. A 4-ary heap (Knuth, The Art of Computer Programming, vol. 3, section 5.2.3).
 * One thread.
 */
#ifndef SB_CORE_PLATFORM_VIRTUAL_HEAP_H
#define SB_CORE_PLATFORM_VIRTUAL_HEAP_H

#include "core/platform/base.h"

/* Part of the CPU or thread that it is for. */
struct sb_event_time {
	uint64_t at_ps;
	uint64_t tie;
	uint32_t place; /* in the heap, plus 1; 0: it is in none */
	bool is_cpu;
};

/* The time stands here, too: siblings, which are compared, lie next to each other; events do not. */
struct sb_heap_entry {
	uint64_t at_ps;
	struct sb_event_time *event;
};

struct sb_heap {
	struct sb_heap_entry *entry;
	uint32_t n, room;
};

static inline struct sb_event_time *sb_heap_first(const struct sb_heap *heap)
{
	return heap->n ? heap->entry[0].event : NULL;
}

/* Without memory it aborts the program. */
void sb_heap_add(struct sb_heap *heap, struct sb_event_time *event);
void sb_heap_remove(struct sb_heap *heap, struct sb_event_time *event);
void sb_heap_fini(struct sb_heap *heap);

#endif
