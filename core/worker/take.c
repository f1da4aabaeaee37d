/* take.c - taking processes from queues, and telling others of the rest. */
#include "core/worker/take.h"

#include "core/record/events.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/publish.h"

struct sb_process *sb_keep_rest(struct sb_worker *w, uint32_t n)
{
	/* They were last written on another core: all at a time. */
	for (uint32_t i = 0; i < n; i++)
		sb_prefetch_object(w->taken[i]);
	SB_WINDOW(); /* in no queue: nobody sees these */
	while (n > 1)
		sb_route_local(w, w->taken[--n], false);
	return w->taken[0];
}

struct sb_process *sb_take_inject(struct sb_worker *w, uint32_t max)
{
	const uint32_t n = sb_runq_take(&w->inject, max, 1, w->taken);

	if (!n)
		return NULL;
	sb_record_take_inject(w, n);
	return sb_keep_rest(w, n);
}

struct sb_process *sb_take_global(struct sb_worker *w, uint32_t max)
{
	struct sb_scheduler *s = w->scheduler;
	const uint32_t n = sb_runq_take(&s->global, max, s->workers, w->taken);

	if (!n)
		return NULL;
	sb_record_take_global(w, n);
	return sb_keep_rest(w, n);
}

struct sb_process *sb_take_oldest(struct sb_worker *w)
{
	void *item = NULL;

	if (sb_deque_steal_one(&w->deque, &item) != SB_STEAL_OK)
		return NULL;
	sb_counter_add(&w->counters.oldest_pops, 1);
	return item;
}

/* A race lost to a thief does not mean that there are none; nobody but us would look again. */
struct sb_process *sb_take_cold(struct sb_worker *w)
{
	enum sb_steal_result result;
	void *item = NULL;

	do {
		result = sb_deque_steal_one(&w->cold, &item);
	} while (result == SB_STEAL_LOST);
	if (result == SB_STEAL_EMPTY)
		return NULL;
	sb_counter_add(&w->counters.cold_pops, 1);
	return item;
}

void sb_announce_rest(struct sb_worker *w)
{
	if (sb_has_queued(w))
		sb_route_publish(w->scheduler, w, w->id);
}

void sb_tell_untold(struct sb_worker *w, const struct sb_process *p)
{
	const uint32_t untold = w->untold.what;

	w->untold.what = p ? 0 : untold & SB_UNTOLD_TIMER;
	if (!p)
		return;
	if ((untold & SB_UNTOLD_WORK) && p != w->untold.process)
		sb_announce_rest(w);
	if (untold & SB_UNTOLD_TIMER)
		sb_timekeeper_tell(w);
}
