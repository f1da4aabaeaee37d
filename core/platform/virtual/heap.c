#include "core/platform/virtual/heap.h"

#include <stdlib.h>

#define CHILDREN   4
#define FIRST_ROOM 64

static bool is_before(const struct sb_event_time *a, const struct sb_event_time *b)
{
	return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->tie < b->tie;
}

static void put(struct sb_heap *heap, uint32_t i, struct sb_event_time *event)
{
	heap->entry[i] = event;
	event->place = i + 1;
}

static void move_up(struct sb_heap *heap, uint32_t i, struct sb_event_time *event)
{
	while (i) {
		const uint32_t parent = (i - 1) / CHILDREN;

		if (!is_before(event, heap->entry[parent]))
			break;
		put(heap, i, heap->entry[parent]);
		i = parent;
	}
	put(heap, i, event);
}

/* The child of i that comes first, or i itself, if it has none. */
static uint32_t first_child(const struct sb_heap *heap, uint32_t i)
{
	const uint32_t from = CHILDREN * i + 1;
	uint32_t first = i;

	for (uint32_t k = from; k < from + CHILDREN && k < heap->n; k++) {
		if (first == i || is_before(heap->entry[k], heap->entry[first]))
			first = k;
	}
	return first;
}

static void move_down(struct sb_heap *heap, uint32_t i, struct sb_event_time *event)
{
	for (;;) {
		const uint32_t child = first_child(heap, i);

		if (child == i || !is_before(heap->entry[child], event))
			break;
		put(heap, i, heap->entry[child]);
		i = child;
	}
	put(heap, i, event);
}

void sb_heap_add(struct sb_heap *heap, struct sb_event_time *event)
{
	if (heap->n == heap->room) {
		heap->room = heap->room ? 2 * heap->room : FIRST_ROOM;
		heap->entry = realloc(heap->entry, heap->room * sizeof(struct sb_event_time *));
		SB_CHECK((uintptr_t)heap->entry, !=, 0);
	}
	SB_CHECK(event->place, ==, 0);
	move_up(heap, heap->n++, event);
}

void sb_heap_remove(struct sb_heap *heap, struct sb_event_time *event)
{
	const uint32_t i = event->place - 1;
	struct sb_event_time *last = heap->entry[--heap->n];

	SB_CHECK(event->place, >, 0);
	event->place = 0;
	if (last == event)
		return;
	/* It moves one way at most. */
	move_down(heap, i, last);
	move_up(heap, last->place - 1, last);
}

void sb_heap_fini(struct sb_heap *heap)
{
	free(heap->entry);
	*heap = (struct sb_heap){ .n = 0 };
}
