/*
 * spin.c - a worker without work: it spins as the thresholds say, looks at all
 * queues and at other workers, and then blocks until it is woken.
 */
#include "core/worker/spin.h"

#include "core/hist.h"
#include "core/memory/graves.h"
#include "core/process/live.h"
#include "core/record/events.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/idle.h"
#include "core/wake/publish.h"
#include "core/worker/steal.h"
#include "core/worker/take.h"
#include "core/worker/worker.h"

static bool work_visible(struct sb_scheduler *s)
{
	if (sb_runq_length(&s->global))
		return true;
	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *w = s->worker[i];

		if (sb_has_queued(w) || sb_runq_length(&w->inject))
			return true;
	}
	return false;
}

/* Brings to others what they may be waiting for. The dead first: a thread that is told
 * that none is alive finds none. */
static void flush_for_others(struct sb_worker *w)
{
	sb_worker_bury(w);
	sb_worker_release_credit(w, w->search.ran_out_ns);
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
			sb_thread_yield(); /* to the thread that has claimed */
			continue;
		}
		sb_route_unpark(s, w, id);
	}
}

SB_NOINLINE void sb_come_online(struct sb_worker *w, uint64_t now)
{
	struct sb_tick *tick = &w->tick;

	sb_reader_online(w->reader, w->period);
	tick->unwatched_ns = 0;
	tick->has_woken = false;
	if (SB_LIKELY(!sb_reclaim_sleeps(w->scheduler->reclaim)))
		return;
	tick->unwatched_ns = now;
	if (sb_load_rlx(&tick->due))
		sb_store_rlx(&tick->due, sb_worker_steps(w) + 1);
	w->handover.holds &= w->scheduler->config.hold_ns == UINT64_MAX;
}

/* The work that a sleep ended for was there when its waker said so, or when a timer was due. */
static void note_call(struct sb_worker *w, uint64_t deadline, uint64_t now)
{
	const uint64_t woken = sb_load_rlx(&w->wake_ns);

	w->search.had_ns = woken ? woken : sb_min_u64(deadline, now);
}

/* Until it is claimed, the scheduler halts, or a timer it keeps is due. */
static void sleep_until_called(struct sb_worker *w)
{
	const uint64_t start = sb_clock_ns();
	const uint64_t cpu = sb_record_sleep_begin(w);
	uint64_t deadline;
	uint64_t now;

	sb_reclaim_leave(w->scheduler->reclaim, w->reader, start);
	do {
		deadline = sb_timekeeper_begin(w);
		sb_park(&w->parker, sb_min_u64(deadline, sb_pool_trim_due(&w->pool)));
		sb_worker_take_reclaimed(w);
		sb_pool_flush(&w->pool);
		sb_worker_give_memory_back(w, sb_clock_ns());
	} while (sb_idle_is_announced(&w->scheduler->idle, w->id) && !sb_is_halted(w->scheduler) &&
		 sb_clock_ns() < deadline);
	sb_timekeeper_end(w);
	w->untold.what = 0; /* the timekeeper has looked */
	now = sb_clock_ns();
	sb_come_online(w, now);
	stay_awake(w); /* if nobody has claimed it */
	w->search.woken = true;
	w->search.naps = sb_clock_passed(start, now) < w->scheduler->config.spin_ns;
	note_call(w, deadline, now);
	sb_record_sleep_end(w, cpu);
	sb_record_unblock(w);
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
	w->search.had_ns = 0;
	SB_WINDOW();
	sb_idle_announce(&s->idle, w->id, searching);
	sb_fence_store_load(&s->idle.counts);
	if (work_visible(s) || sb_is_halted(s)) {
		stay_awake(w);
		return;
	}
	SB_WINDOW();
	sb_record_block(w, spins, w->search.woken);
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
	if (p)
		sb_record_round(w, start);
	return p;
}

enum source { INJECT, GLOBAL, STEAL, TIMER };

/* An episode of so many spins has ended with work from there. */
static void note_found(struct sb_worker *w, enum source source, uint64_t spins)
{
	struct sb_hists *h = &w->hists;
	struct sb_hist *const ended_by[] = { &h->spins_inject, &h->spins_global, &h->spins_steal,
					     &h->spins_timer };
	struct sb_hist *const gap[] = { &h->gap_inject, &h->gap_global, &h->gap_steal,
					&h->gap_timer };

	sb_worker_note(w, ended_by[source], spins);
	w->search.gap = w->search.refused ? &h->gap_refused : gap[source];
}

/* One look at all sources. */
static struct sb_process *look_everywhere(struct sb_worker *w, bool searching, uint64_t spins)
{
	enum source source = INJECT;
	struct sb_process *p;

