/*
 * worker.c - where a worker finds work, and what it does when there is none.
 *
 * The order is own deque, own inject queue, global queue, those that continue,
 * other workers. On a tick each kind of queue gets its turns first, so that
 * nothing starves behind a LIFO.
 */
#include "core/internal.h"

/* ---- taking from queues ---- */

static struct sb_process *take_inject(struct sb_worker *w, uint32_t max)
{
	const uint32_t n = sb_runq_take(&w->inject, max, 1, w->taken);

	if (!n)
		return NULL;
	sb_counter_add(&w->counters.inject_pops, 1);
	sb_counter_add(&w->counters.inject_items, n);
	sb_worker_note(w, &w->hists.batch_inject, n);
	sb_trace_note(&w->trace, SB_TRACE_INJECT, 0, n);
	return sb_keep_rest(w, n);
}

static struct sb_process *take_global(struct sb_worker *w, uint32_t max)
{
	struct sb_scheduler *s = w->scheduler;
	const uint32_t n = sb_runq_take(&s->global, max, s->workers, w->taken);

	if (!n)
		return NULL;
	sb_counter_add(&w->counters.global_pops, 1);
	sb_counter_add(&w->counters.global_items, n);
	sb_worker_note(w, &w->hists.batch_global, n);
	sb_trace_note(&w->trace, SB_TRACE_GLOBAL, 0, n);
	return sb_keep_rest(w, n);
}

static struct sb_process *take_oldest(struct sb_worker *w)
{
	void *item = NULL;

	if (sb_deque_steal_one(&w->deque, &item) != SB_STEAL_OK)
		return NULL;
	sb_counter_add(&w->counters.oldest_pops, 1);
	return item;
}

/* Of those that continue. Oldest first: each has its turn. A race lost to a
 * thief does not mean that there are none; nobody but us would look again. */
static struct sb_process *take_cold(struct sb_worker *w)
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

static struct sb_process *take_newest(struct sb_worker *w)
{
	struct sb_process *p = sb_deque_pop(&w->deque);

	if (p)
		sb_counter_add(&w->counters.local_pops, 1);
	return p;
}

/* ---- the common path ---- */

static void quiescent(struct sb_worker *w)
{
	sb_reader_quiescent(w->reader, w->period);
}

static uint64_t steps_of(struct sb_worker *w)
{
	return sb_counter_read(&w->counters.steps);
}

/*
 * The time budget of a tick: ticks that come too far apart in time, because
 * steps are long, come after fewer steps. That is for steps as they were; where
 * they become longer the watcher says when a tick is due.
 */
static void adapt_tick(struct sb_worker *w, uint64_t passed_ns)
{
	const struct sb_config *config = &w->scheduler->config;
	struct sb_tick *tick = &w->tick;
	const uint64_t steps = steps_of(w) - tick->steps;

	tick->steps += steps;
	w->handover.holds =
		sb_config_holds(config, passed_ns / (steps ? steps : 1));
	if (!config->tick_ns)
		return;
	if (passed_ns > config->tick_ns && tick->every > 1)
		tick->every /= 2;
	else if (passed_ns < config->tick_ns / 2)
		tick->every =
			(uint32_t)sb_min_u64(2 * tick->every, config->tick);
}

/* As seen at ticks: at even distances in steps, while there is work. */
SB_COLD static void record_depths(struct sb_worker *w)
{
	sb_hist_record(&w->hists.depth_own, (uint64_t)sb_deque_size(&w->deque) +
						    sb_deque_size(&w->cold));
	sb_hist_record(&w->hists.depth_inject, sb_runq_length(&w->inject));
	sb_hist_record(&w->hists.depth_global,
		       sb_runq_length(&w->scheduler->global));
}

/* Often enough for any round, and seldom enough for what a look costs. */
#define SLOWDOWN_NS 500000

/*
 * config.slowdown_ppm: spins for its share of the CPU time that the worker has
 * used since it last did. CPU time, because while another thread has the CPU
 * there is nothing to lengthen, nor is any of the spin over. A step is shorter
 * than a look at the clock, so that many pay together. Returns the time then.
 */
SB_COLD static uint64_t slow_down(struct sb_worker *w)
{
	uint64_t cpu = sb_clock_thread_cpu_ns();
	const uint64_t end = cpu + (cpu - w->slowed_cpu_ns) *
					   w->scheduler->config.slowdown_ppm /
					   1000000;

	while (cpu < end)
		cpu = sb_clock_thread_cpu_ns();
	w->slowed_cpu_ns = cpu;
	return w->slowed_ns = sb_clock_ns();
}

