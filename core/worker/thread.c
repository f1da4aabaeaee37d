/* thread.c - the thread of a worker: the worker is made, waits for the others, runs,
 * and is taken down. */
#include "core/worker/thread.h"

#include <errno.h>

#include "core/memory/arena.h"
#include "core/memory/graves.h"
#include "core/message/caller.h"
#include "core/message/hold.h"
#include "core/process/live.h"
#include "core/process/step.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/worker/steal.h"
#include "core/worker/worker.h"
/* Also of a worker whose creation failed on the way. */
void sb_worker_destroy(struct sb_worker *w)
{
	sb_trace_fini(&w->trace);
	sb_keeper_fini(w);
	sb_graves_fini(w);
	sb_victims_fini(w);
	sb_timers_fini(&w->timers);
	sb_pool_fini(&w->pool);
	sb_mem_free(w->step.overflow);
	sb_mem_free(w->events);
	sb_mem_free(w->taken);
	sb_runq_clear(&w->inject);
	sb_deque_fini(&w->cold);
	sb_deque_fini(&w->deque);
	sb_parker_fini(&w->parker);
	sb_mem_free(w);
}

/* ---- a worker's thread ---- */

/*
 * Everything a worker writes is allocated, and first touched, by its own pinned
 * thread, from its own arena: so it lies on the worker's node, also where the
 * arena is not bound to that.
 */
static struct sb_worker *create_worker(struct sb_scheduler *s, uint32_t id, struct sb_arena *arena)
{
	const struct sb_config *config = &s->config;
	struct sb_worker *w = sb_mem_zalloc(arena, sb_worker_bytes(s), SB_LINE);

	if (!w)
		return NULL;
	w->scheduler = s;
	w->id = id;
	w->records = config->record;
	sb_account_init(&w->account, config->record ? &w->counters : NULL);
	w->tick.every = config->tick;
	/* Its first step follows a tick. */
	sb_store_rlx(&w->tick.due, 0);
	sb_store_rlx(&w->handover.slot, SB_SLOT_INSIDE);
	w->handover.holds = sb_config_holds(config, 0);
	w->reader = sb_reclaim_reader(s->reclaim, id);
	w->period = sb_reclaim_period(s->reclaim);
	w->step.worker = w;
	sb_runq_init(&w->inject, arena);
	sb_parker_init(&w->parker,
		       config->park == SB_PARK_FUTEX ? SB_PARKING_FUTEX : SB_PARKING_CONDVAR);
	sb_timers_init(&w->timers, arena);
	sb_pool_init(&w->pool, &(struct sb_pool_owner){
				       .arena = arena,
				       .node = s->placement.place[id].node,
				       .counters = &w->counters,
			       });
	sb_pids_init(&w->pids, arena);
	sb_rng_seed(&w->rng, config->seed + id);
	sb_sampler_init(&w->sampler, config->sample_every, config->seed + id);
	w->events = sb_mem_zalloc(arena, config->event_budget * sizeof(*w->events), SB_LINE);
	w->taken_max = (uint32_t)sb_min_u64(config->batch + 1, SB_TAKEN_MAX);
	w->taken = sb_mem_zalloc(arena, w->taken_max * sizeof(*w->taken), SB_LINE);
	if (w->events && w->taken && !sb_deque_init(&w->deque, config->deque, arena) &&
	    !sb_deque_init(&w->cold, config->deque, arena) && !sb_victims_init(w) &&
	    !sb_graves_init(w) && !sb_keeper_init(w, arena))
		return w;
	sb_worker_destroy(w);
	return NULL;
}

/* First start: makes the worker. Later starts: it is there. */
static int set_up(struct sb_worker_thread *t)
{
	struct sb_scheduler *s = t->scheduler;
	struct sb_worker *w = s->worker[t->id];
	int rc;

	if (!w)
		w = s->worker[t->id] = create_worker(s, t->id, t->arena);
	if (!w)
		return -ENOMEM;
	rc = sb_trace_init(&w->trace, s->trace_events, t->arena);
	w->trace.end_ns = &s->trace_end_ns;
	w->trace.has_sends = s->trace_events && s->trace_sends;
	if (w->trace.has_sends)
		w->handover.holds = false;
	sb_worker_watch(w);
	return rc;
}

static bool may_go(void *arg)
{
	return sb_load_acq(&((struct sb_scheduler *)arg)->go);
}

void *sb_worker_thread_run(void *arg)
{
	struct sb_worker_thread *t = arg;
	struct sb_scheduler *s = t->scheduler;
	const int rc = set_up(t);
	struct sb_worker *w = s->worker[t->id];

	t->thread_id = sb_thread_self_id();
	sb_thread_name(s->thread_prefix, "w", (int)t->id);
	if (rc) {
		sb_store_rlx(&s->start_error, rc);
		sb_store_rlx(&s->start_failed, t->id);
	} else {
		sb_account_start(&w->account); /* before start returns */
	}
	sb_add_acq_rel(&s->ready_workers, 1);
	sb_gate_notify(&s->gate);
	sb_gate_wait(&s->gate, may_go, s, UINT64_MAX);
	if (rc)
		return NULL;
	sb_thread_own()->worker = w;
	sb_thread_own()->stripe = w->id + 1;
	w->tick.now_ns = w->slowed.ns = sb_clock_ns();
	w->tick.steps = sb_counter_read(&w->counters.steps);
	w->slowed.cpu_ns = sb_clock_thread_cpu_ns();
	sb_account_go(&w->account);
	sb_keeper_begin(w);
	sb_trace_note(&w->trace, SB_TRACE_BUSY, 0, 0);
	sb_worker_loop(w);
	sb_trace_note(&w->trace, SB_TRACE_REST, 0, 0);
	sb_keeper_end(w);
	sb_worker_bury(w);
	sb_worker_release_credit(w, sb_clock_ns());
	sb_pool_flush(&w->pool);
	sb_reclaim_leave(s->reclaim, w->reader, sb_clock_ns());
	sb_account_stop(&w->account);
	sb_thread_own()->worker = NULL;
	return NULL;
}
