#include "core/runq.h"

#include <string.h>

#include "core/mem.h"
#include "core/process.h"

void sb_runq_init(struct sb_runq *queue, struct sb_arena *arena)
{
	*queue = (struct sb_runq){ .arena = arena };
	sb_lock_init(&queue->lock);
}

void sb_runq_clear(struct sb_runq *queue)
{
	sb_lock_acquire(&queue->lock);
	while (queue->head) {
		struct sb_runq_part *part = queue->head;

		queue->head = part->next;
		sb_mem_free(part);
	}
	queue->tail = NULL;
	queue->begin = queue->end = 0;
	queue->first = NULL;
	sb_store_rlx(&queue->length, 0);
	sb_lock_release(&queue->lock);
}

/* ---- at the end ---- */

/* Whether there is a slot, and it is the next one's turn to be in it. */
static bool make_room(struct sb_runq *queue)
{
	struct sb_runq_part *part;

	if (SB_LIKELY(queue->tail && queue->end < SB_RUNQ_SLOTS))
		return !queue->first;
	if (queue->first)
		return false;
	part = sb_mem_alloc(queue->arena, sizeof(*part), SB_LINE);
	if (!part)
		return false;
	part->next = NULL;
	if (queue->tail)
		queue->tail->next = part;
	else
		queue->head = part;
	queue->tail = part;
	queue->end = 0;
	return true;
}

static void link_last(struct sb_runq *queue, struct sb_process *process)
{
	process->next = NULL;
	if (queue->first)
		queue->last->next = process;
	else
		queue->first = process;
	queue->last = process;
}

uint32_t sb_runq_append(struct sb_runq *queue, struct sb_process *process)
{
	uint32_t length;

	if (SB_LIKELY(make_room(queue)))
		queue->tail->slot[queue->end++] = process;
	else
		link_last(queue, process);
	length = sb_load_rlx(&queue->length) + 1;
	sb_store_rlx(&queue->length, length);
	return length;
}

uint32_t sb_runq_push(struct sb_runq *queue, struct sb_process *process)
{
	uint32_t length;

	sb_lock_acquire(&queue->lock);
	length = sb_runq_append(queue, process);
	sb_lock_release(&queue->lock);
	return length;
}

/* ---- at the front ---- */

/* What is in the first part. */
static uint32_t in_head(const struct sb_runq *queue)
{
	if (queue->head == queue->tail)
		return queue->end - queue->begin;
	return SB_RUNQ_SLOTS - queue->begin;
}

/* All of the first part has been taken. The only one is used again. */
static void drop_head(struct sb_runq *queue)
{
	struct sb_runq_part *part = queue->head;

	queue->begin = 0;
	if (part == queue->tail) {
		queue->end = 0;
		return;
	}
	queue->head = part->next;
	sb_mem_free(part);
}

/* At most n from the first part; returns how many. */
static uint32_t take_from_head(struct sb_runq *queue, uint32_t n,
			       struct sb_process **out)
{
	const uint32_t there = in_head(queue);
	const uint32_t taken = n < there ? n : there;

	if (!taken)
		return 0;
	memcpy(out, &queue->head->slot[queue->begin], taken * sizeof(*out));
	queue->begin += taken;
	if (taken == there)
		drop_head(queue);
	return taken;
}

static struct sb_process *take_linked(struct sb_runq *queue)
{
	struct sb_process *process = queue->first;

	queue->first = process->next;
	return process;
}

/* n, of the length or fewer. */
static void take_n(struct sb_runq *queue, uint32_t n, struct sb_process **out)
{
	uint32_t taken = 0;
	uint32_t more;

	do {
		more = take_from_head(queue, n - taken, &out[taken]);
		taken += more;
	} while (more && taken < n);
	while (taken < n)
		out[taken++] = take_linked(queue);
	sb_store_rlx(&queue->length, sb_load_rlx(&queue->length) - n);
}

uint32_t sb_runq_take(struct sb_runq *queue, uint32_t max, uint32_t share,
		      struct sb_process **out)
{
	uint32_t length;
	uint32_t n = 0;

	if (!sb_runq_length(queue))
		return 0;
	sb_lock_acquire(&queue->lock);
	length = sb_load_rlx(&queue->length);
	if (length) {
		n = (uint32_t)sb_min_u64(sb_min_u64(max, length),
					 length / share + 1);
		take_n(queue, n, out);
	}
	sb_lock_release(&queue->lock);
	return n;
}
