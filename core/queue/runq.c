#include "core/queue/runq.h"

#include <string.h>

#include "core/memory/arena.h"
#include "core/word.h"

void sb_runq_init(struct sb_runq *queue, struct sb_arena *arena)
{
	*queue = (struct sb_runq){ .arena = arena, .end = SB_RUNQ_SLOTS };
	sb_lock_init(&queue->push_lock);
	sb_lock_init(&queue->take_lock);
}

/* Returns how many. */
static uint32_t free_list(struct sb_runq_part *part)
{
	uint32_t count = 0;

	while (part) {
		struct sb_runq_part *next = part->next;

		sb_mem_free(part);
		part = next;
		count++;
	}
	return count;
}

static void free_parts(struct sb_runq *queue)
{
	free_list(queue->head ? queue->head : queue->start);
	free_list(queue->empty);
	free_list(sb_xchg_acq(&queue->emptied, NULL));
	queue->start = queue->head = queue->tail = queue->empty = NULL;
	queue->end = SB_RUNQ_SLOTS;
}

void sb_runq_clear(struct sb_runq *queue)
{
	sb_lock_acquire(&queue->push_lock);
	sb_lock_acquire(&queue->take_lock);
	free_parts(queue);
	queue->linked = 0;
	queue->links = false;
	queue->taken_seen = queue->count;
	sb_store_rel(&queue->taken, queue->count);
	sb_lock_release(&queue->take_lock);
	sb_lock_release(&queue->push_lock);
}

/* ---- who pushes ---- */

static void collect_emptied(struct sb_runq *queue)
{
	if (queue->empty || !sb_load_rlx(&queue->emptied))
		return;
	queue->empty = sb_xchg_acq(&queue->emptied, NULL);
	queue->empty_old = false;
}

static struct sb_runq_part *take_part(struct sb_runq *queue)
{
	struct sb_runq_part *part;

	collect_emptied(queue);
	part = queue->empty;
	if (part)
		queue->empty = part->next;
	else
		part = sb_mem_alloc(queue->arena, sizeof(*part), SB_LINE);
	if (part)
		part->next = NULL;
	return part;
}

/* Whether tail has a slot now. */
static bool make_room(struct sb_runq *queue)
{
	struct sb_runq_part *part;

	if (SB_LIKELY(queue->end < SB_RUNQ_SLOTS))
		return true;
	part = take_part(queue);
	if (!part)
		return false;
	if (queue->tail)
		queue->tail->next = part;
	else
		queue->start = part;
	queue->tail = part;
	queue->end = 0;
	return true;
}

/* Release: what is in the process and in the parts comes first; and a thread that reads
 * from `hot` what is too new for him sees that in the count. */
static void publish(struct sb_runq *queue, struct sb_process *process)
{
	sb_store_rel(&queue->hot[queue->count++ % SB_RUNQ_HOT], process);
	SB_WINDOW();
	sb_store_rel(&queue->pushed, queue->count);
}

/* Counted before the lock is given up: `linked` are some of those counted. */
SB_COLD static void link_last(struct sb_runq *queue, struct sb_process *process)
{
	process->next = NULL;
	sb_lock_acquire(&queue->take_lock);
	if (queue->linked++)
		queue->last->next = process;
	else
		queue->first = process;
	queue->last = process;
	publish(queue, process);
	sb_lock_release(&queue->take_lock);
}

SB_COLD static bool has_linked(struct sb_runq *queue)
{
	bool has;

	sb_lock_acquire(&queue->take_lock);
	has = queue->linked;
	sb_lock_release(&queue->take_lock);
	return has;
}

/* Reads the line of those who take only if there may be many. */
static uint32_t length_of(struct sb_runq *queue)
{
	if (queue->count - queue->taken_seen >= SB_RUNQ_LONG)
		queue->taken_seen = sb_load_rlx(&queue->taken);
	return queue->count - queue->taken_seen;
}

uint32_t sb_runq_append(struct sb_runq *queue, struct sb_process *process)
{
	if (SB_UNLIKELY(queue->links))
		queue->links = has_linked(queue);
	if (SB_LIKELY(!queue->links && make_room(queue))) {
		queue->tail->slot[queue->end++] = process;
		publish(queue, process);
	} else {
		queue->links = true;
		link_last(queue, process);
	}
	return length_of(queue);
}

