/*
 * submit.c - how a process comes to be.
 *
 * Stop against submit. A submitter reserves, fences, and reads the phase; adds
 * its process to the PID map, fences, and reads the phase again. Stop sets the
 * phase, fences, walks the map, and waits for live == 0. In each of the two
 * pairs one side sees the other: a submission that goes on is counted in live,
 * and each process in the map gets its cancel event.
 */
#include <errno.h>
#include <string.h>

#include "core/internal.h"

#define PID_BLOCK 1024

static sb_pid next_pid(struct sb_scheduler *s, struct sb_worker *w)
{
	if (!w)
		return sb_add_rlx(&s->pid_next, 1);
	if (w->pid_next == w->pid_end) {
		w->pid_next = sb_add_rlx(&s->pid_next, PID_BLOCK);
		w->pid_end = w->pid_next + PID_BLOCK;
	}
	return w->pid_next++;
}

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

static void discard(struct sb_scheduler *s, struct sb_worker *w,
		    struct sb_process *p)
{
	sb_process_close(p);
	sb_object_free(s, w, p, sb_process_bytes(p->ops));
}

/* A process that nobody can see yet; *error says why there is none. */
static struct sb_process *make_process(struct sb_scheduler *s,
				       struct sb_worker *w,
				       const struct submission *sub, int *error)
{
	const size_t bytes = sb_process_bytes(sub->ops);
	struct sb_process *p = sb_object_alloc(s, w, bytes);

	if (!p) {
		*error = -ENOMEM;
		return NULL;
	}
	memset(p, 0, bytes);
	p->ops = sub->ops;
	p->waiter = sub->waiter;
	p->last_worker = SB_WORKER_NONE;
	p->start_ns = sb_caller_stamp(s, w);
	p->timed = p->start_ns;
	if (!p->timed)
		p->start_ns = w ? w->now_ns : sb_clock_ns();
	*error = sub->ops->init(p->state, sub->method, sub->input);
	if (!*error)
		return p;
	*error = sb_as_error(*error);
	discard(s, w, p);
	return NULL;
}

static int name(struct sb_scheduler *s, struct sb_worker *w,
		struct sb_process *p, sb_pid chosen)
{
	p->pid = chosen ? chosen : next_pid(s, w);
	return chosen ? sb_pidmap_claim(s->pidmap, chosen) : 0;
}

static int approve(struct sb_scheduler *s, struct sb_process *p)
{
	const int rc = s->config.on_start
			       ? s->config.on_start(s->config.hook, p->pid)
			       : 0;

	if (!rc)
		return 0;
	if (p->pid >= SB_PID_CHOSEN)
		sb_pidmap_unclaim(s->pidmap, p->pid);
	return sb_as_error(rc);
}

/* From here on others can see it, send to it and, once queued, complete it. */
static void launch(struct sb_scheduler *s, struct sb_worker *w,
		   struct sb_process *p)
{
	sb_store_rlx(&p->word, (uint64_t)SB_STATE_READY);
	sb_pidmap_add(s->pidmap, p);
	sb_fence_store_load(&s->phase);
	if (SB_UNLIKELY(refuses(s)))
		(void)sb_cancel_process(s, w, p);
	sb_route_new(s, w, p);
}

/* Makes a process that may be launched; *error says why there is none. */
static struct sb_process *prepare(struct sb_scheduler *s, struct sb_worker *w,
				  const struct submission *sub, int *error)
{
	struct sb_process *p = make_process(s, w, sub, error);

	if (!p)
		return NULL;
	*error = name(s, w, p, sub->pid);
	if (!*error)
		*error = approve(s, p);
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
		sb_fence_store_load(&s->phase);
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
