/*
 * scheduler.c - life cycle: creation, the workers' threads, start and stop.
 *
 * How stop and a submission see each other is told in submit.c.
 */
#include "core/readings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/memory/arena.h"
#include "core/memory/arenas.h"
#include "core/memory/graves.h"
#include "core/message/caller.h"
#include "core/message/hold.h"
#include "core/message/send.h"
#include "core/process/builtin.h"
#include "core/process/live.h"
#include "core/process/registry.h"
#include "core/process/step.h"
#include "core/state.h"
#include "core/timers/timers.h"
#include "core/trace.h"
#include "core/wake/idle.h"
#include "core/worker/steal.h"
#include "core/worker/thread.h"
#include "core/worker/watch.h"
#include "core/worker/worker.h"

void sb_config_init(struct sb_config *config)
{
	*config = (struct sb_config)SB_CONFIG_DEFAULT;
}

/* ---- creation ---- */

static bool config_is_valid(const struct sb_config *c)
{
	return c->tick >= 1 && c->tick <= 1u << 30 && c->steal_cap >= 1 &&
	       c->steal_cap <= SB_STEAL_MAX && c->event_budget >= 1 && c->processes_max >= 1 &&
	       c->batch < UINT32_MAX && c->sample_every <= 1u << 30 &&
	       c->exemplars <= SB_EXEMPLARS_MAX && c->deque <= SB_DEQUE_CHASE_LEV &&
	       c->steal <= SB_STEAL_COUNT && c->victim <= SB_VICTIM_LAST &&
	       c->wake <= SB_WAKE_GLOBAL && c->continues <= SB_CONTINUE_FRONT &&
	       c->park <= SB_PARK_POLL && c->arenas <= SB_ARENAS_SHARED &&
	       c->membind <= SB_MEMBIND_NONE && c->huge_pages <= SB_HUGE_PAGES_NONE &&
	       c->dead_max_bytes >= 1 &&
	       (!c->thread_prefix ||
		(*c->thread_prefix &&
		 strnlen(c->thread_prefix, SB_THREAD_PREFIX_MAX + 1) <= SB_THREAD_PREFIX_MAX));
}

static bool placement_is_valid(const struct sb_placement *p)
{
	return p->workers >= 1 && p->workers <= SB_WORKERS_MAX && p->place &&
	       p->nodes <= SB_NODES_MAX;
}

/* NULL: there is nothing to copy, or no memory. */
static void *copy(const void *from, size_t bytes)
{
	void *made = from ? sb_mem_alloc(SB_HEAP, bytes, SB_LINE) : NULL;

	if (made)
		memcpy(made, from, bytes);
	return made;
}

static int copy_placement(struct sb_placement *to, const struct sb_placement *from)
{
	const size_t nodes = from->nodes;

	*to = *from;
	to->place = copy(from->place, from->workers * sizeof(*to->place));
	to->os_node = copy(from->os_node, nodes * sizeof(*to->os_node));
	to->node_distance = copy(from->node_distance, nodes * nodes * sizeof(*to->node_distance));
	return to->place && !to->os_node == !from->os_node &&
			       !to->node_distance == !from->node_distance
		       ? 0
		       : -ENOMEM;
}

static int allocate_tables(struct sb_scheduler *s, const struct sb_placement *placement)
{
	const uint32_t n = placement->workers;

	s->worker = sb_mem_zalloc(SB_HEAP, n * sizeof(*s->worker), SB_LINE);
	s->worker_thread = sb_mem_zalloc(SB_HEAP, n * sizeof(*s->worker_thread), SB_LINE);
	s->watched = sb_mem_zalloc(SB_HEAP, n * sizeof(*s->watched), SB_LINE);
	if (copy_placement(&s->placement, placement) || !s->worker || !s->worker_thread ||
	    !s->watched)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		s->worker_thread[i].scheduler = s;
		s->worker_thread[i].id = i;
	}
	if (sb_idle_init(&s->idle, n, s->config.searchers_max))
		return -ENOMEM;
	return sb_arenas_init(s);
}

static int start_reclaim(struct sb_scheduler *s)
{
	const struct sb_reclaim_look look = { sb_watch_look, sb_watch_chores, s, s->thread_prefix };
	const int rc = sb_reclaim_create(&s->reclaim, s->workers, &look);

	if (rc)
		return rc;
	s->pidmap = sb_pidmap_create(s->reclaim, s->config.pid_reuse_ns);
	return s->pidmap ? 0 : -ENOMEM;
}