uint32_t sb_runq_push(struct sb_runq *queue, struct sb_process *process)
{
	uint32_t length;

	sb_lock_acquire(&queue->push_lock);
	length = sb_runq_append(queue, process);
	sb_lock_release(&queue->push_lock);
	return length;
}

/* Freed without the lock: there may be many. */
uint32_t sb_runq_trim(struct sb_runq *queue)
{
	struct sb_runq_part *unneeded = NULL;

	sb_lock_acquire(&queue->push_lock);
	if (queue->empty_old) {
		unneeded = queue->empty;
		queue->empty = NULL;
	}
	collect_emptied(queue);
	queue->empty_old = true;
	sb_lock_release(&queue->push_lock);
	return free_list(unneeded);
}

/* ---- who takes ---- */

/* Taken as a whole, so the same part at the top is the same list. */
static void put_emptied(struct sb_runq *queue, struct sb_runq_part *part)
{
	struct sb_runq_part *top = sb_load_rlx(&queue->emptied);

	do {
		part->next = top;
	} while (!sb_cas_weak_acq_rel(&queue->emptied, &top, part));
}

/* Goes to the next part if all of this one has been taken; there is one. */
static void reach_first(struct sb_runq *queue)
{
	struct sb_runq_part *part = queue->head;

	if (SB_LIKELY(part && queue->begin < SB_RUNQ_SLOTS))
		return;
	queue->head = part ? part->next : queue->start;
	queue->begin = 0;
	if (part)
		put_emptied(queue, part);
}

/* n that are there. */
static void take_from_parts(struct sb_runq *queue, uint32_t n, struct sb_process **out)
{
	while (n) {
		uint32_t some;

		reach_first(queue);
		some = (uint32_t)sb_min_u64(n, SB_RUNQ_SLOTS - queue->begin);
		memcpy(out, &queue->head->slot[queue->begin], some * sizeof(*out));
		queue->begin += some;
		out += some;
		n -= some;
	}
}

/* NULL: it has been written over, perhaps. Acquire: see publish(). */
static struct sb_process *look_at_hot(struct sb_runq *queue, uint32_t number)
{
	struct sb_process *process = sb_load_acq(&queue->hot[number % SB_RUNQ_HOT]);

	SB_WINDOW();
	if (sb_load_rlx(&queue->pushed) - number >= SB_RUNQ_HOT)
		return NULL;
	return process;
}

/* The next of those in the parts, without their line if that is possible. */
static void take_one(struct sb_runq *queue, uint32_t number, struct sb_process **out)
{
	*out = look_at_hot(queue, number);
	if (!*out) {
		take_from_parts(queue, 1, out);
		return;
	}
	reach_first(queue);
	queue->begin++;
}

static void take_linked(struct sb_runq *queue, uint32_t n, struct sb_process **out)
{
	queue->linked -= n;
	while (n--) {
		*out++ = queue->first;
		queue->first = queue->first->next;
	}
}

/* n (> 0) of the length. */
static void take_n(struct sb_runq *queue, uint32_t length, uint32_t n, struct sb_process **out)
{
	const uint32_t taken = sb_load_rlx(&queue->taken);
	const uint32_t parts = (uint32_t)sb_min_u64(n, length - queue->linked);

	if (parts == 1)
		take_one(queue, taken, out);
	else
		take_from_parts(queue, parts, out);
	if (SB_UNLIKELY(n > parts))
		take_linked(queue, n - parts, &out[parts]);
	sb_store_rel(&queue->taken, taken + n);
}

/* The first one, as likely as not, and never anything but a hint. */
static struct sb_process *next_of(struct sb_runq *queue)
{
	return sb_load_rlx(&queue->hot[sb_load_rlx(&queue->taken) % SB_RUNQ_HOT]);
}

uint32_t sb_runq_take(struct sb_runq *queue, uint32_t max, uint32_t share, struct sb_process **out)
{
	uint32_t length;
	uint32_t n;

	if (!sb_runq_length(queue))
		return 0;
	sb_prefetch_object(next_of(queue));
	sb_lock_acquire(&queue->take_lock);
	length = sb_load_acq(&queue->pushed) - sb_load_rlx(&queue->taken);
	n = (uint32_t)sb_min_u64(sb_min_u64(max, length), length / share + 1);
	if (n)
		take_n(queue, length, n, out);
	sb_lock_release(&queue->take_lock);
	return n;
}
