/*
 * graves.c - what becomes of processes that have ended: they are forgotten by the
 * map of PIDs, and their memory is used again once nobody can be looking at it.
 *
 * They are gathered by the grave, because all of that costs something that others
 * see, or an allocation, or a deferred call: once for up to SB_GRAVE_ROOM of them.
 */
#include "core/memory/graves.h"

#include <errno.h>

#include "core/memory/arena.h"
#include "core/state.h"

/*
 * Each worker has a tally of the bytes of its dead: it adds to the tally, the helper subtracts.
 * A tally beyond tally_max() is moved to the common count. So few threads write that
 * count, and it is wrong by at most a sixteenth of the bound.
 */
static uint64_t tally_max(const struct sb_scheduler *s)
{
	return s->config.dead_max_bytes / 16 / s->workers;
}

/* change, tally and count are modulo 2^64. */
static void note_dead(struct sb_worker *w, uint64_t change)
{
	const uint64_t tally = sb_add_rlx(&w->dead_tally, change) + change;
	const uint64_t size = tally > INT64_MAX ? -tally : tally;
	uint64_t taken;

	if (SB_LIKELY(size <= tally_max(w->scheduler)))
		return;
	taken = sb_xchg_acq(&w->dead_tally, 0);
	sb_add_rlx(&w->scheduler->dead_bytes, taken);
}

uint64_t sb_dead_bytes(const struct sb_scheduler *s)
{
	uint64_t bytes = sb_load_rlx(&s->dead_bytes);

	for (uint32_t i = 0; i < s->workers; i++)
		bytes += sb_load_rlx(&s->worker[i]->dead_tally);
	return bytes > INT64_MAX ? 0 : bytes;
}

/* On the helper thread of the reclamation: back to the worker that dug it. */
static void return_grave(struct sb_deferred *deferred)
{
	struct sb_grave *grave = sb_container_of(deferred, struct sb_grave, deferred);
	_Atomic(struct sb_grave *) *reclaimed = &grave->home->reclaimed;
	struct sb_grave *top = sb_load_rlx(reclaimed);

	note_dead(grave->home, -(uint64_t)grave->all_bytes);
	do {
		grave->next = top;
	} while (!sb_cas_weak_acq_rel(reclaimed, &top, grave));
}

/* Nobody can see them any more. */
static void empty_grave(struct sb_worker *w, struct sb_grave *grave)
{
	for (uint32_t i = 0; i < grave->count; i++)
		sb_pool_free(&w->pool, grave->dead[i], grave->bytes[i]);
	grave->count = 0;
	grave->all_bytes = 0;
	grave->has_chosen = false;
}

int sb_graves_init(struct sb_worker *w)
{
	w->grave = sb_mem_zalloc(w->pool.owner.arena, sizeof(*w->grave), SB_LINE);
	return w->grave ? 0 : -ENOMEM;
}

void sb_graves_fini(struct sb_worker *w)
{
	sb_mem_free(w->grave);
	while (w->graves) {
		struct sb_grave *grave = w->graves;

		w->graves = grave->next;
		sb_mem_free(grave);
	}
}

/* An empty one; NULL: no memory. */
static struct sb_grave *take_grave(struct sb_worker *w)
{
	struct sb_grave *grave = w->graves;

	if (!grave)
		return sb_mem_zalloc(w->pool.owner.arena, sizeof(*grave), SB_LINE);
	w->graves = grave->next;
	w->empty_graves--;
	return grave;
}

/* There is no memory for another one: waits until this one can be emptied. */
SB_COLD static void wait_for_grave(struct sb_worker *w, struct sb_grave *grave)
{
	sb_reader_offline(w->reader);
	sb_reclaim_barrier(w->scheduler->reclaim);
	sb_reader_online(w->reader, w->period);
	note_dead(w, -(uint64_t)grave->all_bytes);
	empty_grave(w, grave);
	w->grave = grave;
}

void sb_worker_bury(struct sb_worker *w)
{
	struct sb_grave *grave = w->grave;

	if (!grave->count)
		return;
	sb_pidmap_remove(w->scheduler->pidmap, grave->dead, grave->count);
	note_dead(w, grave->all_bytes);
	grave->home = w;
	w->grave = take_grave(w);
	if (SB_LIKELY(w->grave))
		sb_reclaim_defer(w->scheduler->reclaim, &grave->deferred, return_grave);
	else
		wait_for_grave(w, grave);
}

void sb_worker_bury_chosen(struct sb_worker *w)
{
	if (SB_UNLIKELY(w->grave->has_chosen))
		sb_worker_bury(w);
}

/* Many times as many as are under way where processes end at full speed; more than
 * that a long grace period has needed. */
#define GRAVES_MAX 256

static void keep_grave(struct sb_worker *w, struct sb_grave *grave)
{
	if (w->empty_graves == GRAVES_MAX) {
		sb_mem_free(grave);
		return;
	}
	grave->next = w->graves;
	w->graves = grave;
	w->empty_graves++;
}

void sb_worker_take_reclaimed(struct sb_worker *w)
{
	struct sb_grave *grave;

	if (!sb_load_rlx(&w->reclaimed))
		return;
	grave = sb_xchg_acq(&w->reclaimed, NULL);
	while (grave) {
		struct sb_grave *next = grave->next;

		empty_grave(w, grave);
		keep_grave(w, grave);
		grave = next;
	}
}

/* A grave of large processes is not to wait until it is full. */
#define GRAVE_BYTES_MAX 65536

/* Others may have looked the process up, or still find it, and learn from its word
 * that it has ended. So its memory waits. */
void sb_worker_gather_dead(struct sb_worker *w, struct sb_process *p, size_t bytes)
{
	struct sb_grave *grave = w->grave;

	grave->dead[grave->count] = p;
	grave->bytes[grave->count] = bytes;
	grave->all_bytes += bytes;
	grave->has_chosen |= p->pid >= SB_PID_CHOSEN;
	if (++grave->count == SB_GRAVE_ROOM || grave->all_bytes >= GRAVE_BYTES_MAX)
		sb_worker_bury(w);
}