static bool is_to_slow_down(const struct sb_worker *w, uint64_t now)
{
	return SB_UNLIKELY(w->scheduler->config.slowdown_ppm) &&
	       sb_clock_passed(w->slowed_ns, now) >= SLOWDOWN_NS;
}

/* A worker that polls makes no system call. */
static void give_memory_back(struct sb_worker *w, uint64_t now)
{
	if (w->scheduler->config.park != SB_PARK_POLL)
		sb_pool_trim(&w->pool, now);
}

/* What is to be done now and then, whatever there is to run. */
static void keep_house(struct sb_worker *w)
{
	uint64_t now = sb_clock_ns();

	adapt_tick(w, sb_clock_passed(w->tick.now_ns, now));
	if (is_to_slow_down(w, now))
		now = slow_down(w);
	w->tick.now_ns = now;
	sb_store_rlx(&w->tick.epoch, sb_load_rlx(&w->tick.epoch) + 1);
	quiescent(w);
	if (SB_UNLIKELY(sb_reclaim_sleeps(w->scheduler->reclaim)))
		sb_reclaim_wake(w->scheduler->reclaim);
	sb_trace_note(&w->trace, SB_TRACE_TICK, 0, 0);
	sb_worker_take_reclaimed(w);
	give_memory_back(w, now);
	if (w->sampler.every)
		record_depths(w);
	if (SB_UNLIKELY(sb_load_rlx(&w->timers.next_ns) <= now))
		sb_timers_run(w, w, now);
}

/* ---- ticks ---- */

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
	owed[SB_TURN_GLOBAL] =
		a_batch(w, sb_runq_length(&w->scheduler->global));
}

static bool owes_turns(const struct sb_worker *w)
{
	const uint32_t *owed = w->tick.owed;

	return owed[SB_TURN_NEWEST] | owed[SB_TURN_OLDEST] |
	       owed[SB_TURN_COLD] | owed[SB_TURN_INJECT] | owed[SB_TURN_GLOBAL];
}