/* All that create has made, be it complete or not; nothing uses it any more. */
static void free_scheduler(struct sb_scheduler *s)
{
	if (s->pidmap)
		sb_pidmap_destroy(s->pidmap);
	sb_reclaim_destroy(s->reclaim);
	for (uint32_t i = 0; s->worker && i < s->workers; i++) {
		if (s->worker[i])
			sb_worker_destroy(s->worker[i]);
	}
	sb_pool_fini(&s->foreign_pool);
	sb_arenas_fini(s);
	sb_runq_clear(&s->global);
	sb_idle_fini(&s->idle);
	sb_gate_fini(&s->gate);
	sb_dispatch_fini(&s->dispatch);
	sb_mem_free(s->placement.place);
	sb_mem_free(s->placement.os_node);
	sb_mem_free(s->placement.node_distance);
	sb_mem_free(s->watched);
	sb_mem_free(s->worker_thread);
	sb_mem_free(s->worker);
	sb_mem_free(s);
}

int sb_scheduler_create(struct sb_scheduler **scheduler, const struct sb_config *config,
			const struct sb_placement *placement)
{
	struct sb_scheduler *s;
	int rc;

	if (!placement_is_valid(placement) || !config_is_valid(config))
		return -EINVAL;
	s = sb_mem_zalloc(SB_HEAP, sizeof(*s), SB_LINE);
	if (!s)
		return -ENOMEM;
	s->config = *config;
	snprintf(s->thread_prefix, sizeof(s->thread_prefix), "%s",
		 config->thread_prefix ? config->thread_prefix : "sb");
	s->config.thread_prefix = s->thread_prefix;
	s->workers = placement->workers;
	s->trace_bound.ns = UINT64_MAX;
	sb_store_rlx(&s->trace_end_ns, UINT64_MAX);
	if (!config->record)
		s->config.sample_every = 0;
	sb_sampler_init(&s->foreign_sampler, s->config.sample_every, config->seed);
	sb_dispatch_init(&s->dispatch);
	sb_commands_register(s);
	sb_send_init(s);
	sb_timekeeper_init(&s->timekeeper);
	sb_runq_init(&s->global, SB_HEAP);
	sb_gate_init(&s->gate);
	sb_lock_init(&s->foreign_lock);
	sb_lock_init(&s->list_lock);
	sb_live_init(s);
	rc = allocate_tables(s, placement);
	if (!rc)
		rc = start_reclaim(s);
	if (rc) {
		free_scheduler(s);
		return rc;
	}
	sb_pool_init(&s->foreign_pool, &(struct sb_pool_owner){ .arena = s->arena[0], .node = -1 });
	sb_pids_init(&s->foreign_pids, s->arena[0]);
	sb_store_rel(&s->is_watched, 1);
	*scheduler = s;
	return 0;
}

int sb_scheduler_register(struct sb_scheduler *s, uint32_t command, sb_handler handler,
			  void *context)
{
	return sb_dispatch_register(&s->dispatch, command, handler, context);
}

static bool all_ready(void *arg)
{
	struct sb_scheduler *s = arg;

	return sb_load_acq(&s->ready_workers) == s->workers;
}

static void let_go(struct sb_scheduler *s)
{
	sb_store_rel(&s->go, 1);
	sb_gate_notify(&s->gate);
}

static void join_workers(struct sb_scheduler *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sb_thread_join(&s->worker_thread[i].thread);
}

static int start(struct sb_scheduler *s, uint32_t *failed)
{
	uint32_t n = 0;
	int rc = 0;
	uint32_t before = sb_load_acq(&s->phase);

	if (!sb_phase_is_at_rest(before) || !sb_cas_acq_rel(&s->phase, &before, SB_PHASE_STARTING))
		return -EALREADY;
	sb_dispatch_freeze(&s->dispatch);
	sb_clock_hold();
	sb_store_rlx(&s->ready_workers, 0);
	sb_store_rlx(&s->start_error, 0);
	sb_store_rlx(&s->go, 0);
	sb_store_rlx(&s->halt, 0);
	while (n < s->workers && !rc) {
		struct sb_worker_thread *t = &s->worker_thread[n];

		rc = sb_thread_start(&t->thread, s->placement.place[n].os_cpu, sb_worker_thread_run,
				     t);
		n += !rc;
	}
	if (rc) {
		sb_store_rlx(&s->start_failed, n);
	} else {
		sb_gate_wait(&s->gate, all_ready, s, UINT64_MAX);
		rc = sb_load_rlx(&s->start_error);
	}
	if (!rc) {
		sb_store_rel(&s->phase, SB_PHASE_RUNNING);
		let_go(s);
		return 0;
	}
	sb_store_rel(&s->halt, 1);
	let_go(s);
	join_workers(s, n);
	sb_clock_release();
	if (failed)
		*failed = sb_load_rlx(&s->start_failed);
	sb_store_rel(&s->phase, before);
	return rc;
}

