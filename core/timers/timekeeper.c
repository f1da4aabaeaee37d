/*
 * timekeeper.c - which sleeping worker wakes for the next timer.
 *
 * Of the workers that sleep one keeps the time: it parks with the earliest
 * deadline of all wheels, the others park without. It looks once more after it
 * has said until when it sleeps, and a worker that has started a timer and goes
 * on to other work looks at that after a fence; so one sees the other, and an
 * earlier timer wakes the timekeeper:
 *
 *   starter                             timekeeper
 *   next = due                          until = deadline
 *   fence                               fence
 *   read until; wake it if later        read next of all; sleep till then
 *
 * A starter that goes to sleep itself looks then: it keeps the time if nobody
 * does, and else it tells the one who does. And a worker that has found work
 * looks whether somebody keeps the time; if not, because it was the one or
 * because a starter relied on its searching, it wakes another who will. That
 * costs a wake for every timer that ends a sleep, and without it a long step
 * would hold up the timers of all while others sleep.
 */
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/wake/publish.h"
#define NOBODY UINT32_MAX

void sb_timekeeper_init(struct sb_timekeeper *keeper)
{
	sb_store_rlx(&keeper->who, NOBODY);
	sb_store_rlx(&keeper->until_ns, SB_WHEEL_NEVER);
}

static uint64_t earliest(struct sb_scheduler *s)
{
	uint64_t first = SB_WHEEL_NEVER;

	for (uint32_t i = 0; i < s->workers; i++)
		first = sb_min_u64(first, sb_load_rlx(&s->worker[i]->timers.next_ns));
	return first;
}

uint64_t sb_timekeeper_begin(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	uint32_t who = NOBODY;
	uint64_t until;

	if (!sb_load_rlx(&s->timekeeper.needed))
		return SB_WHEEL_NEVER;
	if (sb_load_rlx(&s->timekeeper.who) != w->id &&
	    !sb_cas_acq_rel(&s->timekeeper.who, &who, w->id)) {
		sb_timekeeper_tell(w);
		return SB_WHEEL_NEVER;
	}
	until = earliest(s);
	SB_WINDOW();
	sb_store_rlx(&s->timekeeper.until_ns, until);
	sb_fence_store_load(&s->timekeeper.until_ns);
	/* Not later than it has said, even if that timer is gone: a thread that starts
	 * one that is due in between relies on it. */
	return sb_min_u64(until, earliest(s));
}

void sb_timekeeper_end(struct sb_worker *w)
{
	struct sb_timekeeper *keeper = &w->scheduler->timekeeper;

	if (sb_load_rlx(&keeper->who) == w->id)
		sb_store_rel(&keeper->who, NOBODY);
}

void sb_timekeeper_tell(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	const uint64_t next = sb_load_rlx(&w->timers.next_ns);
	uint32_t who;

	if (next == SB_WHEEL_NEVER)
		return;
	sb_fence_store_load(&s->timekeeper.until_ns);
	who = sb_load_acq(&s->timekeeper.who);
	if (who == NOBODY)
		sb_route_publish(s, w, w->id); /* one to keep the time */
	else if (sb_load_rlx(&s->timekeeper.until_ns) > next)
		sb_route_unpark(s, w, who);
}

void sb_timekeeper_replace(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;

	if (SB_LIKELY(!sb_load_rlx(&s->timekeeper.needed)))
		return;
	sb_fence_store_load(&s->timekeeper.until_ns);
	if (sb_load_acq(&s->timekeeper.who) == NOBODY && earliest(s) != SB_WHEEL_NEVER)
		sb_route_publish(s, w, w->id);
}