static struct sb_process *take_from(struct sb_worker *w, enum sb_turn turn)
{
	switch (turn) {
	case SB_TURN_NEWEST:
		return take_newest(w);
	case SB_TURN_OLDEST:
		return take_oldest(w);
	case SB_TURN_COLD:
		return take_cold(w);
	case SB_TURN_INJECT:
		return take_inject(w, 1);
	default:
		return take_global(w, 1);
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

/*
 * A tick is due, or turns of the last one are still owed. next: the process that
 * would have been run, or NULL; it is one of the newest now.
 */
static SB_NOINLINE struct sb_process *take_on_tick(struct sb_worker *w,
						   struct sb_process *next)
{
	const uint32_t others = sb_deque_size(&w->deque);
	struct sb_tick *tick = &w->tick;
	struct sb_process *p;

	if (next)
		sb_route_requeue(w, next, false);
	if (steps_of(w) >= tick->next || !sb_load_rlx(&tick->due)) {
		const uint32_t before = sb_deque_size(&w->deque);

		uint32_t after;

		keep_house(w);
		after = sb_deque_size(&w->deque);
		begin_turns(w, others, after > before ? after - before : 0);
		tick->next = steps_of(w) + tick->every;
	}
	p = owes_turns(w) ? take_turn(w) : NULL;
	sb_store_rlx(&tick->due, owes_turns(w) ? steps_of(w) + 1 : tick->next);
	return p;
}

/* More may have come to the own deque than this worker is about to run. */
static void announce_rest(struct sb_worker *w)
{
	if (sb_deque_size(&w->deque) || sb_deque_size(&w->cold))
		sb_route_publish(w->scheduler, w, w->id);
}

/* The worker goes on with p, and not with what it has told nobody about. Without
 * p it searches, and may find another process to go on with, or sleep. */
static void tell(struct sb_worker *w, const struct sb_process *p)
{
	const uint32_t untold = w->untold;

	w->untold = p ? 0 : untold & SB_UNTOLD_TIMER;
	if (!p)
		return;
	if ((untold & SB_UNTOLD_WORK) && p != w->untold_process)
		announce_rest(w);
	if (untold & SB_UNTOLD_TIMER)
		sb_timekeeper_tell(w);
}

static struct sb_process *take_batch(struct sb_worker *w)
{
	struct sb_process *p = take_inject(w, w->taken_max);

	if (!p)
		p = take_global(w, w->taken_max);
	if (p)
		announce_rest(w);
	return p;
}

static struct sb_process *next_process(struct sb_worker *w)
{
	struct sb_process *p = w->next;

	w->next = NULL;
	if (SB_UNLIKELY(steps_of(w) >= sb_load_rlx(&w->tick.due)))
		p = take_on_tick(w, p);
	else if (p)
		sb_counter_add(&w->counters.direct_steps, 1);
	if (!p)
		p = take_newest(w);
	if (!p)
		p = take_batch(w);
	if (!p)
		p = take_cold(w);
	if (SB_UNLIKELY(w->untold))
		tell(w, p);
	return p;
}

/* ---- without work ---- */

static bool halted(struct sb_scheduler *s)
{
	return sb_load_acq(&s->halt);
}

static bool work_visible(struct sb_scheduler *s)
{
	if (sb_runq_length(&s->global))
		return true;
	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *w = s->worker[i];

		if (sb_deque_size(&w->deque) || sb_deque_size(&w->cold) ||
		    sb_runq_length(&w->inject))
			return true;
	}
	return false;
}

/* Brings to others what they may be waiting for. The dead first: whoever is told
 * that none is alive finds none. */
static void flush_for_others(struct sb_worker *w)
{
	sb_worker_bury(w);
	sb_worker_release_credit(w, w->ran_out_ns);
	sb_worker_take_reclaimed(w);
	sb_pool_flush(&w->pool);
}

/* The last searcher to find work looks whether there is more, see idle.h. */
static void end_search(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;

	if (!sb_idle_search_end(&s->idle))
		return;
	sb_fence_store_load(&s->idle.counts);
	if (work_visible(s))
		sb_route_publish(s, w, w->id);
}

/*
 * Work turned up between the announcement and the sleep. On return the worker
 * is a searcher: by its own doing, or by a waker's that took its bit; that
 * one's token comes later and is stale then.
 */
static void stay_awake(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;

	while (sb_idle_is_announced(&s->idle, w->id)) {
		const uint32_t id = sb_idle_retract(&s->idle, w->id);

		if (id == w->id)
			return;
		if (id == SB_IDLE_NONE) {
			sb_thread_yield(); /* to whoever has claimed */
			continue;
		}
		sb_route_unpark(s, w, id);
	}
}

/*
 * The watcher sleeps when all workers have slept for a while. Then the first step
 * is followed by a tick, which wakes it, and holds nothing: that is no loss
 * there, and the first step need not wait for a system call.
 */
static SB_NOINLINE void come_online(struct sb_worker *w)
{
	sb_reader_online(w->reader, w->period);
	if (SB_LIKELY(!sb_reclaim_sleeps(w->scheduler->reclaim)))
		return;
	sb_store_rlx(&w->tick.due, 0);
	w->handover.holds = false;
}

/* Until it is claimed, the scheduler halts, or a timer it keeps is due. */
static void sleep_until_called(struct sb_worker *w)
{
	const uint64_t start = sb_clock_ns();
	uint64_t deadline;

	sb_account_block(&w->account);
	sb_trace_note(&w->trace, SB_TRACE_PARK, 0, 0);
	if (w->woken)
		sb_counter_add(&w->counters.spurious_wakes, 1);
	sb_counter_add(&w->counters.blocks, 1);
	sb_reader_offline(w->reader);
	do {
		deadline = sb_timekeeper_begin(w);
		sb_park(&w->parker,
			sb_min_u64(deadline, sb_pool_trim_due(&w->pool)));
		give_memory_back(w, sb_clock_ns());
	} while (sb_idle_is_announced(&w->scheduler->idle, w->id) &&
		 !halted(w->scheduler) && sb_clock_ns() < deadline);
	sb_timekeeper_end(w);
	w->untold = 0; /* whoever keeps the time has looked */
	come_online(w);
	stay_awake(w); /* if nobody has claimed it */
	w->woken = true;
	w->naps = sb_clock_passed(start, sb_clock_ns()) <
		  w->scheduler->config.spin_ns;
	sb_account_search(&w->account);
	sb_trace_note(&w->trace, SB_TRACE_SEARCH, 0, sb_load_rlx(&w->wake_id));
}

/*
 * Announce, fence, look again at everything, and only then sleep. On return
 * the worker is counted as a searcher: it retracted, or its waker counted it.
 */
static void block(struct sb_worker *w, bool searching, uint64_t spins)
{
	struct sb_scheduler *s = w->scheduler;

	sb_store_rlx(&w->wake_ns, 0); /* of a wake that led to nothing */
	sb_store_rlx(&w->wake_id, 0);
	SB_WINDOW();
	sb_idle_announce(&s->idle, w->id, searching);
	sb_fence_store_load(&s->idle.counts);
	if (work_visible(s) || halted(s)) {
		stay_awake(w);
		return;
	}
	SB_WINDOW();
	sb_worker_note(w, &w->hists.spins_blocked, spins);
	sleep_until_called(w);
}

static struct sb_process *steal(struct sb_worker *w)
{
	const uint64_t start = sb_account_look(&w->account);
	struct sb_process *p;

