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

static bool refuses(struct sb_scheduler *s)
{
	return sb_load_acq(&s->phase) != SB_PHASE_RUNNING;
}

/* A process that nobody can see yet; *error says why there is none. */
static struct sb_process *make_process(struct sb_scheduler *s,
				       struct sb_worker *w,
				       const struct sb_process_ops *ops,
				       const char *method, union sb_value input,
				       int *error)
{
	const size_t bytes = sb_process_bytes(ops);
	struct sb_process *p = sb_object_alloc(s, w, bytes);

	if (!p) {
		*error = -ENOMEM;
		return NULL;
	}
	memset(p, 0, bytes);
	p->ops = ops;
	p->last_worker = SB_WORKER_NONE;
	*error = ops->init(p->state, method, input);
	if (*error) {
		*error = sb_as_error(*error);
		sb_process_close(p);
		sb_object_free(s, w, p, bytes);
		return NULL;
	}
	p->pid = next_pid(s, w);
	return p;
}

static int approve(struct sb_scheduler *s, struct sb_worker *w,
		   struct sb_process *p)
{
	const int rc = s->config.on_start
			       ? s->config.on_start(s->config.hook, p->pid)
			       : 0;

	if (!rc)
		return 0;
	sb_process_close(p);
	sb_object_free(s, w, p, sb_process_bytes(p->ops));
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
		sb_route_cancel(s, w, p);
	sb_route_new(s, w, p);
}

/* Makes a process that may be launched; *error says why there is none. */
static struct sb_process *prepare(struct sb_scheduler *s, struct sb_worker *w,
				  const struct sb_process_ops *ops,
				  const char *method, union sb_value input,
				  int *error)
{
	struct sb_process *p;
	int rc = 0;

	*error = refuses(s) ? -ESHUTDOWN : 0;
	if (!*error && !sb_live_reserve(s, w))
		*error = -EAGAIN;
	if (*error)
		return NULL;
	/* Stop reads the count after it has set the phase; see above. A worker
	 * is in the step of a live process, which keeps the count above 0. */
	if (!w)
		sb_fence_store_load(&s->phase);
	if (refuses(s))
		rc = -ESHUTDOWN;
	p = rc ? NULL : make_process(s, w, ops, method, input, &rc);
	if (p)
		rc = approve(s, w, p);
	if (!rc)
		return p;
	sb_live_unreserve(s, w);
	*error = rc;
	return NULL;
}

static int submit(struct sb_scheduler *s, struct sb_worker *w,
		  const struct sb_process_ops *ops, const char *method,
		  union sb_value input, sb_pid *pid)
{
	int rc;
	struct sb_process *p = prepare(s, w, ops, method, input, &rc);

	if (!p)
		return rc;
	if (pid)
		*pid = p->pid;
	launch(s, w, p);
	return 0;
}

int sb_scheduler_submit(struct sb_scheduler *s,
			const struct sb_process_ops *ops, const char *method,
			union sb_value input, sb_pid *pid)
{
	struct sb_worker *w = sb_caller_enter(s);
	const int rc = submit(s, w, ops, method, input, pid);

	sb_caller_leave(w);
	return rc;
}

static bool has_ended(void *waiter)
{
	return ((struct sb_waiter *)waiter)->done;
}

static int submit_for(struct sb_scheduler *s, struct sb_waiter *waiter,
		      const struct sb_process_ops *ops, const char *method,
		      union sb_value input)
{
	struct sb_process *p;
	int rc;

	sb_rcu_foreign_enter();
	p = prepare(s, NULL, ops, method, input, &rc);
	if (p) {
		p->waiter = waiter;
		launch(s, NULL, p);
	}
	sb_rcu_foreign_exit();
	return rc;
}

int sb_scheduler_execute(struct sb_scheduler *s,
			 const struct sb_process_ops *ops, const char *method,
			 union sb_value input, struct sb_exit *exit)
{
	struct sb_waiter waiter = { .done = false };
	int rc;

	if (sb_worker_current())
		return -EDEADLK;
	sb_gate_init(&waiter.gate);
	rc = submit_for(s, &waiter, ops, method, input);
	if (!rc) {
		sb_gate_wait(&waiter.gate, has_ended, &waiter, UINT64_MAX);
		*exit = waiter.exit;
	}
	sb_gate_fini(&waiter.gate);
	return rc;
}

int sb_step_spawn(struct sb_step *step, const struct sb_process_ops *ops,
		  const char *method, union sb_value input, sb_pid *pid)
{
	struct sb_worker *w = step->worker;
	const int rc = submit(w->scheduler, w, ops, method, input, pid);

	if (!rc)
		sb_counter_add(&w->counters.spawns, 1);
	return rc;
}
