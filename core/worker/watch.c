/*
 * watch.c - what others see of a long step: a worker that ticks, or the helper thread of the
 * scheduler's reclamation, looks at each worker, and so bounds what one step can hold up.
 *
 *   ticks     a worker whose ticks have not come for config.tick_ns is told that one
 *             is due: it comes when the running step ends
 *   messages  what a step has held for longer than config.hold_ns becomes visible
 *   memory    a step that has not ended since the last look is passed a quiescent
 *             state for
 *
 * Once a second the helper also gives back to the system what is no worker's to give back,
 * for some time after all workers have gone to sleep.
 *
 * The looks are at most a millisecond apart while a worker is awake, so each of these bounds is as
 * stated and one look, or 40 ms when all workers are in long steps (sb_reclaim_look).
 * Workers that run short steps are only read from: one line each for a look.
 */
#include "core/worker/watch.h"

#include "core/memory/arena.h"
#include "core/message/handover.h"
#include "core/message/hold.h"
#include "core/state.h"

/* How long a step is observed before it is taken to be a long one: many times
 * what most steps take, and little to the thread that looks. */
#define OBSERVE_SPINS 64

/* ---- ticks ---- */

static void watch_tick(struct sb_worker *w, struct sb_watched *seen, uint64_t now)
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
static uint64_t watch_held(struct sb_worker *w, struct sb_watched *seen, uint64_t now)
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
		return hold_ns < UINT64_MAX - now ? seen->held_ns + hold_ns : UINT64_MAX;
	sb_route_take_held(w);
	return UINT64_MAX;
}

/* ---- memory ---- */

/* The next period will wait for the same step, while other workers retire processes. */
#define LONG_STEP_NS 400000

/* Returns when to look again at the latest. */
static uint64_t watch_reader(struct sb_worker *w, const struct sb_watched *seen, uint64_t now)
{
	if (!sb_reclaim_waits_for(w->scheduler->reclaim, w->id) ||
	    seen->steps != sb_counter_read(&w->counters.steps) ||
	    !sb_handover_is_outside(&w->handover) || !sb_fence_heavy_works())
		return UINT64_MAX;
	sb_route_take_held(w);
	return now + LONG_STEP_NS;
}

/* ---- memory that nobody needs any more ---- */

#define CHORES_EVERY_NS UINT64_C(1000000000)

/* Rounds after the last worker has gone to sleep: what decays has decayed then. */
#define CHORES_LEFT 10

/* A part at a time; the next trim is due soon while there is more to do. */
static void trim_foreign(struct sb_scheduler *s, uint64_t now)
{
	sb_lock_acquire(&s->foreign_lock);
	sb_pool_trim(&s->foreign_pool, now);
	s->trim_ns = sb_pool_trim_due(&s->foreign_pool);
	sb_lock_release(&s->foreign_lock);
}

static void trim_worker(struct sb_scheduler *s, uint32_t i)
{
	struct sb_worker *w = s->worker[i];

	sb_runq_trim(&w->inject);
	/* It wakes, takes what others have freed and frees its dead, and sleeps on. */
	if (!sb_reclaim_is_online(s->reclaim, i) &&
	    (sb_pool_has_returned(&w->pool) || sb_load_rlx(&w->reclaimed)))
		sb_unpark(&w->parker);
}

static void do_chores(struct sb_scheduler *s)
{
	sb_runq_trim(&s->global);
	for (uint32_t i = 0; i < s->workers; i++)
		trim_worker(s, i);
	for (uint32_t i = 0; i < s->arenas; i++)
		sb_arena_decay(s->arena[i]);
	s->chores_left--;
}

/* Whether all of them have been made, and none is being made. */
static bool has_workers(struct sb_scheduler *s)
{
	const uint32_t phase = sb_load_acq(&s->phase);

	return phase != SB_PHASE_NEW && phase != SB_PHASE_STARTING;
}

/* True if a worker has run a step since the last call. */
static bool have_run(struct sb_scheduler *s)
{
	uint64_t steps = 0;

	/* There are none in a scheduler that is destroyed before it was started. */
	for (uint32_t i = 0; i < s->workers && s->worker[i]; i++)
		steps += sb_counter_read(&s->worker[i]->counters.steps);
	if (steps == s->chores_steps)
		return false;
	s->chores_steps = steps;
	return true;
}

/* Returns when they have to be done again; a PID that can be chosen again waits
 * for that, too. Workers that poll give nothing back, so nothing is taken. */
static uint64_t chores(struct sb_scheduler *s, uint64_t now)
{
	uint64_t next = sb_pidmap_expire(s->pidmap, now);

	if (s->config.park == SB_PARK_POLL || !has_workers(s))
		return next;
	if (have_run(s))
		s->chores_left = CHORES_LEFT;
	if (s->chores_left && sb_clock_passed(s->chores_ns, now) >= CHORES_EVERY_NS) {
		s->chores_ns = now;
		s->trim_ns = now;
		do_chores(s);
	}
	if (now >= s->trim_ns)
		trim_foreign(s, now);
	next = sb_min_u64(next, s->trim_ns);
	return s->chores_left ? sb_min_u64(next, s->chores_ns + CHORES_EVERY_NS) : next;
}

uint64_t sb_watch_chores(void *scheduler, uint64_t now)
{
	struct sb_scheduler *s = scheduler;

	return sb_load_acq(&s->is_watched) ? chores(s, now) : UINT64_MAX;
}

/* ---- all of them ---- */

static uint64_t watch_worker(struct sb_worker *w, struct sb_watched *seen, uint64_t now)
{
	uint64_t next = watch_held(w, seen, now);

	watch_tick(w, seen, now);
	next = sb_min_u64(next, watch_reader(w, seen, now));
	seen->steps = sb_counter_read(&w->counters.steps);
	return next;
}

uint64_t sb_watch_look(void *scheduler, uint32_t own, uint64_t now)
{
	struct sb_scheduler *s = scheduler;
	uint64_t next = UINT64_MAX;

	if (!sb_load_acq(&s->is_watched))
		return next;
	for (uint32_t i = 0; i < s->workers; i++) {
		if (i != own && sb_reclaim_is_online(s->reclaim, i))
			next = sb_min_u64(next, watch_worker(s->worker[i], &s->watched[i], now));
	}
	return next;
}
