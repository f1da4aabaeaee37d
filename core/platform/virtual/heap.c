#include "core/platform/virtual/heap.h"

#include <stdlib.h>

#define CHILDREN   4
#define FIRST_ROOM 64

static bool is_before(const struct sb_heap_entry *a, const struct sb_heap_entry *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->event->tie < b->event->tie;
}

static void put(struct sb_heap *heap, uint32_t i, struct sb_heap_entry entry)
{
	heap->entry[i] = entry;
	entry.event->place = i + 1;
}

static void move_up(struct sb_heap *heap, uint32_t i, struct sb_heap_entry entry)
{
	while (i) {
		const uint32_t parent = (i - 1) / CHILDREN;

		if (!is_before(&entry, &heap->entry[parent]))
			break;
		put(heap, i, heap->entry[parent]);
		i = parent;
	}
	put(heap, i, entry);
}

/* The child of i that comes first, or i itself, if it has none. */
static uint32_t first_child(const struct sb_heap *heap, uint32_t i)
{
	const uint32_t from = CHILDREN * i + 1;
	uint32_t first = i;

	for (uint32_t k = from; k < from + CHILDREN && k < heap->n; k++) {
		if (first == i || is_before(&heap->entry[k], &heap->entry[first]))
			first = k;
	}
	return first;
}

static void move_down(struct sb_heap *heap, uint32_t i, struct sb_heap_entry entry)
{
	for (;;) {
		const uint32_t child = first_child(heap, i);

		if (child == i || !is_before(&heap->entry[child], &entry))
			break;
		put(heap, i, heap->entry[child]);
		i = child;
	}
	put(heap, i, entry);
}

void sb_heap_add(struct sb_heap *heap, struct sb_event_time *event)
{
	if (heap->n == heap->room) {
		heap->room = heap->room ? 2 * heap->room : FIRST_ROOM;
		heap->entry = realloc(heap->entry, heap->room * sizeof(*heap->entry));
		SB_CHECK((uintptr_t)heap->entry, !=, 0);
	}
	SB_CHECK(event->place, ==, 0);
	move_up(heap, heap->n++, (struct sb_heap_entry){ event->at_ps, event });
}

void sb_heap_remove(struct sb_heap *heap, struct sb_event_time *event)
{
	const uint32_t i = event->place - 1;
	const struct sb_heap_entry last = heap->entry[--heap->n];

	SB_CHECK(event->place, >, 0);
	event->place = 0;
	if (last.event == event)
		return;
	/* It moves one way at most. */
	move_down(heap, i, last);
	move_up(heap, last.event->place - 1, last);
}

void sb_heap_fini(struct sb_heap *heap)
{
	free(heap->entry);
	*heap = (struct sb_heap){ .n = 0 };
}
