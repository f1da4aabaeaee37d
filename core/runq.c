#include "core/runq.h"

#include "core/process.h"

void sb_runq_init(struct sb_runq *queue)
{
	*queue = (struct sb_runq){ .first = NULL };
	sb_lock_init(&queue->lock);
}

void sb_runq_push(struct sb_runq *queue, struct sb_process *process)
{
	process->next = NULL;
	sb_lock_acquire(&queue->lock);
	if (queue->first)
		queue->last->next = process;
	else
		queue->first = process;
	queue->last = process;
	sb_store_rlx(&queue->length, sb_load_rlx(&queue->length) + 1);
	sb_lock_release(&queue->lock);
}

/* Cuts the first n (1 <= n <= length) processes off. Under the lock. */
static struct sb_process *cut_front(struct sb_runq *queue, uint32_t n)
{
	struct sb_process *first = queue->first;
	struct sb_process *last = first;

	for (uint32_t i = 1; i < n; i++)
		last = last->next;
	queue->first = last->next;
	last->next = NULL;
	return first;
}

struct sb_process *sb_runq_take(struct sb_runq *queue, uint32_t max,
				uint32_t share, uint32_t *count)
{
	struct sb_process *first = NULL;
	uint32_t length;
	uint64_t n;

	*count = 0;
	if (!sb_runq_length(queue))
		return NULL;
	sb_lock_acquire(&queue->lock);
	length = sb_load_rlx(&queue->length);
	if (length) {
		n = sb_min_u64(sb_min_u64(max, length), length / share + 1);
		first = cut_front(queue, (uint32_t)n);
		sb_store_rlx(&queue->length, length - (uint32_t)n);
		*count = (uint32_t)n;
	}
	sb_lock_release(&queue->lock);
	return first;
}
