/*
 * watch.c - what others see of a long step: the helper thread of the scheduler's
 * reclamation looks at each worker, and so bounds what one step can hold up.
 *
 *   ticks     a worker whose ticks have not come for config.tick_ns is told that one
 *             is due: it comes when the running step ends
 *   messages  what a step has held for longer than config.hold_ns becomes visible
 *   memory    a step that has not ended since the last look is passed a quiescent
 *             state for
 *
 * The looks are a millisecond apart at most while a worker is awake, so each of
 * these bounds is as stated and one look. Workers that run short steps are only
 * read from: one line each for a look.
 */
#include "core/internal.h"

/* How long a step is observed before it is taken to be a long one: many times
 * what most steps take, and little to the thread that looks. */
#define OBSERVE_SPINS 64

/* ---- ticks ---- */

static void watch_tick(struct sb_worker *w, struct sb_watched *seen,
		       uint64_t now)
{
	const uint64_t tick_ns = w->scheduler->config.tick_ns;
	const uint64_t epoch = sb_load_rlx(&w->tick.epoch);

	if (epoch != seen->epoch) {
		seen->epoch = epoch;
		seen->since_ns = now;
	} else if (tick_ns && sb_clock_passed(seen->since_ns, now) >= tick_ns) {
		sb_store_rlx(&w->tick.due, 0);
	}
}

/* ---- what is held ---- */

/* Whether the worker's step goes on, and holds something, for as long as short
 * steps do not take. */
static bool keeps_holding(struct sb_worker *w, uint64_t steps)
{
	for (int i = 0; i < OBSERVE_SPINS; i++) {
		if (!sb_handover_has_held(&w->handover) ||
		    sb_counter_read(&w->counters.steps) != steps)
			return false;
		sb_cpu_pause();
	}
	return true;
}

static bool is_same_step(const struct sb_watched *seen, uint64_t steps)
{
	return seen->held_ns && seen->held_steps == steps;
}

/* Returns when to look again at the latest. */
static uint64_t watch_held(struct sb_worker *w, struct sb_watched *seen,
			   uint64_t now)
{
	const uint64_t hold_ns = w->scheduler->config.hold_ns;
	const uint64_t steps = sb_counter_read(&w->counters.steps);

	if (!is_same_step(seen, steps))
		seen->held_ns = 0;
	if (!sb_handover_has_held(&w->handover))
		return UINT64_MAX;
	if (!seen->held_ns) {
		if (!keeps_holding(w, steps))
			return UINT64_MAX;
		seen->held_ns = now;
		seen->held_steps = steps;
	}
	if (sb_clock_passed(seen->held_ns, now) < hold_ns)
		return hold_ns < UINT64_MAX - now ? seen->held_ns + hold_ns
						  : UINT64_MAX;
	sb_route_take_held(w);
	return UINT64_MAX;
}

/* ---- memory ---- */

static void watch_reader(struct sb_worker *w, const struct sb_watched *seen)
{
	if (sb_reclaim_waits_for(w->scheduler->reclaim, w->id) &&
	    seen->steps == sb_counter_read(&w->counters.steps) &&
	    sb_handover_is_outside(&w->handover) && sb_fence_heavy_works())
		sb_route_take_held(w);
}

/* ---- all of them ---- */

static uint64_t watch_worker(struct sb_worker *w, struct sb_watched *seen,
			     uint64_t now)
{
	const uint64_t next = watch_held(w, seen, now);

	watch_tick(w, seen, now);
	watch_reader(w, seen);
	seen->steps = sb_counter_read(&w->counters.steps);
	return next;
}

uint64_t sb_watch_look(void *scheduler, uint64_t now)
{
	struct sb_scheduler *s = scheduler;
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *w = sb_load_acq(&s->worker[i]);

		if (w && sb_load_acq(&w->reader->seen) != SB_READER_OFFLINE)
			next = sb_min_u64(next,
					  watch_worker(w, &s->watched[i], now));
	}
	return next;
}
