/*
 * submit.c - how a process comes to be.
 *
 * Stop against submit. Stop sets the phase under the locks of two things: of what
 * foreign threads reserve and take, and of the global queue. Then it walks the map
 * of PIDs, and waits until none is alive. A foreign thread reserves under the first
 * lock, and adds its process to the map and queues it under the second, each time
 * if the scheduler does not stop. So stop waits for whatever has been reserved, and
 * its walk finds whatever has been queued; what comes between the two is refused.
 *
 * A worker has its own deque and no lock. It is in a step of a live process, so it
 * is waited for; it adds, queues, fences, and looks at the phase after that. Stop
 * fences between the phase and its walk, so the walk finds the process, or the
 * worker sees that it has to cancel it.
 */
#include "core/process/submit.h"

#include <errno.h>
#include <string.h>

#include "core/memory/graves.h"
#include "core/message/caller.h"
#include "core/message/handover.h"
#include "core/message/hold.h"
#include "core/message/send.h"
#include "core/process/live.h"
#include "core/process/step.h"
#include "core/record/marks.h"
#include "core/state.h"
#include "core/wake/publish.h"

/* A submission before the start, or after a stop, waits for the next start. */
static bool refuses(struct sb_scheduler *s)
{
	return sb_load_acq(&s->phase) == SB_PHASE_STOPPING;
}

/* The same of one that somebody waits for: there may be no next start. */
static bool refuses_wait(struct sb_scheduler *s, bool is_waited_for)
{
	return refuses(s) || (is_waited_for && sb_load_acq(&s->phase) == SB_PHASE_STOPPED);
}

/* The caller's request. */
struct submission {
	sb_pid pid; /* chosen, or 0 */
	const struct sb_process_ops *ops;
	const char *method;
	union sb_value input;
	struct sb_waiter *waiter;
};

/*
 * A process that nobody sees yet. What is known of it is here, too: its memory was
 * last written on another core, as likely as not, and as long as it is only written
 * nobody waits for it.
 */
struct draft {
	struct sb_process *process; /* NULL: there is no memory */
	size_t bytes;		    /* of its memory; ops may go before it */
	struct sb_name name;	    /* pid is 0 if it is yet to be chosen */
	bool timed;
};

/* From the submitter's own. */
SB_INLINE struct draft take_parts(struct sb_pidmap *map, struct sb_pids *pids, struct sb_pool *pool,
				  struct sb_sampler *sampler, const struct submission *sub)
{
	const size_t bytes = sb_process_bytes(sub->ops);
	struct draft draft = { .bytes = bytes };

	/* No memory has room for it, and what is added to it could overflow. */
	if (SB_UNLIKELY(sub->ops->state_bytes > PTRDIFF_MAX))
		return draft;
	draft.process = sb_pool_alloc(pool, bytes);
	if (!draft.process)
		return draft;
	sb_pool_prefetch(pool, bytes); /* another one is likely to follow */
	if (!sub->pid) {
		draft.name = sb_pids_take(map, pids);
		if (!draft.name.pid) {
			sb_pool_free(pool, draft.process, bytes);
			draft.process = NULL;
			return draft;
		}
		sb_prefetch_write(draft.name.entry);
	}
	draft.timed = sb_sampler_chooses(sampler);
	return draft;
}

/* How long a submission waits for memory of the dead, and how often it looks. */
#define DEAD_WAIT_NS UINT64_C(1000000000)
#define DEAD_LOOK_NS 100000

/* The caller's worker waits, and so keeps nobody from freeing the dead. */
static void let_reclaim(struct sb_worker *w)
{
	const bool has_entered = sb_handover_try_enter(&w->handover);

	sb_route_flush(w);
	sb_worker_bury(w);
	sb_reader_quiescent(w->reader, w->period);
	sb_worker_take_reclaimed(w);
	sb_handover_end(&w->handover, has_entered);
}

static bool has_too_many_dead(const struct sb_scheduler *s)
{
	const uint64_t bytes = sb_load_rlx(&s->dead_bytes);

	/* Negative, modulo 2^64: what workers have not told of is more. */
	return SB_UNLIKELY(bytes >= s->config.dead_max_bytes) && bytes <= INT64_MAX;
}

/*
 * Returns 0, or -ENOMEM: there still is no room for more dead. A caller that may hold
 * a process it has looked up, or that is the helper thread, does not wait.
 */
