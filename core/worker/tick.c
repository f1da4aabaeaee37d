/*
 * tick.c - after a number of steps, or when the watcher says so, a worker does
 * what has to be done now and then, and gives each kind of queue its turns.
 */
#include "core/worker/tick.h"

#include "core/hist.h"
#include "core/memory/graves.h"
#include "core/message/hold.h"
#include "core/record/events.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/publish.h"
#include "core/worker/take.h"
#include "core/worker/worker.h"

/* ---- housekeeping ---- */

/*
 * The time budget of a tick: ticks that come too far apart in time, because
 * steps are long, come after fewer steps. That is for steps as they were; where
 * they become longer the watcher says when a tick is due.
 */
static void adapt_tick(struct sb_worker *w, uint64_t passed_ns)
{
	const struct sb_config *config = &w->scheduler->config;
	struct sb_tick *tick = &w->tick;
	const uint64_t steps = sb_worker_steps(w) - tick->steps;

	tick->steps += steps;
	w->handover.holds =
		sb_config_holds(config, passed_ns / (steps ? steps : 1)) && !w->trace.has_sends;
	if (!config->tick_ns)
		return;
	if (passed_ns > config->tick_ns && tick->every > 1)
		tick->every /= 2;
	else if (passed_ns < config->tick_ns / 2)
		tick->every = (uint32_t)sb_min_u64(2 * tick->every, config->tick);
}

/* Often enough for any round, and seldom enough for what a look costs. */
#define SLOWDOWN_NS 500000

/*
 * sb_scheduler_slow_down: spins for its share of the CPU time that the worker has
 * used since it last did. CPU time, because while another thread has the CPU
 * there is nothing to lengthen, nor is any of the spin over. A step is shorter
 * than a look at the clock, so that many pay together. Returns the time then.
 */
SB_COLD static uint64_t slow_down(struct sb_worker *w)
{
	uint64_t cpu = sb_clock_thread_cpu_ns();
	const uint64_t end = cpu + (cpu - w->slowed.cpu_ns) * w->scheduler->slowdown_ppm / 1000000;

	while (cpu < end)
		cpu = sb_clock_thread_cpu_ns();
	w->slowed.cpu_ns = cpu;
	return w->slowed.ns = sb_clock_ns();
}

static bool is_to_slow_down(const struct sb_worker *w, uint64_t now)
{
	return SB_UNLIKELY(w->scheduler->slowdown_ppm) &&
	       sb_clock_passed(w->slowed.ns, now) >= SLOWDOWN_NS;
}

/*
 * A worker that parks within UNWATCHED_NS after it came online does not wake the helper. During
 * that time the worker defers no messages, because no thread would bound the delay (config.hold_ns
 * without a bound excepted), and it reads the clock after each step.
 */
#define UNWATCHED_NS 100000

/* If that time is over, wakes the helper and returns true. */
static bool end_unwatched(struct sb_worker *w, uint64_t now)
{
	struct sb_reclaim *reclaim = w->scheduler->reclaim;

	if (sb_clock_passed(w->tick.unwatched_ns, now) < UNWATCHED_NS &&
	    sb_reclaim_is_quiet(reclaim, now))
		return false;
	w->tick.unwatched_ns = 0;
	w->tick.has_woken = true;
	sb_reclaim_wake(reclaim);
	return true;
}

SB_COLD static void run_unwatched(struct sb_worker *w, uint64_t now)
{
	struct sb_tick *tick = &w->tick;

	w->handover.holds &= w->scheduler->config.hold_ns == UINT64_MAX;
	if (tick->has_woken)
		return; /* the helper has got no CPU yet */
	if (!tick->unwatched_ns)
		tick->unwatched_ns = now;
	(void)end_unwatched(w, now);
}

/* The work of a tick, done now and then whatever there is to run. */
static void keep_house(struct sb_worker *w)
{
	uint64_t now = sb_clock_ns();

	adapt_tick(w, sb_clock_passed(w->tick.now_ns, now));
	if (is_to_slow_down(w, now))
		now = slow_down(w);
	w->tick.now_ns = now;
	sb_store_rlx(&w->tick.epoch, sb_load_rlx(&w->tick.epoch) + 1);
	sb_worker_bury_chosen(w);
	sb_worker_quiescent(w);
	if (SB_UNLIKELY(sb_reclaim_sleeps(w->scheduler->reclaim)))
		run_unwatched(w, now);
	else
		w->tick.unwatched_ns = 0;
	if (now >= sb_load_rlx(&w->period->drive_ns))
		sb_reclaim_drive(w->scheduler->reclaim, w->reader, now);
	sb_trace_note(&w->trace, SB_TRACE_TICK, 0, 0);
	sb_worker_take_reclaimed(w);
	sb_worker_give_memory_back(w, now);
	if (w->sampler.every)
		sb_record_depths(w, now);
	if (SB_UNLIKELY(sb_load_rlx(&w->timers.next_ns) <= now))
		sb_timers_run(w, w, now);
}