int sb_scheduler_start(struct sb_scheduler *s, uint32_t *failed)
{
	int rc;

	sb_call_begin(s);
	rc = start(s, failed);
	sb_call_end(s);
	return rc;
}

/* ---- stop ---- */

static void cancel_visit(void *arg, struct sb_process *p)
{
	sb_cancel_for_stop(arg, NULL, p);
}

static void cancel_all(struct sb_scheduler *s)
{
	const uint32_t side = sb_reclaim_enter(s->reclaim);

	sb_pidmap_for_each(s->pidmap, cancel_visit, s);
	sb_reclaim_exit(s->reclaim, side);
}

/* How long stop waits before it tries again to send cancel events for which there was no
 * memory. */
#define CANCEL_AGAIN_NS UINT64_C(10000000)

/* Sends each process a cancel event. Returns 0 when none is alive, or -ETIMEDOUT. */
static int cancel_and_wait(struct sb_scheduler *s, uint64_t timeout_ns)
{
	const uint64_t start = sb_clock_ns();
	uint64_t passed = 0;

	cancel_all(s);
	while (!sb_live_wait_none(s, sb_min_u64(CANCEL_AGAIN_NS, timeout_ns - passed))) {
		passed = sb_clock_passed(start, sb_clock_ns());
		if (passed >= timeout_ns)
			return -ETIMEDOUT;
		if (sb_xchg_acq(&s->cancel_again, 0))
			cancel_all(s);
	}
	return 0;
}

static void halt_workers(struct sb_scheduler *s)
{
	sb_store_rel(&s->halt, 1);
	sb_fence_store_load(&s->idle.counts);
	for (uint32_t i = 0; i < s->workers; i++)
		sb_unpark(&s->worker[i]->parker);
	join_workers(s, s->workers);
	sb_clock_release();
}

struct forced {
	struct sb_scheduler *scheduler;
	struct sb_process *first;
	uint64_t count;
};

static void force_visit(void *arg, struct sb_process *p)
{
	struct forced *forced = arg;
	const size_t bytes = sb_process_bytes(p->ops);

	sb_process_finish(forced->scheduler, NULL, p, -ECANCELED, sb_value_u64(0));
	p->bytes_forced = bytes;
	p->next_forced = forced->first;
	forced->first = p;
	forced->count++;
}

/* Leaves no queue entry behind; the workers are gone, so we are all owners. */
static void empty_queues(struct sb_scheduler *s)
{
	sb_runq_clear(&s->global);
	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *w = s->worker[i];

		if (!w)
			continue; /* never started */
		while (sb_deque_pop(&w->deque) || sb_deque_pop(&w->cold))
			;
		sb_runq_clear(&w->inject);
	}
}

/*
 * The workers are gone; foreign threads are not. All that were accepted are in the
 * map, and no other will be (core/process/submit.c). A send is one section of a visitor: when
 * all visitors have left nobody is about to queue a process that has been ended here. In
 * the end there may be submissions left that have reserved and are in their
 * process's init; they are refused, and waited for.
 */
static uint64_t finish_by_force(struct sb_scheduler *s)
{
	struct forced forced = { .scheduler = s };
	const uint32_t side = sb_reclaim_enter(s->reclaim);

	sb_pidmap_for_each(s->pidmap, force_visit, &forced);
	sb_reclaim_exit(s->reclaim, side);
	sb_reclaim_wait_visitors(s->reclaim);
	empty_queues(s);
	while (forced.first) {
		struct sb_process *p = forced.first;

		forced.first = p->next_forced;
		sb_object_free(s, NULL, p, p->bytes_forced);
	}
	if (forced.count)
		sb_live_release(s, forced.count, sb_clock_ns());
	(void)sb_live_wait_none(s, UINT64_MAX);
	return forced.count;
}