SB_COLD static int wait_for_dead(struct sb_scheduler *s, struct sb_worker *w)
{
	const uint64_t start = sb_clock_ns();

	if (sb_reclaim_inside())
		return -ENOMEM;
	do {
		if (w)
			let_reclaim(w);
		if (refuses(s))
			return 0; /* the caller will see that, too */
		if (sb_clock_passed(start, sb_clock_ns()) >= DEAD_WAIT_NS)
			return -ENOMEM;
		sb_reclaim_wake(s->reclaim);
		sb_thread_sleep(DEAD_LOOK_NS);
	} while (sb_dead_bytes(s) >= s->config.dead_max_bytes);
	return 0;
}

/*
 * The bound on the dead is looked at where PIDs are taken by the block, so that
 * the others read no line that is shared: it is exact but for a block's processes
 * of each thread, and a sixteenth (core/memory/graves.c).
 */
static bool needs_check(const struct sb_pids *pids, const struct submission *sub)
{
	return SB_UNLIKELY(sub->pid || sb_pids_are_used_up(pids));
}

/* The condition that a foreign submission waits for, under no lock. */
enum { NEEDS_PLACE = 1, NEEDS_ROOM };

/* A foreign submission's reservation and parts, and the begin of its call, under one lock. */
static int try_foreign_parts(struct sb_scheduler *s, const struct submission *sub, bool is_first,
			     bool has_place, struct draft *draft)
{
	int rc;

	sb_lock_acquire(&s->foreign_lock);
	s->calls_begun += is_first;
	if (refuses_wait(s, sub->waiter)) {
		rc = -ESHUTDOWN;
	} else if (needs_check(&s->foreign_pids, sub) && has_too_many_dead(s)) {
		rc = NEEDS_ROOM;
	} else if (!has_place && !sb_live_reserve_foreign(s)) {
		rc = NEEDS_PLACE;
	} else {
		has_place = true;
		*draft = take_parts(s->pidmap, &s->foreign_pids, &s->foreign_pool,
				    &s->foreign_sampler, sub);
		rc = draft->process ? 0 : -ENOMEM;
	}
	sb_lock_release(&s->foreign_lock);
	if (rc && has_place)
		sb_live_unreserve(s, NULL);
	return rc;
}

static int take_foreign_parts(struct sb_scheduler *s, const struct submission *sub,
			      struct draft *draft)
{
	int rc = try_foreign_parts(s, sub, true, false, draft);

	while (SB_UNLIKELY(rc > 0)) {
		const bool has_place = rc == NEEDS_PLACE && sb_live_reserve_exactly(s);

		if (rc == NEEDS_PLACE && !has_place)
			return -EAGAIN;
		if (rc == NEEDS_ROOM && wait_for_dead(s, NULL))
			return -ENOMEM;
		rc = try_foreign_parts(s, sub, false, has_place, draft);
	}
	return rc;
}

static int take_own_parts(struct sb_worker *w, const struct submission *sub, struct draft *draft)
{
	if (needs_check(&w->pids, sub) && has_too_many_dead(w->scheduler) &&
	    wait_for_dead(w->scheduler, w))
		return -ENOMEM;
	if (!sb_live_reserve(w))
		return -EAGAIN;
	*draft = take_parts(w->scheduler->pidmap, &w->pids, &w->pool, &w->sampler, sub);
	if (draft->process)
		return 0;
	sb_live_unreserve(w->scheduler, w);
	return -ENOMEM;
}

static uint64_t start_time(struct sb_worker *w, bool timed)
{
	if (!w)
		return sb_clock_ns();
	return timed ? sb_worker_mark(w) : w->tick.now_ns;
}

/* bytes: whole lines, of which there are two, as likely as not. */
SB_INLINE void clear(struct sb_process *p, size_t bytes)
{
	const size_t line = alignof(struct sb_process);

	for (size_t i = 0; i < bytes; i += line)
		memset((char *)p + i, 0, line);
}

/* A draft that is counted. */
SB_INLINE int make_draft(struct sb_scheduler *s, struct sb_worker *w, const struct submission *sub,
			 struct draft *draft)
{
	const int rc = w ? take_own_parts(w, sub, draft) : take_foreign_parts(s, sub, draft);
	struct sb_process *p;

	if (rc)
		return rc;
	p = draft->process;
	sb_straight(SB_STRAIGHT_spawn);
	clear(p, draft->bytes);
	p->name = draft->name;
	p->ops = sub->ops;
	p->last_worker = SB_WORKER_NONE;
	p->timed = draft->timed;
	p->start_ns = start_time(w, draft->timed);
	return 0;
}

