/*
 * worker.c - where a worker finds work, and what it does when there is none.
 *
 * The order is own deque, own inject queue, global queue, other workers; every
 * `tick` steps it is turned round, so that nothing starves behind a LIFO.
 */
#include "core/internal.h"

/* ---- taking from queues ---- */

/*
 * Puts all but the first process of a chain on the own deque and returns the
 * first. The newest go in first, so the next pop is again the oldest.
 */
static struct sb_process *keep_rest(struct sb_worker *w,
				    struct sb_process *first)
{
	struct sb_process *newest = NULL;
	struct sb_process *p = first->next;

	while (p) {
		struct sb_process *next = p->next;

		p->next = newest;
		newest = p;
		p = next;
	}
	SB_WINDOW(); /* in no queue: nobody sees these */
	while (newest) {
		struct sb_process *older = newest->next;

		sb_route_local(w, newest);
		newest = older;
	}
	return first;
}

static struct sb_process *take_inject(struct sb_worker *w, uint32_t max)
{
	uint32_t n;
	struct sb_process *first = sb_runq_take(&w->inject, max, 1, &n);

	if (!first)
		return NULL;
	sb_counter_add(&w->counters.inject_pops, 1);
	sb_counter_add(&w->counters.inject_items, n);
	sb_hist_record(&w->hists.batch_inject, n);
	return keep_rest(w, first);
}

static struct sb_process *take_global(struct sb_worker *w, uint32_t max)
{
	struct sb_scheduler *s = w->scheduler;
	uint32_t n;
	struct sb_process *first =
		sb_runq_take(&s->global, max, s->workers, &n);

	if (!first)
		return NULL;
	sb_counter_add(&w->counters.global_pops, 1);
	sb_counter_add(&w->counters.global_items, n);
	sb_hist_record(&w->hists.batch_global, n);
	return keep_rest(w, first);
}

static struct sb_process *take_oldest(struct sb_worker *w)
{
	void *item = NULL;

	if (sb_deque_steal(&w->deque, &item) != SB_STEAL_OK)
		return NULL;
	sb_counter_add(&w->counters.oldest_pops, 1);
	return item;
}

static struct sb_process *take_newest(struct sb_worker *w)
{
	struct sb_process *p = sb_deque_pop(&w->deque);

	if (p)
		sb_counter_add(&w->counters.local_pops, 1);
	return p;
}

/* ---- taking from another worker ---- */

/* A lost race means that the lines are warm now: it is worth one more try. */
#define STEAL_TRIES 2

static struct sb_process *steal_deque(struct sb_worker *w,
				      struct sb_worker *victim)
{
	struct sb_steal_cell *cell = &w->steals[victim->id];
	enum sb_steal_result result = SB_STEAL_LOST;
	void *items[SB_STEAL_MAX];
	uint32_t n = 0;

	items[0] = NULL;
	for (int i = 0; i < STEAL_TRIES && result == SB_STEAL_LOST; i++) {
		result = sb_deque_steal_half(&victim->deque,
					     w->scheduler->config.steal_cap,
					     items, &n);
		sb_counter_add(&cell->attempts, 1);
		if (result == SB_STEAL_LOST)
			sb_counter_add(&cell->lost, 1);
	}
	if (result == SB_STEAL_EMPTY)
		sb_counter_add(&cell->empty, 1);
	if (result != SB_STEAL_OK)
		return NULL;
	sb_counter_add(&cell->successes, 1);
	sb_counter_add(&cell->items, n);
	sb_hist_record(&w->hists.batch_steal, n);
	SB_WINDOW();
	while (n > 1)
		sb_route_local(w, items[--n]);
	return items[0];
}

/* Half of another's inject queue: its owner may be in a long step. */
static struct sb_process *steal_inject(struct sb_worker *w,
				       struct sb_worker *victim)
{
	uint32_t n;
	struct sb_process *first = sb_runq_take(
		&victim->inject, w->scheduler->config.batch + 1, 2, &n);

	if (!first)
		return NULL;
	sb_counter_add(&w->counters.remote_pops, 1);
	sb_counter_add(&w->counters.remote_items, n);
	return keep_rest(w, first);
}

/* One look at every other worker, from a random one on. */
static struct sb_process *steal_round(struct sb_worker *w)
{
	struct sb_scheduler *s = w->scheduler;
	const uint32_t start = sb_rng_below(&w->rng, s->workers);

	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *victim = s->worker[(start + i) % s->workers];
		struct sb_process *p;

		if (victim == w)
			continue;
		p = steal_deque(w, victim);
		if (!p)
			p = steal_inject(w, victim);
		if (p)
			return p;
	}
	return NULL;
}

/* ---- the common path ---- */

static void quiescent(struct sb_worker *w)
{
	sb_rcu_quiescent();
	w->epoch++;
}

/*
 * The turned-round order. Each kind of queue comes first on every third tick,
 * so a Ready process waits at most 3 x tick picks behind the others at the
 * front of its queue, whatever arrives at the hot end.
 */