	if (!w->victims.rings)
		return NULL;
	p = sb_steal_round(w);
	sb_account_round(&w->account, start, p);
	return p;
}

/* One look at all sources; records where an episode of so many spins ended. */
static struct sb_process *look_everywhere(struct sb_worker *w, bool searching,
					  uint64_t spins)
{
	struct sb_hist *ended_by = &w->hists.spins_inject;
	struct sb_process *p = take_inject(w, w->taken_max);

	if (!p) {
		ended_by = &w->hists.spins_global;
		p = take_global(w, w->taken_max);
	}
	if (!p && searching) {
		ended_by = &w->hists.spins_steal;
		p = steal(w);
	}
	if (!p) {
		ended_by = &w->hists.spins_timer;
		sb_timers_run_all(w);
		p = take_newest(w);
	}
	if (p)
		sb_worker_note(w, ended_by, spins);
	return p;
}

/*
 * Whether a worker that has spun as the thresholds say is to spin on. If its last
 * sleep was short, it would have been cheaper to spin instead, for it and for the one
 * that had to wake it. So it does, for about what a wake costs: that is at most twice
 * what knowing the future would cost (Karlin, Li, Manasse and Owicki, Empirical
 * studies of competitive spinning for a shared-memory multiprocessor, SOSP 1991).
 * *end_ns: 0 at the beginning of an episode.
 */
static bool spins_on(struct sb_worker *w, uint64_t *end_ns)
{
	const uint64_t now = w->naps ? sb_clock_ns() : 0;

	if (!w->naps)
		return false;
	if (!*end_ns)
		*end_ns = now + w->scheduler->config.spin_ns;
	return now < *end_ns;
}

static void spin_aside(struct sb_worker *w)
{
	sb_account_spin(&w->account);
	sb_thread_yield();
	sb_account_search(&w->account);
}

/* Spins of a moment, for which no worker gives up the hope for more work. */
#define MOMENT 4

/* How long to let a stream gather, every which moment that is tried, and how many
 * have to have come then. */
#define GATHER_NS     500
#define GATHER_NS_MAX 2000
#define GATHER_EVERY  64
#define GATHER_ITEMS  4

/* Unless somebody has woken a process for this very worker. */
static void wait_for_more(struct sb_worker *w, uint64_t ns)
{
	const uint64_t end = sb_clock_ns() + ns;

	while (!sb_runq_length(&w->inject) && sb_clock_ns() < end)
		sb_cpu_pause();
}

/*
 * A worker that is faster than those who submit, or than whom it steals from, takes
 * each process as soon as it is there; then each costs both sides the way of the
 * queue's lines from core to core and back. So it waits until some have come, as
 * network cards moderate their interrupts: for at most GATHER_NS_MAX, and only while
 * that finds several. Now and then it tries.
 */
static struct sb_process *gather(struct sb_worker *w, bool searching)
{
	uint64_t ns = w->gather_ns;
	struct sb_process *p;