	sb_straight(SB_STRAIGHT_search);
	p = sb_take_inject(w, w->taken_max);
	if (!p) {
		source = GLOBAL;
		p = sb_take_global(w, w->taken_max);
	}
	if (!p && searching) {
		source = STEAL;
		p = steal(w);
	}
	if (!p) {
		source = TIMER;
		sb_timers_run_all(w);
		p = sb_take_newest(w);
	}
	if (p)
		note_found(w, source, spins);
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
	const uint64_t now = w->search.naps ? sb_clock_ns() : 0;

	if (!w->search.naps)
		return false;
	if (!*end_ns)
		*end_ns = now + w->scheduler->config.spin_ns;
	return now < *end_ns;
}

static void spin_aside(struct sb_worker *w)
{
	w->search.had_ns = 0; /* a wake has led to nothing */
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
	uint64_t ns = w->search.gather_ns;
	struct sb_process *p;

	if (!ns && w->scheduler->config.gather && ++w->search.moments % GATHER_EVERY == 0)
		ns = GATHER_NS;
	if (!ns)
		return NULL;
	wait_for_more(w, ns);
	p = look_everywhere(w, searching, 0);
	/* All but p are there. */
	if (p && sb_deque_size(&w->deque) + 1 >= GATHER_ITEMS)
		w->search.gather_ns = sb_min_u64(2 * ns, GATHER_NS_MAX);
	else
		w->search.gather_ns = 0;
	return p;
}

/*
 * One who has just run out of work, and whose last came from another thread, often
 * gets more at once. So in the first moment it does nothing that others would have
 * to fetch from it: it owes them what it owes for so much longer, and if nobody
 * sleeps, so that nobody asks who searches, it is not counted as a searcher, unless
 * how many there may be is configured.
 */
static struct sb_process *wait_a_moment(struct sb_worker *w, bool searching, uint64_t most,
					uint64_t *spins)
{
	struct sb_process *p = most ? gather(w, searching) : NULL;

	while (!p && *spins < most && !sb_is_halted(w->scheduler)) {
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
 * the bound on searchers does not spin; it looks once and blocks. By default it looks
 * at other workers, too: if there is work, it would not sleep in any case, and many that are
 * counted as sleepers and as searchers again keep each other waiting. Returns NULL
 * when the scheduler halts.
 */
static struct sb_process *search_and_block(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	const uint64_t tight = s->config.spin_tight;
	const uint64_t end = tight + s->config.spin_yield;
	uint64_t end_ns = 0;
	uint64_t spins = 0;
	const bool counted =
		s->config.searchers_max || sb_idle_sleeping(sb_load_rlx(&s->idle.counts));
	bool searching = counted && sb_idle_search_begin(&s->idle);
	struct sb_process *p =
		wait_a_moment(w, searching || !counted, sb_min_u64(tight, MOMENT), &spins);

	if (!p && !counted)
		searching = sb_idle_search_begin(&s->idle);
	w->search.refused = !searching;
	while (!p && !sb_is_halted(s)) {
		p = look_everywhere(w, searching || !s->config.searchers_max, spins);
		if (p)
			break;
		sb_worker_quiescent(w);
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
		sb_announce_rest(w);
	return p;
}

/* Never blocks, so nobody is ever asleep and there is nobody to wake: the idle
 * set is left alone. */
static struct sb_process *search_and_poll(struct sb_worker *w)
{
	uint64_t spins = 0;
	struct sb_process *p = wait_a_moment(w, true, MOMENT, &spins);

	for (; !p && !sb_is_halted(w->scheduler); spins++) {
		p = look_everywhere(w, true, spins);
		if (p)
			break;
		sb_worker_quiescent(w);
		sb_cpu_pause();
	}
	return p;
}

/* From here on it is at work, if there is any; who has woken it for that, if anybody? */
static void end_idleness(struct sb_worker *w, const struct sb_process *p)
{
	const uint64_t had = w->search.had_ns;
	const uint64_t now = sb_clock_ns();

	if (p)
		sb_record_gap(w, had ? had : now);
	sb_record_busy(w, w->search.woken && had ? sb_load_rlx(&w->wake_ns) : 0, now);
	w->search.woken = false;
	w->tick.now_ns = now;
	w->tick.steps = sb_worker_steps(w);
}

struct sb_process *sb_search(struct sb_worker *w)
{
	struct sb_process *p;

	sb_record_search(w);
	w->search.ran_out_ns = sb_clock_ns();
	w->search.had_ns = 0;
	w->search.refused = false;
	sb_steal_begin(w);
	p = w->scheduler->config.park == SB_PARK_POLL ? search_and_poll(w) : search_and_block(w);
	if (SB_UNLIKELY(w->untold.what))
		sb_tell_untold(w, p);
	if (p)
		sb_timekeeper_replace(w);
	end_idleness(w, p);
	return p;
}