static struct sb_process *take_on_tick(struct sb_worker *w)
{
	struct sb_process *p = NULL;

	w->steps_to_tick = w->scheduler->config.tick;
	quiescent(w);
	sb_worker_take_reclaimed(w);
	for (uint32_t i = 0; i < 3 && !p; i++) {
		switch ((w->epoch + i) % 3) {
		case 0:
			p = take_global(w, 1);
			break;
		case 1:
			p = take_inject(w, 1);
			break;
		default:
			p = take_oldest(w);
			break;
		}
	}
	return p;
}

/* More may have come to the own deque than this worker is about to run. */
static void announce_rest(struct sb_worker *w)
{
	w->own_work_unannounced = false;
	if (sb_deque_size(&w->deque))
		sb_route_publish(w->scheduler, w, w->id);
}

static struct sb_process *next_process(struct sb_worker *w)
{
	const uint32_t max = w->scheduler->config.batch + 1;
	struct sb_process *p = NULL;

	if (SB_UNLIKELY(--w->steps_to_tick == 0)) {
		p = take_on_tick(w);
		if (p && w->own_work_unannounced)
			announce_rest(w);
	}
	if (!p) {
		p = take_newest(w);
		w->own_work_unannounced = false;
	}
	if (!p) {
		p = take_inject(w, max);
		if (!p)
			p = take_global(w, max);
		if (p)
			announce_rest(w);
	}
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

		if (sb_deque_size(&w->deque) || sb_runq_length(&w->inject))
			return true;
	}
	return false;
}

/* Brings to others what they may be waiting for. */
static void flush_for_others(struct sb_worker *w)
{
	sb_worker_release_credit(w);
	sb_worker_bury(w);
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

static void sleep_until_claimed(struct sb_worker *w)
{
	const uint64_t start = sb_clock_ns();

	if (w->woken)
		sb_counter_add(&w->counters.spurious_wakes, 1);
	sb_counter_add(&w->counters.blocks, 1);
	sb_rcu_offline();
	do {
		sb_park(&w->parker);
	} while (sb_idle_is_announced(&w->scheduler->idle, w->id) &&
		 !halted(w->scheduler));
	sb_rcu_online();
	stay_awake(w); /* halted, and nobody has claimed it */
	w->epoch++;    /* offline is one long quiescent state */
	w->woken = true;
	sb_counter_add(&w->counters.blocked_ns, sb_clock_ns() - start);
}

/*
 * Announce, fence, look again at everything, and only then sleep. On return
 * the worker is counted as a searcher: it retracted, or its waker counted it.
 */
static void block(struct sb_worker *w, bool searching, uint64_t spins)
{
	struct sb_scheduler *s = w->scheduler;

	SB_WINDOW();
	sb_idle_announce(&s->idle, w->id, searching);
	sb_fence_store_load(&s->idle.counts);
	if (work_visible(s) || halted(s)) {
		stay_awake(w);
		return;
	}
	SB_WINDOW();
	sb_hist_record(&w->hists.spins_blocked, spins);
	sleep_until_claimed(w);
}

/* One look at all sources; records where an episode of so many spins ended. */
static struct sb_process *look_everywhere(struct sb_worker *w, bool searching,
					  uint64_t spins)
{
	const uint32_t max = w->scheduler->config.batch + 1;
	struct sb_hist *ended_by = &w->hists.spins_inject;
	struct sb_process *p = take_inject(w, max);

	if (!p) {
		ended_by = &w->hists.spins_global;
		p = take_global(w, max);
	}
	if (!p && searching) {
		ended_by = &w->hists.spins_steal;
		p = steal_round(w);
	}
	if (p)
		sb_hist_record(ended_by, spins);
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
	bool searching = sb_idle_search_begin(&s->idle);
	struct sb_process *p = NULL;
	uint64_t spins = 0;

	while (!halted(s)) {
		p = look_everywhere(w, searching, spins);
		if (p)
			break;
		quiescent(w);
		if (!searching || spins >= end) {
			block(w, searching, spins);
			searching = true;
			spins = 0;
		} else if (spins++ < tight) {
			sb_cpu_pause();
		} else {
			sb_thread_yield();
		}
	}
	w->woken = false;
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
	struct sb_process *p = NULL;

	for (uint64_t spins = 0; !p && !halted(w->scheduler); spins++) {
		p = look_everywhere(w, true, spins);
		quiescent(w);
		sb_cpu_pause();
	}
	return p;
}

static struct sb_process *search(struct sb_worker *w)
{
	sb_counter_add(&w->counters.idle_episodes, 1);
	flush_for_others(w);
	if (w->scheduler->config.park == SB_PARK_POLL)
		return search_and_poll(w);
	return search_and_block(w);
}

void sb_worker_loop(struct sb_worker *w)
{
	while (!halted(w->scheduler)) {
		struct sb_process *p = next_process(w);

		if (!p)
			p = search(w);
		if (p)
			sb_worker_run(w, p);
	}
}
