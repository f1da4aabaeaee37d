/*
 * submit.c - how a process comes to be.
 *
 * Stop against submit. A submitter reserves, fences, and reads the phase; adds
 * its process to the PID map, queues it, fences, and reads the phase again. Stop
 * sets the phase, fences, walks the map, and waits for live == 0. In each of the
 * two pairs one side sees the other: a submission that goes on is counted in
 * live, and each process in the map gets its cancel event.
 */
#include <errno.h>
#include <string.h>

#include "core/internal.h"

/* What comes before the start, or after a stop, waits for the next start. */
static bool refuses(struct sb_scheduler *s)
{
	return sb_load_acq(&s->phase) == SB_PHASE_STOPPING;
}

/* What the caller asks for. */
struct submission {
	sb_pid pid; /* chosen, or 0 */
	const struct sb_process_ops *ops;
	const char *method;
	union sb_value input;
	struct sb_waiter *waiter;
};

/* What a process is made of. */
struct parts {
	void *memory; /* NULL: there is none, nor the rest */
	struct sb_name name;
	bool timed;
};

/* From the submitter's own. */
static struct parts take_parts(struct sb_pidmap *map, struct sb_pids *pids,
			       struct sb_pool *pool, struct sb_sampler *sampler,
			       const struct submission *sub)
{
	const size_t bytes = sb_process_bytes(sub->ops);
	struct parts parts = { .memory = sb_pool_alloc(pool, bytes) };

	if (!parts.memory)
		return parts;
	sb_pool_prefetch(pool, bytes); /* another one is likely to follow */
	if (!sub->pid) {
		parts.name = sb_pids_take(map, pids);
		if (!parts.name.pid) {
			sb_pool_free(pool, parts.memory, bytes);
			parts.memory = NULL;
		}
	}
	parts.timed = sb_sampler_chooses(sampler);
	return parts;
}

static struct parts take_foreign_parts(struct sb_scheduler *s,
				       const struct submission *sub)
{
	struct parts parts;

	sb_lock_acquire(&s->foreign_lock);
	parts = take_parts(s->pidmap, &s->foreign_pids, &s->foreign_pool,
			   &s->foreign_sampler, sub);
	sb_lock_release(&s->foreign_lock);
	return parts;
}

static uint64_t start_time(struct sb_worker *w, bool timed)
{
	if (!w)
		return timed ? sb_clock_stamp_ns() : sb_clock_ns();
	return timed ? sb_worker_look(w) : w->now_ns;
}

/* A process that has no PID yet if that is to be chosen; NULL: no memory. */
static struct sb_process *make_process(struct sb_scheduler *s,
				       struct sb_worker *w,
				       const struct submission *sub)
{
	const struct parts parts =
		w ? take_parts(s->pidmap, &w->pids, &w->pool, &w->sampler, sub)
		  : take_foreign_parts(s, sub);
	struct sb_process *p = parts.memory;

	if (!p)
		return NULL;
	memset(p, 0, sb_process_bytes(sub->ops));
	p->name = parts.name;
	p->ops = sub->ops;
	p->last_worker = SB_WORKER_NONE;
	p->timed = parts.timed;
	p->start_ns = start_time(w, parts.timed);
	return p;
}

/* There will be no such process. */
static void discard(struct sb_scheduler *s, struct sb_worker *w,
		    struct sb_process *p)
{
	if (p->pid)
		sb_pidmap_give_back(s->pidmap, p->name);
	if (p->extra)
		sb_object_free(s, w, p->extra, sizeof(*p->extra));
	sb_object_free(s, w, p, sb_process_bytes(p->ops));
}

/* Whom its end is told to, if anybody. */
static int note_waiter(struct sb_scheduler *s, struct sb_worker *w,
		       struct sb_process *p, struct sb_waiter *waiter)
{
	if (!waiter)
		return 0;
	if (!sb_extra_of(s, w, p))
		return -ENOMEM;
	p->extra->waiter = waiter;
	return 0;
}

/* After an init, whatever came of it, there is a close. */
static int initialize(struct sb_scheduler *s, struct sb_process *p,
		      const struct submission *sub)
{
	int rc = p->ops->init(p->state, sub->method, sub->input);

	if (!rc && s->config.on_start)
		rc = s->config.on_start(s->config.hook, p->pid);
	if (rc)
		sb_process_close(p);
	return rc ? sb_as_error(rc) : 0;
}

/*
 * From here on others can see it, send to it and, once queued, complete it. Its
 * memory is there as long as the caller is online, so a stop that has missed it
 * is made up for last: one fence is enough for the two questions, whether the
 * scheduler stops and whether somebody sleeps.
 */