/* ---- turns ---- */

static uint32_t a_batch(const struct sb_worker *w, uint32_t processes)
{
	return processes < w->taken_max ? processes : w->taken_max;
}

/*
 * From now on each kind of queue is owed the turns that it has processes for,
 * up to a batch, and the own deque's oldest one. So whatever arrives at the hot
 * end, the front of each queue is reached on each tick, and a queue of n
 * processes is done after n / (batch + 1) ticks.
 * others: processes of the deque but for the one that has just run; woken: those
 * that timers have added.
 */
static void begin_turns(struct sb_worker *w, uint32_t others, uint32_t woken)
{
	uint32_t *owed = w->tick.owed;

	owed[SB_TURN_NEWEST] = a_batch(w, woken);
	owed[SB_TURN_OLDEST] = others ? 1 : 0;
	owed[SB_TURN_COLD] = a_batch(w, sb_deque_size(&w->cold));
	owed[SB_TURN_INJECT] = a_batch(w, sb_runq_length(&w->inject));
	owed[SB_TURN_GLOBAL] = a_batch(w, sb_runq_length(&w->scheduler->global));
}

static bool owes_turns(const struct sb_worker *w)
{
	const uint32_t *owed = w->tick.owed;

	return owed[SB_TURN_NEWEST] | owed[SB_TURN_OLDEST] | owed[SB_TURN_COLD] |
	       owed[SB_TURN_INJECT] | owed[SB_TURN_GLOBAL];
}

static struct sb_process *take_from(struct sb_worker *w, enum sb_turn turn)
{
	switch (turn) {
	case SB_TURN_NEWEST:
		return sb_take_newest(w);
	case SB_TURN_OLDEST:
		return sb_take_oldest(w);
	case SB_TURN_COLD:
		return sb_take_cold(w);
	case SB_TURN_INJECT:
		return sb_take_inject(w, 1);
	default:
		return sb_take_global(w, 1);
	}
}

static struct sb_process *take_owed(struct sb_worker *w, uint32_t turn)
{
	uint32_t *owed = &w->tick.owed[turn];
	struct sb_process *p = *owed ? take_from(w, (enum sb_turn)turn) : NULL;

	*owed = p ? *owed - 1 : 0;
	return p;
}

/* In turn, so that none comes last for ever where steps are so long that each of
 * them is a tick. A timer that was due waits for one of the others at most. */
static struct sb_process *take_turn(struct sb_worker *w)
{
	struct sb_tick *tick = &w->tick;
	struct sb_process *p = NULL;

	if (tick->newest_first)
		p = take_owed(w, SB_TURN_NEWEST);
	tick->newest_first = !p;
	for (uint32_t i = 0; i < SB_TURNS && !p; i++)
		p = take_owed(w, tick->turn++ % SB_TURNS);
	return p;
}

/* True if no tick is due: the worker has only read the clock. The order of processes stays. */
SB_COLD static bool is_only_unwatched(struct sb_worker *w)
{
	struct sb_tick *tick = &w->tick;

	if (owes_turns(w) || sb_worker_steps(w) >= tick->next || !sb_load_rlx(&tick->due))
		return false;
	if (end_unwatched(w, sb_clock_ns()))
		sb_store_rlx(&tick->due, tick->next);
	else
		sb_store_rlx(&tick->due, sb_worker_steps(w) + 1);
	return true;
}

SB_NOINLINE struct sb_process *sb_take_on_tick(struct sb_worker *w, struct sb_process *next)
{
	const uint32_t others = sb_deque_size(&w->deque);
	struct sb_tick *tick = &w->tick;
	struct sb_process *p;

	if (SB_UNLIKELY(tick->unwatched_ns) && is_only_unwatched(w)) {
		if (next)
			sb_counter_add(&w->counters.direct_steps, 1);
		return next;
	}
	if (next)
		sb_route_requeue(w, next, false);
	if (sb_worker_steps(w) >= tick->next || !sb_load_rlx(&tick->due)) {
		const uint32_t before = sb_deque_size(&w->deque);

		uint32_t after;

		keep_house(w);
		after = sb_deque_size(&w->deque);
		begin_turns(w, others, after > before ? after - before : 0);
		tick->next = sb_worker_steps(w) + tick->every;
	}
	p = owes_turns(w) ? take_turn(w) : NULL;
	sb_store_rlx(&tick->due,
		     owes_turns(w) || tick->unwatched_ns ? sb_worker_steps(w) + 1 : tick->next);
	return p;
}