/* There will be no such process. */
static void discard(struct sb_scheduler *s, struct sb_worker *w, const struct draft *draft)
{
	struct sb_process *p = draft->process;

	if (p->pid)
		sb_pidmap_give_back(s->pidmap, p->name);
	if (p->extra)
		sb_object_free(s, w, p->extra, sizeof(*p->extra));
	sb_object_free(s, w, p, draft->bytes);
	sb_live_unreserve(s, w);
}

/* The receiver of its end's event, if there is one. */
static int note_waiter(struct sb_scheduler *s, struct sb_worker *w, const struct submission *sub,
		       struct draft *draft)
{
	struct sb_extra *extra;

	if (!sub->waiter)
		return 0;
	extra = sb_extra_of(s, w, draft->process);
	if (!extra)
		return -ENOMEM;
	extra->waiter = sub->waiter;
	return 0;
}

static int note_choice(struct sb_scheduler *s, const struct submission *sub, struct draft *draft)
{
	int rc;

	if (!sub->pid)
		return 0;
	rc = sb_pidmap_choose(s->pidmap, sub->pid, &draft->name);
	draft->process->name = draft->name;
	draft->process->start_ns = sb_pidmap_start_ns(s->pidmap);
	return rc;
}

/* After an init, whatever came of it, there is a close. */
SB_INLINE int initialize(struct sb_scheduler *s, const struct draft *draft,
			 const struct submission *sub)
{
	int rc = sub->ops->init(draft->process->state, sub->method, sub->input);

	if (!rc && s->config.on_start)
		rc = s->config.on_start(s->config.hook, draft->name.pid);
	if (rc)
		sb_process_close(draft->process);
	return rc ? sb_as_error(rc) : 0;
}

/*
 * From here on others can see it, send to it and, once queued, complete it. Its
 * memory is there as long as the worker is online, so a stop that has missed it
 * is made up for last: one fence is enough for the two questions, whether the
 * scheduler stops and whether somebody sleeps.
 */
static void launch_own(struct sb_scheduler *s, struct sb_worker *w, const struct draft *draft)
{
	struct sb_process *p = draft->process;
	const bool has_entered = sb_handover_try_enter(&w->handover);

	/* Its sends must not overtake earlier ones. */
	if (w->handover.newest)
		sb_route_flush(w);
	sb_store_rlx(&p->word, (uint64_t)SB_STATE_READY);
	sb_pidmap_add(draft->name, p);
	sb_route_new(w, p);
	if (SB_UNLIKELY(refuses(s)))
		sb_cancel_for_stop(s, w, p);
	sb_handover_end(&w->handover, has_entered);
}

/*
 * Once the lock is released, the process may have ended, and its memory be another's; and
 * if no worker has to be woken the call has ended, too, so that the scheduler may be
 * gone. The call ends here unless the process is not accepted.
 */
static bool launch_foreign(struct sb_scheduler *s, const struct draft *draft)
{
	struct sb_process *p = draft->process;
	uint32_t length = 0;
	bool wakes = false;
	bool accepted;

	if (SB_UNLIKELY(draft->timed))
		p->ready_ns = sb_clock_ns();
	sb_store_rlx(&p->word, (uint64_t)SB_STATE_READY);
	sb_lock_acquire(&s->global.push_lock);
	accepted = !refuses(s);
	if (SB_LIKELY(accepted)) {
		sb_pidmap_add(draft->name, p);
		length = sb_runq_append(&s->global, p);
		wakes = sb_route_append_wakes(s, length);
		s->calls_ended += !wakes;
	}
	sb_lock_release(&s->global.push_lock);
	if (wakes) {
		sb_route_publish(s, NULL, 0);
		sb_route_backlog(s, NULL, length);
		sb_call_end(s);
	}
	return accepted;
}

/* on_start has let it pass, so there is an on_complete. */
SB_COLD static int refuse(struct sb_scheduler *s, const struct draft *draft)
{
	struct sb_process *p = draft->process;
	const struct sb_exit exit = { .pid = p->pid, .error = -ESHUTDOWN };

	sb_process_close(p);
	if (s->config.on_complete)
		s->config.on_complete(s->config.hook, &exit);
	discard(s, NULL, draft);
	return -ESHUTDOWN;
}

/* Makes a process that may be launched, or none. */
SB_INLINE int prepare(struct sb_scheduler *s, struct sb_worker *w, const struct submission *sub,
		      struct draft *draft)
{
	int rc = make_draft(s, w, sub, draft);