static void launch(struct sb_scheduler *s, struct sb_worker *w,
		   struct sb_process *p)
{
	if (w) /* what it sends must not overtake what was sent before */
		sb_route_flush(w);
	sb_store_rlx(&p->word, (uint64_t)SB_STATE_READY);
	sb_pidmap_add(p);
	sb_route_new(s, w, p);
	if (SB_UNLIKELY(refuses(s)))
		(void)sb_cancel_process(s, w, p);
}

/* Makes a process that may be launched; *error says why there is none. */
static struct sb_process *prepare(struct sb_scheduler *s, struct sb_worker *w,
				  const struct submission *sub, int *error)
{
	struct sb_process *p = make_process(s, w, sub);

	if (!p) {
		*error = -ENOMEM;
		return NULL;
	}
	*error = note_waiter(s, w, p, sub->waiter);
	if (!*error && sub->pid)
		*error = sb_pidmap_choose(s->pidmap, sub->pid, &p->name);
	if (!*error)
		*error = initialize(s, p, sub);
	if (!*error)
		return p;
	discard(s, w, p);
	return NULL;
}

static int submit(struct sb_scheduler *s, struct sb_worker *w,
		  const struct submission *sub, sb_pid *pid)
{
	struct sb_process *p = NULL;
	int rc = 0;

	if (refuses(s))
		return -ESHUTDOWN;
	if (!sb_live_reserve(s, w))
		return -EAGAIN;
	/* Stop reads the count after it has set the phase; see above. A worker
	 * is in the step of a live process, which keeps the count above 0. */
	if (!w)
		sb_fence_after_rmw(&s->phase);
	if (refuses(s))
		rc = -ESHUTDOWN;
	else
		p = prepare(s, w, sub, &rc);
	if (!p) {
		sb_live_unreserve(s, w);
		return rc;
	}
	if (pid)
		*pid = p->pid;
	launch(s, w, p);
	return 0;
}

int sb_scheduler_submit(struct sb_scheduler *s,
			const struct sb_process_ops *ops, const char *method,
			union sb_value input, sb_pid *pid)
{
	const struct submission sub = { .ops = ops,
					.method = method,
					.input = input };
	struct sb_worker *w = sb_caller_enter(s);
	const int rc = submit(s, w, &sub, pid);

	sb_caller_leave(w);
	return rc;
}

int sb_scheduler_submit_as(struct sb_scheduler *s, sb_pid pid,
			   const struct sb_process_ops *ops, const char *method,
			   union sb_value input)
{
	const struct submission sub = {
		.pid = pid, .ops = ops, .method = method, .input = input
	};
	struct sb_worker *w;
	int rc;

	if (pid < SB_PID_CHOSEN)
		return -EINVAL;
	w = sb_caller_enter(s);
	rc = submit(s, w, &sub, NULL);
	sb_caller_leave(w);
	return rc;
}

static bool has_ended(void *waiter)
{
	return ((struct sb_waiter *)waiter)->done;
}

int sb_scheduler_execute(struct sb_scheduler *s,
			 const struct sb_process_ops *ops, const char *method,
			 union sb_value input, struct sb_exit *exit)
{
	struct sb_waiter waiter = { .done = false };
	const struct submission sub = {
		.ops = ops, .method = method, .input = input, .waiter = &waiter
	};
	int rc;

	if (sb_worker_current() || sb_rcu_foreign_inside())
		return -EDEADLK;
	/* A stopped scheduler may never be started again. */
	if (sb_load_acq(&s->phase) == SB_PHASE_STOPPED)
		return -ESHUTDOWN;
	sb_gate_init(&waiter.gate);
	sb_rcu_foreign_enter();
	rc = submit(s, NULL, &sub, NULL);
	sb_rcu_foreign_exit();
	if (!rc) {
		sb_gate_wait(&waiter.gate, has_ended, &waiter, UINT64_MAX);
		*exit = waiter.exit;
	}
	sb_gate_fini(&waiter.gate);
	return rc;
}

int sb_submit_here(struct sb_worker *w, const struct sb_process_ops *ops,
		   const char *method, union sb_value input, sb_pid *pid)
{
	const struct submission sub = { .ops = ops,
					.method = method,
					.input = input };
	const int rc = submit(w->scheduler, w, &sub, pid);

	if (!rc)
		sb_counter_add(&w->counters.spawns, 1);
	return rc;
}

int sb_step_spawn(struct sb_step *step, const struct sb_process_ops *ops,
		  const char *method, union sb_value input, sb_pid *pid)
{
	return sb_submit_here(step->worker, ops, method, input, pid);
}