/* After this nobody reserves, and nobody is accepted; see submit.c. */
static bool begin_to_refuse(struct sb_scheduler *s, uint32_t before)
{
	bool is_mine;

	sb_lock_acquire(&s->foreign_lock);
	sb_lock_acquire(&s->global.push_lock);
	is_mine = sb_cas_acq_rel(&s->phase, &before, SB_PHASE_STOPPING);
	sb_lock_release(&s->global.push_lock);
	sb_lock_release(&s->foreign_lock);
	return is_mine;
}

int sb_scheduler_stop(struct sb_scheduler *s, uint64_t timeout_ns)
{
	int rc;

	if (!sb_caller_may_wait())
		return -EDEADLK;
	if (!begin_to_refuse(s, SB_PHASE_RUNNING))
		return -EALREADY;
	sb_fence_store_load(&s->idle.counts); /* see sb_route_new() */
	rc = cancel_and_wait(s, timeout_ns);
	halt_workers(s);
	/* Out of time, there may have been a reservation left and no process. */
	if (rc && !finish_by_force(s))
		rc = 0;
	/* The watcher may still be dropping what it has taken from a step. */
	sb_reclaim_barrier(s->reclaim);
	for (uint32_t i = 0; i < s->workers; i++) {
		sb_worker_take_reclaimed(s->worker[i]);
		sb_pool_flush(&s->worker[i]->pool);
	}
	sb_store_rel(&s->phase, SB_PHASE_STOPPED);
	return rc;
}

/* ---- destruction ---- */

/* Processes that the workers have ended, and others may have been looking at. */
static void free_dead(struct sb_scheduler *s)
{
	sb_reclaim_barrier(s->reclaim);
	for (uint32_t i = 0; i < s->workers; i++) {
		struct sb_worker *w = s->worker[i];

		if (!w)
			continue; /* never started */
		sb_worker_take_reclaimed(w);
		sb_pool_flush(&w->pool);
	}
}

/* Conservation: what was taken from the pools has come back, once. */
static void check_balance(struct sb_scheduler *s)
{
	struct sb_memory memory;

	sb_scheduler_read_memory(s, &memory);
	SB_CHECK(memory.used_bytes, ==, 0);
}

/* How often destroy looks whether the calls of other threads have ended. */
#define CALLS_LOOK_NS 20000

void sb_scheduler_destroy(struct sb_scheduler *s)
{
	if (!s)
		return;
	SB_CHECK(sb_caller_may_wait(), ==, true);
	SB_CHECK(sb_phase_is_at_rest(sb_load_acq(&s->phase)), ==, true);
	/* Submissions of its callbacks are refused. */
	SB_CHECK(begin_to_refuse(s, sb_load_acq(&s->phase)), ==, true);
	if (!sb_live_wait_none(s, 0))
		finish_by_force(s);
	while (sb_calls_under_way(s))
		sb_thread_sleep(CALLS_LOOK_NS);
	sb_store_rel(&s->is_watched, 0); /* from the next period on */
	free_dead(s);			 /* waits for those in read-side sections */
	check_balance(s);
	free_scheduler(s);
}

/* ---- waiting ---- */

int sb_scheduler_wait_idle(struct sb_scheduler *s, uint64_t timeout_ns)
{
	bool none;

	if (!sb_caller_may_wait())
		return -EDEADLK;
	sb_call_begin(s);
	none = sb_live_wait_none(s, timeout_ns);
	sb_call_end(s);
	return none ? 0 : -ETIMEDOUT;
}

/*
 * After its last step a worker looks at a clock at most once, and so has at most
 * one quiescent state, before it buries what it has completed. So two periods
 * later all is buried, and the third is for what was.
 */
int sb_scheduler_settle(struct sb_scheduler *s)
{
	if (!sb_caller_may_wait())
		return -EDEADLK;
	sb_call_begin(s);
	for (int i = 0; i < 3; i++)
		sb_reclaim_barrier(s->reclaim);
	sb_call_end(s);
	return 0;
}

uint64_t sb_scheduler_idle_since_ns(struct sb_scheduler *s)
{
	return sb_load_rlx(&s->idle_since_ns);
}

int sb_scheduler_take_shortage(struct sb_scheduler *s)
{
	return sb_xchg_acq(&s->shortage, 0);
}