	if (rc)
		return rc;
	rc = note_waiter(s, w, sub, draft);
	if (!rc)
		rc = note_choice(s, sub, draft);
	if (!rc)
		rc = initialize(s, draft, sub);
	if (rc)
		discard(s, w, draft);
	return rc;
}

static int submit_own(struct sb_worker *w, const struct submission *sub, sb_pid *pid)
{
	struct sb_scheduler *s = w->scheduler;
	struct draft draft;
	int rc;

	if (refuses(s))
		return -ESHUTDOWN;
	rc = prepare(s, w, sub, &draft);
	if (rc)
		return rc;
	if (pid)
		*pid = draft.name.pid;
	launch_own(s, w, &draft);
	return 0;
}

static int submit_foreign(struct sb_scheduler *s, const struct submission *sub, sb_pid *pid)
{
	const sb_pid before = pid ? *pid : 0;
	struct draft draft;
	int rc;

	/* Workers write it, and it is needed in the end. */
	__builtin_prefetch(&s->idle.ask);
	sb_caller_submits(true);
	rc = prepare(s, NULL, sub, &draft);
	if (!rc && pid)
		*pid = draft.name.pid; /* its step may look there */
	if (rc || !launch_foreign(s, &draft)) {
		if (!rc && pid)
			*pid = before;
		rc = rc ? rc : refuse(s, &draft);
		sb_call_end(s);
	}
	sb_caller_submits(false);
	return rc;
}

static int submit(struct sb_scheduler *s, const struct submission *sub, sb_pid *pid)
{
	struct sb_worker *w = sb_worker_of(s);

	return w ? submit_own(w, sub, pid) : submit_foreign(s, sub, pid);
}

int sb_scheduler_submit(struct sb_scheduler *s, const struct sb_process_ops *ops,
			const char *method, union sb_value input, sb_pid *pid)
{
	const struct submission sub = { .ops = ops, .method = method, .input = input };

	return submit(s, &sub, pid);
}

int sb_scheduler_submit_as(struct sb_scheduler *s, sb_pid pid, const struct sb_process_ops *ops,
			   const char *method, union sb_value input)
{
	const struct submission sub = { .pid = pid, .ops = ops, .method = method, .input = input };

	return pid < SB_PID_CHOSEN ? -EINVAL : submit(s, &sub, NULL);
}

static bool has_ended(void *waiter)
{
	return ((struct sb_waiter *)waiter)->done;
}

int sb_scheduler_execute(struct sb_scheduler *s, const struct sb_process_ops *ops,
			 const char *method, union sb_value input, struct sb_exit *exit)
{
	struct sb_waiter waiter = { .done = false };
	const struct submission sub = {
		.ops = ops, .method = method, .input = input, .waiter = &waiter
	};
	int rc;

	if (!sb_caller_may_wait())
		return -EDEADLK;
	sb_gate_init(&waiter.gate);
	rc = submit_foreign(s, &sub, NULL);
	if (!rc) {
		sb_gate_wait(&waiter.gate, has_ended, &waiter, UINT64_MAX);
		*exit = waiter.exit;
	}
	sb_gate_fini(&waiter.gate);
	return rc;
}

/* For a trace that has spawns. */
static SB_NOINLINE int submit_traced(struct sb_worker *w, const struct submission *sub, sb_pid *pid)
{
	const uint64_t start_ns = sb_clock_ns();
	sb_pid own = 0;
	sb_pid *child = pid ? pid : &own;
	const int rc = submit_own(w, sub, child);

	if (!rc)
		sb_trace_put_act(&w->trace, SB_TRACE_SPAWN, start_ns, *child);
	return rc;
}

int sb_submit_here(struct sb_worker *w, const struct sb_process_ops *ops, const char *method,
		   union sb_value input, sb_pid *pid)
{
	const struct submission sub = { .ops = ops, .method = method, .input = input };
	const int rc = SB_UNLIKELY(w->trace.has_sends) ? submit_traced(w, &sub, pid)
						       : submit_own(w, &sub, pid);

	if (!rc)
		sb_counter_add(&w->counters.spawns, 1);
	return rc;
}

int sb_step_spawn(struct sb_step *step, const struct sb_process_ops *ops, const char *method,
		  union sb_value input, sb_pid *pid)
{
	return sb_submit_here(sb_step_worker_of(step), ops, method, input, pid);
}
