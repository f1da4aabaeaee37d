/*
 * publish.c - from a process that has become Ready to a queue, and to a worker
 * that is woken for it.
 */
#include "core/wake/publish.h"

#include "core/record/marks.h"
#include "core/state.h"
#include "core/trace.h"
#include "core/wake/idle.h"

/* The woken worker finds the waker's name. 0: of no worker, so there is no event. */
SB_COLD static uint64_t trace_wake(struct sb_worker *w, uint32_t id)
{
	uint64_t wake;

	if (!w)
		return 0;
	wake = ((uint64_t)w->id + 1) << 48 | w->trace.written;
	sb_trace_put_cold(&w->trace, SB_TRACE_WAKE, id, wake);
	return wake;
}

/* Some calls are timed. */
static void unpark(struct sb_scheduler *s, struct sb_worker *w, struct sb_worker *woken)
{
	const uint64_t begin = sb_caller_mark_some(s, w);

	sb_unpark(&woken->parker);
	if (SB_LIKELY(!begin))
		return;
	sb_add_rlx(&woken->counters.timed_calls, 1);
	sb_add_rlx(&woken->counters.call_ns, sb_clock_passed(begin, sb_clock_ns()));
}

void sb_route_unpark(struct sb_scheduler *s, struct sb_worker *w, uint32_t id)
{
	sb_store_rlx(&s->worker[id]->wake_ns, sb_caller_mark(s, w));
	if (SB_UNLIKELY(s->trace_events))
		sb_store_rlx(&s->worker[id]->wake_id, trace_wake(w, id));
	unpark(s, w, s->worker[id]);
	if (w)
		sb_counter_add(&w->counters.wakes, 1);
}

/* The worker that a claim has returned. */
static void wake(struct sb_scheduler *s, struct sb_worker *w, uint32_t id)
{
	if (id != SB_IDLE_NONE)
		sb_route_unpark(s, w, id);
}

/* After a fence; see core/wake/idle.h. */
static void wake_if_wanted(struct sb_scheduler *s, struct sb_worker *w, uint32_t near)
{
	if (SB_UNLIKELY(sb_idle_wake_wanted(&s->idle)))
		wake(s, w, sb_idle_claim(&s->idle, near));
}

void sb_route_publish(struct sb_scheduler *s, struct sb_worker *w, uint32_t near)
{
	/* A lone worker that publishes is awake, and there is no other. */
	if (w && s->workers == 1)
		return;
	sb_fence_store_load(&s->idle.counts);
	wake_if_wanted(s, w, near);
}

/* A searcher would have come for some of these. Powers of two: a queue that grows
 * wakes few. */
#define BACKLOG SB_RUNQ_LONG

static bool piles_up(uint32_t length)
{
	return SB_UNLIKELY(length >= BACKLOG && !(length & (length - 1)));
}

void sb_route_backlog(struct sb_scheduler *s, struct sb_worker *w, uint32_t length)
{
	if (piles_up(length))
		wake(s, w, sb_idle_claim_anyway(&s->idle, 0));
}

bool sb_route_append_wakes(struct sb_scheduler *s, uint32_t length)
{
	sb_fence_store_load(&s->idle.counts);
	return SB_UNLIKELY(sb_idle_wake_wanted(&s->idle)) || piles_up(length);
}

/* Fewer are soon done. */
#define STOLEN_MANY 8

void sb_route_stolen(struct sb_worker *w, uint32_t n)
{
	struct sb_idle *idle = &w->scheduler->idle;

	if (n < STOLEN_MANY)
		return;
	sb_fence_store_load(&idle->counts);
	if (sb_idle_sleeping(sb_load_rlx(&idle->counts)))
		wake(w->scheduler, w, sb_idle_claim_anyway(idle, w->id));
}

void sb_route_local(struct sb_worker *w, struct sb_process *p, bool behind)
{
	struct sb_deque *deque = behind ? &w->cold : &w->deque;

	sb_straight(SB_STRAIGHT_queue);
	/* Without memory for a larger ring, the global queue takes it. */
	if (SB_UNLIKELY(!sb_deque_push(deque, p)))
		sb_runq_push(&w->scheduler->global, p);
}

void sb_route_requeue(struct sb_worker *w, struct sb_process *p, bool behind)
{
	sb_word_requeue(p);
	sb_route_local(w, p, behind);
	/* Of two the worker runs one at most: then the other is to be told. */
	w->untold.process = w->untold.what & SB_UNTOLD_WORK ? NULL : p;
	w->untold.what |= SB_UNTOLD_WORK;
}

static void to_global(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	const uint32_t length = sb_runq_push(&s->global, p);

	sb_route_publish(s, w, w ? w->id : 0);
	sb_route_backlog(s, w, length);
}

static void to_inject(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p,
		      uint32_t id)
{
	sb_runq_push(&s->worker[id]->inject, p);
	sb_route_publish(s, w, id);
}

static void to_local(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	sb_route_local(w, p, false);
	sb_route_publish(s, w, w->id);
}

void sb_route_new(struct sb_worker *w, struct sb_process *p)
{
	struct sb_scheduler *s = w->scheduler;

	if (SB_UNLIKELY(p->timed))
		p->ready_ns = sb_worker_mark(w);
	sb_route_local(w, p, false);
	sb_fence_store_load(&s->idle.counts);
	wake_if_wanted(s, w, w->id);
}

void sb_route_ready(struct sb_scheduler *s, struct sb_worker *w, struct sb_process *p)
{
	const uint32_t last = p->last_worker;

	p->ready_ns = sb_caller_mark_some(s, w);
	if (s->config.wake == SB_WAKE_LOCAL && w)
		to_local(s, w, p);
	else if (s->config.wake == SB_WAKE_GLOBAL || last >= s->workers)
		to_global(s, w, p);
	else
		to_inject(s, w, p, last);
}