	if (!ns && w->scheduler->config.gather &&
	    ++w->moments % GATHER_EVERY == 0)
		ns = GATHER_NS;
	if (!ns)
		return NULL;
	wait_for_more(w, ns);
	p = look_everywhere(w, searching, 0);
	/* All but p are there. */
	if (p && sb_deque_size(&w->deque) + 1 >= GATHER_ITEMS)
		w->gather_ns = sb_min_u64(2 * ns, GATHER_NS_MAX);
	else
		w->gather_ns = 0;
	return p;
}

/*
 * One who has just run out of work, and whose last came from another thread, often
 * gets more at once. So in the first moment it does nothing that others would have
 * to fetch from it: it owes them what it owes for so much longer, and if nobody
 * sleeps, so that nobody asks who searches, it is not counted as a searcher, unless
 * how many there may be is configured.
 */
static struct sb_process *wait_a_moment(struct sb_worker *w, bool searching,
					uint64_t most, uint64_t *spins)
{
	struct sb_process *p = most ? gather(w, searching) : NULL;

	while (!p && *spins < most && !halted(w->scheduler)) {
		p = look_everywhere(w, searching, *spins);
		if (p)
			break;
		sb_cpu_pause();
		++*spins;
	}
	if (!p)
		flush_for_others(w);
	return p;
}

/*
 * Spins as the thresholds say, then blocks, until there is work. A worker above
 * the bound on searchers does not spin; it looks once and blocks. Returns NULL
 * when the scheduler halts.
 */
static struct sb_process *search_and_block(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	const uint64_t tight = s->config.spin_tight;
	const uint64_t end = tight + s->config.spin_yield;
	uint64_t end_ns = 0;
	uint64_t spins = 0;
	const bool counted = s->config.searchers_max ||
			     sb_idle_sleeping(sb_load_rlx(&s->idle.counts));
	bool searching = counted && sb_idle_search_begin(&s->idle);
	struct sb_process *p = wait_a_moment(w, searching || !counted,
					     sb_min_u64(tight, MOMENT), &spins);

	if (!p && !counted)
		searching = sb_idle_search_begin(&s->idle);
	while (!p && !halted(s)) {
		p = look_everywhere(w, searching, spins);
		if (p)
			break;
		quiescent(w);
		if (!searching || (spins >= end && !spins_on(w, &end_ns))) {
			block(w, searching, spins);
			searching = true;
			end_ns = spins = 0;
		} else if (spins++ < tight) {
			sb_cpu_pause();
		} else {
			spin_aside(w);
		}
	}
	if (searching)
		end_search(w);
	else if (p)
		announce_rest(w);
	return p;
}

/* Never blocks, so nobody is ever asleep and there is nobody to wake: the idle
 * set is left alone. */
static struct sb_process *search_and_poll(struct sb_worker *w)
{
	uint64_t spins = 0;
	struct sb_process *p = wait_a_moment(w, true, MOMENT, &spins);

	for (; !p && !halted(w->scheduler); spins++) {
		p = look_everywhere(w, true, spins);
		if (p)
			break;
		quiescent(w);
		sb_cpu_pause();
	}
	return p;
}

/* From here on it is at work; who has woken it for that, if anybody? */
static void end_idleness(struct sb_worker *w)
{
	const uint64_t wake_ns = sb_load_rlx(&w->wake_ns);
	const uint64_t now = sb_clock_ns();

	if (w->woken && wake_ns)
		sb_hist_record(&w->hists.wake_to_running,
			       sb_clock_passed(wake_ns, now));
	w->woken = false;
	w->tick.now_ns = now;
	w->tick.steps = steps_of(w);
	sb_account_busy(&w->account, now);
	sb_trace_note(&w->trace, SB_TRACE_BUSY, 0, 0);
}

static struct sb_process *search(struct sb_worker *w)
{
	struct sb_process *p;

	sb_account_search(&w->account);
	sb_trace_note(&w->trace, SB_TRACE_SEARCH, 0, 0);
	sb_counter_add(&w->counters.idle_episodes, 1);
	w->ran_out_ns = sb_clock_ns();
	sb_steal_begin(w);
	p = w->scheduler->config.park == SB_PARK_POLL ? search_and_poll(w)
						      : search_and_block(w);
	if (SB_UNLIKELY(w->untold))
		tell(w, p);
	if (p)
		sb_timekeeper_replace(w);
	end_idleness(w);
	return p;
}

void sb_worker_loop(struct sb_worker *w)
{
	come_online(w);
	while (!halted(w->scheduler)) {
		struct sb_process *p = next_process(w);

		if (!p)
			p = search(w);
		if (p)
			sb_worker_run(w, p);
	}
	if (w->next)
		sb_route_requeue(w, w->next, false);
	w->next = NULL;
}
